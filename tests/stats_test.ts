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
  const single = await background(bench);
  single.child.print("x");
  single.child.end(0);
  await settle();
  await act(bench.agent, { action: "remove", sessionId: single.id });
  assertEquals(stats().outputBytes, 1_501);
});

test("stats count each duration in the first bound that is not below it, and each end with those like it", async () => {
  const bench = open({ timeoutSeconds: 0 });
  /** By bound, those that count there; the last ones are longer than all bounds. */
  const durations = [
    [0, 10],
    [11, 25],
    [100],
    [101, 250],
    [251, 1_000],
    [1_001, 2_500],
    [10_000],
    [60_000],
    [60_001, 300_000],
    [1_800_000],
    [1_800_001, 2_000_000],
  ];
  for (const ms of durations.flat()) {
    const { answer, child } = await start(bench, { yieldMs: 60_000 });
    await bench.clock.advance(ms);
    child.end(0);
    await answer;
    await settle();
  }
  const { ends, durations: { counts, over, totalMs } } = bench.offstage.stats();
  assertEquals([...counts, over], durations.map(({ length }) => length));
  assertEquals(totalMs, durations.flat().reduce((sum, ms) => sum + ms));
  assertEquals(ends, [{ status: "completed", reason: "exit", count: durations.flat().length }]);
});
