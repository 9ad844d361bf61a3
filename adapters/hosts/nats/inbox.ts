/**
 * A command's output as it comes from its node: put in order, each byte once.
 *
 * @module
 */

/** What has come so far. */
export interface Inbox {
  /**
   * Takes a piece.
   *
   * @returns what of it is new; `undefined` if something before it is missing
   */
  take(offset: number, bytes: Uint8Array): Uint8Array | undefined;
  /** Offset up to which everything has come. */
  received(): number;
}

/** Nothing has come. */
export function createInbox(): Inbox {
  let received = 0;
  return {
    take: (offset, bytes) => {
      if (offset > received) return undefined;
      const fresh = bytes.subarray(received - offset);
      received += fresh.length;
      return fresh;
    },
    received: () => received,
  };
}
