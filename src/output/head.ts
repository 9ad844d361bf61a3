/**
 * Keeps the beginning of a session's output while the log drops it.
 *
 * @module
 */

import { type Piece, type PieceQueue, segmentOf } from "./pieces.ts";
import { endOf, oldest, type Segment } from "./segments.ts";

/** The first characters of a session. */
export interface Head {
  /** Keeps that many code points, from the first one on that can still be had. */
  keep(chars: number): void;
  /** Keeps none, and lets go of what was kept. */
  release(): void;
  /** Takes what it needs of a piece that is about to be removed. */
  rescue(piece: Piece): void;
  /** What is kept, the part of it that is still in the queue included. */
  read(queue: PieceQueue): readonly Segment[];
}

/** Creates a head that keeps nothing. */
export function createHead(): Head {
  let limit = 0;
  let chars = 0;
  let rescued: Segment[] = [];

  return {
    keep(count) {
      limit = count;
    },
    release() {
      limit = 0;
      chars = 0;
      rescued = [];
    },
    rescue(piece) {
      // A gap before it: the beginning went before anybody asked for it to be kept.
      if (chars >= limit || endOf(rescued, 0) !== piece.at) return;
      for (const segment of oldest([segmentOf(piece)], limit - chars)) {
        // A copy: a few characters must not keep a whole chunk alive.
        rescued.push({ ...segment, bytes: segment.bytes.slice() });
      }
      chars += Math.min(piece.chars, limit - chars);
    },
    read(queue) {
      const segments = [...rescued];
      let count = chars;
      for (let index = 0; count < limit; index++) {
        const piece = queue.at(index);
        if (piece === undefined || endOf(segments, 0) !== piece.at) break;
        segments.push(segmentOf(piece));
        count += piece.chars;
      }
      return oldest(segments, limit);
    },
  };
}
