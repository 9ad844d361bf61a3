/**
 * A listening server, whatever the runtime.
 *
 * @module
 */
import type { HttpApp, HttpHost } from "../app.ts";

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
  /** Takes no more connections, lets answers under way be read for {@linkcode FINISH_MS}, and cuts what is left. */
  close(): Promise<void>;
}

/** Listens on this runtime; the app is made once it is known what this runtime's server can tell. */
export type Listen = (makeApp: (host: HttpHost) => HttpApp, options: ListenOptions) => Promise<HttpServer>;

/** How long answers under way may take to be read once a server closes, ms. */
export const FINISH_MS = 1_000;

/**
 * Waits for an end, at most {@linkcode FINISH_MS}.
 *
 * @returns whether it has come
 */
export async function finish(ending: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const bound = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), FINISH_MS);
  });
  const inTime = await Promise.race([ending.then(() => true), bound]);
  clearTimeout(timer);
  return inTime;
}
