/**
 * The tools for MCP clients, in the scope of their token.
 *
 * @module
 */
import { OffstageError } from "../../mod.ts";
import { createEndpoint } from "../mcp/endpoint.ts";
import type { App } from "./caller.ts";
import { HttpError } from "./errors.ts";
import type { Service } from "./service.ts";

/** Adds `/mcp`. */
export function mcpRoute(app: App, { closing }: Service): void {
  const endpoint = createEndpoint({});
  closing.addEventListener("abort", () => void endpoint.close(), { once: true });
  app.on(["GET", "POST", "DELETE"], "/mcp", async (c) => {
    try {
      return await endpoint.fetch(c.req.raw, c.get("caller").agent);
    } catch (error) {
      if (!(error instanceof OffstageError)) throw error;
      throw new HttpError(501, error.code, error.message, "The tools are at /v1/exec and /v1/process too");
    }
  });
}
