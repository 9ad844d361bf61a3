/**
 * Pages of rendered lines, numbered absolutely.
 *
 * A line's number is the number of line feeds before it in the log (or in one stream of it), whatever has been dropped
 * since, so a number stays good. A line feed always ends a rendered line: the lines of a page are those of the whole.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { clipLine, countChars } from "./budget.ts";
import type { OutputLog } from "./log.ts";
import { renderSegments } from "./reading.ts";

/** Which lines to show. */
export interface LineQuery {
  /** Number of the first line; negative counts from the end. */
  readonly offset?: number;
  /** Number of lines at most. */
  readonly limit?: number;
  /** Only that stream, its lines counted by themselves. */
  readonly stream?: StreamName;
  /** Only lines whose rendered text matches; `limit` then counts matches. */
  readonly grep?: RegExp;
}

/** One rendered line. */
export interface NumberedLine {
  /** Absolute 0-based number. */
  readonly number: number;
  /** Its text, without line feed; a long one is clipped and says how long it is. */
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
  const { offset, stream, grep } = query;
  const { first: firstHeld, total } = log.lineCounts(stream);
  const candidates = grep === undefined ? heldLines(log, stream) : matchingLines(log, stream, grep);
  const isTail = offset === undefined;
  const limit = Math.max(0, query.limit ?? (isTail ? DEFAULT_LIMIT : Infinity));
  const start = isTail
    ? Math.max(0, candidates.count - limit)
    : candidates.indexOf(offset < 0 ? total + offset : offset);
  const end = Math.min(candidates.count, start + limit);

  const lineChars = Math.min(LINE_CHARS, maxChars - 1);
  const lines = fill(candidates, start, end, isTail, maxChars, (text, number) => {
    return clipLine(text, lineChars, number === firstHeld && log.start > 0 ? "at-least" : "exactly");
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
    ...(grep === undefined ? {} : { matched: candidates.count }),
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

function heldLines(log: OutputLog, stream: StreamName | undefined): Candidates {
  const { first, total } = log.lineCounts(stream);
  const count = total - first;
  return {
    count,
    number: (index) => first + index,
    indexOf: (number) => Math.max(0, Math.min(number - first, count)),
    texts: (from, to) => renderLines(log, first + from, first + to, stream),
  };
}

function matchingLines(log: OutputLog, stream: StreamName | undefined, grep: RegExp): Candidates {
  const { first, total } = log.lineCounts(stream);
  // With these flags a pattern would go on from where it last matched.
  const pattern = new RegExp(grep.source, grep.flags.replace(/[gy]/g, ""));
  const found = renderLines(log, first, total, stream)
    .map((text, index): NumberedLine => ({ number: first + index, text }))
    .filter(({ text }) => pattern.test(text));
  return {
    count: found.length,
    number: (index) => found[index]?.number ?? total,
    indexOf(number) {
      const index = found.findIndex((line) => line.number >= number);
      return index < 0 ? found.length : index;
    },
    texts: (from, to) => found.slice(from, to).map(({ text }) => text),
  };
}

/** Renders lines by number, up to but not including `to`; of one stream, if it is given. */
export function renderLines(log: OutputLog, from: number, to: number, stream?: StreamName): readonly string[] {
  if (from >= to) return [];
  const end = log.lineStart(to, stream);
  const segments = log.read(log.lineStart(from, stream), end)
    .filter((segment) => stream === undefined || segment.stream === stream);
  // What comes after the last line feed of the page is not a line of it.
  return renderSegments(log, segments, log.finished && end === log.end).split("\n").slice(0, to - from);
}
