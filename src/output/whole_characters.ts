/**
 * Cuts a stream's chunks at character borders, so that every piece can be decoded by itself.
 *
 * @module
 */

import { afterCharacters, incompleteTail, MAX_CHARACTER_BYTES } from "./utf8.ts";

/** Passes one stream's bytes on in whole characters. */
export interface WholeCharacters {
  /** Takes the next chunk; holds an incomplete character at its end (at most 3 bytes) back. */
  add(bytes: Uint8Array): void;
  /** Passes on what is held back, incomplete as it is. */
  flush(): void;
}

/**
 * Creates the cutter of one stream.
 *
 * @param emit gets pieces that begin and end at character borders, as the whole stream would be decoded. Only the
 * few bytes of a character that was split are copied
 */
export function createWholeCharacters(emit: (bytes: Uint8Array) => void): WholeCharacters {
  let carry: Uint8Array | undefined;

  function add(bytes: Uint8Array): void {
    let rest = bytes;
    if (carry !== undefined) {
      const joined = concat(carry, rest.subarray(0, MAX_CHARACTER_BYTES - carry.length));
      if (incompleteTail(joined) === joined.length) {
        carry = joined;
        return;
      }
      const length = afterCharacters(joined, 1);
      rest = rest.subarray(length - carry.length);
      carry = undefined;
      emit(joined.subarray(0, length));
    }
    const tail = incompleteTail(rest);
    if (tail > 0) carry = rest.slice(rest.length - tail);
    if (tail < rest.length) emit(rest.subarray(0, rest.length - tail));
  }

  function flush(): void {
    if (carry !== undefined) emit(carry);
    carry = undefined;
  }

  return { add, flush };
}

/** The bytes of two pieces in one. */
export function concat(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const joined = new Uint8Array(head.length + tail.length);
  joined.set(head);
  joined.set(tail, head.length);
  return joined;
}
