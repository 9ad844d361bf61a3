/**
 * The output of one session: an append-only log of tagged bytes, bounded, with absolute offsets.
 *
 * Appending keeps a reference, counts, and drops what is past the cap; its cost does not depend on how much is held.
 * Bytes stay bytes until somebody reads: nothing is decoded here.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { createCrossings, type Crossings } from "./crossings.ts";
import { add, type Cut, findCut, NOTHING, type Tally } from "./cut.ts";
import type { LogTerminal } from "./reading.ts";
import { createHead } from "./head.ts";
import { createPieceQueue, type Piece, segmentOf } from "./pieces.ts";
import { measure } from "./scan.ts";
import type { Segment, StreamBytes } from "./segments.ts";
import { characterStart } from "./utf8.ts";
import { createWholeCharacters, type WholeCharacters } from "./whole_characters.ts";

export type { Segment, StreamBytes } from "./segments.ts";

/** How far back a sequence that a cut would split is looked for, in bytes: images are long, titles and colours short. */
const LOOK_BACK_BYTES = 65_536;
/** Code points held, but not shown, before the oldest visible one: what {@linkcode OutputLog.lookBack} needs there. */
const MARGIN_CHARS = 4_096;
const LINE_FEED = 0x0a;

/** Number of the first line that is held and number of lines ever. */
export interface LineCounts {
  /** Absolute 0-based number of the line in which the oldest held byte lies. */
  readonly first: number;
  /** Lines ever; an unfinished last line counts as one. */
  readonly total: number;
}

/** Append-only, bounded output of one session. Offsets are bytes, caps are code points. */
export interface OutputLog {
  /** The terminal it is written to; `undefined` for pipes. */
  readonly terminal: LogTerminal | undefined;
  /**
   * Adds output in the order in which it was read. An incomplete character at the end of `bytes` is not in the log
   * until the rest of it, or {@linkcode OutputLog.finish}, comes.
   *
   * @param bytes kept by reference: not to be written to any more
   */
  append(stream: StreamName, bytes: Uint8Array): void;
  /**
   * The streams are at their end: incomplete characters are appended as they are. More may still be appended (a child
   * left behind prints on), and finished again.
   */
  finish(): void;
  /** Whether {@linkcode OutputLog.finish} has been called. */
  readonly finished: boolean;
  /** Offset of the oldest byte that is held. */
  readonly start: number;
  /** Offset after the newest byte: bytes ever. */
  readonly end: number;
  /** Absolute 0-based number of the line in which `start` lies. */
  readonly firstLine: number;
  /** Lines ever; an unfinished last line counts as one. */
  readonly totalLines: number;
  /** Code points ever. */
  readonly totalChars: number;
  /** Code points no longer held. */
  readonly droppedChars: number;
  /** Bytes ever, by stream. */
  readonly appendedBytes: StreamBytes;
  /** Bytes no longer held, by stream. */
  readonly droppedBytes: StreamBytes;
  /** Line numbers of the whole log, or of one stream by itself. */
  lineCounts(stream?: StreamName): LineCounts;
  /** Offset at which a line begins (in the log, or counting one stream's lines), clipped to what is held. */
  lineStart(line: number, stream?: StreamName): number;
  /** Number of the line in which an offset lies, clipped to what is held. */
  lineAt(offset: number): number;
  /** Whether what is held, or what is held of one stream, may have lines that were redrawn from others. */
  crossesLines(stream?: StreamName): boolean;
  /** What is held from one offset to another. An offset inside a character means the start of that character. */
  read(from: number, to?: number): readonly Segment[];
  /** A stream's bytes since its last line feed before `offset`, as far as still there: a sequence may be open in them. */
  lookBack(offset: number, stream: StreamName): readonly Segment[];
  /** Keeps the first `chars` code points of the session, whatever is dropped. To be called before output comes. */
  keepHead(chars: number): void;
  /** Lets the head go. */
  releaseHead(): void;
  /** The first code points of the session, as many as {@linkcode OutputLog.keepHead} was told; empty without it. */
  head(): readonly Segment[];
}

