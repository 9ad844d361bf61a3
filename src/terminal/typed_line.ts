/**
 * The line that is being typed into a terminal. In its normal (cooked) mode a terminal keeps a line back until it is
 * complete, whatever number of writes it came in: that decides whether ^D is the end of input, and what is cut.
 *
 * @module
 */

/** Longest line a terminal keeps, bytes; the kernel drops the rest (`N_TTY_BUF_SIZE`). */
export const COOKED_LINE_BYTES: number = 4_095;

/**
 * Bytes after which a terminal keeps nothing back: LF and CR, ^D which hands the line over as it is, ^U which erases it,
 * and ^C, ^Z and ^\ which drop it.
 */
const LINE_OVER: ReadonlySet<number> = new Set([0x0a, 0x0d, 0x04, 0x15, 0x03, 0x1a, 0x1c]);

/** A line after some typing. */
export interface TypedLine {
  /** Bytes of the line that is not over yet. */
  readonly length: number;
  /** Bytes of the longest line on the way there. */
  readonly longest: number;
}

/**
 * Types on.
 *
 * @param length bytes of the line so far
 * @param bytes what is typed
 */
export function typeOn(length: number, bytes: Uint8Array): TypedLine {
  let now = length;
  let longest = 0;
  for (const byte of bytes) {
    now = LINE_OVER.has(byte) ? 0 : now + 1;
    longest = Math.max(longest, now);
  }
  return { length: now, longest };
}
