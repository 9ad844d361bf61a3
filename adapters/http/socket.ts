/**
 * A WebSocket on the server's side, the same on every runtime: what is sent, and what has not gone out yet.
 *
 * @module
 */
import type { WSContext } from "hono/ws";

/** With so much unsent there is still room for more, bytes: a key's echo does not wait for the one before. */
export const ROOM_BYTES = 4_096;

/** One WebSocket. Its methods are safe to call after its end. */
export interface Socket {
  /** Sends text as JSON, or bytes as they are. */
  send(message: object | Uint8Array): void;
  /** Closes it, once what was sent has gone out. */
  close(code: number, reason: string): void;
  /** Bytes that have not been handed to the operating system yet. */
  unsent(): number;
}

/** What tells how much has not been sent: `ws` and Deno have the one, Bun has the other. */
interface Raw {
  readonly bufferedAmount?: number;
  getBufferedAmount?(): number;
}

/** `WebSocket.OPEN`. */
const OPEN = 1;

/** The socket of a connection that Hono has upgraded. */
export function socketOf(context: WSContext): Socket {
  const raw = context.raw as Raw;
  return {
    send: (message) => {
      if (context.readyState !== OPEN) return;
      context.send(message instanceof Uint8Array ? message as Uint8Array<ArrayBuffer> : JSON.stringify(message));
    },
    close: (code, reason) => {
      if (context.readyState === OPEN) context.close(code, reason);
    },
    unsent: () => raw.getBufferedAmount?.() ?? raw.bufferedAmount ?? 0,
  };
}
