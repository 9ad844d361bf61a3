/**
 * Says a line that comes many times once, with how many times.
 *
 * @module
 */

/** A line, and how often it comes in a row. */
export interface Run<T> {
  /** The first of them. */
  readonly first: T;
  /** The last of them. */
  readonly last: T;
  /** How many. */
  readonly count: number;
}

/** Puts equal neighbours together. */
export function runsOf<T>(items: readonly T[], isEqual: (a: T, b: T) => boolean): readonly Run<T>[] {
  const runs: { first: T; last: T; count: number }[] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run === undefined || !isEqual(run.last, item)) runs.push({ first: item, last: item, count: 1 });
    else {
      run.last = item;
      run.count++;
    }
  }
  return runs;
}

/**
 * Gives each line that comes several times in a row once, as `line × 3`. Empty lines stay as they are.
 *
 * @example Ten equal lines are one
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(foldRepeats("begin\n" + "tick\n".repeat(10)), "begin\ntick × 10\n");
 * ```
 */
export function foldRepeats(text: string): string {
  // What comes after the last line feed is not a line yet
  const end = text.lastIndexOf("\n") + 1;
  const lines = text.slice(0, end).split("\n");
  lines.pop();
  const folded = runsOf(lines, (a, b) => a === b && a !== "").map(({ first, count }) => {
    return count === 1 ? `${first}\n` : `${first} × ${count}\n`;
  });
  return folded.join("") + text.slice(end);
}
