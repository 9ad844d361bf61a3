/**
 * A listening server, whatever the runtime.
 *
 * @module
 */
import type { HttpApp, WebSocketUpgrade } from "../app.ts";

/** Where to listen. */
export interface ListenOptions {
  /** The address to bind, e.g. `127.0.0.1`. */
  readonly hostname: string;
  /** The port; 0 is any that is free. */
  readonly port: number;
}

/** A server that listens. */
export interface HttpServer {
  /** The port it listens on. */
  readonly port: number;
  /** Takes no more connections and cuts those there are; resolves when all are gone. */
  close(): Promise<void>;
}

/** Listens on this runtime; the app is made once its WebSocket upgrade is known. */
export type Listen = (
  makeApp: (upgradeWebSocket: WebSocketUpgrade) => HttpApp,
  options: ListenOptions,
) => Promise<HttpServer>;
