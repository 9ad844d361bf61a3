/**
 * Where what a log shows begins, to the character (spec S4).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { findCut, NOTHING } from "../src/output/cut.ts";
import { createPieceQueue } from "../src/output/pieces.ts";
import { encode, logOfChunks } from "./output_samples.ts";

const NONE = { stdout: NOTHING, stderr: NOTHING, terminal: NOTHING };

test("S4 the cut is in the piece it names: one that is hidden to its end is before it", () => {
  const queue = createPieceQueue();
  queue.push("stdout", encode("é\n"), { chars: 2, lines: 1 });
  queue.push("stderr", encode("b\nc"), { chars: 3, lines: 1 });
  const cut = (excess: number): object => {
    const { before: { stdout, stderr }, hidden, ...place } = findCut(queue, excess, NONE);
    return { ...place, hidden: hidden.bytes, stdout, stderr };
  };
  const nothing = { bytes: 0, lines: 0 };
  const [first, second] = [{ bytes: 3, lines: 1 }, { bytes: 3, lines: 1 }];
  assertEquals(cut(-1), { start: 0, line: 0, index: 0, hidden: 0, stdout: nothing, stderr: nothing });
  assertEquals(cut(0), cut(-1));
  assertEquals(cut(1), { start: 2, line: 0, index: 0, hidden: 2, stdout: { bytes: 2, lines: 0 }, stderr: nothing });
  assertEquals(cut(2), { start: 3, line: 1, index: 1, hidden: 0, stdout: first, stderr: nothing });
  assertEquals(cut(4), { start: 5, line: 2, index: 1, hidden: 2, stdout: first, stderr: { bytes: 2, lines: 1 } });
  assertEquals(cut(5), { start: 6, line: 2, index: 2, hidden: 0, stdout: first, stderr: second });
  assertEquals(cut(9), cut(5));
});

test("S4 P20 a stream's lines begin where they do, also in a piece of which the beginning is dropped", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("aaa\nbbb\nccc\n") },
    { stream: "stderr", bytes: encode("e\n") },
    { stream: "stdout", bytes: encode("ddd\n") },
  ], 12);
  assertEquals([log.start, log.lineCounts("stdout")], [6, { first: 1, total: 4 }]);
  assertEquals([0, 1, 2, 3, 4, 5].map((line) => log.lineStart(line, "stdout")), [6, 6, 8, 12, 18, 18]);
  assertEquals([0, 1, 2].map((line) => log.lineStart(line, "stderr")), [6, 14, 18]);
});
