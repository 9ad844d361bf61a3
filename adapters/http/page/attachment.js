/**
 * The live line to one session: its bytes as they come, what is typed, its size and its end; comes back by itself.
 *
 * @module
 */
import { attachAddress } from "./api.js";

const PROTOCOL = "offstage.v1";

/** Waits before another try, ms; the last one for good. */
const RETRY_MS = [250, 1_000, 2_000, 5_000];

/** What is pasted goes in pieces of so many bytes: the server takes no frame of more than 1 MiB. */
const FRAME_BYTES = 65_536;

/** More at a time would be refused in the middle: the server lets 1 MiB wait for a program. */
const MOST_TYPED_BYTES = 1_000_000;

/** Close codes after which trying again would not help. */
const REFUSED = new Map([
  [4401, "unauthorized"],
  [4404, "gone"],
]);

/** @typedef {{ sessionId: string, pty: boolean, cols?: number, rows?: number, start: number, readonly: boolean }} Hello */
/** @typedef {"connecting" | "live" | "lost" | "ended" | "gone" | "unauthorized"} LineState */

/**
 * @typedef {object} Attachment
 * @property {(bytes: Uint8Array<ArrayBuffer>) => void} type
 * @property {(cols: number, rows: number) => void} resize
 * @property {() => void} close
 */

/**
 * @param {string} token
 * @param {string} id
 * @param {object} listener
 * @param {(hello: Hello) => void} listener.hello it is there, or there again
 * @param {(bytes: Uint8Array) => void} listener.output
 * @param {(from: number, to: number) => void} listener.gap bytes that do not come
 * @param {(cols: number, rows: number) => void} listener.resized
 * @param {() => void} listener.ended
 * @param {(message: string) => void} listener.refused what was typed was not taken
 * @param {(state: LineState) => void} listener.state
 * @returns {Attachment}
 */
export function attach(token, id, listener) {
  let failures = 0;
  let closed = false;
  let isOver = false;
  /** Offset after the last byte that has come: where it goes on after a line that was lost. */
  let position = 0;
  /** @type {WebSocket} */
  let socket;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function open() {
    listener.state(failures === 0 ? "connecting" : "lost");
    const mine = socket = new WebSocket(attachAddress(id), PROTOCOL);
    mine.binaryType = "arraybuffer";
    mine.onopen = () => mine.send(JSON.stringify({ type: "auth", token, since: position }));
    mine.onmessage = ({ data }) => {
      if (closed) return;
      if (typeof data === "string") return control(JSON.parse(data));
      position += data.byteLength;
      listener.output(new Uint8Array(data));
    };
    mine.onclose = ({ code }) => {
      if (closed) return;
      const refusal = REFUSED.get(code);
      if (refusal !== undefined) return listener.state(/** @type {LineState} */ (refusal));
      if (isOver) return listener.state("ended");
      listener.state("lost");
      timer = setTimeout(open, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
    };
  }

  /** @param {any} message */
  function control(message) {
    switch (message.type) {
      case "hello":
        failures = 0;
        listener.state("live");
        return listener.hello(message);
      case "gap":
        position = message.to;
        return listener.gap(message.from, message.to);
      case "resize":
        return listener.resized(message.cols, message.rows);
      case "exit":
        isOver = true;
        return listener.ended();
      case "error":
        return listener.refused(message.message ?? message.code);
    }
  }

  /** @param {string | Uint8Array<ArrayBuffer>} frame */
  function send(frame) {
    if (socket.readyState === WebSocket.OPEN) socket.send(frame);
  }

  open();
  return {
    type: (bytes) => {
      if (bytes.length > MOST_TYPED_BYTES) return listener.refused("Nothing was typed: more than 1 MB at a time");
      for (let from = 0; from < bytes.length; from += FRAME_BYTES) send(bytes.subarray(from, from + FRAME_BYTES));
    },
    resize: (cols, rows) => send(JSON.stringify({ type: "resize", cols, rows })),
    close: () => {
      closed = true;
      clearTimeout(timer);
      socket.close(1000);
    },
  };
}
