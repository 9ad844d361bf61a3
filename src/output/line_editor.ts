/**
 * The line being written, folded as a terminal would: what is overwritten or erased is gone, the last state stays.
 *
 * @module
 */

import type { LineActions } from "./controls.ts";

/** Collects finished lines and edits the unfinished one. */
export interface LineEditor extends LineActions {
  /**
   * Everything not yet taken, the unfinished line included. If that line had been taken and was redrawn since:
   * only what is new when it goes on from there, else all of it on a line of its own.
   */
  take(): string;
}

/** Last column of the widest terminal there is: a move or an erasure goes no further, as at a terminal's border. */
const MAX_COLUMN = 999;
/** UTF-16 units (or cells) of a line that can be redrawn. A longer one is given out as it is, not to pile up. */
const LINE_LIMIT = 262_144;
/** UTF-16 units of one cell: twice the longest emoji sequence. More marks than that take a cell of their own. */
const CELL_LIMIT = 64;

const JOINER = "\u200d";
/** Takes no column of its own: marks, joiners, skin tones, and the controls that a terminal ignores. */
// deno-lint-ignore no-control-regex -- control characters are what this is about
const ZERO_WIDTH = /^[\p{M}\p{Cf}\p{Emoji_Modifier}\x00-\x08\x0b-\x1f\x7f]$/u;
/** Not to be obeyed, only named: C0 controls but tab and line feed, DEL, bidi controls. */
// deno-lint-ignore no-control-regex -- see above
const NAMED = /[\x00-\x08\x0b-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const PLAIN = /^[ -~]*$/;

/** Creates an editor with an empty line. */
export function createLineEditor(): LineEditor {
  /** Finished lines that have not been taken. */
  let done = "";
  /** The unfinished line while it has been written from left to right; the usual case. */
  let line = "";
  /** The unfinished line by columns, from its first edit on. */
  let cells: string[] | undefined;
  /** Where the next character goes; undefined is the end of the line. */
  let column: number | undefined;
  /** What has been taken of the unfinished line. */
  let shown = "";

  function print(text: string): void {
    const first = text.indexOf("\n");
    if (first < 0) return write(text);
    write(text.slice(0, first));
    release();
    const last = text.lastIndexOf("\n");
    done += text.slice(first, last + 1);
    write(text.slice(last + 1));
  }

  function write(text: string): void {
    if (column === undefined) {
      line += text;
    } else if (column === 0 && cells === undefined && covers(text, line)) {
      line = text;
      column = undefined;
    } else if (text !== "") {
      overwrite(edit(), text);
    }
    if ((cells ?? line).length > LINE_LIMIT) release();
  }

  function overwrite(row: string[], text: string): void {
    let at = column ?? row.length;
    while (row.length < at) row.push(" ");
    for (const char of text) at = put(row, at, char);
    column = at;
  }

  /** The line by columns, with the cursor on one of them. */
  function edit(): string[] {
    cells ??= PLAIN.test(line) ? line.split("") : cellsOf(line);
    column ??= cells.length;
    return cells;
  }

  /** Gives the line out for good and begins an empty one. */
  function release(): void {
    done += unseen();
    clear();
    shown = "";
  }

  function clear(): void {
    line = "";
    cells = undefined;
    column = undefined;
  }

  function content(): string {
    return cells === undefined ? line : cells.join("");
  }

  /** What to give out so that a reader who has `shown` has the line. */
  function unseen(): string {
    const current = content();
    return current.startsWith(shown) ? current.slice(shown.length) : `\n${current}`;
  }

  function moveTo(target: number): void {
    const row = edit();
    column = Math.max(0, Math.min(target, Math.max(MAX_COLUMN, row.length)));
  }

  return {
    print,
    carriageReturn() {
      if (line !== "" || cells !== undefined) column = 0;
    },
    moveTo,
    moveBy: (columns) => moveTo((column ?? edit().length) + columns),
    erase(part) {
      if (part !== "start" && column === 0) return clear();
      const row = edit();
      const at = column ?? row.length;
      if (part === "end") row.length = Math.min(row.length, at);
      else if (part === "all" || at >= row.length - 1) row.length = 0;
      else row.fill(" ", Math.max(0, at - MAX_COLUMN), at + 1);
    },
    take() {
      let text = done;
      done = "";
      // A line that is empty for now is not worth a line of its own.
      if (content() !== "") {
        text += unseen();
        shown = content();
      }
      return text.replace(NAMED, nameOf);
    },
  };
}

/** Whether the frame of a progress bar covers the one before it, told without taking it apart. */
function covers(frame: string, old: string): boolean {
  return frame.length >= old.length && PLAIN.test(frame) && PLAIN.test(old);
}

function cellsOf(text: string): string[] {
  const row: string[] = [];
  let at = 0;
  for (const char of text) at = put(row, at, char);
  return row;
}

/** Writes a code point at a column, or into the cell before it when it has no width. @returns the column after it */
function put(row: string[], at: number, char: string): number {
  const before = at > 0 ? row[at - 1] : undefined;
  if (before !== undefined && joins(before, char)) {
    row[at - 1] = before + char;
    return at;
  }
  row[at] = char;
  return at + 1;
}

function joins(before: string, char: string): boolean {
  const visible = char >= " " && char <= "~";
  return before.length < CELL_LIMIT && ((!visible && ZERO_WIDTH.test(char)) || before.endsWith(JOINER));
}

function nameOf(control: string): string {
  const code = control.charCodeAt(0).toString(16);
  return control <= "\x7f" ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`;
}
