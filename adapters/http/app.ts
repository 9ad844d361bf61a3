/**
 * The HTTP API as a Hono app: the two tools, the sessions, streams of output and events, the page.
 *
 * @module
 */
import { Hono } from "hono";
import type { UpgradeWebSocket } from "hono/ws";
import type { Offstage } from "../../mod.ts";
import type { App, AppEnv } from "./caller.ts";
import { errorBody, HttpError } from "./errors.ts";
import { authenticate, type TokenScopes } from "./tokens.ts";
import { toolRoutes } from "./tool_routes.ts";

/** Hono's `upgradeWebSocket` of the runtime: from `hono/bun`, `hono/deno` or `@hono/node-server`. */
export type WebSocketUpgrade = (createEvents: never, options?: never) => unknown;

/** Options of {@linkcode createHttpApp}. */
export interface HttpOptions {
  /** Which token is which scope's; the scope `*` is the admin's. */
  readonly tokens: TokenScopes;
  /** The runtime's WebSocket upgrade; without it there is no attach. */
  readonly upgradeWebSocket?: WebSocketUpgrade;
}

/**
 * The app: what serves it needs its `fetch` only. In a Hono app of your own, `app.mount("/offstage", ours.fetch)`.
 */
export interface HttpApp {
  /** Answers a request; `env` is what the runtime's server hands on. */
  readonly fetch: (request: Request, env?: unknown, context?: unknown) => Response | Promise<Response>;
}

/** Makes the app of an instance. */
export function createHttpApp(offstage: Offstage, options: HttpOptions): HttpApp {
  const app: App = new Hono<AppEnv>();
  const upgrade = options.upgradeWebSocket as unknown as UpgradeWebSocket | undefined;
  app.onError((error, c) => {
    const refusal = error instanceof HttpError
      ? error
      : new HttpError(500, "internal", "Something went wrong here", "Look at the server's log");
    return c.json(errorBody(refusal), refusal.status);
  });
  app.notFound((c) => c.json(errorBody(new HttpError(404, "not-found", "No such route", "See /openapi.json")), 404));
  app.get("/healthz", (c) => c.json({ ok: true, attach: upgrade !== undefined }));
  app.use("/v1/*", authenticate(offstage, options.tokens));
  toolRoutes(app);
  return app as HttpApp;
}
