/**
 * The lines that a program can still redraw: as many as a terminal has rows. What scrolls off their top is final.
 *
 * @module
 */

import { createGrid, type Grid, type ScreenSize } from "./grid.ts";
import { isUnseen, type Row } from "./row.ts";
import type { ScreenActions } from "./sequences.ts";
import type { Transcript } from "./transcript.ts";

/** What output is written on. */
export interface Screenful extends ScreenActions {
  /** Tells the transcript what is new in the rows that can still change. */
  tell(): void;
}

/** What a reader gets instead of the drawings of a full-screen program. */
export const FULL_SCREEN_NOTE = "[full-screen program: what it drew is left out here]";

/**
 * Creates an empty screen.
 *
 * @param transcript is told each row when it scrolls off
 * @param firstLine its number, if lines are to be numbered
 */
export function createScreenful(transcript: Transcript, size: ScreenSize, firstLine?: number): Screenful {
  let lineFeeds = firstLine ?? 0;
  const main = createGrid(size, lineFeeds, transcript.row);
  /** The screen of full-screen programs, while one is up; nobody is told what is on it. */
  let other: Grid | undefined;

  function print(text: string): void {
    const grid = other ?? main;
    let at = text.indexOf("\n");
    if (at < 0) return grid.write(text);
    grid.write(text.slice(0, at));
    if (grid === main && main.isAtEnd) at = skipScreens(text, at);
    while (at < text.length) {
      grid.lineFeed(++lineFeeds);
      const end = text.indexOf("\n", at + 1);
      grid.write(text.slice(at + 1, end < 0 ? text.length : end));
      at = end < 0 ? text.length : end;
    }
  }

  /** Of more lines than a screen has, all but the last ones are final at once. @returns the line feed to go on from */
  function skipScreens(text: string, from: number): number {
    let kept = text.length;
    if (kept - from <= size.rows) return from;
    for (let row = 0; row < size.rows; row++) {
      kept = text.lastIndexOf("\n", kept - 1);
      if (kept <= from) return from;
    }
    const lines = text.slice(from + 1, kept);
    const count = firstLine === undefined ? 1 : countLineFeeds(lines) + 1;
    main.leave(lineFeeds + count);
    transcript.lines(lines, count, lineFeeds + 1);
    lineFeeds += count;
    return kept;
  }

  function tell(): void {
    let last = main.rows.length - 1;
    // Nobody sees where an empty screen ends
    while (main.isBelow(last) && isUnseen(main.rows[last] as Row)) last--;
    for (let at = 0; at <= last; at++) transcript.row(main.rows[at] as Row);
    if (!main.isBelow(last)) transcript.rest(main.row);
  }

  function on(): Grid {
    return other ?? main;
  }

  return {
    print,
    tell,
    carriageReturn: () => on().carriageReturn(),
    moveTo: (column) => on().moveTo(column),
    moveBy: (columns) => on().moveBy(columns),
    rowTo: (row) => on().rowTo(row),
    rowBy: (rows) => on().rowBy(rows),
    index: () => on().index(),
    reverseIndex: () => on().reverseIndex(),
    eraseLine: (part) => on().eraseLine(part),
    eraseScreen: (part) => on().eraseScreen(part),
    eraseCells: (count) => on().eraseCells(count),
    insertCells: (count) => on().insertCells(count),
    deleteCells: (count) => on().deleteCells(count),
    insertLines: (count) => on().insertLines(count),
    deleteLines: (count) => on().deleteLines(count),
    scroll: (lines) => on().scroll(lines),
    repeat: (count) => on().repeat(count),
    region: (first, last) => on().region(first, last),
    save: () => on().save(),
    restore: () => on().restore(),
    alternate(isOn) {
      if (isOn === (other !== undefined)) return;
      other = isOn ? createGrid(size, lineFeeds, () => {}) : undefined;
      if (!isOn) return;
      tell();
      transcript.note(FULL_SCREEN_NOTE, lineFeeds);
    },
  };
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index >= 0; index = text.indexOf("\n", index + 1)) count++;
  return count;
}
