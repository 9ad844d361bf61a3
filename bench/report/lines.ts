/**
 * Results as lines of a terminal.
 *
 * @module
 */
import type { Result } from "./results.ts";

const WIDTH = 62;

/** A line for each row, or why there is none. */
export function linesOf(part: string, scenario: string, { rows, leftOut, note }: Result): readonly string[] {
  const head = part.padEnd(7);
  if (leftOut !== undefined) return [`${head} ${scenario}: left out: ${leftOut}`];
  const lines = rows.map(({ name, value, bound, met }) =>
    `${head} ${name.padEnd(WIDTH)} ${shown(value).padStart(9)}  ${bound}${met ? "" : "  MISSED"}`.trimEnd()
  );
  return note === undefined ? lines : [...lines, `${head} ${scenario}: ${note}`];
}

/** A value as a person reads it: three digits that count, with thin groups, and no exponent. */
export function shown(value: number): string {
  const size = Math.abs(value);
  if (size < 0.005) return "0";
  if (!Number.isFinite(value)) return "–";
  if (size >= 1_000) return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, " ");
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return value.toFixed(size >= 10 ? 1 : 2);
}
