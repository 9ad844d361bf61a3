/**
 * Turns decoded output into what a reader sees: no control sequences, redraws folded to the final line, every other
 * control shown by name.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { type ControlParser, createControlParser } from "./controls.ts";
import type { ScreenSize } from "./grid.ts";
import { createScreenful } from "./screenful.ts";
import { STREAM_NAMES } from "./segments.ts";
import type { ScreenActions } from "./sequences.ts";
import { createTranscript, type Jump } from "./transcript.ts";

/** Renders text as it comes. Several streams write on one screen, as on a terminal; a sequence belongs to its stream. */
export interface Renderer {
  /** Adds text of one stream, cut anywhere between code points. */
  write(stream: StreamName, text: string): void;
  /**
   * Everything that has not been taken, the unfinished line included. A line that was taken before and has been redrawn
   * since is given again on a line of its own; the last one, if it only goes on, goes on. So without redraws what is
   * taken adds up to the whole, and with them the last state of each line is there.
   */
  take(): string;
  /** Of the lines taken, those whose number does not follow from the one before; only if numbers were asked for. */
  readonly jumps: readonly Jump[];
  /** End of input: a sequence that is not terminated is shown as text. More may still be written. */
  finish(): void;
  /** Sets a stream to the state in which `text`, which is not shown, would have left it. */
  prime(stream: StreamName, text: string): void;
}

/** Where and how rendering begins. */
export interface RenderOptions {
  /** What a program moves about on. Default: 30 rows of 1000 columns. */
  readonly size?: ScreenSize | undefined;
  /** Whether a full-screen program is up already. Default no. */
  readonly fullScreen?: boolean;
  /** Number of the first line, if the lines are to be numbered. */
  readonly firstLine?: number;
}

/** The rows of a terminal unless said otherwise; wider than the widest, as nobody knows how wide a pipe's reader is. */
const ANY_SIZE: ScreenSize = { cols: 1_000, rows: 30 };

const nothing = (): void => {};
const NO_ACTIONS: ScreenActions = {
  print: nothing,
  carriageReturn: nothing,
  moveBy: nothing,
  moveTo: nothing,
  rowBy: nothing,
  rowTo: nothing,
  index: nothing,
  reverseIndex: nothing,
  eraseLine: nothing,
  eraseScreen: nothing,
  eraseCells: nothing,
  insertCells: nothing,
  deleteCells: nothing,
  insertLines: nothing,
  deleteLines: nothing,
  scroll: nothing,
  repeat: nothing,
  region: nothing,
  save: nothing,
  restore: nothing,
  alternate: nothing,
};

/** Creates a renderer with an empty screen. */
export function createRenderer(options: RenderOptions = {}): Renderer {
  const { size = ANY_SIZE, fullScreen = false, firstLine } = options;
  const transcript = createTranscript(firstLine);
  const screenful = createScreenful(transcript, size, firstLine);
  if (fullScreen) screenful.alternate(true);
  const parsers = new Map<StreamName, ControlParser>();

  function parserOf(stream: StreamName): ControlParser {
    let parser = parsers.get(stream);
    if (parser === undefined) {
      parser = createControlParser();
      parsers.set(stream, parser);
    }
    return parser;
  }

  return {
    write: (stream, text) => parserOf(stream).write(withLineFeeds(text), screenful),
    take() {
      screenful.tell();
      return transcript.take();
    },
    jumps: transcript.jumps,
    finish() {
      for (const stream of STREAM_NAMES) parsers.get(stream)?.finish(screenful);
    },
    prime(stream, text) {
      parsers.delete(stream);
      parserOf(stream).write(text, NO_ACTIONS);
    },
  };
}

/**
 * Renders one whole text.
 *
 * @example A progress bar leaves its last frame
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(renderText("10 %\r50 %\r100 %\n\x1b[32mdone\x1b[0m\n"), "100 %\ndone\n");
 * ```
 */
export function renderText(text: string): string {
  const renderer = createRenderer();
  renderer.write("stdout", text);
  renderer.finish();
  return renderer.take();
}

/** CRLF is a line end in every state; told here, plain terminal output takes the fast way. */
function withLineFeeds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}
