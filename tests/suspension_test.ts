/**
 * What keeps a host from being suspended, and what a suspend lease refuses (spec S8).
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { test } from "node:test";
import { AbortError, OffstageError, type SuspendAnswer } from "../mod.ts";
import { act, background, type Bench, countingSignal, notStarted, open, refused, start } from "./fakes/bench.ts";
import { EPOCH, settle } from "./fakes/clock.ts";

/** Ids that block, each with why. */
function blocking({ offstage }: Bench): readonly string[] {
  const blockers = offstage.blockers();
  assertEquals(offstage.activeCount(), blockers.length);
  return blockers.map(({ sessionId, why }) => `${sessionId} ${why}`);
}

/** Waits until idle; says whether it is. */
function waitIdle(
  { offstage }: Bench,
  signal?: AbortSignal,
): { readonly done: Promise<void>; readonly is: () => boolean } {
  let idle = false;
  const done = offstage.whenIdle(signal).then(() => void (idle = true));
  done.catch(() => {}); // whoever awaits it hears of it
  return { done, is: () => idle };
}

function statuses(answers: readonly SuspendAnswer[]): readonly string[] {
  return answers.map(({ status }) => status);
}

/** A promise that the next spawns wait for. */
function gateOf({ spawner }: Bench): () => void {
  let open = (): void => {};
  spawner.gate = new Promise((resolve) => (open = resolve));
  return open;
}

// what blocks

test("S8 nothing blocks an instance that runs nothing", async () => {
  const bench = open();
  assertEquals(blocking(bench), []);
  await bench.offstage.whenIdle();
  assertEquals(bench.offstage.prepareSuspend("one").status, "ready");
});

test("S8 a session blocks from its yield until its end, with what a host wants to know of it", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { command: "npm test", yieldMs: 100 });
  assertEquals(blocking(bench), []);
  await bench.clock.advance(100);
  const { details } = await answer;
  assert(details.status === "running");
  assertEquals(bench.offstage.blockers(), [{
    sessionId: details.sessionId,
    scope: "tester",
    name: "npm test",
    startedAt: EPOCH,
    pid: child.pid,
    why: "running",
  }]);
  child.end(0);
  await settle();
  assertEquals(blocking(bench), []);
});

test("S8 blockers of all scopes are told, oldest first", async () => {
  const bench = open();
  const [first, second] = [await background(bench), await background(bench, {}, bench.offstage.agent("another"))];
  assertEquals(blocking(bench), [`${first.id} running`, `${second.id} running`]);
});

test("S8 a background session blocks from its start on, before exec has answered", async () => {
  const bench = open();
  const release = gateOf(bench);
  const answer = bench.agent.exec({ command: "make", background: true });
  await settle();
  const [starting] = bench.offstage.blockers();
  assertEquals([starting?.why, starting?.pid], ["starting", null]);
  assertEquals(bench.offstage.prepareSuspend("one").status, "busy");
  const idle = waitIdle(bench);
  release();
  await bench.clock.advance(0);
  assertEquals((await answer).details.status, "running");
  assertEquals([blocking(bench), idle.is()], [[`${starting?.sessionId} running`], false]);
});

test("S8 a start that fails blocks no longer", async () => {
  const bench = open();
  const release = gateOf(bench);
  const answer = bench.agent.exec({ command: "make", background: true });
  await settle();
  const idle = waitIdle(bench);
  bench.spawner.failure = new OffstageError("spawn-failed", "no memory");
  release();
  await idle.done;
  assertEquals((await notStarted(answer)).details.reason, "spawn-error");
  assertEquals(blocking(bench), []);
});

test("S8 [42] remove does not release a session before its end is confirmed", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM"];
  const idle = waitIdle(bench);
  await act(bench.agent, { action: "remove", sessionId: id });
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
  assertEquals(blocking(bench), [`${id} ending`]);
  await bench.clock.advance(4_900);
  assertEquals([blocking(bench), idle.is()], [[`${id} ending`], false]);
  await bench.clock.advance(200);
  assertEquals([blocking(bench), idle.is()], [[], true]);
});

test("S8 a session that cannot be ended blocks until it is given up", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM", "SIGKILL"];
  await act(bench.agent, { action: "kill", sessionId: id });
  await bench.clock.advance(8_900);
  assertEquals(blocking(bench), [`${id} ending`]);
  await bench.clock.advance(200);
  assertEquals(blocking(bench), []);
});

test("S8 while the last output of an exited shell is read it blocks", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.exit(0);
  await settle();
  assertEquals(blocking(bench), [`${id} ending`]);
  await bench.clock.advance(1_000);
  assertEquals(blocking(bench), []);
});

