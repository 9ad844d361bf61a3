/**
 * The instance as a whole: whether it is well, which nodes it has, whether it is busy, and its suspension.
 *
 * @module
 */
import { type App, onlyAdmin } from "./caller.ts";
import { HttpError } from "./errors.ts";
import { checked, objectOf, queryOf } from "./input.ts";
import { NOTHING, SUSPEND_BODY } from "./parameters.ts";
import type { Service } from "./service.ts";

/** Adds `GET /healthz`, which needs no token: 200 if all is well, 503 if the server is about to end. */
export function healthRoute(app: App, { closing, upgrade }: Service, isHealthy: () => boolean = () => true): void {
  app.get("/healthz", (c) => {
    const ok = !closing.aborted && isHealthy();
    return c.json({ ok, attach: upgrade !== undefined }, ok ? 200 : 503);
  });
}

/** Refuses whatever comes once the server is about to end. */
export function refuseWhenClosing(app: App, { closing }: Service): void {
  app.use(async (_, next) => {
    if (closing.aborted) throw new HttpError(503, "closing", "The server is about to end", "Try again later");
    await next();
  });
}

/** Adds `/v1/nodes`, `/v1/activity` and `/v1/suspend`. */
export function instanceRoutes(app: App, { offstage }: Service): void {
  app.get("/v1/nodes", async (c) => {
    checked(NOTHING.check, queryOf(c));
    return c.json({ nodes: await offstage.nodes(c.get("caller").scope) });
  });
  app.get("/v1/activity", (c) => {
    checked(NOTHING.check, queryOf(c));
    const { scope } = c.get("caller");
    const blockers = offstage.blockers().filter((blocker) => scope === "*" || blocker.scope === scope);
    return c.json({ active: blockers.length, blockers });
  });
  app.post("/v1/suspend", async (c) => {
    onlyAdmin(c.get("caller"));
    checked(NOTHING.check, queryOf(c));
    const { requestId } = checked(SUSPEND_BODY.check, await objectOf(c));
    return c.json(offstage.prepareSuspend(requestId));
  });
  app.delete("/v1/suspend/:id", async (c) => {
    onlyAdmin(c.get("caller"));
    checked(NOTHING.check, queryOf(c));
    checked(NOTHING.check, await objectOf(c));
    return c.json({ resumed: offstage.resume(c.req.param("id")) });
  });
}
