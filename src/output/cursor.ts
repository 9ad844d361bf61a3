/**
 * A reader's place in a log: gives every byte once, or says how many it had to leave out.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { createBinaryCheck } from "./binary.ts";
import type { OutputLog } from "./log.ts";
import { rendererFrom } from "./reading.ts";
import { bytesByStream, newest, type Segment, STREAM_NAMES, type StreamBytes } from "./segments.ts";
import { decode } from "./utf8.ts";

/** What one read gives: `to - from` bytes, delivered or dropped. */
export interface Delivery {
  /** Rendered output. */
  readonly text: string;
  /** Offset in the log at which the read began. */
  readonly from: number;
  /** Offset at which the next read begins. */
  readonly to: number;
  /** Bytes left out: over the limit, or no longer held. */
  readonly dropped: number;
  /** The same by stream. */
  readonly droppedByStream: StreamBytes;
  /** What was read is mostly not text. */
  readonly binary: boolean;
}

/** A reader's place. */
export interface Cursor {
  /** Offset of the next byte to read. */
  readonly position: number;
  /** Bytes that came since. */
  readonly pending: number;
  /**
   * Reads everything up to the end of the log.
   *
   * @param maxCharsPerStream of a stream with more code points than this pending, the newest are kept
   */
  read(maxCharsPerStream: number): Delivery;
}

/**
 * Creates a cursor.
 *
 * @param at absolute offset to begin at; past the end is the end, inside a character is its start. Default 0: an
 * offset that is no longer held is said to be dropped by the first read
 */
export function createCursor(log: OutputLog, at = 0): Cursor {
  let position = placeOf(log, at);
  let consumed = bytesBefore(log, position);
  let renderer = rendererFrom(log, () => position);

  function read(maxCharsPerStream: number): Delivery {
    const from = position;
    const to = log.end;
    const segments = newestOfEach(log.read(from), maxCharsPerStream);
    const droppedByStream = minus(minus(log.appendedBytes, consumed), bytesByStream(segments));
    const dropped = droppedByStream.stdout + droppedByStream.stderr + droppedByStream.terminal;
    if (dropped > 0) {
      // What comes after a gap is not on the same line, nor in the same sequence, as what was before it.
      renderer = rendererFrom(log, (stream) => segments.find((segment) => segment.stream === stream)?.at ?? to);
    }
    const check = createBinaryCheck();
    for (const { stream, bytes } of segments) {
      const text = decode(bytes);
      check.add(text);
      renderer.write(stream, text);
    }
    if (log.finished) renderer.finish();
    position = to;
    consumed = log.appendedBytes;
    return { text: renderer.take(), from, to, dropped, droppedByStream, binary: check.binary };
  }

  return {
    get position() {
      return position;
    },
    get pending() {
      return log.end - position;
    },
    read,
  };
}

function placeOf(log: OutputLog, at: number): number {
  if (at <= log.start) return Math.max(0, at);
  return log.read(at)[0]?.at ?? log.end;
}

/**
 * How many bytes of each stream are before an offset. Inside of what was dropped their order is no longer known:
 * there, and only there, the streams are taken to be evenly mixed.
 */
function bytesBefore(log: OutputLog, offset: number): StreamBytes {
  const { start, droppedBytes: gone } = log;
  if (offset < start) {
    // Rounding sums, not shares: so the shares add up to `offset`, and none is more than is gone.
    const upTo = (bytes: number): number => Math.floor((bytes * offset) / start);
    const stdout = upTo(gone.stdout);
    const both = upTo(gone.stdout + gone.stderr);
    return { stdout, stderr: both - stdout, terminal: offset - both };
  }
  return plus(gone, bytesByStream(log.read(start, offset)));
}

/** The newest characters of each stream, in the order of the log. */
function newestOfEach(segments: readonly Segment[], maxChars: number): readonly Segment[] {
  const bytes = bytesByStream(segments);
  // A stream of no more bytes than that has no more characters.
  const over = STREAM_NAMES.filter((stream) => bytes[stream] > maxChars);
  if (over.length === 0) return segments;
  return STREAM_NAMES
    .flatMap((stream) => {
      const own = segments.filter((segment) => segment.stream === stream);
      return over.includes(stream) ? newest(own, maxChars) : own;
    })
    .sort((a, b) => a.at - b.at);
}

function plus(a: StreamBytes, b: StreamBytes): StreamBytes {
  return combine((stream) => a[stream] + b[stream]);
}

function minus(a: StreamBytes, b: StreamBytes): StreamBytes {
  return combine((stream) => a[stream] - b[stream]);
}

function combine(of: (stream: StreamName) => number): StreamBytes {
  return { stdout: of("stdout"), stderr: of("stderr"), terminal: of("terminal") };
}
