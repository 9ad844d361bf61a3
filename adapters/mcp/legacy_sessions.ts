/**
 * Clients from before 2026-07-28 over HTTP. They have sessions of the protocol: only so a cancellation finds the call that
 * it is about, and a client is told of changes.
 *
 * @module
 */
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { makeConnection } from "./connection.ts";
import { type InstanceOptions, makeInstance } from "./instance.ts";
import type { Sdk } from "./sdk.ts";

/** The sessions of older clients. */
export interface LegacySessions {
  /** Answers a request of an older client. */
  fetch(request: Request, body: unknown, options: InstanceOptions): Promise<Response>;
  /** Ends all of them. */
  close(): Promise<void>;
}

/** One client. */
interface LegacySession {
  readonly scope: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

/**
 * Sessions a scope may have at the same time. Clients seldom say that they are gone, so the one that has been silent for
 * longest makes room; if it comes back it is told to begin anew, as the protocol has it.
 */
const MOST_SESSIONS = 64;

/** Sessions of all scopes together. */
const MOST_IN_ALL = 1_024;

/** No client has a session yet. */
export function legacySessions(sdk: Sdk, keepAliveMs: number): LegacySessions {
  const sessions = new Map<string, LegacySession>(); // the one that was heard of last is the last one

  async function begin(request: Request, body: unknown, options: InstanceOptions): Promise<Response> {
    const { scope } = options.agent;
    const all = [...sessions.values()];
    const own = all.filter((session) => session.scope === scope);
    if (own.length >= MOST_SESSIONS) await own[0]?.transport.close();
    else if (all.length >= MOST_IN_ALL) await all[0]?.transport.close();
    const { server } = makeConnection(options);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, { scope, transport }),
      keepAliveMs,
    });
    await server.connect(transport);
    const endProtocol = transport.onclose;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId);
      endProtocol?.();
    };
    const response = await transport.handleRequest(request, { parsedBody: body });
    if (transport.sessionId === undefined) await transport.close(); // it was refused
    return response;
  }

  return {
    fetch: async (request, body, options) => {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        if (isInitialize(sdk, body)) return await begin(request, body, options);
        return await sdk.legacyStatelessFallback(() => makeInstance(options), options.onError)(request, {
          parsedBody: body,
        });
      }
      const session = sessions.get(id);
      if (session === undefined || session.scope !== options.agent.scope) return unknownSession();
      sessions.delete(id);
      sessions.set(id, session);
      const response = await session.transport.handleRequest(request, { parsedBody: body });
      endCancelled(session, body);
      return response;
    },
    close: async () => {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

function isInitialize(sdk: Sdk, body: unknown): boolean {
  return (Array.isArray(body) ? body : [body]).some((message) => sdk.isInitializeRequest(message));
}

/** What is cancelled is not answered any more, so nothing else would end the stream that waits for its answer. */
function endCancelled({ transport }: LegacySession, body: unknown): void {
  const { method, params } = (body ?? {}) as {
    readonly method?: unknown;
    readonly params?: { readonly requestId?: unknown };
  };
  const id = params?.requestId;
  if (method !== "notifications/cancelled" || (typeof id !== "string" && typeof id !== "number")) return;
  transport.closeSSEStream(id);
}

/** The same for one that has ended and one of another scope. */
function unknownSession(): Response {
  const error = { code: -32_001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}
