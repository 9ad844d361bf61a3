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
  const serveOn = (port: number): DenoServer =>
    Deno.serve({ hostname, port, signal: cut.signal, onListen: () => {} }, answer);
  const server = serveOn(port);
  const listening = keepListening(server, () => serveOn(server.addr.port), cut.signal);
  // Not `shutdown`: it waits for requests that never come whole, and what is cut while it waits is an uncaught error
  const close = async (): Promise<void> => {
    await finish(Promise.allSettled(underWay));
    cut.abort();
    await listening;
  };
  return Promise.resolve({ port: server.addr.port, close });
};

/** Pause before listening again, ms: what was lacking may be there by then. */
const AGAIN_AFTER_MS = 100;

/**
 * Deno gives up listening when a connection cannot be taken, be it for want of a descriptor at that moment. Then it is
 * begun again, until `cut`.
 */
async function keepListening(first: DenoServer, again: () => DenoServer, cut: AbortSignal): Promise<void> {
  for (let server: DenoServer | undefined = first; !cut.aborted;) {
    try {
      server ??= again();
      await server.finished;
      return;
    } catch {
      server = undefined;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
    }
  }
}