/** What the log knows of one stream. */
interface Stream {
  readonly ever: Tally;
  /** What was in pieces that have been removed. */
  readonly removed: Tally;
  /** Its last byte is not a line feed. */
  unfinished: boolean;
  readonly characters: WholeCharacters;
}

/**
 * Creates an empty log. Allocates next to nothing until output comes.
 *
 * @param options `maxChars`: how many code points are kept; the oldest beyond that are dropped. `terminal`: if there is one
 */
export function createOutputLog(
  options: { readonly maxChars: number; readonly terminal?: LogTerminal | undefined },
): OutputLog {
  const { maxChars, terminal } = options;
  const queue = createPieceQueue();
  const head = createHead();
  const streams: Partial<Record<StreamName, Stream>> = {}; // those that have printed
  let finished = false;
  let totalChars = 0;
  let heldChars = 0;
  let unfinished = false;
  let knownCut: Cut | undefined;
  let crossings: Crossings | undefined;

  function createStream(name: StreamName): Stream {
    const characters = createWholeCharacters((bytes) => commit(name, bytes));
    return { ever: { bytes: 0, lines: 0 }, removed: { bytes: 0, lines: 0 }, unfinished: false, characters };
  }

  function ever(name: StreamName): Readonly<Tally> {
    return streams[name]?.ever ?? NOTHING;
  }

  function removed(name: StreamName): Readonly<Tally> {
    return streams[name]?.removed ?? NOTHING;
  }

  function append(name: StreamName, bytes: Uint8Array): void {
    const { characters } = streams[name] ??= createStream(name);
    characters.add(bytes);
  }

  function commit(name: StreamName, bytes: Uint8Array): void {
    const stream = streams[name] as Stream; // its own characters are what is committed
    const size = measure(bytes);
    queue.push(name, bytes, size);
    totalChars += size.chars;
    heldChars += size.chars;
    add(stream.ever, bytes.length, size.lines);
    unfinished = bytes.at(-1) !== LINE_FEED;
    stream.unfinished = unfinished;
    knownCut = undefined;
    for (let piece = queue.at(0); piece !== undefined; piece = queue.at(0)) {
      if (heldChars - piece.chars < maxChars + MARGIN_CHARS) break;
      remove(piece);
    }
  }

  function remove(piece: Piece): void {
    head.rescue(piece);
    queue.shift();
    heldChars -= piece.chars;
    add((streams[piece.stream] as Stream).removed, piece.length, piece.lines); // it has printed this piece
  }

  /** Found when asked for, known until something is appended. */
  function cut(): Cut {
    knownCut ??= findCut(queue, heldChars - maxChars, {
      stdout: removed("stdout"),
      stderr: removed("stderr"),
      terminal: removed("terminal"),
    });
    return knownCut;
  }

  function lineCounts(name?: StreamName): LineCounts {
    const { line, before } = cut();
    if (name === undefined) return { first: line, total: queue.lines + Number(unfinished) };
    return { first: before[name].lines, total: ever(name).lines + Number(streams[name]?.unfinished ?? false) };
  }

  function lineStart(line: number, name?: StreamName): number {
    const { start, line: first } = cut();
    if (name !== undefined) return lineStartOf(name, line);
    if (line <= first) return start;
    const piece = queue.at(queue.indexAfter((piece) => piece.line + piece.lines < line));
    return piece === undefined ? queue.end : piece.at + afterLineFeeds(segmentOf(piece).bytes, line - piece.line);
  }

  /** One stream's lines are counted from where it is still held. */
  function lineStartOf(name: StreamName, line: number): number {
    const { start, index: first, hidden, before } = cut();
    let skip = line - before[name].lines;
    if (skip <= 0) return start;
    for (let index = first;; index++) {
      const piece = queue.at(index);
      if (piece === undefined) return queue.end;
      if (piece.stream !== name) continue;
      const gone = index === first ? hidden : NOTHING;
      if (skip > piece.lines - gone.lines) skip -= piece.lines - gone.lines;
      else return piece.at + gone.bytes + afterLineFeeds(segmentOf(piece, gone.bytes).bytes, skip);
    }
  }

  function lineAt(offset: number): number {
    const { start, line } = cut();
    const piece = queue.at(indexAt(offset));
    if (offset <= start || piece === undefined) return offset <= start ? line : queue.lines;
    return piece.line + measure(segmentOf(piece, 0, offset - piece.at).bytes).lines;
  }

  /** Index of the piece that contains an offset. */
  function indexAt(offset: number): number {
    return queue.indexAfter((piece) => piece.at + piece.length <= offset);
  }

  function read(from: number, to: number = queue.end): readonly Segment[] {
    const low = Math.max(from, cut().start);
    const high = Math.min(to, queue.end);
    const segments: Segment[] = [];
    for (let index = indexAt(low); low < high; index++) {
      const piece = queue.at(index);
      if (piece === undefined || piece.at >= high) break;
      const { bytes } = segmentOf(piece);
      const first = low > piece.at ? characterStart(bytes, low - piece.at) : 0;
      const last = high < piece.at + piece.length ? characterStart(bytes, high - piece.at) : piece.length;
      if (first < last) segments.push(segmentOf(piece, first, last));
    }
    return segments;
  }

  function lookBack(offset: number, name: StreamName): readonly Segment[] {
    const found: Segment[] = [];
    if (ever(name).bytes === 0) return found;
    let left = LOOK_BACK_BYTES;
    for (let index = indexAt(Math.min(offset, queue.end) - 1); index >= 0 && left > 0; index--) {
      const piece = queue.at(index);
      if (piece === undefined || piece.at >= offset) continue;
      const { bytes } = segmentOf(piece);
      const last = characterStart(bytes, Math.min(bytes.length, offset - piece.at));
      const lineFeed = piece.stream === name && last > 0 ? bytes.lastIndexOf(LINE_FEED, last - 1) : -1;
      const first = Math.max(lineFeed + 1, characterStart(bytes, Math.max(0, last - left)));
      if (piece.stream === name && first < last) found.push(segmentOf(piece, first, last));
      if (lineFeed >= 0) break;
      left -= last;
    }
    return found.reverse();
  }

  return {
    terminal,
    append,
    finish() {
      finished = true;
      for (const stream of Object.values(streams)) stream.characters.flush();
    },
    get finished() {
      return finished;
    },
    get start() {
      return cut().start;
    },
    get end() {
      return queue.end;
    },
    get firstLine() {
      return lineCounts().first;
    },
    get totalLines() {
      return lineCounts().total;
    },
    get totalChars() {
      return totalChars;
    },
    get droppedChars() {
      return Math.max(0, totalChars - maxChars);
    },
    get appendedBytes() {
      return { stdout: ever("stdout").bytes, stderr: ever("stderr").bytes, terminal: ever("terminal").bytes };
    },
    get droppedBytes() {
      const { stdout, stderr, terminal } = cut().before;
      return { stdout: stdout.bytes, stderr: stderr.bytes, terminal: terminal.bytes };
    },
    lineCounts,
    lineStart,
    lineAt,
    crossesLines: (name) => (crossings ??= createCrossings(read)).last(name) > cut().start,
    read,
    lookBack,
    keepHead: head.keep,
    releaseHead: head.release,
    head: () => head.read(queue),
  };
}

/** Index just after the `count`th line feed, which must be there. */
function afterLineFeeds(bytes: Uint8Array, count: number): number {
  let index = 0;
  for (let left = count; left > 0; index++) if (bytes[index] === LINE_FEED) left--;
  return index;
}
