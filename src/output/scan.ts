/**
 * Counts lines and characters of a chunk at memory speed: the only work that every byte of output costs.
 *
 * @module
 */

import { countCharacters } from "./character_count.ts";

/** How much text some bytes are. */
export interface TextSize {
  /** Code points; each invalid sequence counts as the one U+FFFD it decodes to. */
  readonly chars: number;
  /** Line feeds. */
  readonly lines: number;
}

const LINE_FEED = 0x0a;
/** Below this many bytes, making a view of words costs more than it saves. */
const WORDS_FROM = 64;

// Four bytes are looked at together in a 32-bit word, one byte a lane.
const LINE_FEEDS = 0x0a0a0a0a;
const LOW_BITS = 0x7f7f7f7f;
const HIGH_BITS = 0x80808080;
const ONES = 0x01010101;
/** A lane counts in 8 bits: after this many words the lanes are added up. */
const LANE_LIMIT = 255;

/**
 * Measures bytes that begin and end at character borders.
 *
 * @param bytes not changed, not kept
 */
export function measure(bytes: Uint8Array): TextSize {
  const length = bytes.length;
  if (length < WORDS_FROM) {
    return { chars: isAscii(bytes, 0, length) ? length : countCharacters(bytes), lines: lineFeeds(bytes, 0, length) };
  }
  const head = -bytes.byteOffset & 3;
  const wordCount = (length - head) >> 2;
  const tail = head + wordCount * 4;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, wordCount);
  let seen = 0;
  let others = 0;
  for (let index = 0; index < wordCount;) {
    const stop = Math.min(index + LANE_LIMIT, wordCount);
    let lanes = 0;
    for (; index < stop; index++) {
      const word = words[index] as number;
      seen |= word;
      // A lane of `apart` is 0 exactly where the byte is a line feed; elsewhere adding 0x7f sets its top bit.
      const apart = word ^ LINE_FEEDS;
      lanes = (lanes + (((((apart & LOW_BITS) + LOW_BITS) | apart) >>> 7) & ONES)) | 0;
    }
    others += (lanes & 255) + ((lanes >>> 8) & 255) + ((lanes >>> 16) & 255) + (lanes >>> 24);
  }
  const ascii = (seen & HIGH_BITS) === 0 && isAscii(bytes, 0, head) && isAscii(bytes, tail, length);
  return {
    chars: ascii ? length : countCharacters(bytes),
    lines: lineFeeds(bytes, 0, head) + wordCount * 4 - others + lineFeeds(bytes, tail, length),
  };
}

function lineFeeds(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let index = from; index < to; index++) if (bytes[index] === LINE_FEED) count++;
  return count;
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if ((bytes[index] as number) > 0x7f) return false;
  return true;
}
