/**
 * Listening on Deno.
 *
 * @module
 */
import { upgradeWebSocket } from "hono/deno";
import type { Listen } from "./server.ts";

/** The part of `Deno.serve` that is used here. */
interface DenoGlobal {
  serve(
    options: object,
    handler: unknown,
  ): { readonly addr: { readonly port: number }; readonly finished: Promise<void> };
}

/** Listens with `Deno.serve`. */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const app = makeApp(upgradeWebSocket);
  const { Deno } = globalThis as unknown as { readonly Deno: DenoGlobal };
  const stop = new AbortController();
  const server = Deno.serve({ hostname, port, signal: stop.signal, onListen: () => {} }, app.fetch);
  const close = async (): Promise<void> => {
    stop.abort();
    await server.finished;
  };
  return Promise.resolve({ port: server.addr.port, close });
};
