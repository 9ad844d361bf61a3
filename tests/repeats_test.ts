import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { foldRepeats } from "../src/output/repeats.ts";

/** Each row: what it shows, text, folded. */
const CASES: readonly (readonly [title: string, text: string, folded: string])[] = [
  ["equal lines in a row are one", "a\nb\nb\nb\nc\n", "a\nb × 3\nc\n"],
  ["equal lines that are apart stay", "a\nb\na\n", "a\nb\na\n"],
  ["empty lines stay", "a\n\n\n\nb\n", "a\n\n\n\nb\n"],
  ["a line without its end is none yet", "a\na\na", "a × 2\na"],
  ["nothing is nothing", "", ""],
];

for (const [title, text, folded] of CASES) {
  test(`foldRepeats: ${title}`, () => assertEquals(foldRepeats(text), folded));
}
