/**
 * A session in both directions, over a WebSocket.
 *
 * @module
 */
import type { Outcome, TerminalSize } from "../../../mod.ts";
import { aborted, ClientError } from "./error.ts";

/** What a socket's listeners are given, as far as it is used. */
export interface ClientSocketEvent {
  /** A message's content: text or bytes. */
  readonly data?: unknown;
  /** Why it was closed, as a number. */
  readonly code?: number;
  /** The same in words. */
  readonly reason?: string;
}

/** The part of `WebSocket` that is used. */
export interface ClientSocket {
  /** Set to `arraybuffer`. */
  binaryType: string;
  /** Bytes that were given to `send` and are not on their way yet. */
  readonly bufferedAmount: number;
  /** Sends a frame. */
  send(data: string | Uint8Array<ArrayBuffer>): void;
  /** Closes it. */
  close(): void;
  /** Listens to `open`, `message`, `close` or `error`. */
  addEventListener(type: string, listener: (event: ClientSocketEvent) => void): void;
}

/** What makes a socket: the global `WebSocket`, or that of the package `ws`. */
export type ClientSocketConstructor = new (url: string, protocols: string[]) => ClientSocket;

/** What the server says first. */
export interface AttachHello {
  /** The session. */
  readonly sessionId: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** Whether it has a terminal. */
  readonly pty: boolean;
  /** Columns of its terminal; absent or null for pipes. */
  readonly cols?: number | null;
  /** Rows of its terminal; absent or null for pipes. */
  readonly rows?: number | null;
  /** Offset of the first byte that comes. */
  readonly start: number;
  /** Whether what you type is ignored. */
  readonly readonly: boolean;
}

/** How an attachment ended. */
export type AttachEnd =
  | { /** The session has ended. */ readonly why: "exit"; /** How. */ readonly exit: Outcome }
  | { /** The session is not kept any more. */ readonly why: "gone" }
  | { /** You have left: the session goes on. */ readonly why: "detached" }
  | {
    /** The connection broke: the session goes on, attach again. */ readonly why: "lost";
    /** What is known of the reason. */ readonly message: string;
  };

/** How to attach to a session; the callbacks are called in the order of what comes. */
export interface AttachOptions {
  /** Only look: nothing is sent to the session. @default {false} */
  readonly readonly?: boolean;
  /** Columns the terminal is given at once, with `rows`. Default: it keeps its size. */
  readonly cols?: number;
  /** Rows the terminal is given at once, with `cols`. */
  readonly rows?: number;
  /** Offset to begin at. Default: everything that is held. */
  readonly since?: number;
  /** Leaves the session, as `detach` does. */
  readonly signal?: AbortSignal | undefined;
  /** Takes the session's output, bytes as they come. */
  readonly onData: (bytes: Uint8Array) => void;
  /** Hears that output from one offset to another is missing: it is not held any more, or you were too slow. */
  readonly onGap?: (gap: { readonly from: number; readonly to: number }) => void;
  /** Hears that the terminal has another size, whoever changed it. */
  readonly onResize?: (size: TerminalSize) => void;
  /** Hears that something you sent was refused, and why. */
  readonly onError?: (error: ClientError) => void;
  /** Hears of the session's end, after its last output. */
  readonly onExit?: (exit: Outcome) => void;
}

/** An open line to a session. */
export interface Attachment {
  /** What the server said first. */
  readonly hello: AttachHello;
  /** Types text or bytes. What comes after the end is dropped. */
  write(data: string | Uint8Array): void;
  /** Gives the terminal another size. */
  resize(cols: number, rows: number): void;
  /** Leaves; the session goes on. */
  detach(): void;
  /** Bytes typed that are not on their way yet: stop reading their source while there are many. */
  readonly unsent: number;
  /** How it ended; never rejects. */
  readonly ended: Promise<AttachEnd>;
}

