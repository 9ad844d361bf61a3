/**
 * Listening on Bun.
 *
 * @module
 */
import { upgradeWebSocket, websocket } from "hono/bun";
import { finish, type Listen } from "./server.ts";

/** The part of `Bun.serve` that is used here. */
interface BunGlobal {
  serve(options: object): BunServer;
}

/** The part of Bun's server that is used here. */
interface BunServer {
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  stop(force: boolean): Promise<void>;
}

/** Listens with `Bun.serve`; its cut of idle connections after 10 s is off, or no long poll would live. */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const clientAddress = (request: Request, env: unknown): string | undefined =>
    (env as BunServer).requestIP(request)?.address;
  const app = makeApp({ upgradeWebSocket, clientAddress });
  const { Bun } = globalThis as unknown as { readonly Bun: BunGlobal };
  const server = Bun.serve({ fetch: app.fetch, websocket, hostname, port, idleTimeout: 0 });
  const close = async (): Promise<void> => {
    await finish(server.stop(false));
    await server.stop(true);
  };
  return Promise.resolve({ port: server.port, close });
};
