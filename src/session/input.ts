/**
 * Writing to a session: in order, bounded, and with the truth about what has been taken (spec P31, R5).
 *
 * @module
 */
import { AbortError } from "../errors.ts";
import { typeOn } from "../terminal/typed_line.ts";
import type { Session } from "./session.ts";
import { waitFor } from "./wait.ts";

/** Most bytes that wait for a child that does not read. */
const QUEUE_LIMIT_BYTES = 1_048_576;

/** Without progress for that long a write answers, ms. */
const STALL_MS = 2_000;

/** Bytes handed to the operating system at once, so that progress shows: the capacity of a Linux pipe. */
const PIPE_PIECE_BYTES = 65_536;

/** The same for a terminal: what it holds for a program that reads. */
const TERMINAL_PIECE_BYTES = 4_095;

/** What became of a write. */
export interface WriteResult {
  /** Bytes written or queued. */
  readonly accepted: number;
  /** Bytes of these that the child has not taken yet. */
  readonly queued: number;
  /** Bytes that the operating system has taken for certain; on pipes it may be up to 64 KiB more. */
  readonly taken: number;
  /** Bytes that did not fit the queue any more: the caller goes on from `accepted`. */
  readonly refused: number;
  /** Whether the child will read no more. */
  readonly broken: boolean;
}

/** A session's queue of pieces that go to its stdin one after the other. */
export interface InputQueue {
  /** The byte that was typed last. */
  readonly lastByte: number | undefined;
  /**
   * Appends the terminal's answer to a question of the program. In the middle of a paste it would end or garble that;
   * and where nobody reads any more it is lost.
   */
  answer(bytes: Uint8Array): void;
  /** Appends bytes; resolves with what became of them, at the latest when nothing has moved for two seconds. */
  write(bytes: Uint8Array, signal?: AbortSignal): Promise<WriteResult>;
  /** Closes stdin once everything before has been written. */
  end(): void;
}

/** Makes the queue of a session. */
export function createInputQueue(session: Session): InputQueue {
  const pieces: (Uint8Array | "end")[] = [];
  let queued = 0;
  let taken = 0; // bytes ever taken by the child
  let appended = 0; // bytes ever queued
  let pumping = false;
  let lastByte: number | undefined;
  const pieceBytes = session.facts.pty ? TERMINAL_PIECE_BYTES : PIPE_PIECE_BYTES;

  async function pump(): Promise<void> {
    if (pumping) return;
    pumping = true;
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      try {
        if (piece === "end") {
          await session.child.endInput();
        } else {
          await session.child.write(piece);
          queued -= piece.length;
          taken += piece.length;
          session.lastInputAt = session.clock.monotonic();
        }
      } catch {
        pieces.length = 0;
        queued = 0;
        session.input = "broken";
      }
      session.touch();
    }
    pumping = false;
  }

  function append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(bytes.subarray(at, at + pieceBytes));
    queued += bytes.length;
    appended += bytes.length;
    void pump();
  }

  function type(bytes: Uint8Array): void {
    lastByte = bytes.at(-1);
    if (session.facts.pty) session.typedLine = typeOn(session.typedLine, bytes).length;
    append(bytes);
  }

  /** Waits until `met`, as long as the child keeps taking bytes. */
  async function whileMoving(met: () => boolean, signal: AbortSignal | undefined): Promise<boolean> {
    const done = (): boolean => met() || session.input === "broken" || session.state.kind === "ended";
    for (;;) {
      const before = taken;
      const how = await waitFor(session, () => done() || taken > before, { timeoutMs: STALL_MS, signal });
      if (done()) return true;
      if (how === "timeout") return false;
    }
  }

  return {
    get lastByte() {
      return lastByte;
    },
    answer: (bytes) => {
      if (session.child !== undefined && session.input === "open") append(bytes);
    },
    write: async (bytes, signal) => {
      if (signal?.aborted) throw new AbortError("Nothing was written: the call was aborted", signal.reason);
      const start = appended;
      let accepted = 0;
      let isMoving = true;
      while (isMoving && accepted < bytes.length && session.input === "open") {
        const room = QUEUE_LIMIT_BYTES - queued;
        if (room > 0) {
          const part = bytes.subarray(accepted, accepted + room);
          type(part);
          accepted += part.length;
        } else isMoving = await whileMoving(() => queued < QUEUE_LIMIT_BYTES, signal);
      }
      const goal = appended;
      if (isMoving) await whileMoving(() => taken >= goal, signal);
      const broken = session.input === "broken";
      const left = broken ? 0 : Math.min(accepted, Math.max(0, goal - taken));
      const done = Math.min(accepted, Math.max(0, taken - start));
      return { accepted, taken: done, queued: left, refused: bytes.length - accepted, broken };
    },
    end: () => {
      if (session.input === "open") session.input = "ended";
      pieces.push("end");
      void pump();
    },
  };
}
