/**
 * From held bytes to rendered text: decoding, and rendering that begins in the middle of a log.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import type { ScreenSize } from "./grid.ts";
import type { OutputLog } from "./log.ts";
import { createRenderer, type Renderer } from "./render.ts";
import { type Segment, STREAM_NAMES } from "./segments.ts";
import { lastScreenSwitch, nextScreenSwitch } from "./sequences.ts";
import type { Jump } from "./transcript.ts";
import { decode } from "./utf8.ts";

/** What is known of the terminal that output is written to. */
export interface LogTerminal {
  /** Its size. */
  readonly size: ScreenSize;
  /** Whether a full-screen program is up now. */
  fullScreen(): boolean;
}

/** Rendered text and the numbers of its lines. */
export interface NumberedText {
  /** The text. */
  readonly text: string;
  /** Lines whose number does not follow from the one before. */
  readonly jumps: readonly Jump[];
}

/** How the lines of rendered text are numbered. */
export interface LineNumbering {
  /** Number of the first line, if they are numbered. */
  readonly firstLine?: number | undefined;
  /** The only stream that is rendered. Default: all. */
  readonly stream?: StreamName | undefined;
}

/**
 * Creates a renderer for what follows an offset: a sequence that began before it is still recognised as one, and a
 * full-screen program that was up then still is.
 *
 * @param offsetOf where each stream goes on; the same offset for all, or one a stream
 */
export function rendererFrom(
  log: OutputLog,
  offsetOf: (stream: StreamName) => number,
  { firstLine, stream: only }: LineNumbering = {},
): Renderer {
  const renderer = createRenderer({
    size: log.terminal?.size,
    fullScreen: isFullScreen(log, offsetOf("terminal")),
    ...(firstLine !== undefined && { firstLine }),
  });
  for (const stream of only === undefined ? STREAM_NAMES : [only]) {
    const before = log.lookBack(offsetOf(stream), stream);
    if (before.length > 0) renderer.prime(stream, textOf(before));
  }
  return renderer;
}

/**
 * Renders held output.
 *
 * @param segments in their order; what was before the first one decides in which state rendering begins
 * @param isEnd nothing will come after them: a sequence that is not terminated is shown as text
 */
export function renderSegments(log: OutputLog, segments: readonly Segment[], isEnd: boolean): string {
  return renderNumbered(log, segments, isEnd).text;
}

/** The same, with the numbers of the lines. */
export function renderNumbered(
  log: OutputLog,
  segments: readonly Segment[],
  isEnd: boolean,
  numbering: LineNumbering = {},
): NumberedText {
  const from = segments[0]?.at ?? log.end;
  const renderer = rendererFrom(log, () => from, numbering);
  for (const { stream, bytes } of segments) renderer.write(stream, decode(bytes));
  if (isEnd) renderer.finish();
  return { text: renderer.take(), jumps: renderer.jumps };
}

/** Raw text of segments. */
export function textOf(segments: readonly Segment[]): string {
  return segments.map(({ bytes }) => decode(bytes)).join("");
}

/** Whether a full-screen program was up at an offset, as far as can be told from what is held. */
function isFullScreen(log: OutputLog, offset: number): boolean {
  const { terminal } = log;
  if (terminal === undefined || offset === 0) return false;
  const before = lastScreenSwitch(textOf(log.read(log.start, offset)));
  if (before !== undefined || log.start === 0) return before === "alternate";
  const after = nextScreenSwitch(textOf(log.read(offset)));
  return after === undefined ? terminal.fullScreen() : after === "main";
}
