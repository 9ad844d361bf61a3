/**
 * Made-up output for the tests of `src/output`: text with every kind of control, broken UTF-8, cut anywhere.
 *
 * @module
 */

import fc from "./property.ts";
import { createOutputLog, type OutputLog, type Segment } from "../src/output/log.ts";
import type { StreamName } from "../src/runtime.ts";

/** One chunk as a spawner would give it. */
export interface Chunk {
  readonly stream: StreamName;
  readonly bytes: Uint8Array;
}

/** All streams. */
export const STREAMS: readonly StreamName[] = ["stdout", "stderr", "terminal"];

/** The bytes of a text. */
export function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Raw text of segments, each decoded by itself. */
export function decodeEach(segments: readonly Segment[], stream?: StreamName): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return segments.filter((segment) => stream === undefined || segment.stream === stream)
    .map((segment) => decoder.decode(segment.bytes)).join("");
}

/** A log that has been given these texts on stdout. */
export function logOf(...texts: readonly string[]): OutputLog {
  return logOfChunks(texts.map((text) => ({ stream: "stdout", bytes: encode(text) })));
}

/** A log that has been given these chunks. */
export function logOfChunks(chunks: readonly Chunk[], maxChars = 200_000): OutputLog {
  const log = createOutputLog({ maxChars });
  for (const { stream, bytes } of chunks) log.append(stream, bytes);
  return log;
}

/** `count` lines with their number: `line 0` … */
export function numberedLines(count: number, from = 0): string {
  return Array.from({ length: count }, (_, index) => `line ${from + index}\n`).join("");
}

const PLAIN = ["a", "bc", "word ", "\n", "\n", "\t", "é", "漢字", "😀", "👨‍👩‍👧", "n\u0301", "\ufeff", "\r\n", "\r\n"];
const CONTROLS = ["\r", "\b", "\x07", "\0", "\x7f", "\u202e", "\x18", "\x1a"];
const SEQUENCES = [
  "\x1b[31m",
  "\x1b[0m",
  "\x1b[K",
  "\x1b[1K",
  "\x1b[2K",
  "\x1b[3G",
  "\x1b[2C",
  "\x1b[D",
  "\x1b(B",
  "\x1b=",
];
const MOVES = ["\x1b[A", "\x1b[2B", "\x1b[F", "\x1b[E", "\x1b[J", "\x1b[H", "\x1b[2;3H", "\x1b[M", "\x1b[2L", "\x1bM"];
const SCREENS = ["\x1b[2J", "\x1b7", "\x1b8", "\x1b[1;3r", "\x1b[r", "\x1b[?1049h", "\x1b[?1049l", "\x1bc", "\u009b2A"];
const STRINGS = ["\x1b]0;title\x07", "\x1b]8;;u\x1b\\", "\x1bP1$r\x1b\\", "\u009b1m", "\u009d0;t\u009c"];
const OPEN = ["\x1b", "\x1b[", "\x1b[3", "\x1b]0;", "\x1bP", "\x1b_x", "\u009b", "\u009d", "\u009c", "\x1b\\"];

/** Text that is only printed: no redraws, nothing that moves. */
export const plainText: fc.Arbitrary<string> = fc.array(fc.constantFrom(...PLAIN), { maxLength: 30 })
  .map((parts) => parts.join(""));

/** Text with controls and whole or broken sequences, none of which leaves its line. */
export const controlText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PLAIN, ...CONTROLS, ...SEQUENCES, ...STRINGS, ...OPEN), { maxLength: 30 })
  .map((parts) => parts.join(""));

/** The same, and with what moves from one line to another. */
export const screenText: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...PLAIN, ...CONTROLS, ...SEQUENCES, ...STRINGS, ...OPEN, ...MOVES, ...MOVES, ...SCREENS), {
    maxLength: 30,
  })
  .map((parts) => parts.join(""));

/** Any bytes: text, text with its end cut off, noise. */
export const anyBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  screenText.map(encode),
  fc.tuple(screenText.map(encode), fc.nat(4)).map(([bytes, cut]) => bytes.subarray(0, Math.max(0, bytes.length - cut))),
  fc.uint8Array({ maxLength: 12 }),
  fc.array(fc.constantFrom(0x0a, 0x41, 0x80, 0x9f, 0xa0, 0xbf, 0xc1, 0xc3, 0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xf5, 0xff), {
    maxLength: 12,
  })
    .map((bytes) => Uint8Array.from(bytes)),
);

/** A stream of chunks: each stream's bytes cut anywhere, the streams mixed. */
export function chunksOf(
  bytes: fc.Arbitrary<Uint8Array>,
  streams: readonly StreamName[] = STREAMS,
): fc.Arbitrary<readonly Chunk[]> {
  const cut = fc.tuple(fc.constantFrom(...streams), bytes, fc.array(fc.nat(40), { maxLength: 3 }));
  return fc.array(cut, { maxLength: 12 }).map((parts) =>
    parts.flatMap(([stream, whole, places]) => {
      const borders = [0, ...places.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length];
      return borders.slice(1).map((to, index) => ({ stream, bytes: whole.subarray(borders[index], to) }));
    })
  );
}

/** The last code points of a text. */
export function lastChars(text: string, count: number): string {
  const chars = Array.from(text);
  return chars.slice(Math.max(0, chars.length - count)).join("");
}
