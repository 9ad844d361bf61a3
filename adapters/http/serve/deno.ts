/**
 * Listening on Deno.
 *
 * @module
 */
import { upgradeWebSocket } from "hono/deno";
import { finish, type Listen } from "./server.ts";

/** The part of `Deno.serve` that is used here. */
interface DenoGlobal {
  serve(options: object, handler: unknown): DenoServer;
}

/** The part of Deno's server that is used here. */
interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/**
 * Listens with `Deno.serve`. Unless it runs with `--unstable-no-legacy-abort`, Deno says once that a request's signal
 * fires after the answer too; nothing here minds that.
 */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const clientAddress = (_: Request, env: unknown): string | undefined =>
    (env as { readonly remoteAddr?: { readonly hostname?: string } }).remoteAddr?.hostname;
  const app = makeApp({ upgradeWebSocket, clientAddress });
  const { Deno } = globalThis as unknown as { readonly Deno: DenoGlobal };
  const cut = new AbortController();
  const server = Deno.serve({ hostname, port, signal: cut.signal, onListen: () => {} }, app.fetch);
  const close = async (): Promise<void> => {
    const closed = server.shutdown();
    if (!await finish(closed)) cut.abort();
    await closed;
    await server.finished;
  };
  return Promise.resolve({ port: server.addr.port, close });
};
