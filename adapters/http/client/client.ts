/**
 * `createClient`: the two tools and the sessions of a server, in the shapes of the library.
 *
 * @module
 */
import type {
  Blocker,
  ExecAnswer,
  ExecParams,
  FailureDetails,
  ListEntry,
  LogDetails,
  NodeInfo,
  ProcessAction,
  ProcessDetails,
  ProcessParams,
  SessionEnd,
  SessionEvent,
  SuspendAnswer,
  ToolAnswer,
} from "../../../mod.ts";
import { type Attachment, type AttachOptions, type ClientSocketConstructor, openAttachment } from "./attach.ts";
import { createConnection, type Fetch } from "./connection.ts";
import { ClientError } from "./error.ts";
import { follow } from "./follow.ts";
import { followOutput, type OutputBytesEvent, type OutputEvent, type OutputOptions } from "./output.ts";

/** Options of {@linkcode createClient}. */
export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:7333`. A path in front of its routes is kept. */
  readonly url: string;
  /** The bearer token: it names the scope. */
  readonly token: string;
  /** With the admin's token: the scope to act as. */
  readonly scope?: string;
  /** Default: the global one. */
  readonly fetch?: Fetch;
  /** Only for {@linkcode Client.attach}. Default: the global one, which Node.js has from version 22 on. */
  readonly WebSocket?: ClientSocketConstructor;
}

/** What a call may bring beside its parameters. */
export interface CallOptions {
  /** Ends the request with a rejection (`aborted`). */
  readonly signal?: AbortSignal | undefined;
}

/** What a call of {@linkcode Client.exec} may bring beside its parameters. */
export interface ClientExecOptions extends CallOptions {
  /**
   * What becomes of a command whose caller goes away, because `signal` fires or the connection breaks, while `exec`
   * waits: `false` sends it to the background, where `sessions()` has it; `true` ends its whole tree.
   *
   * @default {false}
   */
  readonly abortOnDisconnect?: boolean;
}

/** What to read of a log; see the keys of `log` in {@linkcode ProcessParams}. */
export type LogQuery = Pick<ProcessParams, "offset" | "limit" | "stream" | "grep" | "raw" | "bytes" | "since">;

/** Events that you did not get: more came than wait for a client that does not read. */
export interface MissedEvents {
  /** Tells it from other events. */
  readonly type: "gap";
  /** How many. */
  readonly missed: number;
}

/** What keeps a server from being suspended. */
export interface Activity {
  /** How many sessions block; of all scopes for the admin, else of the caller's. */
  readonly active: number;
  /** Those sessions, oldest first. */
  readonly blockers: readonly Blocker[];
}

/**
 * A server, as one token sees it. Each method rejects with a {@linkcode ClientError} if the server refuses or cannot be
 * reached; what the two tools refuse is their answer.
 */
export interface Client {
  /**
   * Runs a command. Answers when it has ended, or `running` after `yieldMs`; see {@linkcode ExecParams}.
   *
   * When `options.signal` fires the call rejects, but the command is not ended: it goes on in the background and
   * `sessions()` has it, unless `abortOnDisconnect` says otherwise. In the library it would be ended.
   */
  exec(params: ExecParams, options?: ClientExecOptions): Promise<ExecAnswer>;
  /** Works with the scope's sessions; see {@linkcode ProcessParams}. When `options.signal` fires nothing is consumed. */
  process<A extends ProcessAction>(
    params: ProcessParams & { readonly action: A },
    options?: CallOptions,
  ): Promise<ToolAnswer<ProcessDetails[A] | FailureDetails>>;
  /** The sessions, newest start first. */
  sessions(options?: CallOptions): Promise<readonly ListEntry[]>;
  /** One session; rejects with `unknown-session` if the token's scope has none of that id. */
  session(sessionId: string, options?: CallOptions): Promise<ListEntry>;
  /** A page of a session's log: its last 200 lines unless `query` says otherwise. */
  log(sessionId: string, query?: LogQuery, options?: CallOptions): Promise<LogDetails>;
  /**
   * A session's output as it comes, from its beginning, until its end. A connection that breaks is made anew and the
   * output goes on where it was, nothing twice; after about a minute without one, or when the server refuses, the loop
   * over it rejects. Reading consumes nothing: it moves no poller's place.
   */
  output(sessionId: string, options: OutputOptions & { readonly bytes: true }): AsyncIterable<OutputBytesEvent>;
  /** The same as text. */
  output(sessionId: string, options?: OutputOptions & { readonly bytes?: false }): AsyncIterable<OutputEvent>;
  /**
   * What happens in the background and no answer has told: first what has not been acknowledged, then what comes. Reconnects
   * as {@linkcode Client.output} does; it has no end, so leave it by `break` or by the signal.
   */
  events(options?: CallOptions): AsyncIterable<SessionEvent | MissedEvents>;
  /** Takes events out of the list of those that are still to be told; answers how many were there. */
  ackEvents(...ids: readonly string[]): Promise<number>;
  /**
   * Opens a line to a session: its bytes in both directions. It does not reconnect.
   *
   * @returns once the server has said hello
   */
  attach(sessionId: string, options: AttachOptions): Promise<Attachment>;
  /** Ends a session if it runs, and forgets it. */
  remove(sessionId: string, options?: CallOptions): Promise<void>;
  /** Ends every session of the scope and forgets it; resolves when each end is confirmed or given up. */
  killAll(options?: CallOptions): Promise<readonly SessionEnd[]>;
  /** The nodes that the token's scope may use, lost ones too. None if the server has no nodes. */
  nodes(options?: CallOptions): Promise<readonly NodeInfo[]>;
  /** Which sessions block a suspension. */
  activity(options?: CallOptions): Promise<Activity>;
  /** Asks whether the server's host may be suspended, and takes a lease of two minutes if so. Admin only. */
  suspend(requestId: string, options?: CallOptions): Promise<SuspendAnswer>;
  /** Gives a lease back; answers whether there was such a lease. Admin only. */
  resume(requestId: string, options?: CallOptions): Promise<boolean>;
}

/**
 * Makes a client. Nothing is sent before its first call. It needs web standards only, so it runs in a browser too.
 *
 * @throws {ClientError} `invalid` if the address is no http address, or the token is blank
 *
 * @example Follow a command on a server
 * ```ts
 * import { createClient } from "offstage/client";
 *
 * async function test(url: string, token: string): Promise<number | null> {
 *   const client = createClient({ url, token });
 *   const { details } = await client.exec({ command: "npm test", background: true });
 *   if (details.status !== "running") return details.exitCode;
 *   for await (const event of client.output(details.sessionId)) {
 *     if (event.type === "output") console.log(event.text);
 *     if (event.type === "end") return event.exit?.exitCode ?? null;
 *   }
 *   return null;
 * }
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const { token, scope } = options;
  const url = baseOf(options.url);
  if (token.trim() === "") throw invalid("the token is blank");
  const connection = createConnection(
    url,
    { authorization: `Bearer ${token}`, ...(scope !== undefined && { "offstage-scope": scope }) },
    options.fetch ?? ((target, init) => globalThis.fetch(target, init)),
  );
  const at = (sessionId: string, rest = ""): string => `/v1/sessions/${encodeURIComponent(sessionId)}${rest}`;

  /** The server is what it says it is: its answers have the types of the library. */
  async function ask<T>(path: string, call: Parameters<typeof connection.ask>[1]): Promise<T> {
    return await connection.ask(path, call) as T;
  }

  async function* events({ signal }: CallOptions): AsyncGenerator<SessionEvent | MissedEvents, void> {
    for await (const { event, data } of follow(connection, { path: "/v1/events", signal })) {
      if (event === "exit" || event === "match") yield JSON.parse(data) as SessionEvent;
      if (event === "gap") yield { type: event, ...JSON.parse(data) as { readonly missed: number } };
    }
  }

  return {
    exec: (params, { signal, abortOnDisconnect } = {}) =>
      ask("/v1/exec", { method: "POST", body: params, query: { abortOnDisconnect }, signal }),
    process: (params, { signal } = {}) => ask("/v1/process", { method: "POST", body: params, signal }),
    sessions: async (options) => (await ask<{ sessions: readonly ListEntry[] }>("/v1/sessions", options)).sessions,
    session: (sessionId, options) => ask(at(sessionId), options),
    log: (sessionId, query, options) => ask(at(sessionId, "/log"), { ...query && { query }, ...options }),
    output: (sessionId: string, outputOptions: OutputOptions = {}) =>
      followOutput(connection, sessionId, outputOptions) as AsyncIterable<never>,
    events: (options = {}) => events(options),
    ackEvents: async (...ids) =>
      (await ask<{ acked: number }>("/v1/events/ack", { method: "POST", body: { ids } })).acked,
    attach: async (sessionId, attachOptions) => {
      const Socket = options.WebSocket ?? (globalThis.WebSocket as ClientSocketConstructor | undefined);
      if (Socket === undefined) {
        throw invalid("this runtime has no WebSocket: give createClient that of the package ws");
      }
      return await openAttachment(
        Socket,
        `${url.replace(/^http/, "ws")}${at(sessionId, "/attach")}`,
        token,
        attachOptions,
      );
    },
    remove: async (sessionId, options) => void await ask(at(sessionId), { method: "DELETE", ...options }),
    killAll: async (options) =>
      (await ask<{ ended: readonly SessionEnd[] }>("/v1/sessions", { method: "DELETE", ...options })).ended,
    nodes: async (options) => (await ask<{ nodes: readonly NodeInfo[] }>("/v1/nodes", options)).nodes,
    activity: (options) => ask("/v1/activity", options),
    suspend: (requestId, options) => ask("/v1/suspend", { method: "POST", body: { requestId }, ...options }),
    resume: async (requestId, options) =>
      (await ask<{ resumed: boolean }>(`/v1/suspend/${encodeURIComponent(requestId)}`, {
        method: "DELETE",
        ...options,
      }))
        .resumed,
  };
}

function baseOf(url: string): string {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) {
    throw invalid(`"${url}" is no address that begins with http:// or https://`);
  }
  const parsed = new URL(url);
  return parsed.origin + parsed.pathname.replace(/\/+$/, "");
}

function invalid(message: string): ClientError {
  return new ClientError({ code: "invalid", message: `Cannot make a client: ${message}` });
}
