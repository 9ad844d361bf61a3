/**
 * Tells binary output from text.
 *
 * @module
 */

/** Characters that text does not have: most C0 controls, and U+FFFD, to which invalid bytes decode. */
// deno-lint-ignore no-control-regex -- control characters are what this is about
const ODD = /[\x00-\x06\x0e-\x1a\x1c-\x1f\ufffd]/g;
/** Measured: executables, gzip and noise have 53 % and more; Latin-1 text full of accents, not valid UTF-8, 20 %. */
const BINARY_SHARE = 0.25;
/** A stray byte in a short text does not make it binary. */
const MIN_ODD = 8;

/** Counts what tells binary output from text. */
export interface BinaryCheck {
  /** Looks at some decoded text. */
  add(text: string): void;
  /** At least one in four characters, and at least eight, are controls that text does not have, or invalid bytes. */
  readonly binary: boolean;
}

/** Creates a check that has seen nothing yet. */
export function createBinaryCheck(): BinaryCheck {
  let odd = 0;
  let total = 0;
  return {
    add(text) {
      total += text.length;
      odd += text.match(ODD)?.length ?? 0;
    },
    get binary() {
      return odd >= MIN_ODD && odd >= total * BINARY_SHARE;
    },
  };
}
