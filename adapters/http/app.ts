/**
 * The HTTP API as a Hono app: the two tools, the sessions, streams of output and events, the page.
 *
 * @module
 */
import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { UpgradeWebSocket } from "hono/ws";
import type { Offstage } from "../../mod.ts";
import { attachRoutes } from "./attach.ts";
import type { App, AppContext, AppEnv } from "./caller.ts";
import { errorBody, HttpError, toHttpError } from "./errors.ts";
import { eventRoutes } from "./event_stream.ts";
import { checkHost, checkOrigin, jsonOnly, limitBody, noBodyForHead, secureHeaders } from "./guards.ts";
import { healthRoute, instanceRoutes, refuseWhenClosing } from "./instance_routes.ts";
import { authenticate, createLogins } from "./logins.ts";
import { mcpRoute } from "./mcp_route.ts";
import { createMetrics, metricsRoute } from "./metrics.ts";
import { openApiRoute } from "./openapi.ts";
import { requestLog, type RequestRecord } from "./request_log.ts";
import { outputRoutes } from "./output_stream.ts";
import { pageRoutes } from "./page.ts";
import type { Service } from "./service.ts";
import { sessionRoutes } from "./session_routes.ts";
import { createStreams } from "./streams.ts";
import type { TokenScopes } from "./tokens.ts";
import { toolRoutes } from "./tool_routes.ts";

/** Hono's `upgradeWebSocket` of the runtime: from `hono/bun`, `hono/deno` or `@hono/node-server`. */
export type WebSocketUpgrade = (createEvents: never, options?: never) => unknown;

/** What only the server that serves the app can know. */
export interface HttpHost {
  /** The runtime's WebSocket upgrade; without it there is no attach. */
  readonly upgradeWebSocket?: WebSocketUpgrade;
  /**
   * The address a request comes from, given what the server has handed on as `env`; failed logins are counted by it.
   * Default: all come from one.
   */
  readonly clientAddress?: (request: Request, env: unknown) => string | undefined;
}

/** Options of {@linkcode createHttpApp}. */
export interface HttpOptions extends HttpHost {
  /** Which token is which scope's; the scope `*` is the admin's. */
  readonly tokens: TokenScopes;
  /** Names and addresses it may be called by, beside those of the loopback; without a port. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call it, beside its own; such as `https://app.example`. Default: none. */
  readonly allowedOrigins?: readonly string[];
  /** Once it fires, streams end and requests are refused with 503: the server is about to end. */
  readonly closing?: AbortSignal;
  /** What `/healthz` says, beside being closed; e.g. `false` while no command is taken any more. Default: always. */
  readonly isHealthy?: () => boolean;
  /** Given each request once it is answered; see {@linkcode RequestRecord}. Must not throw. */
  readonly onRequest?: (record: RequestRecord) => void;
  /** Given what was thrown when a request is answered with 500. Must not throw. */
  readonly onError?: (error: unknown) => void;
}

/**
 * The app: what serves it needs its `fetch` only. In a Hono app of your own, `app.mount("/offstage", ours.fetch)`.
 */
export interface HttpApp {
  /** Answers a request; `env` is what the runtime's server hands on. */
  readonly fetch: (request: Request, env?: unknown, context?: unknown) => Response | Promise<Response>;
}

/**
 * Makes the app of an instance.
 *
 * @throws {OffstageError} `invalid` if a token's scope is blank
 */
export function createHttpApp(offstage: Offstage, options: HttpOptions): HttpApp {
  const app: App = new Hono<AppEnv>();
  const { clientAddress, tokens, onRequest } = options;
  const metrics = createMetrics();
  const service: Service = {
    offstage,
    logins: createLogins({ offstage, tokens, onFailure: metrics.loginFailed }),
    metrics,
    closing: options.closing ?? new AbortController().signal,
    upgrade: options.upgradeWebSocket as unknown as UpgradeWebSocket | undefined,
  };
  const streams = createStreams(service);
  app.onError((error, c) => {
    const refusal = toHttpError(error);
    if (refusal.code === "internal") options.onError?.(error);
    return c.json(errorBody(refusal), refusal.status, refusal.more.headers);
  });
  app.notFound((c) => c.json(errorBody(new HttpError(404, "not-found", "No such route", "See /openapi.json")), 404));
  app.use(async (c, next) => {
    c.set("address", clientAddress?.(c.req.raw, c.env)); // now: it may not be asked for later, after an upgrade
    await next();
  });
  app.use(requestLog(metrics, onRequest), secureHeaders, noBodyForHead);
  app.use(checkHost(options.allowedHosts ?? []), checkOrigin(options.allowedOrigins ?? []));
  app.use(methodNotAllowed({ app, onMethodNotAllowed }), jsonOnly, limitBody);
  healthRoute(app, service, options.isHealthy);
  openApiRoute(app, offstage);
  refuseWhenClosing(app, service);
  pageRoutes(app);
  attachRoutes(app, service, streams);
  // Above: whoever comes without a token in the header. Below: nobody
  app.on("ALL", ["/v1/*", "/metrics", "/mcp"], authenticate(service.logins));
  toolRoutes(app);
  sessionRoutes(app);
  outputRoutes(app, streams);
  eventRoutes(app, streams);
  instanceRoutes(app, service);
  metricsRoute(app, offstage, metrics);
  mcpRoute(app, service);
  return app as HttpApp;
}

/** A route that exists, but not for that method. */
function onMethodNotAllowed(c: AppContext, methods: readonly string[]): Response {
  const allow = [...methods, "OPTIONS"].join(", ");
  if (c.req.method === "OPTIONS") return c.body(null, 204, { allow });
  const refusal = new HttpError(405, "method-not-allowed", `${c.req.method} is not for this route`, `Use ${allow}`);
  return c.json(errorBody(refusal), 405, { allow });
}
