/**
 * The rows of a screen and the cursor among them, as a terminal moves and edits them.
 *
 * There are as many rows as have been used. Lines are not wrapped: a row is as long as its line.
 *
 * @module
 */

import {
  clearRow,
  createRow,
  deleteCells,
  eraseCells,
  insertCells,
  isUnseen,
  type Row,
  sizeOf,
  widthOf,
  writeAt,
} from "./row.ts";
import type { Part, ScreenActions } from "./sequences.ts";

/** Size of a screen. */
export interface ScreenSize {
  /** Columns: how far a move goes; text goes further. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
}

/** A screen. */
export interface Grid extends Omit<ScreenActions, "print" | "alternate"> {
  /** From the top of the screen down to the lowest row that has been used. */
  readonly rows: readonly Row[];
  /** The row of the cursor. */
  readonly row: Row;
  /** Whether the cursor is on the last of the rows, and all of them scroll. */
  readonly isAtEnd: boolean;
  /** Whether a row is below the cursor. */
  isBelow(index: number): boolean;
  /** Writes text without line feeds. */
  write(text: string): void;
  /** Ends the line. @param number line feeds so far, this one included */
  lineFeed(number: number): void;
  /** Lets go of all rows; the cursor is on an empty one of which there is nothing to tell. */
  leave(number: number): void;
}

/** UTF-16 units (or cells) of a row that can be redrawn. A longer one is let go, not to pile up. */
const ROW_LIMIT = 16_384;
/** Times the rows can be longer than the screen is wide, all together, before the first ones are let go. */
const SCREENS_HELD = 4;

/**
 * Creates a screen with the cursor on an empty row.
 *
 * @param number line feeds so far
 * @param release is given each row that leaves the screen at its top, or that is too long to be held
 */
export function createGrid({ cols, rows: height }: ScreenSize, number: number, release: (row: Row) => void): Grid {
  let lineFeeds = number;
  const rows: Row[] = [createRow(lineFeeds)];
  let y = 0;
  /** Column of the next character; `undefined`: the end of the row. */
  let x: number | undefined;
  let top = 0;
  let bottom = height - 1;
  /** Rows that have left at the top: a saved place goes with its row. */
  let left = 0;
  let saved = { x: 0, y: 0 };
  /** What was printed last on the line. */
  let printed = "";

  function row(): Row {
    return rows[y] as Row;
  }

  function column(): number {
    return (x ??= widthOf(row()));
  }

  /** Lets go of the first rows. */
  function letGo(count: number): void {
    for (const gone of rows.splice(0, count)) release(gone);
    left += count;
    y -= count;
  }

  function write(text: string): void {
    if (text === "") return;
    printed = text;
    x = writeAt(row(), x, text);
    if (sizeOf(row()) <= ROW_LIMIT) return;
    letGo(y); // a line as long as that has pushed all others off the screen
    release(row());
    clearRow(row());
    row().told = "";
    x = undefined;
  }

  function lineFeed(number: number): void {
    lineFeeds = number;
    if (sizeOf(row()) > cols) letGo(tooMany());
    index();
    carriageReturn();
    printed = "";
  }

  /** How many rows above the cursor do not fit on the screen any more, since lines are longer than it is wide. */
  function tooMany(): number {
    let room = SCREENS_HELD * cols * height;
    let first = y;
    while (first > 0 && (room -= sizeOf(rows[first] as Row)) >= 0) first--;
    return first;
  }

  function carriageReturn(): void {
    x = sizeOf(row()) > 0 ? 0 : undefined;
  }

  function index(): void {
    if (y === bottom) scroll(1);
    else if (y < height - 1) y++;
    reach();
  }

  /** Makes the rows down to the cursor. */
  function reach(): void {
    while (rows.length <= y) rows.push(createRow(lineFeeds));
  }

  function scrollUp(count: number): void {
    if (count === 1 && rows.length === bottom + 1) { // the usual case, once a line
      release(rows.shift() as Row);
      rows.push(createRow(lineFeeds));
      left++;
      return;
    }
    const gone = takeOut(0, count);
    // Lines that nobody printed are none: a few bytes could make thousands of them
    const seen = count === 1 ? 1 : gone.findLastIndex((row) => !isUnseen(row)) + 1;
    gone.slice(0, seen).forEach(release);
    left += gone.length;
  }

  /** Takes rows out of the region; those below them move up. All at once: a count may be in the thousands. */
  function takeOut(at: number, count: number): readonly Row[] {
    const isFull = rows.length > bottom;
    const told = toldAt(bottom + 1);
    const gone = rows.splice(at, Math.min(count, bottom - at + 1));
    if (isFull) rows.splice(bottom + 1 - gone.length, 0, ...gone.map(() => createRow(lineFeeds, told)));
    return gone;
  }

  /** A row put between rows that have been told is not news while it is empty. */
  function toldAt(at: number): string | undefined {
    return rows[at]?.told === undefined ? undefined : "";
  }

  function goTo(to: number): void {
    const at = column();
    y = Math.max(0, Math.min(to, height - 1));
    reach();
    moveTo(at);
  }

  /** Not past the border: only a row that is longer has columns there, and blanks up to it would take time and room. */
  function moveTo(target: number): void {
    x = Math.max(0, Math.min(target, Math.max(cols - 1, sizeOf(row()))));
  }

  function eraseLine(part: Part): void {
    if (part === "end" && x === undefined) return;
    const at = column();
    if (part === "end") eraseCells(row(), at, Infinity);
    else if (part === "all") clearRow(row());
    else eraseCells(row(), Math.max(0, at - cols), at + 1);
  }

  function insertLines(at: number, count: number): void {
    const added = at < rows.length ? Math.min(count, bottom - at + 1) : 0;
    const [number, told] = [rows[at]?.number ?? lineFeeds, toldAt(at)];
    const end = Math.min(rows.length, bottom + 1);
    const kept = Math.min(end, bottom + 1 - added);
    rows.splice(kept, end - kept);
    rows.splice(at, 0, ...Array.from({ length: added }, () => createRow(number, told)));
  }

  function deleteLines(at: number, count: number): void {
    takeOut(at, count);
    reach();
  }

  /** Moves the text of the region up; what leaves the screen at its top is final. */
  function scroll(count: number): void {
    if (top === 0) scrollUp(count);
    else takeOut(top, count);
  }

  const isInRegion = (): boolean => y >= top && y <= bottom;

  return {
    rows,
    get row() {
      return row();
    },
    get isAtEnd() {
      return y === rows.length - 1 && top === 0 && bottom === height - 1;
    },
    isBelow: (index) => index > y,
    write,
    lineFeed,
    leave(number) {
      letGo(rows.length);
      lineFeeds = number;
      rows.push(createRow(lineFeeds, ""));
      y = 0;
      x = undefined;
    },
    carriageReturn,
    moveTo,
    moveBy: (columns) => moveTo(column() + columns),
    rowTo: goTo,
    rowBy(count) {
      if (count < 0) goTo(y >= top ? Math.max(top, y + count) : y + count);
      else goTo(y <= bottom ? Math.min(bottom, y + count) : y + count);
    },
    index() {
      const at = column();
      index();
      moveTo(at);
    },
    reverseIndex() {
      const at = column();
      if (y === top) insertLines(top, 1);
      else goTo(y - 1);
      moveTo(at);
    },
    eraseLine,
    eraseScreen(part) {
      column();
      if (part !== "all") eraseLine(part);
      rows.forEach((each, at) => {
        if (part === "all" || (part === "end" ? at > y : at < y)) clearRow(each);
      });
    },
    insertLines(count) {
      if (!isInRegion()) return;
      insertLines(y, count);
      x = 0;
    },
    deleteLines(count) {
      if (!isInRegion()) return;
      deleteLines(y, count);
      x = 0;
    },
    scroll(count) {
      const at = column();
      if (count < 0) insertLines(top, -count);
      else scroll(count);
      reach();
      moveTo(at);
    },
    eraseCells: (count) => eraseCells(row(), column(), column() + Math.min(count, cols)),
    insertCells: (count) => insertCells(row(), column(), Math.min(count, cols), cols),
    deleteCells: (count) => deleteCells(row(), column(), count),
    repeat: (count) => write((Array.from(printed.slice(-2)).at(-1) ?? "").repeat(Math.min(count, cols))),
    region(first, last) {
      const lowest = Math.min(last, height) - 1;
      if (first - 1 >= lowest) return;
      [top, bottom] = [first - 1, lowest];
      goTo(0);
      x = 0;
    },
    save() {
      saved = { x: column(), y: left + y };
    },
    restore() {
      goTo(saved.y - left);
      moveTo(saved.x);
    },
  };
}
