/**
 * The numbers of an instance, for those who watch over it.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { DURATION_BOUNDS_MS, type Stats } from "../mod.ts";
import { act, background, ended, open, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

const NONE: Stats = {
  sessions: { foreground: 0, background: 0, leftBehind: 0, finished: 0 },
  ends: [],
  durations: { counts: DURATION_BOUNDS_MS.map(() => 0), over: 0, totalMs: 0 },
  outputBytes: 0,
  droppedBytes: 0,
};

test("stats count where sessions are, and how they ended", async () => {
  const bench = open();
  const stats = (): Stats => bench.offstage.stats();
  assertEquals(stats(), NONE);
  const quick = await start(bench);
  const slow = await background(bench);
  assertEquals(stats().sessions, { ...NONE.sessions, foreground: 1, background: 1 });
  await bench.clock.advance(20);
  quick.child.end(0);
  await ended(quick.answer);
  assertEquals(stats().sessions, { ...NONE.sessions, background: 1 });
  await bench.clock.advance(2_000);
  slow.child.end("SIGSEGV");
  await settle();
  assertEquals(stats().sessions, { ...NONE.sessions, finished: 1 });
  const { ends, durations } = stats();
  assertEquals(ends, [{ status: "completed", reason: "exit", count: 1 }, {
    status: "failed",
    reason: "signal",
    count: 1,
  }]);
  const bounds = DURATION_BOUNDS_MS.filter((_, index) => durations.counts[index] === 1);
  assertEquals([bounds, durations.over, durations.totalMs], [[25, 2_500], 0, 20 + 2_020]);
});

test("stats count bytes ever: what is dropped, cleared or removed stays counted", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const stats = (): Stats => bench.offstage.stats();
  const { id, child } = await background(bench);
  child.print("x".repeat(999) + "\n");
  child.print("y".repeat(499) + "\n");
  const counted = [1_500, 500];
  assertEquals([stats().outputBytes, stats().droppedBytes], counted);
  child.end(0);
  await settle();
  assertEquals([stats().outputBytes, stats().droppedBytes], counted);
  await act(bench.agent, { action: "remove", sessionId: id });
  assertEquals([stats().outputBytes, stats().droppedBytes, stats().sessions.finished], [...counted, 0]);
});

test("stats count each duration in the first bound that is not below it", async () => {
  const bench = open();
  for (const ms of [0, 10, 11, 25, 250, 251, 1_000]) {
    const { answer, child } = await start(bench, { yieldMs: 60_000 });
    await bench.clock.advance(ms);
    child.end(0);
    await answer;
  }
  const { counts, over, totalMs } = bench.offstage.stats().durations;
  assertEquals([counts.slice(0, 6), over, totalMs], [[2, 2, 0, 1, 2, 0], 0, 1_547]);
});
