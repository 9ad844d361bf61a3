/**
 * Parts of output, to the character (spec S4, S5).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { createPieceQueue } from "../src/output/pieces.ts";
import { newest, oldest, type Segment } from "../src/output/segments.ts";
import { decodeEach, encode, logOfChunks } from "./output_samples.ts";

const SEGMENTS: readonly Segment[] = [
  { stream: "stdout", at: 10, bytes: encode("aé") },
  { stream: "stderr", at: 13, bytes: encode("bc") },
  { stream: "stdout", at: 15, bytes: encode("d") },
];

test("S5 the first and the last characters of output, whatever parts it is in", () => {
  const cases = [["", ""], ["a", "d"], ["aé", "cd"], ["aéb", "bcd"], ["aébc", "ébcd"], ["aébcd", "aébcd"]];
  for (const [count, [first = "", last = ""]] of cases.entries()) {
    assertEquals(decodeEach(oldest(SEGMENTS, count)), first);
    assertEquals(decodeEach(newest(SEGMENTS, count)), last);
  }
  assertEquals([0, 2, 4].map((count) => oldest(SEGMENTS, count).length), [0, 1, 2]);
  assertEquals([0, 1, 3].map((count) => newest(SEGMENTS, count).length), [0, 1, 2]);
  assertEquals(oldest(SEGMENTS, 99), SEGMENTS);
  assertEquals(newest(SEGMENTS, 99), SEGMENTS);
  assertEquals(newest(SEGMENTS, 2).map(({ at }) => at), [14, 15]);
  assertEquals(newest(SEGMENTS, 4).map(({ at }) => at), [11, 13, 15]);
});

test("S4 what one stream prints in small pieces is put together, what another prints in between is not", () => {
  const queue = createPieceQueue();
  for (const text of ["a", "b", "c"]) queue.push("stdout", encode(text), { chars: 1, lines: 0 });
  assertEquals([queue.length, queue.at(0)?.length, queue.at(0)?.chars, queue.end], [1, 3, 3, 3]);
  queue.push("stderr", encode("\n"), { chars: 1, lines: 1 });
  queue.push("stdout", encode("d"), { chars: 1, lines: 0 });
  assertEquals([queue.length, queue.at(1)?.at, queue.at(2)?.at, queue.at(2)?.line, queue.lines], [3, 3, 4, 1, 1]);
  queue.shift();
  queue.push("stdout", encode("e"), { chars: 1, lines: 0 });
  assertEquals([queue.length, queue.at(0)?.stream, queue.at(1)?.length, queue.at(2)], [2, "stderr", 2, undefined]);
  assertEquals([3, 4, 5, 6].map((at) => queue.indexAfter((piece) => piece.at + piece.length <= at)), [0, 1, 1, 2]);
});

test("S5 one stream's segments are that stream's, in their order", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("a") },
    { stream: "stderr", bytes: encode("b") },
    { stream: "stdout", bytes: encode("c") },
  ]);
  assertEquals([decodeEach(log.read(0), "stdout"), decodeEach(log.read(0), "stderr")], ["ac", "b"]);
  assertEquals(decodeEach(log.read(1, 2)), "b");
  assertEquals(log.read(2, 2), []);
});
