/**
 * The protocol over HTTP (Streamable HTTP), for clients of 2026-07-28 and older ones.
 *
 * @module
 */
import type { McpHttpHandler, ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import type { Agent } from "../../mod.ts";
import type { CallRoom } from "./call.ts";
import { type InstanceOptions, makeInstance } from "./instance.ts";
import { type LegacySessions, legacySessions } from "./legacy_sessions.ts";
import { watchLogs } from "./log_watch.ts";
import type { McpOptions } from "./options.ts";
import { loadSdk, type Sdk } from "./sdk.ts";

/** Answers requests of the protocol. */
export interface Endpoint {
  /** Answers a request of a client that acts for `agent`. */
  fetch(request: Request, agent: Agent): Promise<Response>;
  /** Ends the streams there are; requests that wait are answered by what ends their sessions. */
  close(): Promise<void>;
}

/** Time between two signs of life in a stream, ms: there are servers and proxies that cut one after 10 s of silence. */
const KEEP_ALIVE_MS = 8_000;

/** Streams of changes that clients of one scope may have open at the same time. */
const MOST_STREAMS = 64;

/** Scopes that are remembered; beyond that those in which nothing is under way are forgotten. */
const MOST_SCOPES = 1_000;

/** What a scope's clients share. */
interface ScopeState {
  /** Their calls. */
  readonly room: CallRoom;
  /** Their streams of changes. */
  readonly streams: Set<McpHttpHandler>;
}

/** Makes an endpoint. It holds nothing between requests but the sessions of older clients and the streams there are. */
export function createEndpoint(options: McpOptions): Endpoint {
  const scopes = new Map<string, ScopeState>();
  let older: LegacySessions | undefined;
  let isClosed = false;

  function stateOf(scope: string): ScopeState {
    const known = scopes.get(scope);
    if (known !== undefined) return known;
    if (scopes.size >= MOST_SCOPES) {
      for (const [name, { room, streams }] of scopes) if (room.waiting + streams.size === 0) scopes.delete(name);
    }
    const state = { room: { waiting: 0 }, streams: new Set<McpHttpHandler>() };
    scopes.set(scope, state);
    return state;
  }

  async function answer(sdk: Sdk, request: Request, instance: InstanceOptions, state: ScopeState): Promise<Response> {
    const body = await bodyOf(sdk, request);
    if (body instanceof Response) return body;
    if (await sdk.isLegacyRequest(request, body)) {
      older ??= legacySessions(sdk, KEEP_ALIVE_MS);
      return await older.fetch(request, body, instance);
    }
    const { onError } = options;
    const handler: McpHttpHandler = sdk.createMcpHandler(() => makeInstance(instance), {
      legacy: "reject",
      responseMode: "sse", // a call may wait for minutes, and is to show signs of life
      keepAliveMs: KEEP_ALIVE_MS,
      maxSubscriptions: state.streams.size < MOST_STREAMS ? 1 : 0,
      bus: changesOf(instance.agent, urisOf(body), () => handler, state.streams),
      ...(onError !== undefined && { onerror: onError }),
    });
    return await handler.fetch(request, { parsedBody: body });
  }

  return {
    fetch: async (request, agent) => {
      const sdk = await loadSdk();
      if (isClosed) return refusal(503, -32_000, "The server is being closed");
      const state = stateOf(agent.scope);
      return await answer(sdk, request, { ...options, agent, sdk, room: state.room }, state);
    },
    close: async () => {
      isClosed = true;
      const streams = [...scopes.values()].flatMap((state) => [...state.streams]);
      await Promise.all([older?.close(), ...streams.map((handler) => handler.close())]);
    },
  };
}

/** The body of a POST as JSON; a refusal if it is none. */
async function bodyOf(sdk: Sdk, request: Request): Promise<unknown> {
  if (request.method !== "POST") return undefined;
  if (!sdk.isJsonContentType(request.headers.get("content-type"))) {
    return refusal(415, -32_000, "Unsupported media type: send application/json");
  }
  const read = await sdk.readRequestBody(request);
  if (read.tooLarge) return refusal(413, -32_000, `Too large: at most ${sdk.DEFAULT_MAX_REQUEST_BODY_SIZE} bytes`);
  try {
    return JSON.parse(read.text);
  } catch {
    return refusal(400, -32_700, "Parse error: the body is not JSON");
  }
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}

/** The logs a request wants to hear of, if it asks for a stream of changes. */
function urisOf(body: unknown): readonly string[] {
  const request = body as { readonly params?: { readonly notifications?: { resourceSubscriptions?: unknown } } } | null;
  const uris = request?.params?.notifications?.resourceSubscriptions;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

/** What feeds a request's stream of changes, from its begin to its end. */
function changesOf(
  agent: Agent,
  uris: readonly string[],
  handler: () => McpHttpHandler,
  streams: Set<McpHttpHandler>,
): ServerEventBus {
  return {
    publish: () => {}, // nobody but us tells changes
    subscribe: (tell: (event: ServerEvent) => void) => {
      const logs = watchLogs(agent, {
        updated: (uri) => tell({ kind: "resource_updated", uri }),
        listChanged: () => tell({ kind: "resources_list_changed" }),
      });
      logs.open("stream", uris);
      streams.add(handler());
      return () => {
        streams.delete(handler());
        logs.stop();
      };
    },
  };
}
