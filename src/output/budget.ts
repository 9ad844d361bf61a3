/**
 * Fits text into a number of characters, and says exactly what was left out.
 *
 * Characters are code points; a surrogate pair is never split, and a cut goes to a line border when one is near.
 *
 * @module
 */

import { createBinaryCheck } from "./binary.ts";
import type { OutputLog } from "./log.ts";
import { renderSegments } from "./reading.ts";
import { foldRepeats } from "./repeats.ts";
import { dropFront, endOf, measureSegments, newest, oldest, type Segment } from "./segments.ts";
import { decode, MAX_CHARACTER_BYTES } from "./utf8.ts";

/** Text that fits, and how much of it does not. */
export interface FittedText {
  /** The text, or its head and tail with a line between them that states what was left out. */
  readonly text: string;
  /** Code points left out. */
  readonly omittedChars: number;
  /** Line breaks in what was left out. */
  readonly omittedLines: number;
}

/** A session's output as one answer shows it. */
export interface BoundedOutput extends FittedText {
  /** Whether anything was left out. */
  readonly truncated: boolean;
  /** What was read is mostly not text. */
  readonly binary: boolean;
}

const EMPTY: BoundedOutput = { text: "", omittedChars: 0, omittedLines: 0, truncated: false, binary: false };
/** Room kept for the line that states what was left out. */
const NOTE_CHARS = 80;
/** Enough of what is mostly not text to see what it is, and an error message at its end. */
export const BINARY_CHARS = 2_000;
/** A line border is near when less than this share of a piece is lost by cutting there. */
const NEAR = 0.25;
/** Raw characters looked at for one of a tail: coloured output has about two, a TUI more than is worth it. */
const MOST_RAW_PER_CHAR = 32;
const LINE_FEED = 0x0a;

/** Number of code points of a text. */
export function countChars(text: string): number {
  let pairs = 0;
  for (let index = 0; index < text.length; index++) if (isPair(text, index)) pairs++;
  return text.length - pairs;
}

/**
 * Head and tail of a text that is too long, about half of the room each.
 *
 * @param maxChars the result, the note included, is not longer, unless that is too little for the note alone
 */
export function fitHeadAndTail(text: string, maxChars: number): FittedText {
  if (text.length <= maxChars || countChars(text) <= maxChars) return { text, omittedChars: 0, omittedLines: 0 };
  const room = Math.max(0, maxChars - NOTE_CHARS);
  const headEnd = endOfHead(text, Math.ceil(room / 2));
  const tailStart = startOfTail(text, Math.floor(room / 2));
  const omitted = text.slice(headEnd, tailStart);
  const omittedChars = countChars(omitted);
  const omittedLines = countLineFeeds(omitted);
  return {
    text: joinHeadAndTail(text.slice(0, headEnd), text.slice(tailStart), omittedChars, omittedLines),
    omittedChars,
    omittedLines,
  };
}

/** The last `maxChars` code points of a text, from the start of a line when one is near. */
export function tailOf(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(startOfTail(text, maxChars));
}

/**
 * A line of at most `maxChars` code points; of a longer one the start, and its length.
 *
 * @param known `"exactly"`: the whole line is there; `"at-least"`: its beginning is no longer held. Default exactly
 * @param whole what it was before it was clipped for the first time
 */
export function clipLine(
  line: string,
  maxChars: number,
  known: "exactly" | "at-least" = "exactly",
  whole: string = line,
): string {
  if (line.length <= maxChars || countChars(line) <= maxChars) return line;
  const note = `… [line of ${known === "exactly" ? "" : "at least "}${countChars(whole)} characters]`;
  return line.slice(0, indexAfter(line, Math.max(0, maxChars - countChars(note)))) + note;
}

/**
 * The output of a session for one answer: all of it if it fits, else its head and tail. What the log has dropped in
 * the middle counts as left out; then characters and lines are counted as they came, before rendering.
 *
 * The head is there only if the log was told to keep it.
 *
 * @param maxChars the text is not longer, nor than `BINARY_CHARS` if it is mostly not text
 * @param folded whether a line that comes several times in a row is said once, see `foldRepeats`
 */
export function boundedOutput(log: OutputLog, maxChars: number, folded: boolean): BoundedOutput {
  const output = outputWithin(log, maxChars, folded);
  if (!output.binary || maxChars <= BINARY_CHARS) return output;
  return { ...outputWithin(log, BINARY_CHARS, folded), binary: true };
}

function outputWithin(log: OutputLog, maxChars: number, folded: boolean): BoundedOutput {
  if (log.end === 0) return EMPTY;
  const head = log.head();
  const headEnd = endOf(head, 0);
  if (headEnd < log.start) return outerOutput(log, head, maxChars, folded);
  const segments = [...head, ...log.read(headEnd)];
  const text = renderSegments(log, segments, log.finished);
  const fitted = fitHeadAndTail(folded ? foldRepeats(text) : text, maxChars);
  return { ...fitted, truncated: fitted.omittedChars > 0, binary: isBinary(segments) };
}

/**
 * The end of what a session has printed, rendered; from the start of a line when one is near.
 *
 * Looks at the newest part of the log only, so output that is mostly control sequences may give less than `maxChars`.
 */
