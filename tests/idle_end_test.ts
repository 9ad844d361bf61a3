/**
 * The end of sessions nobody asks for (setting `idleEndMs`, case 129).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import type { ProcessParams } from "../mod.ts";
import { act, background, type Bench, open, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

/** Two hours, in which a test has no other timers. */
const IDLE_MS = 7_200_000;

function openIdle(): Bench {
  return open({ idleEndMs: IDLE_MS, timeoutSeconds: 0 });
}

test("C1 [129] a background session nobody asks for is ended by the ladder, and its end says why", async () => {
  const bench = openIdle();
  const { id, child, text } = await background(bench, { command: "npm start" });
  assertStringIncludes(text, "no timeout, ended if nobody asks for it for 2 h]");
  await bench.clock.advance(IDLE_MS - 1);
  assertEquals(child.signals, []);
  await bench.clock.advance(1);
  assertEquals(child.signals.slice(0, 2), ["SIGTERM group", "SIGCONT group"]);
  const end = await act(bench.agent, { action: "poll", sessionId: id });
  assertEquals([end.status, end.reason, end.signal, end.ok], ["killed", "killed", "SIGTERM", false]);
  assertStringIncludes(end.text, "[killed: nobody had asked for it for 2 h (idleEndMs), ended by SIGTERM]");
});

test("C1 one that ignores SIGTERM gets SIGKILL after the grace; one that tidies up keeps its own code", async () => {
  const bench = openIdle();
  const [stubborn, tidy] = [await background(bench), await background(bench)];
  stubborn.child.ignores = ["SIGTERM"];
  tidy.child.onSignal = () => tidy.child.end(4);
  await bench.clock.advance(IDLE_MS + 5_100);
  assertStringIncludes(stubborn.child.signals.join(), "SIGKILL group");
  const { status, exitCode, text } = await act(bench.agent, { action: "poll", sessionId: tidy.id });
  assertEquals([status, exitCode], ["completed", 4]);
  assertStringIncludes(text, "exited with code 4 while it was being killed because nobody had asked for it for 2 h");
});

const ACTIONS: readonly Partial<ProcessParams>[] = [
  { action: "poll" },
  { action: "log" },
  { action: "write", data: "x" },
  { action: "submit" },
  { action: "send-keys", keys: ["a"] },
  { action: "paste", text: "x" },
  { action: "resize", cols: 80, rows: 24 },
  { action: "kill", signal: "SIGWINCH" },
  { action: "clear" }, // it is refused, but somebody cares
];

for (const params of ACTIONS) {
  test(`C1 a session is not forgotten as long as there is a ${params.action} now and then`, async () => {
    const bench = openIdle();
    const { id, child } = await background(bench, { pty: true });
    child.ignores = ["SIGWINCH"];
    for (let time = 0; time < 3; time++) {
      await bench.clock.advance(IDLE_MS - 1);
      await bench.agent.process({ ...params, sessionId: id } as ProcessParams);
    }
    assertEquals(child.signals.filter((signal) => signal.startsWith("SIGTERM")), []);
    await bench.clock.advance(IDLE_MS);
    assertEquals(child.signals.filter((signal) => signal.startsWith("SIGTERM")), ["SIGTERM group"]);
  });
}

test("C1 output, list, and calls of another session or scope do not keep a session", async () => {
  const bench = openIdle();
  const [forgotten, other] = [await background(bench), await background(bench)];
  const stranger = bench.offstage.agent("stranger");
  for (let time = 0; time < 4; time++) {
    await bench.clock.advance(IDLE_MS / 4);
    forgotten.child.print("still serving\n");
    await act(bench.agent, { action: "list" });
    await act(bench.agent, { action: "poll", sessionId: other.id });
    await stranger.process({ action: "poll", sessionId: forgotten.id });
  }
  assertEquals([forgotten.child.signals[0], other.child.signals], ["SIGTERM group", []]);
});

test("C1 while a poll waits, its session is in use; the time begins when it returns", async () => {
  const bench = open({ idleEndMs: 5_000, timeoutSeconds: 0 });
  const { id, child } = await background(bench);
  const poll = act(bench.agent, { action: "poll", sessionId: id, timeout: 30_000 });
  await bench.clock.advance(30_000);
  assertEquals((await poll).wokenBy, "timeout");
  await bench.clock.advance(4_999);
  assertEquals(child.signals, []);
  await bench.clock.advance(1);
  assertEquals(child.signals[0], "SIGTERM group");
});

test("C1 the time begins with the answer of exec: a command in the foreground is not forgotten", async () => {
  const bench = open({ idleEndMs: 5_000 });
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  await bench.clock.advance(60_000);
  assertEquals((await answer).details.status, "running");
  await bench.clock.advance(4_999);
  assertEquals(child.signals, []);
  await bench.clock.advance(1);
  assertEquals(child.signals[0], "SIGTERM group");
});

test("C1 what a shell has left behind is ended as well, and the session says so", async () => {
  const bench = open({ idleEndMs: 600_000 }, { host: { inspects: true } }); // sooner than its time to live
  const { answer, child } = await start(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: false });
  child.exit(0);
  await bench.clock.advance(1_000);
  const { details } = await answer;
  assert("durationMs" in details && details.sessionId !== undefined);
  await bench.clock.advance(600_000);
  assertEquals(child.started, []);
  const { survivors, text, status } = await act(bench.agent, { action: "poll", sessionId: details.sessionId });
  assertEquals([survivors, status], [[], "completed"]);
  assertStringIncludes(text, "left behind were ended: nobody had asked for it for 10 min (idleEndMs)");
});

test("C1 left-behind processes that have ended by themselves are not signalled", async () => {
  const bench = open({ idleEndMs: 600_000 }, { host: { inspects: true } });
  const { child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  child.started.length = 0;
  await bench.clock.advance(600_000);
  assertEquals(child.signals, []);
});

test("C1 without idleEndMs there is no timer; with it one a session, which keeps nothing alive and goes with it", async () => {
  const without = open({ timeoutSeconds: 0 });
  const { text } = await background(without);
  assertEquals([without.clock.pending, text.includes("nobody asks")], [0, false]);
  const bench = openIdle();
  const { answer, child: quick } = await start(bench, { yieldMs: 100 });
  assertEquals(bench.clock.pending, 1); // the yield
  quick.end(0);
  await answer;
  assertEquals(bench.clock.pending, 0);
  const { id, child } = await background(bench);
  for (let time = 0; time < 3; time++) await act(bench.agent, { action: "log", sessionId: id });
  assertEquals([bench.clock.pending, bench.clock.holding], [1, 0]);
  child.end(0);
  await settle();
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals(bench.clock.pending, 0);
});

test("C1 a removed session is ended once, whatever the time", async () => {
  const bench = open({ idleEndMs: 1_000, killGraceMs: 5_000, timeoutSeconds: 0 });
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM"];
  await bench.clock.advance(999);
  await act(bench.agent, { action: "remove", sessionId: id });
  await bench.clock.advance(20_000);
  assertEquals(child.signals.filter((signal) => signal === "SIGTERM group").length, 1);
  assertEquals(bench.clock.pending, 0);
});

test("S9 an idle end is news: nobody asked for it", async () => {
  const bench = openIdle();
  const { id } = await background(bench);
  await bench.clock.advance(IDLE_MS);
  const [event] = bench.agent.events.list().events;
  assert(event?.type === "exit");
  assertEquals([event.sessionId, event.status, event.reason], [id, "killed", "killed"]);
});
