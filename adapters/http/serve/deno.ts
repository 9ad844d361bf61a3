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
}

/** What Deno's server says of a request. */
interface RequestInfo {
  readonly remoteAddr?: { readonly hostname?: string };
  /** Settles once the answer has been sent, or cannot be. */
  readonly completed: Promise<void>;
}

/**
 * Listens with `Deno.serve`. Unless it runs with `--unstable-no-legacy-abort`, Deno says once that a request's signal
 * fires after the answer too; nothing here minds that.
 */
export const listen: Listen = (makeApp, { hostname, port }) => {
  const clientAddress = (_: Request, env: unknown): string | undefined => (env as RequestInfo).remoteAddr?.hostname;
  const app = makeApp({ upgradeWebSocket, clientAddress });
  const { Deno } = globalThis as unknown as { readonly Deno: DenoGlobal };
  const cut = new AbortController();
  const underWay = new Set<Promise<void>>();
  const answer = (request: Request, info: RequestInfo): Response | Promise<Response> => {
    const { completed } = info;
    const done = (): void => void underWay.delete(completed);
    underWay.add(completed);
    completed.then(done, done);
    return app.fetch(request, info);
  };
  const server = Deno.serve({ hostname, port, signal: cut.signal, onListen: () => {} }, answer);
  // Not `shutdown`: it waits for requests that never come whole, and what is cut while it waits is an uncaught error
  const close = async (): Promise<void> => {
    await finish(Promise.allSettled(underWay));
    cut.abort();
    await server.finished;
  };
  return Promise.resolve({ port: server.addr.port, close });
};
