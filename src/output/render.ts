/**
 * Turns decoded output into what a reader sees: no control sequences, redraws folded to the final line, every other
 * control shown by name.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { type ControlParser, createControlParser, type LineActions } from "./controls.ts";
import { createLineEditor } from "./line_editor.ts";
import { STREAM_NAMES } from "./segments.ts";

/** Renders text as it comes. Several streams write on one line, as on a terminal; a sequence belongs to its stream. */
export interface Renderer {
  /**
   * Adds text of one stream, cut anywhere between code points.
   */
  write(stream: StreamName, text: string): void;
  /**
   * Everything that has not been taken, the unfinished line included. When that line was taken before and has been
   * redrawn since, it is given again on a line of its own, unless it only goes on from there. So without redraws what
   * is taken adds up to the whole, and with them the last state of each line is there.
   */
  take(): string;
  /** End of input: a sequence that is not terminated is shown as text. More may still be written. */
  finish(): void;
  /** Sets a stream to the state in which `text`, which is not shown, would have left it. */
  prime(stream: StreamName, text: string): void;
}

const NO_ACTIONS: LineActions = { print() {}, carriageReturn() {}, moveTo() {}, moveBy() {}, erase() {} };

/** Creates a renderer with an empty line. */
export function createRenderer(): Renderer {
  const editor = createLineEditor();
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
    write: (stream, text) => parserOf(stream).write(withLineFeeds(text), editor),
    take: editor.take,
    finish() {
      for (const stream of STREAM_NAMES) parsers.get(stream)?.finish(editor);
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
