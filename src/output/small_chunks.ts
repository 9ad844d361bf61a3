/**
 * Packs small chunks together, so that a program that writes byte by byte does not cost an object a byte.
 *
 * @module
 */

/** A chunk below this many bytes is copied into a block; a bigger one is kept by reference. */
export const SMALL_CHUNK_BYTES = 4_096;
/** Four of the largest small chunks: little enough to drop as one. */
const BLOCK_BYTES = 16_384;
/** Enough for a short answer, so that a quiet session costs little. */
const FIRST_BLOCK_BYTES = 256;

/** Memory that pieces of output point into. Bytes once written stay; `bytes` may be replaced by a longer copy. */
export interface Store {
  /** The memory. */
  bytes: Uint8Array;
}

/** Where a small chunk was put. */
export interface Place {
  /** The memory that holds it. */
  readonly store: Store;
  /** Its first byte there. */
  readonly offset: number;
}

/** A place for small chunks. */
export interface SmallChunks {
  /** Copies a chunk behind the one before it, in the same store while there is room. */
  put(bytes: Uint8Array): Place;
}

/** Creates a place for small chunks. Allocates nothing until the first one comes. */
export function createSmallChunks(): SmallChunks {
  let store: Store | undefined;
  let used = 0;

  function put(bytes: Uint8Array): Place {
    if (store === undefined || used + bytes.length > BLOCK_BYTES) {
      // A session that has filled a block will fill the next one too.
      store = { bytes: new Uint8Array(store === undefined ? sizeFor(bytes.length) : BLOCK_BYTES) };
      used = 0;
    } else if (used + bytes.length > store.bytes.length) {
      const grown = new Uint8Array(sizeFor(used + bytes.length));
      grown.set(store.bytes.subarray(0, used));
      store.bytes = grown;
    }
    store.bytes.set(bytes, used);
    used += bytes.length;
    return { store, offset: used - bytes.length };
  }

  return { put };
}

/** The smallest doubling of the first block that holds `bytes`. */
function sizeFor(bytes: number): number {
  let size = FIRST_BLOCK_BYTES;
  while (size < bytes) size *= 2;
  return size;
}