export function tailOfLog(log: OutputLog, maxChars: number): string {
  for (let share = 2;; share *= 4) {
    const segments = newestOf(log, maxChars * share);
    const text = renderSegments(log, segments, log.finished);
    const isAll = (segments[0]?.at ?? log.start) === log.start;
    if (isAll || share >= MOST_RAW_PER_CHAR || countChars(text) >= maxChars) return tailOf(text, maxChars);
  }
}

/** Head and tail of a log that no longer has what was between them. */
function outerOutput(
  log: OutputLog,
  head: readonly Segment[],
  maxChars: number,
  folded: boolean,
): BoundedOutput {
  const half = Math.max(0, Math.floor((maxChars - NOTE_CHARS) / 2));
  const first = renderWithin(log, half, false, (chars) => toLineBorder(oldest(head, chars)));
  const last = renderWithin(log, half, true, (chars) => fromLineBorder(newestOf(log, chars)));
  const shown = measureSegments(first.segments);
  const hidden = measureSegments(log.read(log.start, last.segments[0]?.at ?? log.end));
  const omittedChars = log.droppedChars + hidden.chars - shown.chars;
  const omittedLines = log.firstLine + hidden.lines - shown.lines;
  const [before, after] = [first.text, last.text].map((text) => folded ? foldRepeats(text) : text);
  return {
    text: joinHeadAndTail(before ?? "", after ?? "", omittedChars, omittedLines),
    truncated: true,
    omittedChars,
    omittedLines,
    binary: isBinary([...first.segments, ...last.segments]),
  };
}

/** The newest characters of a log, read from no further back than they can be. */
function newestOf(log: OutputLog, chars: number): readonly Segment[] {
  return newest(log.read(Math.max(log.start, log.end - chars * MAX_CHARACTER_BYTES)), chars);
}

/** Takes so few characters that they are not too many once rendered: naming controls makes text longer. */
function renderWithin(
  log: OutputLog,
  maxChars: number,
  isEnd: boolean,
  take: (chars: number) => readonly Segment[],
): { readonly segments: readonly Segment[]; readonly text: string } {
  for (let chars = maxChars;;) {
    const segments = take(chars);
    const text = renderSegments(log, segments, isEnd && log.finished);
    const length = countChars(text);
    if (length <= maxChars || chars === 0) return { segments, text };
    chars = Math.floor((chars * maxChars) / length); // fewer, as `length` is more than `maxChars`
  }
}

function joinHeadAndTail(head: string, tail: string, omittedChars: number, omittedLines: number): string {
  const lines = omittedLines === 0 ? "" : ` in ${counted(omittedLines, "line")}`;
  const border = head === "" || head.endsWith("\n") ? "" : "\n";
  return `${head}${border}… ${counted(omittedChars, "character")}${lines} left out …\n${tail}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Index at which a head of `chars` code points ends: after a line feed when one is near. */
function endOfHead(text: string, chars: number): number {
  const end = indexAfter(text, chars);
  const border = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
  return isNear(end - border, end) ? border : end;
}

/** Index at which a tail of `chars` code points begins: after a line feed when one is near. */
function startOfTail(text: string, chars: number): number {
  const start = indexBefore(text, chars);
  if (start === 0 || text[start - 1] === "\n") return start;
  const border = text.indexOf("\n", start) + 1;
  return border > 0 && isNear(border - start, text.length - start) ? border : start;
}

/** The segments up to their last line feed when it is near. */
function toLineBorder(segments: readonly Segment[]): readonly Segment[] {
  const last = segments.at(-1);
  if (last === undefined) return segments;
  const border = last.bytes.lastIndexOf(LINE_FEED) + 1;
  if (border === 0 || !isNear(last.bytes.length - border, bytesIn(segments))) return segments;
  return [...segments.slice(0, -1), { ...last, bytes: last.bytes.subarray(0, border) }];
}

/** The segments from after their first line feed when it is near. */
function fromLineBorder(segments: readonly Segment[]): readonly Segment[] {
  const [first, ...rest] = segments;
  if (first === undefined) return segments;
  const border = first.bytes.indexOf(LINE_FEED) + 1;
  if (border === 0 || !isNear(border, bytesIn(segments))) return segments;
  return border === first.bytes.length ? rest : [dropFront(first, border), ...rest];
}

function isNear(lost: number, of: number): boolean {
  return lost < of * NEAR;
}

function bytesIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Whether output is mostly not text. */
export function isBinary(segments: readonly Segment[]): boolean {
  const check = createBinaryCheck();
  for (const { bytes } of segments) check.add(decode(bytes));
  return check.binary;
}

/** Index after the first `chars` code points. */
function indexAfter(text: string, chars: number): number {
  let index = 0;
  for (let left = chars; left > 0 && index < text.length; left--) {
    index += isPair(text, index) ? 2 : 1;
  }
  return index;
}

/** Index before the last `chars` code points. */
function indexBefore(text: string, chars: number): number {
  let index = text.length;
  for (let left = chars; left > 0 && index > 0; left--) {
    index -= isPair(text, index - 2) ? 2 : 1;
  }
  return index;
}

/** Whether the two UTF-16 units at `index` are one code point. */
function isPair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index >= 0; index = text.indexOf("\n", index + 1)) count++;
  return count;
}
