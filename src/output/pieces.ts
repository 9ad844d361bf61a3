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
  /** Line feeds before it in the log. */
  readonly line: number;
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
  /** Bytes ever: the offset at which the next piece begins. */
  readonly end: number;
  /** Line feeds ever. */
  readonly lines: number;
  /** The piece at an index, 0 being the oldest. */
  at(index: number): Piece | undefined;
  /** Adds bytes behind: a piece of their own, or more of the newest piece. */
  push(stream: StreamName, bytes: Uint8Array, size: TextSize): void;
  /** Removes the oldest piece. */
  shift(): void;
  /** Index of the first piece that is not before some place; pieces before it must all be. `length` if all are. */
  indexAfter(isBefore: (piece: Piece) => boolean): number;
}

/** A piece while more may be put behind it. */
type Growing<T> = { -readonly [Key in keyof T]: T[Key] };

/** Removed places at the front are cleared out once there are this many, and more of them than pieces. */
const CLEAR_FROM = 64;

/** Creates an empty queue. */
export function createPieceQueue(): PieceQueue {
  const pieces: Growing<Piece>[] = [];
  const small = createSmallChunks();
  let removed = 0;
  let end = 0;
  let lines = 0;

  function push(stream: StreamName, bytes: Uint8Array, size: TextSize): void {
    const isSmall = bytes.length < SMALL_CHUNK_BYTES;
    const { store, offset } = isSmall ? small.put(bytes) : { store: { bytes: own(bytes) }, offset: 0 };
    const last = pieces.length > removed ? pieces[pieces.length - 1] : undefined;
    if (last !== undefined && last.stream === stream && last.store === store && last.offset + last.length === offset) {
      last.length += bytes.length;
      last.chars += size.chars;
      last.lines += size.lines;
    } else {
      pieces.push({ stream, at: end, line: lines, store, offset, length: bytes.length, ...size });
    }
    end += bytes.length;
    lines += size.lines;
  }

  function shift(): void {
    removed++;
    if (removed >= CLEAR_FROM && removed * 2 > pieces.length) {
      pieces.splice(0, removed);
      removed = 0;
    }
  }

  function indexAfter(isBefore: (piece: Piece) => boolean): number {
    let low = removed;
    let high = pieces.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(pieces[middle] as Piece)) low = middle + 1;
      else high = middle;
    }
    return low - removed;
  }

  return {
    get length() {
      return pieces.length - removed;
    },
    get end() {
      return end;
    },
    get lines() {
      return lines;
    },
    at: (index) => pieces[removed + index],
    push,
    shift,
    indexAfter,
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
