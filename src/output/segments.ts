/**
 * Runs of output bytes, each from one stream, and how to measure and cut them.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import { measure, type TextSize } from "./scan.ts";
import { afterCharacters } from "./utf8.ts";

/** The names of all streams, in the order in which they are told. */
export const STREAM_NAMES: readonly StreamName[] = ["stdout", "stderr", "terminal"];

/** Adjacent output of one stream. Begins and ends at character borders, so it can be decoded by itself. */
export interface Segment {
  /** Where it came from. */
  readonly stream: StreamName;
  /** Absolute offset of its first byte in the session's log. */
  readonly at: number;
  /** The bytes as they came; not to be written to. */
  readonly bytes: Uint8Array;
}

/** A number of bytes for each stream. */
export interface StreamBytes {
  /** Bytes of stdout. */
  readonly stdout: number;
  /** Bytes of stderr. */
  readonly stderr: number;
  /** Bytes of the terminal. */
  readonly terminal: number;
}

/** Code points and line feeds of all segments together. */
export function measureSegments(segments: readonly Segment[]): TextSize {
  let chars = 0;
  let lines = 0;
  for (const segment of segments) {
    const size = measure(segment.bytes);
    chars += size.chars;
    lines += size.lines;
  }
  return { chars, lines };
}

/** Bytes of all segments, by stream. */
export function bytesByStream(segments: readonly Segment[]): StreamBytes {
  const bytes = { stdout: 0, stderr: 0, terminal: 0 };
  for (const segment of segments) bytes[segment.stream] += segment.bytes.length;
  return bytes;
}

/** Offset just after the last segment; `otherwise` when there is none. */
export function endOf(segments: readonly Segment[], otherwise: number): number {
  const last = segments.at(-1);
  return last === undefined ? otherwise : last.at + last.bytes.length;
}

/** The first `chars` code points of the segments. */
export function oldest(segments: readonly Segment[], chars: number): readonly Segment[] {
  const taken: Segment[] = [];
  let left = chars;
  for (const segment of segments) {
    if (left <= 0) break;
    const size = measure(segment.bytes).chars;
    taken.push(
      size <= left ? segment : { ...segment, bytes: segment.bytes.subarray(0, afterCharacters(segment.bytes, left)) },
    );
    left -= size;
  }
  return taken;
}

/** The last `chars` code points of the segments, in their order. Looks no further back than it has to. */
export function newest(segments: readonly Segment[], chars: number): readonly Segment[] {
  const taken: Segment[] = [];
  let left = chars;
  for (let index = segments.length - 1; index >= 0 && left > 0; index--) {
    const segment = segments[index] as Segment;
    const size = measure(segment.bytes).chars;
    taken.push(size <= left ? segment : dropFront(segment, afterCharacters(segment.bytes, size - left)));
    left -= size;
  }
  return taken.reverse();
}

/** The segment without its first `bytes` bytes. */
export function dropFront(segment: Segment, bytes: number): Segment {
  return bytes === 0 ? segment : { ...segment, at: segment.at + bytes, bytes: segment.bytes.subarray(bytes) };
}
