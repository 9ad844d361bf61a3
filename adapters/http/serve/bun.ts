/**
 * Listening on Bun.
 *
 * @module
 */
import { upgradeWebSocket, websocket } from "hono/bun";
import type { Listen } from "./server.ts";

/** The part of `Bun.serve` that is used here. */
interface BunGlobal {
  serve(options: object): { readonly port: number; stop(force: boolean): Promise<void> };
}

/** Listens with `Bun.serve`; its cut of idle connections after 10 s is off, or no long poll would live. */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const app = makeApp(upgradeWebSocket);
  const { Bun } = globalThis as unknown as { readonly Bun: BunGlobal };
  const server = Bun.serve({ fetch: app.fetch, websocket, hostname, port, idleTimeout: 0 });
  return Promise.resolve({ port: server.port, close: () => server.stop(true) });
};