test("S8 what a shell has left behind blocks until it has ended, and nothing but a look tells that", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  assertEquals(blocking(bench), [`${id} left-behind`]);
  const idle = waitIdle(bench);
  await bench.clock.advance(10_000);
  assertEquals(idle.is(), false);
  child.started.length = 0;
  await bench.clock.advance(1_000);
  assertEquals([blocking(bench), idle.is(), bench.clock.pending], [[], true, 1]);
});

test("S8 whenIdle goes on waiting when a session's shell ends and what it has left behind does not", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  const idle = waitIdle(bench);
  child.exit(0);
  await bench.clock.advance(5_000);
  assertEquals(idle.is(), false);
  child.started.length = 0;
  await bench.clock.advance(1_000);
  assertEquals(idle.is(), true);
});

test("S8 who only asks now and then learns of the end of what was left behind, too", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  child.started.length = 0;
  assertEquals(blocking(bench), [`${id} left-behind`]); // from memory
  await settle();
  assertEquals(blocking(bench), []);
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).survivors, []);
  assertEquals(bench.machine.shutdownHooks.size, 0);
});

test("S8 what was left behind blocks no longer once it was killed, or given up", async () => {
  for (const ignores of [[], ["SIGTERM", "SIGKILL"]] as const) {
    const bench = open({}, { host: { inspects: true } });
    const { id, child } = await background(bench);
    child.started.push({ pid: 2001, name: "server", inGroup: true, ignores });
    child.exit(0);
    await bench.clock.advance(1_000);
    const idle = waitIdle(bench);
    await act(bench.agent, { action: "kill", sessionId: id });
    assertEquals(blocking(bench), ignores.length === 0 ? [] : [`${id} ending`]);
    await bench.clock.advance(10_000);
    assertEquals([blocking(bench), idle.is()], [[], true]);
  }
});

test("P41 once a kill has ended what was left behind, later answers do not say that it still runs", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  assertMatch((await act(bench.agent, { action: "poll", sessionId: id })).text, /1 process it started still runs/);
  await act(bench.agent, { action: "kill", sessionId: id });
  await bench.clock.advance(1_000);
  const { text, survivors } = await act(bench.agent, { action: "poll", sessionId: id });
  assertEquals([survivors, text], [[], "(no new output)\n[completed: exit code 0]"]);
  assertEquals(bench.machine.shutdownHooks.size, 0);
});

test("S8 a foreground command blocks no suspension, but is counted in the answer", async () => {
  const bench = open();
  await start(bench, { yieldMs: 60_000 });
  const answer = bench.offstage.prepareSuspend("one");
  assertEquals(answer, { status: "ready", requestId: "one", expiresAt: EPOCH + 120_000, foreground: 1 });
});

// waiting

test("S8 whenIdle waits for the last of all sessions, whatever the order of their ends", async () => {
  const bench = open();
  const sessions = [await background(bench), await background(bench), await background(bench)];
  const idle = waitIdle(bench);
  for (const index of [1, 0]) {
    sessions[index]?.child.end(0);
    await settle();
    assertEquals(idle.is(), false);
  }
  const late = await background(bench);
  sessions[2]?.child.end(0);
  await settle();
  assertEquals(idle.is(), false);
  late.child.end(0);
  await settle();
  assertEquals(idle.is(), true);
});

test("S8 whenIdle that is aborted rejects with an AbortError and leaves no listener and no timer", async () => {
  const bench = open({ timeoutSeconds: 0 });
  await background(bench);
  const { signal, abort, listeners } = countingSignal();
  const idle = waitIdle(bench, signal);
  assertEquals(listeners(), 1);
  abort("no patience");
  const error = await assertRejects(() => idle.done, AbortError);
  assertEquals([error.cause, listeners(), bench.clock.pending], ["no patience", 0, 0]);
  await assertRejects(() => bench.offstage.whenIdle(signal), AbortError);
  await assertRejects(() => bench.offstage.whenIdle(1 as never), OffstageError, "expected an AbortSignal");
});

test("S8 whenIdle that came true leaves no listener", async () => {
  const bench = open();
  const { child } = await background(bench);
  const { signal, listeners } = countingSignal();
  const idle = waitIdle(bench, signal);
  child.end(0);
  await idle.done;
  assertEquals(listeners(), 0);
});

test("S8 whenIdle resolves when the instance is closed", async () => {
  const bench = open();
  await background(bench);
  const idle = waitIdle(bench);
  await Promise.all([bench.offstage.close(), bench.clock.advance(0)]);
  await idle.done;
  assertEquals(blocking(bench), []);
});

// leases

test("S8 a lease refuses exec in every scope, says which lease it is, when it ends and what to do", async () => {
  const bench = open();
  bench.offstage.prepareSuspend("nightly");
  await bench.clock.advance(30_000);
  for (const agent of [bench.agent, bench.offstage.agent("another")]) {
    const { text, details } = await notStarted(agent.exec({ command: "ls" }));
    assertEquals([details.reason, bench.spawner.children.length], ["refused", 0]);
    assertStringIncludes(text, 'lease "nightly", ends in 90 s unless');
    assertStringIncludes(text, "try again after that");
  }
});

