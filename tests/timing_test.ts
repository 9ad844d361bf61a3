/**
 * Waiting for time: nothing is left of a wait that is over (spec E5, E32).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { longTimer, pause, within } from "../src/session/timing.ts";
import { countingSignal } from "./fakes/bench.ts";
import { createFakeClock } from "./fakes/clock.ts";

test("E32 a pause ends in time or with its signal, and leaves neither timer nor listener", async () => {
  for (const isAborted of [false, true]) {
    const [clock, { signal, listeners, abort }] = [createFakeClock(), countingSignal()];
    const paused = pause(clock, 100, signal);
    assertEquals([clock.holding, listeners()], [1, 1]);
    if (isAborted) abort();
    else await clock.advance(100);
    await paused;
    assertEquals([clock.pending, listeners()], [0, 0]);
  }
});

test("E32 who waits for an event within a time is told which came first, and leaves no timer", async () => {
  const clock = createFakeClock();
  assertEquals(await within(clock, 100, Promise.resolve(7)), { value: 7 });
  assertEquals(clock.pending, 0);
  const late = within(clock, 100, new Promise<never>(() => {}));
  assertEquals(clock.holding, 1);
  await clock.advance(100);
  assertEquals([await late, clock.pending], ["late", 0]);
});

test("E5 a timer may be longer than the platform's, fires once and can be taken back in any of its parts", async () => {
  const clock = createFakeClock();
  const ms = 2 ** 33;
  const fired: number[] = [];
  longTimer(clock, ms, () => fired.push(clock.monotonic()));
  const cancel = longTimer(clock, ms, () => fired.push(0));
  await clock.advance(2 ** 32);
  cancel();
  await clock.advance(2 ** 34);
  assertEquals([fired, clock.pending], [[ms], 0]);
});
