/**
 * What a reader is told of rows that change: each once, and again as it is now when it has changed since.
 *
 * @module
 */

import { nameControls } from "./named_controls.ts";
import { contentOf, createRow, type Row } from "./row.ts";

/** A line of the text whose number does not follow from the one before it. */
export interface Jump {
  /** Index of the line among those that were told. */
  readonly index: number;
  /** Its number. */
  readonly number: number;
}

/** Collects what has to be told. */
export interface Transcript {
  /** What has been told and not been taken. */
  take(): string;
  /**
   * Tells a row if there is something new to it: only its new end, when the text ends with what had been told of it;
   * else all of it, on a line of its own. A row that has become empty is not worth a line of its own.
   */
  row(row: Row): void;
  /** Tells whole lines, without the last line feed. @param count of lines @param number of the first one */
  lines(text: string, count: number, number: number): void;
  /** Tells a line of our own. */
  note(text: string, number: number): void;
  /** The cursor rests on this row: if it is empty and was told before, what was told after it ends with a line feed. */
  rest(row: Row): void;
  /** Lines that are not numbered one by one. */
  readonly jumps: readonly Jump[];
}

/** Ends what was told that is no row of the screen. */
const ELSEWHERE: Row = createRow(0, "-");

/**
 * Creates a transcript that has told nothing.
 *
 * @param firstLine number of the first line, if jumps are to be kept: for a reader who takes once
 */
export function createTranscript(firstLine?: number): Transcript {
  let text = "";
  /** The row with whose text what has been told ends; `undefined`: nothing has been told. */
  let last: Row | undefined;
  /** Lines told before the last one. */
  let index = 0;
  /** Number of the line that comes next. */
  let next = firstLine ?? 0;
  const jumps: Jump[] = [];

  function newLine(number: number): void {
    if (last !== undefined) {
      text += "\n";
      index++;
    }
    if (number !== next) {
      // Rows may have changed places: numbers never go back
      next = Math.max(number, next - 1);
      if (firstLine !== undefined) jumps.push({ index, number: next });
    }
    next++;
  }

  /** An earlier row is told again: it may begin on the empty row that was told last. */
  function ownLine(number: number): void {
    if (last === undefined || last.told !== "") newLine(number);
  }

  return {
    take() {
      const taken = nameControls(text);
      text = "";
      return taken;
    },
    row(row) {
      const { told } = row;
      const content = contentOf(row);
      if (told !== undefined && (content === told || content === "")) return;
      if (told === undefined) newLine(row.number);
      else if (last !== row || !content.startsWith(told)) ownLine(row.number);
      text += last === row && content.startsWith(told ?? "") ? content.slice(told?.length) : content;
      row.told = content;
      last = row;
    },
    lines(lines, count, number) {
      newLine(number);
      text += lines;
      index += count - 1;
      next = number + count;
      last = ELSEWHERE;
    },
    note(line, number) {
      ownLine(number);
      text += line;
      last = ELSEWHERE;
    },
    rest(row) {
      if (last === undefined || last === row || row.told !== "") return;
      newLine(row.number);
      last = row;
    },
    get jumps() {
      return jumps;
    },
  };
}
