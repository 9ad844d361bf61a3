/**
 * Stopping a session's whole tree (spec E34, P40–P43, R6, R7).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { OffstageError } from "../mod.ts";
import { act, answeredAfter, background, open, refused, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import type { FakeChild } from "./fakes/spawner.ts";

/** How often a signal went to somebody: the group, or a pid. */
function sent(child: FakeChild, signal: string): number {
  return child.signals.filter((entry) => entry === signal).length;
}

test("E34 P40 kill sends SIGTERM to the group; with wait the answer confirms the end", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.onSignal = () => bench.clock.timer(200, () => child.end("SIGTERM"));
  const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 1_000 });
  assertEquals(await answeredAfter(bench, pending), 200);
  const { confirmed, status, signal, reason } = await pending;
  assertEquals([confirmed, status, signal, reason], [true, "killed", "SIGTERM", "killed"]);
  assertEquals([sent(child, "SIGTERM group"), sent(child, "SIGKILL group")], [1, 0]);
});

test("P40 kill without wait answers at once that the end is to come", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM"];
  const { confirmed, status, text } = await act(bench.agent, { action: "kill", sessionId: id });
  assertEquals([confirmed, status], [false, "running"]);
  assertStringIncludes(text, "what is left after 5 s gets SIGKILL");
});

test("E34 [41] whoever ignores SIGTERM gets SIGKILL after the grace; nobody gets a second SIGTERM", async () => {
  for (const killGraceMs of [0, 700, 5_000]) {
    const bench = open({ killGraceMs });
    const { id, child } = await background(bench);
    child.ignores = ["SIGTERM"];
    const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 30_000 });
    assertEquals(await answeredAfter(bench, pending), killGraceMs);
    const { signal, status } = await pending;
    assertEquals([signal, status, sent(child, "SIGTERM group")], ["SIGKILL", "killed", 1]);
  }
});

test("R7 [41] a second kill joins the first and is harmless", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM"];
  const kill = () => act(bench.agent, { action: "kill", sessionId: id, wait: 30_000 });
  const [first, second] = [kill(), kill()];
  await bench.clock.advance(3_000);
  const third = kill();
  await bench.clock.advance(3_000);
  for (const answer of [await first, await second, await third]) assertEquals(answer.signal, "SIGKILL");
  assertEquals(sent(child, "SIGTERM group"), 1);
});

test("E34 a stopped process is woken, so that it can act on SIGTERM", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  await act(bench.agent, { action: "kill", sessionId: id });
  assertEquals(child.signals.slice(0, 2), ["SIGTERM group", "SIGCONT group"]);
});

test("E27 the first cause wins: a timeout during a kill is still a kill, and the other way round", async () => {
  for (const [timeout, reason] of [[3, "killed"], [1, "timeout"]] as const) {
    const bench = open();
    const { id, child } = await background(bench, { timeout });
    child.ignores = ["SIGTERM"];
    await bench.clock.advance(2_000);
    await act(bench.agent, { action: "kill", sessionId: id });
    await bench.clock.advance(10_000);
    assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).reason, reason);
    assertEquals(sent(child, "SIGTERM group"), 1);
  }
});

test("E34 [43] processes that left the group are found and get each signal once", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push(
    { pid: 2001, name: "stray", inGroup: false },
    { pid: 2002, name: "stubborn", inGroup: false, ignores: ["SIGTERM"] },
  );
  const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 30_000 });
  await bench.clock.advance(10_000);
  assertEquals([(await pending).confirmed, child.started], [true, []]);
  assertEquals([sent(child, "SIGTERM 2001"), sent(child, "SIGTERM 2002")], [1, 1]);
  assertEquals([sent(child, "SIGKILL 2001"), sent(child, "SIGKILL 2002")], [0, 1]);
});

test("E34 who survives even SIGKILL is named", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "stuck", inGroup: false, ignores: ["SIGTERM", "SIGKILL"] });
  const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 30_000 });
  assert(await answeredAfter(bench, pending) <= 9_500);
  const { confirmed, survivors, text } = await pending;
  assertEquals([confirmed, survivors], [false, [{ pid: 2001, name: "stuck" }]]);
  const again = child.signals.filter((signal) => signal.startsWith("SIGKILL"));
  assert(again.length > 2); // also what was forked in between
  assertEquals(new Set(again), new Set(["SIGKILL group", "SIGKILL 2001"]));
  assertStringIncludes(text, "stuck 2001");
});

test("E34 who is left behind and survives even SIGKILL is not said to have been ended", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "stuck", inGroup: true, ignores: ["SIGTERM", "SIGKILL"] });
  child.exit(0);
  await settle(); // its output is still being read
  await act(bench.agent, { action: "kill", sessionId: id });
  await bench.clock.advance(20_000);
  const { text } = await act(bench.agent, { action: "poll", sessionId: id });
  assertStringIncludes(text, "1 process it started still runs: stuck 2001");
  assertStringIncludes(text, "left behind were stopped, but not all have ended: killed on request");
});

