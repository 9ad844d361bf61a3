/**
 * The refusal of one background session too many (spec R3, case 129): it says what could be ended.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import type { TreeProcess } from "../mod.ts";
import { act, background, type Bench, notStarted, open, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

const READER: TreeProcess = { pid: 2001, name: "python3", inGroup: true, signal: () => "sent" };

async function refusal(bench: Bench): Promise<readonly string[]> {
  const { text, details } = await notStarted(bench.agent.exec({ command: "ls" }));
  assertEquals([details.reason, details.message], ["refused", text]);
  return text.split("\n");
}

test("R3 [129] the refusal describes what could be ended: who, how long it has run and been unused, and whether it waits", async () => {
  const bench = open({ maxSessions: 3 }, { host: { inspects: true } });
  const forgotten = await background(bench, { command: "npm start", timeout: 0 });
  await bench.clock.advance(7_200_000);
  const asking = await background(bench, { command: "python3 -i" });
  asking.child.reader = READER;
  const polled = await background(bench, { command: "make" });
  await bench.clock.advance(60_000);
  polled.child.print("x");
  await bench.clock.advance(30_000);
  await act(bench.agent, { action: "poll", sessionId: polled.id });
  assertEquals(await refusal(bench), [
    "Cannot start another command: 3 background sessions run and maxSessions is 3. " +
    "End one with process kill or remove; longest unused first:",
    `${forgotten.id} (npm start), has run for 2 h, unused for 2 h, silent for 2 h`,
    `${asking.id} (python3), has run for 90 s, unused for 90 s, silent for 90 s, waiting for input`,
    `${polled.id} (make), has run for 90 s, unused for 0 s, silent for 30 s`,
  ]);
});

test("R3 a command is not unused while its caller waits for it: the time begins with its yield", async () => {
  const bench = open({ maxSessions: 1 });
  const { answer } = await start(bench, { yieldMs: 60_000 });
  await bench.clock.advance(60_000);
  await answer;
  assertStringIncludes((await refusal(bench))[1] ?? "", "has run for 60 s, unused for 0 s");
});

test("R3 one that is about to start takes a place too, and the refusal says so", async () => {
  const bench = open({ maxSessions: 1 });
  const [first, second] = ["a", "b"].map((command) => bench.agent.exec({ command, background: true }));
  await settle();
  assertEquals((await first)?.details.status, "running");
  assert((await second)?.text.endsWith("longest unused first:\n1 about to start"));
});

test("R3 a program that is merely silent with its stdin open may be waiting, where the platform cannot tell", async () => {
  const bench = open({ maxSessions: 1 });
  await background(bench);
  await bench.clock.advance(15_000);
  assertStringIncludes((await refusal(bench))[1] ?? "", ", may be waiting for input");
});

test("R3 the refusal is bounded: ten are described, the others counted", async () => {
  const bench = open({ maxSessions: 64 });
  for (let count = 0; count < 64; count++) await background(bench);
  const lines = await refusal(bench);
  assertEquals([lines.length, lines.at(-1)], [12, "and 54 more: process list"]);
});

test("R3 sessions that are being removed are not offered, but counted", async () => {
  const bench = open({ maxSessions: 2 });
  const [removed, other] = [await background(bench), await background(bench)];
  removed.child.ignores = ["SIGTERM"];
  await act(bench.agent, { action: "remove", sessionId: removed.id });
  const lines = await refusal(bench);
  assertEquals(lines.map((line) => line.split(" ")[0]), ["Cannot", other.id, "1"]);
  assertEquals(lines.at(-1), "1 being ended already: wait a few seconds");
});
