/**
 * A log knows where its lines may be rendered by themselves (spec S6, P10).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { createCrossings } from "../src/output/crossings.ts";
import { encode, logOfChunks } from "./output_samples.ts";

/** Where the newest sequence that leaves its line ends, the output cut at `|`. */
function last(output: string): number {
  const log = logOfChunks(output.split("|").map((piece) => ({ stream: "stdout", bytes: encode(piece) })));
  return createCrossings((from) => log.read(from)).last();
}

test("S6 a sequence that leaves its line is found wherever it is cut, with its last byte", () => {
  for (const output of ["ab\x1b[2Ac", "ab\x1b|[2Ac", "ab\x1b[|2Ac", "ab\x1b[2|Ac", "ab|\x1b[2A|c", "\x1b[31m\x1b[Ac"]) {
    assertEquals(last(output), output.replaceAll("|", "").lastIndexOf("A") + 1, output);
  }
  assertEquals(last("ab\x1bMc"), 4);
  assertEquals(last(`\x1b[${"1;".repeat(40)}1Ac`), 84);
});

test("S6 what stays in its line is not counted, nor text that looks like the rest of a sequence", () => {
  for (const output of ["plain A\n", "\x1b[31mA", "\x1b[2KA", "\x1b[3DA", "\x1b(BA", "\x1b[3\nA", "Û2A", "\x1b[mM"]) {
    assertEquals(last(output), 0, output);
  }
});

test("S6 a switch to another screen leaves its line, whatever else stands among its modes", () => {
  for (const output of ["\x1b[?1049h", "\x1b[?47l", "\x1b[?25;1047h", "\x1b[?1049; h"]) {
    assertEquals(last(`a${output}b`), 1 + output.length, output);
  }
  for (const output of ["\x1b[?25h", "\x1b[?2026l", "\x1b[>1049h", "\x1b[047h"]) {
    assertEquals(last(`a${output}b`), 0, output);
  }
});

test("S6 U+009B counts as soon as it is there, its two bytes cut or not", () => {
  assertEquals(last("a\u009b2Kb"), 3);
  const whole = encode("a\u009b");
  const log = logOfChunks([{ stream: "stdout", bytes: whole.subarray(0, 2) }, {
    stream: "stderr",
    bytes: encode("x"),
  }]);
  const crossings = createCrossings((from) => log.read(from));
  assertEquals(crossings.last(), 0);
  log.append("stdout", whole.subarray(2));
  assertEquals([crossings.last(), crossings.last("stdout"), crossings.last("stderr")], [4, 4, 0]);
});
