/**
 * A session on a WebSocket: its bytes, its size and its end, as fast as the other side takes them.
 *
 * @module
 */
import type { SessionView, TerminalSize } from "../../mod.ts";
import type { Encode, Frame } from "./frames.ts";
import { ROOM_BYTES, type Socket } from "./socket.ts";
import type { Streams } from "./streams.ts";
import { createViewer, type Step } from "./viewer.ts";

/** How a viewer wants to see a session. */
export interface Wish {
  /** Offset from which on he wants its bytes. */
  readonly since: number;
  /** Whether he only looks. */
  readonly readonly: boolean;
}

/** While something is under way it is looked at after that time, ms, and after twice as long while nothing moves. */
const FIRST_LOOK_MS = 2;

/** Longest time between two looks, ms. */
const LAST_LOOK_MS = 320;

/** Bytes of the longest character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;

const asBytes: Encode = ({ bytes }) => bytes;

/**
 * Shows a session until it ends, the server closes, or the function that is returned is called.
 *
 * @returns stops it; safe to call twice
 */
export function showOn(socket: Socket, view: SessionView, streams: Streams, { since, readonly }: Wish): () => void {
  const seat = streams.sessions.join(view);
  const viewer = createViewer(seat.viewed, seat.frames(asBytes), since);
  // Bytes are counted from here on, so it is that of the whole character which comes first
  const start = view.read(viewer.position, viewer.position + MAX_CHARACTER_BYTES)[0]?.at ??
    Math.max(view.start, viewer.position);
  let size = sizeAt(view, start);
  let looking: ReturnType<typeof setTimeout> | undefined;
  let lookMs = FIRST_LOOK_MS;
  let lastUnsent = 0;
  let stopped = false;
  let leave = (): void => {};

  function stop(): void {
    stopped = true;
    clearTimeout(looking);
    seat.leave();
    leave();
  }

  /** Whether there is room; if not, it goes on when there is. */
  function hasRoom(): boolean {
    const unsent = socket.unsent();
    if (unsent <= ROOM_BYTES) {
      lookMs = FIRST_LOOK_MS;
      return true;
    }
    lookMs = unsent < lastUnsent ? FIRST_LOOK_MS : Math.min(2 * lookMs, LAST_LOOK_MS);
    lastUnsent = unsent;
    looking = setTimeout(proceed, lookMs);
    return false;
  }

  function proceed(): void {
    while (!stopped && hasRoom()) {
      tellSize(sizeAt(view, viewer.position));
      const step = viewer.next();
      if (step === undefined) return seat.wait(proceed);
      give(step);
    }
  }

  function tellSize(now: Partial<TerminalSize>): void {
    const { cols, rows } = size;
    size = now;
    if (size.cols !== cols || size.rows !== rows) socket.send({ type: "resize", ...size });
  }

  /** What a program drew for one size is not drawn on another: each change is told between the bytes it came between. */
  function sendFrame({ from, to, bytes }: Frame): void {
    let at = from;
    for (const change of view.sizes) {
      if (change.at <= at || change.at >= to) continue;
      socket.send(bytes.subarray(at - from, change.at - from));
      tellSize(sizeAt(view, change.at));
      at = change.at;
    }
    socket.send(at === from ? bytes : bytes.subarray(at - from));
  }

  function give(step: Step): void {
    switch (step.kind) {
      case "frame":
        return sendFrame(step.frame);
      case "gap":
        // Before the gap is told: whoever counts bytes goes on from its end
        if (view.pty) socket.send(seat.restoring(step.to));
        return socket.send({ type: "gap", from: step.from, to: step.to });
      case "end":
        stop();
        if (step.outcome === undefined) return socket.close(4404, "the session is not kept any more");
        socket.send({ type: "exit", exit: step.outcome });
        return socket.close(1000, "the session has ended");
    }
  }

  leave = streams.add("attach", {
    ping: () => {
      if (socket.unsent() <= ROOM_BYTES) socket.send({ type: "ping" });
    },
    close: () => {
      stop();
      socket.close(1001, "the server closes");
    },
  });
  const { sessionId, name, pty } = view;
  socket.send({ type: "hello", sessionId, name, pty, ...size, start, readonly });
  proceed();
  return stop;
}

/** The size its terminal had when the output had come to an offset; nothing for pipes. */
function sizeAt({ sizes }: SessionView, offset: number): Partial<TerminalSize> {
  const size = sizes.findLast(({ at }) => at <= offset) ?? sizes[0];
  return size === undefined ? {} : { cols: size.cols, rows: size.rows };
}