test("E34 a shell that does not end within 4 s of SIGKILL is given up, and the answer says so", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM", "SIGKILL"];
  const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 30_000 });
  assertEquals(await answeredAfter(bench, pending), 9_000);
  const { status, exitCode, signal, confirmed } = await pending;
  assertEquals([status, exitCode, signal, confirmed], ["killed", null, null, false]);
  const { text } = await act(bench.agent, { action: "poll", sessionId: id });
  assertStringIncludes(text, "it did not end within 4 s of SIGKILL and is given up");
});

for (const groups of [true, false]) {
  test(`[45] EPERM does not lose the session: a later kill works${groups ? "" : ", without groups too"}`, async () => {
    const bench = open({}, { host: { groups } });
    const { id, child } = await background(bench);
    child.refuses = ["SIGTERM", "SIGKILL"];
    const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 30_000 });
    await bench.clock.advance(20_000);
    assertEquals((await pending).confirmed, false);
    assertEquals((await act(bench.agent, { action: "list" })).sessions.map((session) => session.sessionId), [id]);
    child.refuses = [];
    const later = act(bench.agent, { action: "kill", sessionId: id, wait: 1_000 });
    await bench.clock.advance(1_000);
    assertEquals([(await later).confirmed, sent(child, "SIGTERM group")], [true, 2]);
  });
}

test("P40 [45] a single signal that the system refuses is a failure that says so", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.refuses = ["SIGINT"];
  const { reason, text } = await refused(bench.agent, { action: "kill", sessionId: id, signal: "SIGINT" });
  assertEquals(reason, "not-possible");
  assertStringIncludes(text, "does not permit");
});

test("P41 [45] a single signal that the system refuses is one too when only the tree is left", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  child.refuses = ["SIGHUP"];
  const { reason, text } = await refused(bench.agent, { action: "kill", sessionId: id, signal: "SIGHUP" });
  assertEquals(reason, "not-possible");
  assertStringIncludes(text, "does not permit");
});

test("P40 a single signal is sent alone, and what the command makes of it is its own end", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.onSignal = () => child.end(42);
  const pending = act(bench.agent, { action: "kill", sessionId: id, signal: "SIGINT", wait: 1_000 });
  await bench.clock.advance(1_000);
  const { status, exitCode, reason } = await pending;
  assertEquals([status, exitCode, reason, child.signals], ["completed", 42, "exit", ["SIGINT group"]]);
});

test("P41 R6 kill on a session whose shell has ended ends the tree it left", async () => {
  for (const inspects of [true, false]) {
    const bench = open({}, { host: { inspects } });
    const { id, child } = await background(bench);
    child.started.push({ pid: 2001, name: "server", inGroup: true });
    child.exit(0);
    await bench.clock.advance(1_000);
    const pending = act(bench.agent, { action: "kill", sessionId: id, wait: 10_000 });
    await bench.clock.advance(10_000);
    const { confirmed, status, exitCode } = await pending;
    assertEquals([confirmed, status, exitCode, child.started], [true, "completed", 0, []]);
  }
});

test("P41 R6 a single signal reaches the tree that a shell has left too", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  const { text } = await act(bench.agent, { action: "kill", sessionId: id, signal: "SIGHUP" });
  assertEquals([sent(child, "SIGHUP group"), child.started], [1, []]);
  assertStringIncludes(text, "SIGHUP sent");
});

test("P41 R6 it reaches those outside the group as well, and who lives on is named", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push(
    { pid: 2001, name: "stray", inGroup: false },
    { pid: 2002, name: "stubborn", inGroup: false, ignores: ["SIGHUP"] },
  );
  child.exit(0);
  await bench.clock.advance(1_000);
  const { survivors, confirmed, text } = await act(bench.agent, { action: "kill", sessionId: id, signal: "SIGHUP" });
  assertEquals([sent(child, "SIGHUP 2001"), sent(child, "SIGHUP 2002")], [1, 1]);
  assertEquals([confirmed, survivors], [false, [{ pid: 2002, name: "stubborn" }]]);
  assertStringIncludes(text, "SIGHUP sent. [completed: exit code 0] [1 process it started still runs: stubborn 2002]");
});

test("P40 a single signal to a running command goes to its group, as a terminal would send it", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "stray", inGroup: false });
  child.onSignal = () => {};
  await act(bench.agent, { action: "kill", sessionId: id, signal: "SIGUSR1" });
  assertEquals(child.signals, ["SIGUSR1 group"]);
});

test("P40 a single signal that comes too late says that nobody is there", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.exit(0); // its output is still read
  await settle();
  const { text } = await act(bench.agent, { action: "kill", sessionId: id, signal: "SIGHUP" });
  assertStringIncludes(text, "SIGHUP not sent: nobody is there");
});

