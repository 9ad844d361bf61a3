/**
 * How long the line is that a terminal puts together while it is typed (spec P31).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { typeOn } from "../src/terminal/typed_line.ts";
import { encode } from "./output_samples.ts";

test("P31 [89] a line is over at its end, at ^D, ^U, and at what sends a signal, and nowhere else", () => {
  for (const over of ["\n", "\r", "\x04", "\x15", "\x03", "\x1a", "\x1c"]) {
    assertEquals(typeOn(2, encode(`abc${over}de`)), { length: 2, longest: 5 });
  }
  for (const part of ["\t", "\x01", "\x1b", "\x1d", "\x7f", " "]) {
    assertEquals(typeOn(2, encode(`abc${part}de`)), { length: 8, longest: 8 });
  }
  assertEquals(typeOn(7, encode("")), { length: 7, longest: 0 });
  assertEquals(typeOn(7, encode("\n")), { length: 0, longest: 0 });
});