/** The text frames of the server. */
type Control =
  | ({ readonly type: "hello" } & AttachHello)
  | { readonly type: "gap"; readonly from: number; readonly to: number }
  | { readonly type: "resize"; readonly cols: number; readonly rows: number }
  | { readonly type: "exit"; readonly exit: Outcome }
  | { readonly type: "error"; readonly code: string; readonly message?: string }
  | { readonly type: "ping" };

/** What is refused before a session is shown: closed with 4000 and the status that a request would have got. */
const REFUSALS: Readonly<Record<number, readonly [code: string, message: string]>> = {
  401: ["unauthorized", "No valid token"],
  404: ["unknown-session", "No such session"],
  429: ["throttled", "Too many failed logins"],
};

/** Opens a line to a session; see {@linkcode AttachOptions}. */
export function openAttachment(
  Socket: ClientSocketConstructor,
  url: string,
  token: string,
  options: AttachOptions,
): Promise<Attachment> {
  const { readonly: isReadonly = false, cols, rows, since, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(aborted(signal));
    const socket = new Socket(url, ["offstage.v1"]);
    socket.binaryType = "arraybuffer";
    let settle = (_end: AttachEnd): void => {};
    const ended = new Promise<AttachEnd>((done) => settle = done);
    let attachment: Attachment | undefined;
    let known: AttachEnd | undefined;

    const send = (data: string | Uint8Array<ArrayBuffer>): void => {
      if (known === undefined) socket.send(data);
    };
    const detach = (): void => {
      known ??= { why: "detached" };
      socket.close();
      finish(1000, "");
    };
    const finish = (code: number, reason: string): void => {
      signal?.removeEventListener("abort", detach);
      if (attachment === undefined) return reject(signal?.aborted ? aborted(signal) : refused(url, code, reason));
      settle(known ?? (code === 4404 ? { why: "gone" } : { why: "lost", message: reason || `close code ${code}` }));
    };
    const begin = (hello: AttachHello): void => {
      attachment = {
        hello,
        write: (data) => send(Uint8Array.from(typeof data === "string" ? new TextEncoder().encode(data) : data)),
        resize: (cols, rows) => send(JSON.stringify({ type: "resize", cols, rows })),
        detach,
        get unsent() {
          return socket.bufferedAmount;
        },
        ended,
      };
      resolve(attachment);
    };
    const control = (message: Control): void => {
      if (message.type === "hello") begin(message);
      else if (message.type === "gap") options.onGap?.({ from: message.from, to: message.to });
      else if (message.type === "resize") options.onResize?.({ cols: message.cols, rows: message.rows });
      else if (message.type === "error") options.onError?.(complaint(message.code, message.message));
      else if (message.type === "exit") {
        known ??= { why: "exit", exit: message.exit };
        options.onExit?.(message.exit);
      }
    };

    signal?.addEventListener("abort", detach, { once: true });
    socket.addEventListener("open", () => {
      send(JSON.stringify({ type: "auth", token, since, cols, rows, readonly: isReadonly }));
    });
    socket.addEventListener("message", ({ data }) => {
      if (known?.why === "detached") return;
      if (typeof data === "string") control(JSON.parse(data) as Control);
      else options.onData(new Uint8Array(data as ArrayBuffer));
    });
    socket.addEventListener("error", () => {}); // a close follows
    socket.addEventListener("close", ({ code = 1006, reason = "" }) => finish(code, reason));
  });
}

function refused(url: string, closeCode: number, reason: string): ClientError {
  const status = closeCode - 4_000;
  if (status >= 400 && status < 500) {
    const [code, message] = REFUSALS[status] ?? ["refused", `Refused with close code ${closeCode}`];
    return new ClientError({
      code,
      status,
      message: reason === "" || reason === message ? message : `${message}: ${reason}`,
    });
  }
  return new ClientError({
    code: "unreachable",
    message: `Cannot attach at ${url}: ${reason || `the connection was closed with code ${closeCode}`}`,
    hint: "Is the server running there, and can it attach? GET /healthz tells",
  });
}

function complaint(code: string, message: string | undefined): ClientError {
  return new ClientError({ code, message: message ?? `The server refused: ${code}` });
}
