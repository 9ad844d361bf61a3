/**
 * What the control sequences of a terminal do to its screen; those that change no text are dropped.
 *
 * @module
 */

/** What output does to the screen it is written on. Rows and columns are 0-based. */
export interface ScreenActions {
  /** Writes text without control sequences; a line feed in it ends the line. */
  print(text: string): void;
  /** Returns to the first column. */
  carriageReturn(): void;
  /** Moves by columns, to the left when negative. */
  moveBy(columns: number): void;
  /** Moves to a column. */
  moveTo(column: number): void;
  /** Moves by rows, up when negative; does not scroll. */
  rowBy(rows: number): void;
  /** Moves to a row of the screen. */
  rowTo(row: number): void;
  /** Moves down a row, scrolls at the bottom. */
  index(): void;
  /** Moves up a row, scrolls at the top. */
  reverseIndex(): void;
  /** Erases from the cursor to the end of the line, from its start to the cursor, or all of it. */
  eraseLine(part: Part): void;
  /** The same for the screen. */
  eraseScreen(part: Part): void;
  /** Erases that many cells; nothing moves. */
  eraseCells(count: number): void;
  /** Puts blank cells at the cursor. */
  insertCells(count: number): void;
  /** Takes cells out at the cursor. */
  deleteCells(count: number): void;
  /** Puts blank lines at the cursor. */
  insertLines(count: number): void;
  /** Takes lines out at the cursor. */
  deleteLines(count: number): void;
  /** Moves the text up by lines, down when negative. */
  scroll(lines: number): void;
  /** Prints the last character again. */
  repeat(count: number): void;
  /** Only these rows scroll, first and last, and moves to the upper left corner. */
  region(first: number, last: number): void;
  /** Remembers where the cursor is. */
  save(): void;
  /** Moves back to there. */
  restore(): void;
  /** Changes to the screen of full-screen programs, or back. */
  alternate(on: boolean): void;
}

/** What is erased, seen from the cursor. */
export type Part = "end" | "start" | "all";

/** The screen of the shell, or that of full-screen programs. */
export type ScreenName = "main" | "alternate";

const PARTS: readonly (Part | undefined)[] = ["end", "start", "all"];
/** Ends a control sequence that changes colours; half of all sequences do. */
const COLOURS = "m";
/** Final characters of the control sequences that move from one line to another, or move lines. */
const ACROSS_LINES = "ABEFHJLMSTdefrsu";
const ALTERNATE_SCREEN: ReadonlySet<string> = new Set(["47", "1047", "1049"]);
// deno-lint-ignore no-control-regex -- control sequences are what this is about
const MODE_SWITCH = /\x1b\[(\?[\d;]*)([hl])/g;
type Action = (screen: ScreenActions, count: number, second: number) => void;

/** By final character; `count` is the first parameter, at least 1. */
const SEQUENCES: Readonly<Record<string, Action>> = {
  "@": (screen, count) => screen.insertCells(count),
  "A": (screen, count) => screen.rowBy(-count),
  "B": (screen, count) => screen.rowBy(count),
  "C": (screen, count) => screen.moveBy(count),
  "D": (screen, count) => screen.moveBy(-count),
  "E": (screen, count) => {
    screen.rowBy(count);
    screen.moveTo(0);
  },
  "F": (screen, count) => {
    screen.rowBy(-count);
    screen.moveTo(0);
  },
  "G": (screen, column) => screen.moveTo(column - 1),
  "H": (screen, row, column) => {
    screen.rowTo(row - 1);
    screen.moveTo(column - 1);
  },
  "L": (screen, count) => screen.insertLines(count),
  "M": (screen, count) => screen.deleteLines(count),
  "P": (screen, count) => screen.deleteCells(count),
  "S": (screen, count) => screen.scroll(count),
  "T": (screen, count) => screen.scroll(-count),
  "X": (screen, count) => screen.eraseCells(count),
  "a": (screen, count) => screen.moveBy(count),
  "b": (screen, count) => screen.repeat(count),
  "d": (screen, row) => screen.rowTo(row - 1),
  "e": (screen, count) => screen.rowBy(count),
  "s": (screen) => screen.save(),
  "u": (screen) => screen.restore(),
};
const ALIASES: Readonly<Record<string, string>> = { "f": "H", "`": "G" };

/** Characters that move from one line to another after ESC alone. */
export const ESCAPES_ACROSS = "78DEMc";

/** After ESC alone. */
const ESCAPES: Readonly<Record<string, (screen: ScreenActions) => void>> = {
  "7": (screen) => screen.save(),
  "8": (screen) => screen.restore(),
  "D": (screen) => screen.index(),
  "E": (screen) => {
    screen.index();
    screen.carriageReturn();
  },
  "M": (screen) => screen.reverseIndex(),
  "c": (screen) => {
    screen.alternate(false);
    screen.region(1, Infinity);
    screen.eraseScreen("all");
  },
};

/** Performs a control sequence: `ESC [`, the parameters, the final character. */
export function performSequence(parameters: string, final: string, screen: ScreenActions): void {
  if (final === COLOURS) return;
  const to = screenSwitch(parameters, final);
  if (to !== undefined) {
    const savesCursor = parameters.includes("1049");
    if (savesCursor && to === "alternate") screen.save();
    screen.alternate(to === "alternate");
    if (savesCursor && to === "main") screen.restore();
    return;
  }
  if (!/^[\d;]*$/.test(parameters)) return;
  const [first = 0, second = 0] = parameters.split(";").map(Number);
  const part = PARTS[first];
  if (final === "K" && part !== undefined) screen.eraseLine(part);
  else if (final === "J" && part !== undefined) screen.eraseScreen(part);
  else if (final === "r") screen.region(Math.max(1, first), second === 0 ? Infinity : second);
  else SEQUENCES[ALIASES[final] ?? final]?.(screen, Math.max(1, first), Math.max(1, second));
}

/** Performs an escape sequence of one character. */
export function performEscape(char: string, screen: ScreenActions): void {
  ESCAPES[char]?.(screen);
}

/** The screen that the last switch in a text leads to; `undefined` when there is no switch. */
export function lastScreenSwitch(text: string): ScreenName | undefined {
  return screenSwitches(text).at(-1);
}

/** The screen that the first switch in a text leads to. */
export function nextScreenSwitch(text: string): ScreenName | undefined {
  return screenSwitches(text)[0];
}

function screenSwitches(text: string): readonly ScreenName[] {
  return [...text.matchAll(MODE_SWITCH)].flatMap(([, parameters = "", final = ""]) => {
    const to = screenSwitch(parameters, final);
    return to === undefined ? [] : [to];
  });
}

function screenSwitch(parameters: string, final: string): ScreenName | undefined {
  if ((final !== "h" && final !== "l") || !parameters.startsWith("?")) return undefined;
  const modes = parameters.slice(1).split(";");
  if (!modes.some((mode) => ALTERNATE_SCREEN.has(mode))) return undefined;
  return final === "h" ? "alternate" : "main";
}

/** Whether a control sequence may do more than edit the line that the cursor is on. */
export function crossesLines(parameters: string, final: string): boolean {
  return ACROSS_LINES.includes(final) || screenSwitch(parameters, final) !== undefined;
}
