/**
 * The queue of what a log holds: runs of bytes in the order of their offsets, added behind and removed in front.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import type { TextSize } from "./scan.ts";
import type { Segment } from "./segments.ts";
import { createSmallChunks, SMALL_CHUNK_BYTES, type Store } from "./small_chunks.ts";

/** A run of one stream's bytes inside a store. */
export interface Piece {
  /** Where the bytes came from. */
  readonly stream: StreamName;
  /** Absolute offset of the first byte in the log. */
  readonly at: number;
  /** The memory they lie in. */
  readonly store: Store;
  /** First byte in that memory. */
  readonly offset: number;
  /** Bytes; grows while small chunks are put behind each other. */
  readonly length: number;
  /** Code points. */
  readonly chars: number;
  /** Line feeds. */
  readonly lines: number;
}

/** Pieces in the order of their offsets, without gaps. */
export interface PieceQueue {
  /** Number of pieces. */
  readonly length: number;
  /** The piece at an index, 0 being the oldest. */
  at(index: number): Piece | undefined;
  /** Adds bytes of known size behind: a piece of their own, or more of the newest piece. */
  push(stream: StreamName, at: number, bytes: Uint8Array, size: TextSize): void;
  /** Removes the oldest piece. */
  shift(): void;
  /** Index of the piece that contains an offset; `length` past the end, 0 before the start. */
  indexAt(offset: number): number;
}

/** Removed places at the front are cleared out once there are this many, and more of them than pieces. */
const CLEAR_FROM = 64;

/** Creates an empty queue. */
export function createPieceQueue(): PieceQueue {
  const pieces: Piece[] = [];
  const small = createSmallChunks();
  let removed = 0;

  function push(stream: StreamName, at: number, bytes: Uint8Array, size: TextSize): void {
    const { store, offset } = bytes.length < SMALL_CHUNK_BYTES
      ? small.put(bytes)
      : { store: { bytes: own(bytes) }, offset: 0 };
    const last = pieces.length > removed ? pieces.at(-1) : undefined;
    if (last !== undefined && last.stream === stream && last.store === store && last.offset + last.length === offset) {
      pieces[pieces.length - 1] = {
        ...last,
        length: last.length + bytes.length,
        chars: last.chars + size.chars,
        lines: last.lines + size.lines,
      };
    } else {
      pieces.push({ stream, at, store, offset, length: bytes.length, ...size });
    }
  }

  function shift(): void {
    removed++;
    if (removed >= CLEAR_FROM && removed * 2 > pieces.length) {
      pieces.splice(0, removed);
      removed = 0;
    }
  }

  function indexAt(offset: number): number {
    let low = removed;
    let high = pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const piece = pieces[middle] as Piece;
      if (piece.at + piece.length <= offset) low = middle + 1;
      else high = middle;
    }
    return low - removed;
  }

  return {
    get length() {
      return pieces.length - removed;
    },
    at: (index) => pieces[removed + index],
    push,
    shift,
    indexAt,
  };
}

/** The bytes of a piece from one place in it to another. */
export function segmentOf(piece: Piece, from = 0, to: number = piece.length): Segment {
  return {
    stream: piece.stream,
    at: piece.at + from,
    bytes: piece.store.bytes.subarray(piece.offset + from, piece.offset + to),
  };
}

/** A chunk that is a small part of a big buffer would keep all of the buffer alive. */
function own(bytes: Uint8Array): Uint8Array {
  return bytes.length * 2 < bytes.buffer.byteLength ? bytes.slice() : bytes;
}
