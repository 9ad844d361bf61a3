/**
 * Tables for people.
 *
 * @module
 */

/** Width of a line that nobody's terminal bounds, characters. */
const DEFAULT_WIDTH = 120;

/**
 * Rows as lines, every column as wide as its longest cell; what does not fit a line is cut from its end. Control
 * characters, which a terminal would obey, are not let through.
 */
export function tableOf(given: readonly (readonly string[])[], width: number = DEFAULT_WIDTH): string {
  const rows = given.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, "\uFFFD")));
  const columns = rows[0]?.map((_, index) => index).slice(0, -1) ?? []; // the last one is as long as it is
  const widths = columns.map((column) => Math.max(...rows.map((row) => [...row[column] ?? ""].length)));
  return rows.map((row) => {
    const cells = row.map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length)));
    return `${[...cells.join("  ").trimEnd()].slice(0, width).join("")}\n`;
  }).join("");
}
