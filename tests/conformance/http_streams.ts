/**
 * Clients of the streams over HTTP, as plain as they can be, so that it is the server that is tested.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createConnection, type Socket } from "node:net";
import { createHttpApp } from "../../adapters/http.ts";
import { listenHere } from "../../adapters/http/serve/auto.ts";
import type { Agent, ExecParams, Offstage, RunningDetails } from "../../mod.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";

/** A served instance of which is known how many watch its sessions. */
export interface Watched extends Served {
  /** Listeners on sessions and on events. */
  watchers(): number;
}

/** Like `serveHttp`, with watchers counted. */
export async function serveWatched(): Promise<Watched> {
  const inner = await serveHttp();
  let count = 0;
  const counted = (stop: () => void): () => void => {
    count += 1;
    return () => {
      count -= 1;
      stop();
    };
  };
  const watched = (agent: Agent): Agent => ({
    ...agent,
    events: { ...agent.events, subscribe: (take) => counted(agent.events.subscribe(take)) },
    session: (id) => {
      const view = agent.session(id);
      if (view === undefined) return undefined;
      return Object.create(view, { watch: { value: (listener: () => void) => counted(view.watch(listener)) } });
    },
  });
  const offstage: Offstage = { ...inner.offstage, agent: (scope) => watched(inner.offstage.agent(scope)) };
  const listen = await listenHere();
  const tokens = new Map([[TOKENS.one, "one"]]);
  const outer = await listen((host) => createHttpApp(offstage, { tokens, ...host }), {
    hostname: "127.0.0.1",
    port: 0,
  });
  const url = `http://127.0.0.1:${outer.port}`;
  return {
    ...inner,
    url,
    request: (path, init = {}) =>
      fetch(url + path, { ...init, headers: { authorization: `Bearer ${TOKENS.one}`, ...init.headers } }),
    watchers: () => count,
    close: async () => {
      await inner.close();
      await outer.close();
    },
  };
}

/** Starts a command in the background of scope `one`; its id. */
export async function start(served: Served, params: ExecParams): Promise<string> {
  const { details } = await served.offstage.agent("one").exec({ background: true, ...params });
  return (details as RunningDetails).sessionId;
}

/** Resolves as soon as `met`, asked again and again; the test's own time limit is its bound. */
export async function eventually(met: () => boolean | Promise<boolean>): Promise<void> {
  while (!await met()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const decoder = new TextDecoder();

/** One event as it came; a comment has only `comment`. */
export interface Received {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
  readonly comment?: string;
}

/** Data of the events of a session's output. */
export interface OutputData {
  readonly offset: number;
  readonly stream: string;
  readonly text?: string;
  readonly base64?: string;
}

/** A stream of events that is being read. */
export interface Reading {
  readonly response: Response;
  /** The next event or comment; `undefined` at the end. */
  next(): Promise<Received | undefined>;
  /** The next event that is no comment. */
  event(): Promise<Received | undefined>;
  /** All events to the end. */
  rest(): Promise<readonly Received[]>;
  /** Goes away. */
  leave(): Promise<void>;
}

/** Opens a stream with the token of scope `one`, unless `headers` has another. */
export async function readEvents(
  served: Served,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reading> {
  const away = new AbortController();
  const response = await served.request(path, { headers, signal: away.signal });
  const body = response.body;
  if (body === null) throw new Error(`no body, status ${response.status}`);
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";

  async function next(): Promise<Received | undefined> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        return parsed(block);
      }
      const { done, value } = await reader.read();
      if (done) return undefined;
      text += decoder.decode(value, { stream: true });
    }
  }

  async function event(): Promise<Received | undefined> {
    let received = await next();
    while (received?.comment !== undefined) received = await next();
    return received;
  }

  return {
    response,
    next,
    event,
    rest: async () => {
      const all: Received[] = [];
      for (let received = await event(); received !== undefined; received = await event()) all.push(received);
      return all;
    },
    leave: async () => {
      away.abort();
      await reader.cancel().catch(() => {});
    },
  };
}