test("S8 a lease ends by itself after two minutes, and needs no timer for that", async () => {
  const bench = open();
  const { offstage, clock } = bench;
  offstage.prepareSuspend("one");
  assertEquals(clock.pending, 0);
  await clock.advance(119_999);
  await notStarted(bench.agent.exec({ command: "ls" }));
  await clock.advance(1);
  assertEquals(offstage.resume("one"), false);
  assertEquals((await background(bench)).details.status, "running");
});

test("S8 asking again with the same id renews the lease", async () => {
  const bench = open();
  const { offstage, clock } = bench;
  offstage.prepareSuspend("one");
  await clock.advance(100_000);
  const again = offstage.prepareSuspend("one");
  assert(again.status === "ready");
  assertEquals(again.expiresAt, EPOCH + 220_000);
  await clock.advance(119_999);
  await notStarted(bench.agent.exec({ command: "ls" }));
  await clock.advance(1);
  assertEquals((await background(bench)).details.status, "running");
});

test("S8 resume lifts the lease of its id and no other; exec is refused until the last is gone", async () => {
  const bench = open();
  const { offstage } = bench;
  assertEquals(statuses([offstage.prepareSuspend("a"), offstage.prepareSuspend("b")]), ["ready", "ready"]);
  assertMatch((await notStarted(bench.agent.exec({ command: "ls" }))).text, /lease "b", the last of 2, ends in 120 s/);
  assertEquals([offstage.resume("c"), offstage.resume("b"), offstage.resume("b")], [false, true, false]);
  assertMatch((await notStarted(bench.agent.exec({ command: "ls" }))).text, /lease "a", ends/);
  assertEquals(offstage.resume("a"), true);
  assertEquals((await background(bench)).details.status, "running");
});

test("S8 busy names the blockers and holds no lease", async () => {
  const bench = open();
  const { id } = await background(bench);
  const answer = bench.offstage.prepareSuspend("one");
  assert(answer.status === "busy");
  assertEquals(answer.blockers.map(({ sessionId }) => sessionId), [id]);
  assertEquals([bench.offstage.resume("one"), (await background(bench)).details.status], [false, "running"]);
});

test("S8 whoever holds a lease learns of a foreground command that went to the background by asking again", async () => {
  const bench = open();
  const { offstage, clock } = bench;
  const { answer, child } = await start(bench, { yieldMs: 100 });
  assertEquals(offstage.prepareSuspend("one").status, "ready");
  await clock.advance(100);
  assertEquals((await answer).details.status, "running"); // a yield is never refused
  assertEquals(offstage.prepareSuspend("one").status, "busy");
  assertEquals((await background(bench)).details.status, "running"); // that lease is gone
  bench.spawner.last.end(0);
  child.end(0);
  await settle();
  assertEquals(offstage.prepareSuspend("one").status, "ready");
});

test("S8 there is no gap: a call that is still being checked when the lease is taken starts nothing", async () => {
  let approve = (): void => {};
  const bench = open({}, { authorize: () => new Promise((resolve) => (approve = () => resolve({ allow: true }))) });
  const answer = bench.agent.exec({ command: "make", background: true });
  await settle();
  assertEquals(bench.offstage.prepareSuspend("one").status, "ready");
  approve();
  await settle();
  assertEquals((await notStarted(answer)).details.reason, "refused");
  assertEquals([bench.spawner.children.length, bench.offstage.resume("one")], [0, true]);
});

test("S8 process works while a lease is held", async () => {
  const bench = open({ maxFinished: 1 });
  const { id, child } = await background(bench);
  child.print("done\n");
  child.end(0);
  await settle();
  bench.offstage.prepareSuspend("one");
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).output, "done\n");
  assertEquals((await refused(bench.agent, { action: "poll", sessionId: "none" })).reason, "unknown-session");
});

test("S8 a lease ends when either clock says so: the one stands still in a long sleep, the other may be set back", async () => {
  for (const jump of [3_600_000, -3_600_000]) {
    const bench = open();
    bench.offstage.prepareSuspend("one");
    bench.clock.jump(jump);
    await bench.clock.advance(jump < 0 ? 120_000 : 0);
    assertEquals((await background(bench)).details.status, "running");
  }
});

test("S8 a request needs a name", () => {
  const { offstage } = open();
  for (const id of ["", "  ", undefined as never]) {
    const { code } = assertThrows(() => offstage.prepareSuspend(id), OffstageError, "requestId is blank");
    assertEquals(code, "invalid");
  }
});
