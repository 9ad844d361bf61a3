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

/** Where what is shown begins. */
export interface Cut {
  /** Absolute offset of the oldest byte that is shown. */
  readonly start: number;
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
  let start = before.stdout.bytes + before.stderr.bytes + before.terminal.bytes;
  for (let index = 0;; index++) {
    const piece = queue.at(index);
    if (piece === undefined) return { start, index, hidden: { bytes: 0, lines: 0 }, before };
    if (left < piece.chars) {
      const hidden = left > 0 ? frontOf(piece, left) : { bytes: 0, lines: 0 };
      add(before[piece.stream], hidden.bytes, hidden.lines);
      return { start: piece.at + hidden.bytes, index, hidden, before };
    }
    add(before[piece.stream], piece.length, piece.lines);
    start += piece.length;
    left -= piece.chars;
  }
}

/** Adds to a tally. */
export function add(tally: Tally, bytes: number, lines: number): void {
  tally.bytes += bytes;
  tally.lines += lines;
}

/** Line feeds of one stream, or of all. */
export function linesBefore(tallies: StreamTallies, stream?: StreamName): number {
  if (stream !== undefined) return tallies[stream].lines;
  return tallies.stdout.lines + tallies.stderr.lines + tallies.terminal.lines;
}

/** The first `chars` code points of a piece. */
function frontOf(piece: Piece, chars: number): Tally {
  const { bytes } = segmentOf(piece);
  // As many code points as bytes: each is one byte.
  const length = piece.chars === piece.length ? chars : afterCharacters(bytes, chars);
  return { bytes: length, lines: measure(bytes.subarray(0, length)).lines };
}
