/**
 * The screen of a terminal as a person would see it. The emulator is `@xterm/headless`, an optional peer: it is loaded
 * when somebody first asks for a screen.
 *
 * @module
 */
import { OffstageError } from "../errors.ts";
import { nameControls } from "../output/named_controls.ts";
import type { TerminalSize } from "../runtime.ts";

/** What is on a screen at one moment. Rows and columns are counted from 0. */
export interface Frame {
  /** Every row from the top, without the blanks at its end. */
  readonly rows: readonly string[];
  /** Where the cursor is; past the last column counts as on it. */
  readonly cursor: { readonly row: number; readonly col: number };
  /** Whether the cursor is shown. */
  readonly cursorVisible: boolean;
  /** Window title, at most 200 characters of it; `null` if none was set. */
  readonly title: string | null;
  /** Whether a full-screen program is up. */
  readonly alternateScreen: boolean;
  /** Lines that have scrolled off the top and are still held: at most 1000, none on the alternate screen. */
  readonly scrollbackLines: number;
}

/** One emulated terminal. */
export interface Screen {
  /** Draws output, cut anywhere between code points; resolves when it is on the screen. One call at a time. */
  write(output: string): Promise<void>;
  /** Changes the size. Not while something is being drawn. */
  resize(size: TerminalSize): void;
  /** What is on it now. */
  frame(): Frame;
  /** The newest lines that have scrolled off its top, at most `count`, oldest first. */
  scrollback(count: number): readonly string[];
  /** Gives its memory back. What is on it can still be read. */
  close(): void;
}

/** Makes an empty screen. */
export type OpenScreen = (size: TerminalSize) => Screen;

/** What is used of `Terminal` of `@xterm/headless` 6. */
interface Terminal {
  readonly buffer: { readonly active: TerminalBuffer };
  readonly parser: {
    registerCsiHandler(
      sequence: { readonly prefix?: string; readonly intermediates?: string; readonly final: string },
      handler: (parameters: readonly (number | readonly number[])[]) => boolean,
    ): unknown;
    registerEscHandler(sequence: { readonly final: string }, handler: () => boolean): unknown;
  };
  onTitleChange(listener: (title: string) => void): unknown;
  readonly cols: number;
  readonly rows: number;
  write(output: string, drawn?: () => void): void;
  resize(cols: number, rows: number): void;
  dispose(): void;
}

interface TerminalBuffer {
  readonly type: "normal" | "alternate";
  readonly cursorX: number;
  readonly cursorY: number;
  /** Number of the line that is the screen's first row: so many have scrolled off. */
  readonly baseY: number;
  getLine(line: number): { translateToString(trimRight: boolean): string } | undefined;
}

type TerminalConstructor = new (options: Readonly<Record<string, unknown>>) => Terminal;

/** Scrolled-off lines that are held: 1.5 MB at 120 columns. */
const SCROLLBACK_LINES = 1_000;

/** Most characters of a title that are kept; a program may set one of megabytes. */
const TITLE_CHARS = 200;

/** UTF-16 units drawn at once: between two such pieces the emulator lets the host have its turn. */
const PIECE_LENGTH = 4_096;

/**
 * Sequences that the emulator repeats as often as they say, were it two thousand million times: insert, delete and
 * scroll lines, tabs, repeated characters. A terminal has at most 1000 rows or columns; a larger count is ignored.
 */
const REPEATED = ["I", "L", "M", "S", "T", "Z", "b"];
const LARGEST_COUNT = 1_000;

/** Those that move lines: a count above the rows does no more than as many as there are rows, but takes longer. */
// deno-lint-ignore no-control-regex -- that is what they look like
const MOVED_LINES = /(\x1b\[|\x9b)0*(\d{2,4})([;:\d]*[LMST])/g;

/**
 * Loads the emulator.
 *
 * @param load imports `@xterm/headless`; for tests that have it missing
 * @throws {OffstageError} `unsupported` if it is not installed
 */
export async function loadScreens(
  load: () => Promise<unknown> = () => import("@xterm/headless"),
): Promise<OpenScreen> {
  try {
    const { default: xterm } = await load() as { readonly default: { readonly Terminal: TerminalConstructor } };
    return (size) => openScreen(new xterm.Terminal(optionsFor(size)));
  } catch (error) {
    const [reason] = String((error as Error)?.message ?? error).split("\n");
    throw new OffstageError(
      "unsupported",
      "Cannot show a screen: @xterm/headless is missing. Install it beside offstage " +
        `(npm install @xterm/headless), or use poll and log instead [${reason}]`,
      { cause: error },
    );
  }
}

function optionsFor({ cols, rows }: TerminalSize): Readonly<Record<string, unknown>> {
  return {
    cols,
    rows,
    scrollback: SCROLLBACK_LINES,
    allowProposedApi: true, // its buffer is called that
    logLevel: "off",
    windowOptions: { pushTitle: true, popTitle: true }, // vim puts the title back with them
  };
}

function openScreen(terminal: Terminal): Screen {
  let title: string | null = null;
  let cursorVisible = true;

  const { buffer, parser } = terminal; // whoever asks for its buffer first after its end is scolded on stderr
  // false: the emulator acts on the sequence as well
  const showCursor = (visible: boolean) => (parameters: readonly unknown[]): boolean => {
    if (parameters.includes(25)) cursorVisible = visible;
    return false;
  };
  const resetCursor = (): boolean => {
    cursorVisible = true;
    return false;
  };
  parser.registerCsiHandler({ prefix: "?", final: "h" }, showCursor(true));
  parser.registerCsiHandler({ prefix: "?", final: "l" }, showCursor(false));
  parser.registerCsiHandler({ intermediates: "!", final: "p" }, resetCursor);
  parser.registerEscHandler({ final: "c" }, resetCursor);
  for (const final of REPEATED) {
    parser.registerCsiHandler({ final }, ([count]) => typeof count === "number" && count > LARGEST_COUNT);
  }
  terminal.onTitleChange((text) => (title = text === "" ? null : nameControls(text.slice(0, TITLE_CHARS))));

  const line = (number: number): string =>
    nameControls(buffer.active.getLine(number)?.translateToString(true).trimEnd() ?? "");
  const lines = (from: number, to: number): readonly string[] =>
    Array.from({ length: to - from }, (_, index) => line(from + index));

  return {
    write: (output) =>
      new Promise((resolve) => {
        const text = output.replace(MOVED_LINES, (whole, start: string, count: string, rest: string) => {
          return +count > terminal.rows && +count <= LARGEST_COUNT ? `${start}${terminal.rows}${rest}` : whole;
        });
        for (let at = 0; at < text.length; at += PIECE_LENGTH) terminal.write(text.slice(at, at + PIECE_LENGTH));
        terminal.write("", resolve);
      }),
    resize({ cols, rows }) {
      terminal.resize(cols, rows);
    },
    frame() {
      const { baseY, cursorX, cursorY, type } = buffer.active;
      return {
        rows: lines(baseY, baseY + terminal.rows),
        cursor: { row: cursorY, col: Math.min(cursorX, terminal.cols - 1) },
        cursorVisible,
        title,
        alternateScreen: type === "alternate",
        scrollbackLines: baseY,
      };
    },
    scrollback(count) {
      const { baseY } = buffer.active;
      return lines(Math.max(0, baseY - count), baseY);
    },
    close: () => terminal.dispose(),
  };
}
