/**
 * What only a server needs is loaded only by one, and may be missing.
 *
 * @module
 */
import { OffstageError } from "../../mod.ts";
import type { createHttpApp } from "../http.ts";
import type { Listen } from "../http/serve/server.ts";

/** What a server is made of. */
export interface ServerParts {
  /** Makes the app. */
  readonly create: typeof createHttpApp;
  /** Serves it on this runtime. */
  readonly listen: Listen;
}

/**
 * Loads the parts.
 *
 * @throws {OffstageError} `unsupported` if a package is not installed
 */
export async function loadServer(): Promise<ServerParts> {
  try {
    const { createHttpApp } = await import("../http.ts");
    const { listenHere } = await import("../http/serve/auto.ts");
    return { create: createHttpApp, listen: await listenHere() };
  } catch (error) {
    throw new OffstageError(
      "unsupported",
      `Cannot serve: ${
        (error as Error).message
      }. It takes the packages hono and, on Node.js, @hono/node-server and ws: ` +
        "npm install hono @hono/node-server ws",
      { cause: error },
    );
  }
}
