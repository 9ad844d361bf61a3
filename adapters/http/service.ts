/**
 * What all routes share: the instance, who may call, what is counted, and when it is over.
 *
 * @module
 */
import type { UpgradeWebSocket } from "hono/ws";
import type { Offstage } from "../../mod.ts";
import type { Logins } from "./logins.ts";
import type { Metrics } from "./metrics.ts";

/** What the routes of one app are made with. */
export interface Service {
  /** The instance. */
  readonly offstage: Offstage;
  /** Lets callers in; routes outside `/v1/` that want a token use `authenticate(logins)`. */
  readonly logins: Logins;
  /** What is counted: streams and terminals say when a viewer comes and goes. */
  readonly metrics: Metrics;
  /** Fires when the server is about to end: streams close then. It never fires in a test that does not care. */
  readonly closing: AbortSignal;
  /** The runtime's WebSocket upgrade, if it has one. */
  readonly upgrade: UpgradeWebSocket | undefined;
}
