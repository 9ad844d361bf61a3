/** The "did you mean" hints of unknown keys, key names and actions. */

import { test } from "node:test";
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import fc from "./property.ts";
import { nearest } from "../src/nearest.ts";

const PARAMETERS = ["command", "workdir", "env", "yieldMs", "background", "timeout", "pty", "cols", "rows", "stdin"];

test("E10 words that differ only in case, underscores and hyphens come first", () => {
  assertEquals(nearest("yield_ms", PARAMETERS)[0], "yieldMs");
  assertEquals(nearest("YIELD-MS", PARAMETERS)[0], "yieldMs");
  assertEquals(nearest("send_keys", ["send", "send-keys"])[0], "send-keys");
});

test("E10 a slip of the pen finds the word that was meant", () => {
  const cases = [
    ["comand", "command"],
    ["commnad", "command"],
    ["tiemout", "timeout"],
    ["workDirr", "workdir"],
    ["backgruond", "background"],
    ["ptty", "pty"],
  ] as const;
  for (const [typed, meant] of cases) assertEquals(nearest(typed, PARAMETERS)[0], meant, typed);
});

test("E10 a word that begins or ends a known one is near it, and the other way round", () => {
  assertEquals(nearest("timeoutMs", PARAMETERS), ["timeout"]);
  assertEquals(nearest("arrowdown", ["up", "down", "pagedown"])[0], "down");
  assertEquals(nearest("back", PARAMETERS), ["background"]);
});

test("nothing is near a word that resembles none", () => {
  assertEquals(nearest("frobnicate", PARAMETERS), []);
  assertEquals(nearest("", PARAMETERS), []);
  assertEquals(nearest("--", PARAMETERS), []);
  assertEquals(nearest("x".repeat(1_000_000), PARAMETERS), []);
});

test("the nearest come first, and no more than the limit", () => {
  assertEquals(nearest("f1", ["f12", "f2", "f1", "f10"], 2), ["f1", "f12"]);
  assertEquals(nearest("entr", ["enter", "end", "return"], 1), ["enter"]);
});

test("any known word is its own nearest, however it is cased and hyphenated", () => {
  fc.assert(fc.property(fc.constantFrom(...PARAMETERS), fc.array(fc.nat(), { maxLength: 8 }), (word, places) => {
    let spelt = word;
    for (const place of places) {
      const at = place % (spelt.length + 1);
      spelt = `${spelt.slice(0, at)}${place % 2 === 0 ? "_" : "-"}${spelt.slice(at).toUpperCase()}`;
    }
    assertEquals(nearest(spelt, PARAMETERS)[0], word);
  }));
});

test("hints are known words, each once, at most three", () => {
  fc.assert(fc.property(fc.string(), (word) => {
    const hints = nearest(word, PARAMETERS);
    assertLessOrEqual(hints.length, 3);
    assertEquals(new Set(hints).size, hints.length);
    assert(hints.every((hint) => PARAMETERS.includes(hint)));
  }));
});
