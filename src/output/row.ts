/**
 * One row of a terminal, edited by columns: what is overwritten or erased is gone.
 *
 * A code point is one column wide, whatever its script; one without width goes into the cell before it.
 *
 * @module
 */

/** A row. While it has only been written from left to right, the usual case, it is plain text. */
export interface Row {
  /** Its text, as long as there are no `cells`. */
  line: string;
  /** Its text by columns, from its first edit on. */
  cells: string[] | undefined;
  /** Line feeds before it in the output. */
  number: number;
  /** What a reader was last told of it; `undefined`: nothing yet. */
  told: string | undefined;
}

/** UTF-16 units of one cell: twice the longest emoji sequence. More marks than that take a cell of their own. */
const CELL_LIMIT = 64;
/** Columns between two tab stops. */
const TAB_COLUMNS = 8;

const JOINER = "\u200d";
/** Takes no column of its own: marks, joiners, skin tones, and the controls that a terminal ignores. */
// deno-lint-ignore no-control-regex -- control characters are what this is about
const ZERO_WIDTH = /^[\p{M}\p{Cf}\p{Emoji_Modifier}\x00-\x08\x0b-\x1f\x7f]$/u;
const PLAIN = /^[ -~]*$/;

/** An empty row. */
export function createRow(number: number, told?: string): Row {
  return { line: "", cells: undefined, number, told };
}

/** Its text. */
export function contentOf({ line, cells }: Row): string {
  return cells === undefined ? line : cells.join("");
}

/** Whether nothing can be seen in it. */
export function isBlank({ line, cells }: Row): boolean {
  return cells === undefined ? line.trimEnd() === "" : cells.every((cell) => cell === " " || cell === "\t");
}

/** Whether nobody has been told of it or would see it. */
export function isUnseen(row: Row): boolean {
  return row.told === undefined && isBlank(row);
}

/** Its length: columns or UTF-16 units, whichever is at hand; never less than its columns, tabs apart. */
export function sizeOf({ line, cells }: Row): number {
  return (cells ?? line).length;
}

/** Its columns. */
export function widthOf(row: Row): number {
  return isPlain(row) ? row.line.length : cellsOf(row).length;
}

/** Whether each of its characters is known to take one column. */
function isPlain({ line, cells }: Row): boolean {
  return cells === undefined && PLAIN.test(line);
}

/** Empties it. */
export function clearRow(row: Row): void {
  row.line = "";
  row.cells = undefined;
}

/**
 * Writes text without line feeds over what is there.
 *
 * @param column `undefined`: behind its end
 * @returns the column after it; `undefined` when that is its end
 */
export function writeAt(row: Row, column: number | undefined, text: string): number | undefined {
  if (text === "") return column;
  if (column === undefined && row.cells === undefined) {
    row.line += text;
    return undefined;
  }
  if (column === 0 && row.cells === undefined && covers(text, row.line)) {
    const isFirst = row.line === "";
    row.line = text;
    return isFirst ? undefined : text.length; // see below
  }
  if (column !== undefined && column >= row.line.length && isPlain(row) && PLAIN.test(text)) {
    row.line = row.line.padEnd(column) + text;
    return row.line.length; // a tab that follows is blanks, however the output is cut
  }
  const cells = editRow(row);
  let at = column ?? cells.length;
  pad(cells, at);
  for (const char of text) at = put(cells, at, char);
  return at;
}

/** Erases columns, from one up to but not including another; nothing moves. */
export function eraseCells(row: Row, from: number, to: number): void {
  if (from === 0 && to === Infinity) return clearRow(row);
  const cells = editRow(row);
  if (to >= cells.length) cells.length = Math.min(cells.length, from);
  else cells.fill(" ", from, to);
}

/**
 * Puts blanks at a column; what is there moves to the right.
 *
 * @param cols what is moved past them is gone, unless the row has been longer before: so rows do not grow without text
 */
export function insertCells(row: Row, at: number, count: number, cols: number): void {
  const cells = editRow(row);
  if (at >= cells.length) return;
  const length = Math.max(cells.length, cols);
  const added = Math.min(count, length - at);
  cells.length = Math.min(cells.length, length - added);
  cells.splice(at, 0, ...new Array<string>(added).fill(" "));
}

/** Takes columns out; what is behind them moves to the left. */
export function deleteCells(row: Row, at: number, count: number): void {
  editRow(row).splice(at, count);
}

/** The row by columns from now on. Tabs become the blanks that they are on a screen. */
export function editRow(row: Row): string[] {
  row.cells ??= cellsOf(row);
  return row.cells;
}

function cellsOf({ line, cells }: Row): string[] {
  if (cells !== undefined) return cells;
  if (PLAIN.test(line)) return line.split("");
  const made: string[] = [];
  let at = 0;
  for (const char of line) at = put(made, at, char);
  return made;
}

/** Whether the frame of a progress bar covers the one before it, told without taking it apart. */
function covers(frame: string, old: string): boolean {
  return old === "" || (frame.length >= old.length && PLAIN.test(frame) && PLAIN.test(old));
}

/** Writes a code point at a column, or into the cell before it when it has no width. @returns the column after it */
function put(cells: string[], at: number, char: string): number {
  if (char === "\t") {
    const stop = at - at % TAB_COLUMNS + TAB_COLUMNS;
    pad(cells, stop);
    return stop;
  }
  const before = at > 0 ? cells[at - 1] : undefined;
  if (before !== undefined && joins(before, char)) {
    cells[at - 1] = before + char;
    return at;
  }
  cells[at] = char;
  return at + 1;
}

function pad(cells: string[], length: number): void {
  while (cells.length < length) cells.push(" ");
}

function joins(before: string, char: string): boolean {
  const visible = char >= " " && char <= "~";
  return before.length < CELL_LIMIT && ((!visible && ZERO_WIDTH.test(char)) || before.endsWith(JOINER));
}
