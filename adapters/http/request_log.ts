/**
 * What is told of each request: nothing that it carried.
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import type { AppContext, AppEnv } from "./caller.ts";
import type { Metrics } from "./metrics.ts";

/** One request, for a log. It has no ids, no query, no token and nothing of what was run. */
export interface RequestRecord {
  /** Wall clock of its beginning, ms since the epoch. */
  readonly at: number;
  /** Its method. */
  readonly method: string;
  /** The pattern of its route, such as `/v1/sessions/:id/log`; `*` if there is none. */
  readonly route: string;
  /** The status of the answer. */
  readonly status: number;
  /** Time to the answer, ms; what is streamed comes after. */
  readonly ms: number;
  /** The scope it acted in; `null` if it had no valid token. */
  readonly scope: string | null;
  /** The address it came from, if that is known. */
  readonly client: string | null;
}

/** Methods that have a name of their own in metrics: a client can make up any number of others. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Counts each request, and tells of it. */
export function requestLog(
  metrics: Metrics,
  onRequest: ((record: RequestRecord) => void) | undefined,
): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const begin = performance.now();
    await next();
    const { status } = c.res;
    const method = METHODS.has(c.req.method) ? c.req.method : "other";
    const route = routeOf(c);
    metrics.request(route, method, status);
    onRequest?.({
      at: performance.timeOrigin + begin,
      method,
      route,
      status,
      ms: performance.now() - begin,
      scope: (c.get("caller") as { readonly scope: string } | undefined)?.scope ?? null,
      client: c.get("address") ?? null,
    });
  };
}

/** What guards match. */
const GUARDED: readonly string[] = ["/*", "/v1/*"];

/** The pattern that the request has matched. */
function routeOf(c: AppContext): string {
  return matchedRoutes(c).findLast(({ path }) => !GUARDED.includes(path))?.path ?? "*";
}
