/**
 * "Did you mean": the known words closest to one that is not known.
 *
 * @module
 */

/** A word longer than this is not a slip of the pen, and comparing it would cost more than the hint is worth. */
const LONGEST_WORD = 64;

/**
 * The candidates that resemble a word, best first.
 *
 * Words that differ only in case, `_` and `-` come first, then those within about one typing error per three
 * letters, then those that begin or end with the word, or the other way round.
 *
 * @param word the word that is not known
 * @param candidates the known words
 * @param limit how many to return at most
 * @returns candidates as they were given; empty when none is near
 *
 * @example A misspelt parameter
 * ```ts
 * nearest("yield_ms", ["command", "yieldMs", "timeout"]); // ["yieldMs"]
 * ```
 */
export function nearest(word: string, candidates: Iterable<string>, limit = 3): readonly string[] {
  if (word.length > LONGEST_WORD) return [];
  const wanted = fold(word);
  if (wanted === "") return [];
  const ranked: { readonly candidate: string; readonly rank: number }[] = [];
  for (const candidate of candidates) {
    const rank = rankOf(wanted, fold(candidate));
    if (rank !== undefined) ranked.push({ candidate, rank });
  }
  // The sort is stable: among equals the caller's order stands.
  return ranked.sort((a, b) => a.rank - b.rank).slice(0, limit).map(({ candidate }) => candidate);
}

/** Whether a word is meant to be a known one: it has one typing error at most, case, `_` and `-` apart. */
export function isSlip(word: string, known: string): boolean {
  const [wanted, meant] = [fold(word), fold(known)];
  return Math.abs(wanted.length - meant.length) <= 1 && typingErrors(wanted, meant) <= 1;
}

function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[_-]/g, "");
}

/** Lower is nearer: the number of typing errors, or just past any of those for a shared beginning or end. */
function rankOf(wanted: string, known: string): number | undefined {
  const longest = Math.max(wanted.length, known.length);
  const allowed = Math.floor((longest + 1) / 3);
  if (Math.abs(wanted.length - known.length) <= allowed) {
    const errors = typingErrors(wanted, known);
    if (errors <= allowed) return errors;
  }
  const [short, long] = wanted.length < known.length ? [wanted, known] : [known, wanted];
  if (short.length >= 2 && (long.startsWith(short) || long.endsWith(short))) {
    return LONGEST_WORD + longest - short.length;
  }
  return undefined;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`. */
function typingErrors(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current: number[] = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Infinity,
      ));
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
