/**
 * Lengths of time as a model reads them, who lives on, and why a session ended that its host took with it.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { seconds, span } from "../src/session/spans.ts";
import { livingOn } from "../src/session/wording.ts";
import { open, start } from "./fakes/bench.ts";

test("a length of time is as short as it is exact", () => {
  assertEquals([0, 5, 1_500, 9_990, 9_999, 10_000, 12_340, 1_800_000].map(seconds), [
    ...["0 s", "0.01 s", "1.5 s", "9.99 s", "10 s", "10 s", "12 s", "1800 s"],
  ]);
  assertEquals([1_500, 119_999, 120_000, 7_199_999, 7_200_000, 172_799_999, 172_800_000, 216_000_000].map(span), [
    ...["1.5 s", "120 s", "2 min", "120 min", "2 h", "48 h", "2 days", "2.5 days"],
  ]);
});

test("E35 of many that live on eight are named and the others counted", () => {
  const survivors = Array.from({ length: 11 }, (_, index) => ({ pid: 2_001 + index, name: "sh" }));
  const named = "sh 2001, sh 2002, sh 2003, sh 2004, sh 2005, sh 2006, sh 2007, sh 2008";
  assertEquals(livingOn(survivors), `11 processes it started still run: ${named} and 3 more`);
  assertEquals(livingOn(survivors.slice(0, 8)), `8 processes it started still run: ${named}`);
});

test("E27 a command that its host takes with it says so", async () => {
  const bench = open();
  const { answer } = await start(bench);
  const closed = bench.offstage.close();
  await bench.clock.advance(10_000);
  await closed;
  const { text } = await answer;
  assertStringIncludes(text, "ended because its host shut down, ended by SIGTERM");
});