test("P41 kill on an ended session is a friendly no-op that states the exit", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.end(5);
  await settle();
  for (const signal of [undefined, "SIGINT"] as const) {
    const call = { action: "kill", sessionId: id, ...(signal !== undefined && { signal }) } as const;
    const { confirmed, exitCode, text } = await act(bench.agent, call);
    assertEquals([confirmed, exitCode, child.signals], [true, 5, []]);
    assertStringIncludes(text, "exit code 5");
  }
});

test("P42 [42] clear refuses a running session and one whose tree lives", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  assertStringIncludes((await refused(bench.agent, { action: "clear", sessionId: id })).text, "it is running");
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  assertStringIncludes((await refused(bench.agent, { action: "clear", sessionId: id })).text, "still runs");
  child.started.length = 0;
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals((await refused(bench.agent, { action: "poll", sessionId: id })).reason, "gone");
});

test("P42 [42] remove hides a running session at once and ends it; one whose tree lives too", async () => {
  for (const exitsBefore of [false, true]) {
    const bench = open();
    const { id, child } = await background(bench);
    child.started.push({ pid: 2001, name: "server", inGroup: true, ignores: ["SIGTERM"] });
    if (exitsBefore) child.exit(0);
    await bench.clock.advance(1_000);
    await act(bench.agent, { action: "remove", sessionId: id });
    assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
    assertEquals(sent(child, "SIGTERM group"), 1);
    await bench.clock.advance(10_000);
    assertEquals([child.started.length, bench.machine.shutdownHooks.size], [0, 0]);
    assertStringIncludes((await refused(bench.agent, { action: "poll", sessionId: id })).text, "it was removed");
  }
});

test("R6 killAll ends and forgets everything of its scope, trees too, and reports each end", async () => {
  const bench = open();
  const running = await background(bench);
  const stubborn = await background(bench);
  stubborn.child.ignores = ["SIGTERM"];
  const left = await background(bench);
  left.child.started.push({ pid: 2001, name: "server", inGroup: true });
  left.child.exit(3);
  const foreign = await background(bench, {}, bench.offstage.agent("another"));
  await bench.clock.advance(1_000);
  const pending = bench.agent.killAll();
  assertEquals(await answeredAfter(bench, pending), 5_000);
  const ends = (await pending).map(({ sessionId, outcome, survivors }) => [
    sessionId,
    outcome.exitCode ?? outcome.signal,
    survivors.length,
  ]);
  assertEquals(ends, [[running.id, "SIGTERM", 0], [stubborn.id, "SIGKILL", 0], [left.id, 3, 0]]);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
  assertEquals(foreign.child.signals, []);
});

test("R6 killAll waits for the end of what a shell has left behind, and signals nobody where nothing is left", async () => {
  const bench = open({}, { host: { inspects: true } });
  const [left, over] = [await background(bench), await background(bench)];
  left.child.started.push({ pid: 2001, name: "stubborn", inGroup: true, ignores: ["SIGTERM"] });
  left.child.exit(0);
  over.child.end(0);
  await bench.clock.advance(1_000);
  const pending = bench.agent.killAll();
  assertEquals(await answeredAfter(bench, pending), 5_000);
  assertEquals((await pending).map(({ survivors }) => survivors), [[], []]);
  assertEquals(over.child.signals, []);
});

test("R6 killAll ends what is being started as well, once it has started, and nothing of another scope", async () => {
  const bench = open();
  const running = await background(bench);
  let spawn = (): void => {};
  bench.spawner.gate = new Promise((resolve) => (spawn = resolve));
  const { answer } = await start(bench, { background: true });
  const foreign = bench.offstage.agent("another").exec({ command: "make", background: true });
  await settle();
  const pending = bench.agent.killAll();
  await bench.clock.advance(100);
  assertEquals(running.child.signals[0], "SIGTERM group"); // it has not waited for the start
  spawn();
  await bench.clock.advance(100);
  const reasons = (await pending).map(({ outcome }) => outcome.reason);
  assertEquals([reasons, (await answer).isError], [["killed", "killed"], false]);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
  assertEquals([(await foreign).details.status, bench.spawner.last.signals], ["running", []]);
});

test("R6 killAll waits for a start that fails, and has nothing to report of it", async () => {
  const bench = open();
  let spawn = (): void => {};
  bench.spawner.gate = new Promise((resolve) => (spawn = resolve));
  const answer = bench.agent.exec({ command: "make", background: true });
  await settle();
  const pending = bench.agent.killAll();
  bench.spawner.failure = new OffstageError("spawn-failed", "no memory");
  spawn();
  assertEquals([await pending, (await answer).isError], [[], true]);
});

test("E39 the host's end ends every session, and is watched only while there is one", async () => {
  const bench = open();
  assertEquals(bench.machine.shutdownHooks.size, 0);
  const { child } = await background(bench);
  const [endHost] = bench.machine.shutdownHooks;
  await endHost?.();
  assertEquals([sent(child, "SIGTERM group"), bench.machine.shutdownHooks.size, bench.clock.pending], [1, 0, 0]);
});
