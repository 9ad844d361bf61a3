/**
 * The HTTP front end: an app for Hono, to be served by itself or mounted in another.
 *
 * @module
 */
export { createHttpApp } from "./http/app.ts";
export type { HttpApp, HttpHost, HttpOptions, WebSocketUpgrade } from "./http/app.ts";
export type { RequestRecord } from "./http/request_log.ts";
export type { TokenScopes } from "./http/tokens.ts";