function parsed(block: string): Received {
  if (block.startsWith(":")) return { comment: block.slice(1).trim() };
  return Object.fromEntries(
    block.split("\n").map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
}

/** The bytes of an `output` event. */
export function bytesOf({ data = "" }: Received): Uint8Array {
  const { text, base64 } = JSON.parse(data) as OutputData;
  if (base64 === undefined) return new TextEncoder().encode(text);
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** A client that asks for a stream and reads only when it is told to. */
export function lazyClient(served: Served, path: string): Socket {
  const { hostname, port } = new URL(served.url);
  const socket = createConnection(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  const headers = [`GET ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${TOKENS.one}`];
  socket.write(`${headers.join("\r\n")}\r\n\r\n`);
  return socket;
}

/** Reads everything that such a client was sent, to the end of the response. */
export async function lateReader(client: Socket): Promise<readonly Received[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of client) {
    chunks.push(chunk as Uint8Array);
    if (Buffer.concat(chunks.slice(-2)).subarray(-7).toString() === "\r\n0\r\n\r\n") break;
  }
  client.destroy();
  const text = decoder.decode(Buffer.concat(chunks)); // ASCII, so its lengths are those of the bytes
  let at = text.indexOf("\r\n\r\n") + 4;
  let body = "";
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, lineEnd), 16);
    if (!(length > 0)) break;
    body += text.slice(lineEnd + 2, lineEnd + 2 + length);
    at = lineEnd + 2 + length + 2;
  }
  return body.split("\n\n").slice(0, -1).map(parsed).filter(({ comment }) => comment === undefined);
}

/** A message of the server: text parsed, or bytes. */
export type Message = Uint8Array | { readonly type: string; readonly [key: string]: unknown };

/** An attached client. */
export interface Attached {
  /** Resolves with code and reason once it is closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Everything that came so far, pings left out. */
  readonly messages: readonly Message[];
  /** All bytes that came so far, as text. */
  text(): string;
  /** Resolves as soon as `met`; rejects when the socket is closed before. */
  until(met: () => boolean): Promise<void>;
  send(message: object | Uint8Array | string): void;
  close(): void;
}

/** The parts of a WebSocket that are used here. */
export interface ClientSocket {
  binaryType: string;
  send(data: string | Uint8Array): void;
  close(): void;
  onopen: ((event?: unknown) => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: (() => void) | null;
}

type ClientSocketConstructor = new (url: string, protocols: string | readonly string[]) => ClientSocket;

/** The runtime's own WebSocket; Node 20 has none. */
async function clientSocket(): Promise<ClientSocketConstructor> {
  const { WebSocket } = globalThis as unknown as { readonly WebSocket?: ClientSocketConstructor };
  return WebSocket ?? (await import("ws")).WebSocket as unknown as ClientSocketConstructor;
}

/** Attaches to a session and logs in; `login` is the first message, `{ type: "auth", token }` unless it says otherwise. */
export async function attach(
  served: Served,
  sessionId: string,
  login: Readonly<Record<string, unknown>> | Uint8Array | "none" = {},
  { query = "", protocol = "offstage.v1" }: { readonly query?: string; readonly protocol?: string } = {},
): Promise<Attached> {
  const Constructor = await clientSocket();
  const url = `${served.url.replace("http", "ws")}/v1/sessions/${sessionId}/attach${query}`;
  const socket = new Constructor(url, protocol);
  socket.binaryType = "arraybuffer";
  const messages: Message[] = [];
  const decoder = new TextDecoder();
  let isClosed = false;
  let changed = (): void => {};
  const closed = new Promise<{ readonly code: number; readonly reason: string }>((resolve) => {
    socket.onclose = ({ code, reason }) => {
      isClosed = true;
      changed();
      resolve({ code, reason });
    };
  });
  socket.onerror = () => {};
  socket.onmessage = ({ data }) => {
    const message = typeof data === "string"
      ? JSON.parse(data) as { readonly type: string }
      : new Uint8Array(data as ArrayBuffer);
    if (!(message instanceof Uint8Array) && message.type === "ping") return;
    messages.push(message);
    changed();
  };
  const send = (message: object | Uint8Array | string): void =>
    socket.send(message instanceof Uint8Array || typeof message === "string" ? message : JSON.stringify(message));
  await Promise.race([closed, new Promise<void>((resolve) => socket.onopen = () => resolve())]);
  if (!isClosed && login instanceof Uint8Array) send(login);
  else if (!isClosed && login !== "none") send({ type: "auth", token: TOKENS.one, ...login });
  return {
    closed,
    messages,
    text: () => messages.map((message) => message instanceof Uint8Array ? decoder.decode(message) : "").join(""),
    until: async (met) => {
      while (!met()) {
        if (isClosed) throw new Error(`closed before: ${JSON.stringify(messages)}`);
        await new Promise<void>((resolve) => changed = resolve);
      }
    },
    send,
    close: () => socket.close(),
  };
}

/** The first text message of a type. */
export function ofType(attached: Attached, type: string): Exclude<Message, Uint8Array> | undefined {
  for (const message of attached.messages) {
    if (!(message instanceof Uint8Array) && message.type === type) return message;
  }
  return undefined;
}
