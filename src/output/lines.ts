/**
 * Pages of rendered lines, numbered absolutely.
 *
 * A line's number is the number of line feeds before it in the log (or in one stream of it), whatever has been dropped
 * since, so a number stays good. A program that moves the cursor up prints line feeds without making lines: then some
 * numbers have no line. One that moves it down makes lines without line feeds: they share their number, and are one here.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { clipLine, countChars } from "./budget.ts";
import type { OutputLog } from "./log.ts";
import { renderNumbered, textOf } from "./reading.ts";
import type { Segment } from "./segments.ts";

/** Which lines to show. */
export interface LineQuery {
  /** Number of the first line; negative counts from the end. */
  readonly offset?: number;
  /** Number of lines at most. */
  readonly limit?: number;
  /** Only that stream, its lines counted by themselves. */
  readonly stream?: StreamName;
  /** Only lines whose text matches; `limit` then counts matches. */
  readonly grep?: RegExp;
  /** As it came: nothing removed, folded or named, and no line clipped that fits on the page. */
  readonly raw?: boolean;
}

/** One rendered line. */
export interface NumberedLine {
  /** Absolute 0-based number. */
  readonly number: number;
  /** Its text, without line feed at the end; a long one is clipped and says how long it is. */
  readonly text: string;
}

/** A page of lines. */
export interface LinePage {
  /** The lines, oldest first. */
  readonly lines: readonly NumberedLine[];
  /** Lines ever. */
  readonly total: number;
  /** Number of the oldest line that is held. */
  readonly firstHeld: number;
  /** Number of the page's first line; where it would be when the page is empty. */
  readonly first: number;
  /** `offset` that shows what comes after the page; absent at the end. */
  readonly next?: number;
  /** `offset` that shows what is before the page; absent when nothing held is. */
  readonly olderFrom?: number;
  /** Why lines that were asked for, or older ones of a tail, are not on the page: their number, or their characters. */
  readonly clippedBy?: "limit" | "budget";
  /** With `grep`: how many of all held lines match. */
  readonly matched?: number;
}

/** Lines shown when neither `offset` nor `limit` is given (spec P20). */
const DEFAULT_LIMIT = 200;
/** A longer line is clipped (spec P20). */
const LINE_CHARS = 2_000;

const LINE_FEED = 0x0a;

/** The first look at lines that may or may not fit; each further one is twice as many. */
const FIRST_LOOK = 200;

/** The lines a page is cut from, oldest first: those that are held, or those of them that match. */
interface Candidates {
  readonly count: number;
  /** Absolute number of a candidate. */
  number(index: number): number;
  /** Index of the first candidate whose number is not below. */
  indexOf(number: number): number;
  /** Rendered texts from one index to another. */
  texts(from: number, to: number): readonly string[];
}

/**
 * Reads a page. With neither `offset` nor `limit` the last 200 lines, with `limit` alone the last that many, with
 * `offset` alone everything from there on, with both that window. Past the end the page is empty.
 *
 * @param maxChars bound of the page in code points, one for each line's end included. A page that would be longer ends
 * early; one that is counted from the end begins late
 */
export function readLines(log: OutputLog, query: LineQuery, maxChars: number): LinePage {
  const { offset, raw = false } = query;
  const { first: firstHeld, total } = log.lineCounts(query.stream);
  const candidates = candidatesOf(log, query);
  const isTail = offset === undefined;
  const limit = Math.max(0, query.limit ?? (isTail ? DEFAULT_LIMIT : Infinity));
  const start = isTail
    ? Math.max(0, candidates.count - limit)
    : candidates.indexOf(offset < 0 ? total + offset : offset);
  const end = Math.min(candidates.count, start + limit);

  const lines = fill(candidates, start, end, isTail, maxChars, (text, number) => {
    const known = number === firstHeld && log.start > 0 ? "at-least" : "exactly";
    const clipped = text.split("\n").map((line) => raw ? line : clipLine(line, LINE_CHARS, known)).join("\n");
    return clipLine(clipped, maxChars - 1, known, text);
  });
  const from = isTail ? end - lines.length : start;
  const to = from + lines.length;
  const isBounded = lines.length < end - start;
  const isLimited = isTail ? from > 0 : to < candidates.count;
  const step = limit > 0 && limit < Infinity ? limit : DEFAULT_LIMIT;
  return {
    lines,
    total,
    firstHeld,
    first: from < candidates.count ? candidates.number(from) : total,
    ...(to < candidates.count ? { next: candidates.number(to) } : {}),
    ...(from > 0 ? { olderFrom: candidates.number(Math.max(0, from - step)) } : {}),
    ...(isBounded ? { clippedBy: "budget" } : isLimited ? { clippedBy: "limit" } : {}),
    ...(query.grep === undefined ? {} : { matched: candidates.count }),
  };
}

