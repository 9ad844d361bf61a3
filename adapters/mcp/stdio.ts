/**
 * The protocol over stdin and stdout: one client, for as long as stdin is open.
 *
 * @module
 */
import type { Agent } from "../../mod.ts";
import { type Connection, makeConnection } from "./connection.ts";
import type { McpOptions } from "./options.ts";
import { loadSdk, loadStdioSdk } from "./sdk.ts";

/** A client that is served. */
export interface StdioService {
  /** Resolves once the client has gone, or the service was closed. */
  readonly closed: Promise<void>;
  /** Ends the service. */
  close(): Promise<void>;
}

/** Serves the client at stdin and stdout. */
export async function serveStdio(agent: Agent, options: McpOptions): Promise<StdioService> {
  const [sdk, stdio] = await Promise.all([loadSdk(), loadStdioSdk()]);
  const room = { waiting: 0 };
  let connection: Connection | undefined; // the client's probe has one of its own, which is thrown away
  const transport = new stdio.StdioServerTransport();
  const handle = stdio.serveStdio(
    () => {
      connection = makeConnection({ ...options, agent, sdk, room });
      return connection.server;
    },
    { transport, ...(options.onError !== undefined && { onerror: options.onError }) },
  );
  const { onmessage, onclose } = transport;
  transport.onmessage = (message) => {
    onmessage?.(message);
    noteSubscription(message, () => connection);
  };
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  return { closed, close: () => handle.close() };
}

/** Clients of 2026-07-28 ask for changes by a request that the protocol's package answers without asking the instance. */
function noteSubscription(message: object, connection: () => Connection | undefined): void {
  if (!("method" in message)) return;
  const { method, id, params } = message as {
    readonly method: unknown;
    readonly id?: unknown;
    readonly params?: {
      readonly requestId?: unknown;
      readonly notifications?: { readonly resourceSubscriptions?: unknown };
    };
  };
  if (method === "notifications/cancelled") connection()?.logs.close(params?.requestId);
  const uris = params?.notifications?.resourceSubscriptions;
  if (method !== "subscriptions/listen" || !Array.isArray(uris)) return;
  connection()?.logs.open(id, uris.filter((uri) => typeof uri === "string"));
}
