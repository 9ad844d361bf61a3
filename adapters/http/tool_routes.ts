/**
 * The two tools: same parameters, same answers as in the library.
 *
 * @module
 */
import type { ExecParams, ProcessParams } from "../../mod.ts";
import type { App } from "./caller.ts";
import { checked, jsonOf, queryOf } from "./input.ts";
import { EXEC_QUERY, NOTHING } from "./parameters.ts";

/** Adds `POST /v1/exec` and `POST /v1/process`. A client that goes away sends its command to the background (R13). */
export function toolRoutes(app: App): void {
  app.post("/v1/exec", async (c) => {
    const { abortOnDisconnect } = checked(EXEC_QUERY.check, queryOf(c));
    const params = await jsonOf(c) as ExecParams; // the tools check what they are given
    const { signal } = c.req.raw;
    return c.json(await c.get("caller").agent.exec(params, abortOnDisconnect ? { signal } : { yieldSignal: signal }));
  });
  app.post("/v1/process", async (c) => {
    checked(NOTHING.check, queryOf(c));
    const params = await jsonOf(c) as ProcessParams;
    return c.json(await c.get("caller").agent.process(params, { signal: c.req.raw.signal }));
  });
}