/** Takes lines from the front of the window, or from its end, as long as there is room. */
function fill(
  candidates: Candidates,
  start: number,
  end: number,
  fromEnd: boolean,
  maxChars: number,
  clip: (text: string, number: number) => string,
): readonly NumberedLine[] {
  const page: NumberedLine[] = [];
  let room = maxChars;
  let low = start;
  let high = end;
  for (let look = FIRST_LOOK; low < high; look *= 2) {
    const from = fromEnd ? Math.max(low, high - look) : low;
    const to = fromEnd ? high : Math.min(high, low + look);
    const lines = candidates.texts(from, to).map((text, index): NumberedLine => {
      const number = candidates.number(from + index);
      return { number, text: clip(text, number) };
    });
    for (const line of fromEnd ? lines.reverse() : lines) {
      room -= countChars(line.text) + 1;
      if (room < 0) return fromEnd ? page.reverse() : page;
      page.push(line);
    }
    if (fromEnd) high = from;
    else low = to;
  }
  return fromEnd ? page.reverse() : page;
}

function candidatesOf(log: OutputLog, { stream, grep, raw = false }: LineQuery): Candidates {
  const { first, total } = log.lineCounts(stream);
  if (!raw && log.crossesLines(stream)) {
    return listed(matching(redrawnLines(log, stream), grep), total);
  }
  const texts = (from: number, to: number): readonly string[] => renderLines(log, from, to, stream, raw);
  if (grep !== undefined) {
    const lines = texts(first, total).map((text, index): NumberedLine => ({ number: first + index, text }));
    return listed(matching(lines, grep), total);
  }
  const count = total - first;
  return {
    count,
    number: (index) => first + index,
    indexOf: (number) => Math.max(0, Math.min(number - first, count)),
    texts: (from, to) => texts(first + from, first + to),
  };
}

function listed(lines: readonly NumberedLine[], total: number): Candidates {
  return {
    count: lines.length,
    number: (index) => lines[index]?.number ?? total,
    indexOf(number) {
      const index = lines.findIndex((line) => line.number >= number);
      return index < 0 ? lines.length : index;
    },
    texts: (from, to) => lines.slice(from, to).map(({ text }) => text),
  };
}

function matching(lines: readonly NumberedLine[], grep: RegExp | undefined): readonly NumberedLine[] {
  if (grep === undefined) return lines;
  // With these flags a pattern would go on from where it last matched.
  const pattern = new RegExp(grep.source, grep.flags.replace(/[gy]/g, ""));
  return lines.filter(({ text }) => pattern.test(text));
}

/** All held lines as the redraws have left them. */
function redrawnLines(log: OutputLog, stream: StreamName | undefined): readonly NumberedLine[] {
  const { first, total } = log.lineCounts(stream);
  return redrawn(log, streamOf(log.read(log.start), stream), { first, total, isEnd: log.finished, stream });
}

/** Some lines as the redraws among them have left them, by number, up to but not including `to`. */
export function linesBetween(log: OutputLog, from: number, to: number): readonly NumberedLine[] {
  const end = log.lineStart(to);
  const isEnd = log.finished && end === log.end;
  return redrawn(log, log.read(log.lineStart(from), end), { first: from, total: to, isEnd });
}

/** Renders lines together. Those with the same number are put together. */
function redrawn(
  log: OutputLog,
  segments: readonly Segment[],
  { first, total, isEnd, stream }: {
    readonly first: number;
    readonly total: number;
    readonly isEnd: boolean;
    readonly stream?: StreamName | undefined;
  },
): readonly NumberedLine[] {
  const isAtStart = segments.at(-1)?.bytes.at(-1) === LINE_FEED;
  const { text, jumps } = renderNumbered(log, segments, isEnd, { firstLine: first, stream });
  const lines: { number: number; text: string }[] = [];
  let number = first - 1;
  let jump = 0;
  const rows = text.split("\n");
  rows.forEach((row, index) => {
    number = jumps[jump]?.index === index ? jumps[jump++]?.number ?? number : number + 1;
    // Where the cursor rests after a line feed is no line yet
    if (index === rows.length - 1 && row === "" && (isAtStart || number !== total - 1)) return;
    number = Math.min(number, total - 1);
    const last = lines.at(-1);
    if (last?.number === number) last.text += `\n${row}`;
    else lines.push({ number, text: row });
  });
  return lines;
}

function streamOf(segments: readonly Segment[], stream: StreamName | undefined): readonly Segment[] {
  return stream === undefined ? segments : segments.filter((segment) => segment.stream === stream);
}

/**
 * Lines that can be read each by itself, by number, up to but not including `to`; of one stream, if it is given.
 *
 * @param raw as they came, nothing removed or folded
 */
function renderLines(
  log: OutputLog,
  from: number,
  to: number,
  stream?: StreamName,
  raw = false,
): readonly string[] {
  if (from >= to) return [];
  const end = log.lineStart(to, stream);
  const segments = streamOf(log.read(log.lineStart(from, stream), end), stream);
  const isEnd = log.finished && end === log.end;
  const lines = (raw ? textOf(segments) : renderNumbered(log, segments, isEnd, { stream }).text).split("\n");
  // What comes after the last line feed of the page is not a line of it; at the end it is what another stream held back
  const rest = lines.splice(to - from).join("\n");
  if (isEnd && rest !== "") lines.push(`${lines.pop() ?? ""}\n${rest}`);
  return lines;
}
