/**
 * The sizes a session's terminal has had, so that a screen that is drawn later is drawn as it was.
 *
 * @module
 */
import type { TerminalSize } from "../runtime.ts";

/** A size that a terminal was given. */
export interface SizeChange extends TerminalSize {
  /** Offset in the output: what comes from there on was printed at that size, as far as can be known. */
  readonly at: number;
}

/**
 * One more change.
 *
 * @param held offset of the oldest output that is held: of what was before it only the size at that place is kept
 */
export function changedTo(
  sizes: readonly SizeChange[],
  change: SizeChange,
  held: number,
): readonly SizeChange[] {
  const isPast = (index: number): boolean => (sizes[index + 1]?.at ?? change.at) <= held;
  return [...sizes.filter(({ at }, index) => at !== change.at && !isPast(index)), change];
}

/** The size in force when the output had come to an offset. */
export function sizeAt(sizes: readonly SizeChange[], offset: number): TerminalSize | undefined {
  const change = sizes.findLast(({ at }) => at <= offset) ?? sizes[0];
  return change && { cols: change.cols, rows: change.rows };
}

/** Offset of the first change after an offset; `Infinity` if there is none. */
export function nextChange(sizes: readonly SizeChange[], offset: number): number {
  return sizes.find(({ at }) => at > offset)?.at ?? Infinity;
}
