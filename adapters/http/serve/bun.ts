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
  timeout(request: Request, seconds: number): void;
  requestIP(request: Request): { readonly address: string } | null;
  stop(force: boolean): Promise<void>;
}

/** A connection on which no request has come whole is cut after that time, s. */
const IDLE_SECONDS = 60;

/** Listens with `Bun.serve`; its cut of idle connections is off once there is a request, or no long poll would live. */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const clientAddress = (request: Request, env: unknown): string | undefined =>
    (env as BunServer).requestIP(request)?.address;
  const app = makeApp({ upgradeWebSocket, clientAddress });
  const { Bun } = globalThis as unknown as { readonly Bun: BunGlobal };
  const answer = (request: Request, env: BunServer): Response | Promise<Response> => {
    env.timeout(request, 0);
    return app.fetch(request, env);
  };
  const server = Bun.serve({ fetch: answer, websocket, hostname, port, idleTimeout: IDLE_SECONDS });
  const close = async (): Promise<void> => {
    await finish(server.stop(false));
    await server.stop(true);
  };
  return Promise.resolve({ port: server.port, close });
};
