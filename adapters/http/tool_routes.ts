/**
 * The two tools: same parameters, same answers as in the library.
 *
 * @module
 */
import type { App } from "./caller.ts";

/** Adds `POST /v1/exec` and `POST /v1/process`. */
export function toolRoutes(app: App): void {
  app.post(
    "/v1/exec",
    async (c) => c.json(await c.get("caller").agent.exec(await c.req.json(), { yieldSignal: c.req.raw.signal })),
  );
  app.post(
    "/v1/process",
    async (c) => c.json(await c.get("caller").agent.process(await c.req.json(), { signal: c.req.raw.signal })),
  );
}
