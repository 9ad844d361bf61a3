/**
 * Patterns as callers write them.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { compilePattern, isPattern, patternTrouble } from "../src/pattern.ts";
import { test } from "./closing.ts";

test("^ and $ mean the borders of each line, and (?i) in front ignores case", () => {
  assert(compilePattern("^b$").test("a\nb\nc"));
  assert(!compilePattern("^B$").test("a\nb\nc"));
  assert(compilePattern("(?i)^B$").test("a\nb\nc"));
  assertThrows(() => compilePattern("("), SyntaxError);
});

test("what is no pattern is told, as the engine says it", () => {
  assertEquals(patternTrouble("a|b"), undefined);
  assert(isPattern("あ.*"));
  assertMatch(patternTrouble("(") ?? "", /^not a regular expression: ./);
});

test("a pattern that no engine takes, or one only slowly, is refused before it has anything to match", () => {
  assert(isPattern("x".repeat(10_000)));
  for (const text of ["x".repeat(10_001), "x".repeat(200_000), "(?:a|b)?".repeat(20_000)]) {
    assertEquals(patternTrouble(text), "is longer than 10000 characters");
  }
});

test("a pattern that is taken can be tried on any text", () => {
  const hostile = [
    "x{60000}",
    "(?:x{250}){250}",
    "[^x]{0,65000}",
    "(?:a|b)?".repeat(1_250),
    "(".repeat(3_000),
    "\\u{3042}",
  ];
  for (const text of hostile) {
    if (!isPattern(text)) continue; // engines differ
    const pattern = compilePattern(text);
    for (const subject of ["x".repeat(10), "あ".repeat(10), ""]) assertEquals(typeof pattern.test(subject), "boolean");
  }
});
