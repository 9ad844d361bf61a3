/**
 * The border between what a log has dropped and what it shows, to the character.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { type Piece, type PieceQueue, segmentOf } from "./pieces.ts";
import { measure } from "./scan.ts";
import { afterCharacters } from "./utf8.ts";

/** Bytes, and line feeds among them. */
export interface Tally {
  /** Bytes. */
  bytes: number;
  /** Line feeds. */
  lines: number;
}

/** A tally for each stream. */
export type StreamTallies = Readonly<Record<StreamName, Readonly<Tally>>>;

/** No bytes. */
export const NOTHING: Readonly<Tally> = { bytes: 0, lines: 0 };

/** Where what is shown begins. */
export interface Cut {
  /** Absolute offset of the oldest byte that is shown. */
  readonly start: number;
  /** Line feeds before it in the log. */
  readonly line: number;
  /** Index of the piece in which `start` lies. */
  readonly index: number;
  /** What of that piece is before `start`. */
  readonly hidden: Readonly<Tally>;
  /** What is before `start`, by stream. */
  readonly before: StreamTallies;
}

/**
 * Finds the place after the oldest `excess` code points of a queue.
 *
 * @param excess none, if it is not positive
 * @param removed what was before the first piece of the queue
 */
export function findCut(queue: PieceQueue, excess: number, removed: StreamTallies): Cut {
  const before = { stdout: { ...removed.stdout }, stderr: { ...removed.stderr }, terminal: { ...removed.terminal } };
  let left = excess;
  for (let index = 0;; index++) {
    const piece = queue.at(index);
    if (piece === undefined) return { start: queue.end, line: queue.lines, index, hidden: NOTHING, before };
    if (left < piece.chars) {
      const hidden = left > 0 ? frontOf(piece, left) : NOTHING;
      add(before[piece.stream], hidden.bytes, hidden.lines);
      return { start: piece.at + hidden.bytes, line: piece.line + hidden.lines, index, hidden, before };
    }
    add(before[piece.stream], piece.length, piece.lines);
    left -= piece.chars;
  }
}

/** Adds to a tally. */
export function add(tally: Tally, bytes: number, lines: number): void {
  tally.bytes += bytes;
  tally.lines += lines;
}

/** The first `chars` code points of a piece. */
function frontOf(piece: Piece, chars: number): Tally {
  const { bytes } = segmentOf(piece);
  // As many code points as bytes: each is one byte.
  const length = piece.chars === piece.length ? chars : afterCharacters(bytes, chars);
  return { bytes: length, lines: measure(bytes.subarray(0, length)).lines };
}
