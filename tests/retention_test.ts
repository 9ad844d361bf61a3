/**
 * How long finished sessions are kept, and what is remembered of them (spec S1, S7, R6).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { createOffstage } from "../mod.ts";
import { newSessionId } from "../src/session/ids.ts";
import { act, background, type Bench, ended, open, refused, type Running, start } from "./fakes/bench.ts";
import { EPOCH, settle } from "./fakes/clock.ts";
import { createFakeRuntime } from "./fakes/runtime.ts";

async function listed(bench: Bench): Promise<readonly string[]> {
  return (await act(bench.agent, { action: "list" })).sessions.map(({ sessionId }) => sessionId);
}

/** Starts a command in the background that prints and ends. */
async function finished(bench: Bench, output = "", agent = bench.agent): Promise<Running> {
  const running = await background(bench, {}, agent);
  running.child.print(output);
  running.child.end(0);
  await settle();
  return running;
}

test("S7 [82] a finished session goes after its time to live, counted from its end; a running one stays", async () => {
  const bench = open({ cleanupMs: 60_000 });
  const [ending, running] = [await background(bench), await background(bench, { timeout: 0 })];
  await bench.clock.advance(100_000);
  ending.child.end(0);
  await bench.clock.advance(59_999);
  assertEquals(await listed(bench), [running.id, ending.id]);
  await bench.clock.advance(1);
  assertEquals(await listed(bench), [running.id]);
  await bench.clock.advance(1e9);
  assertEquals(await listed(bench), [running.id]);
});

test("S7 reading a session neither shortens nor lengthens its time", async () => {
  const bench = open({ cleanupMs: 60_000 });
  const { id } = await finished(bench, "x");
  await bench.clock.advance(59_000);
  await act(bench.agent, { action: "poll", sessionId: id });
  await act(bench.agent, { action: "log", sessionId: id });
  await bench.clock.advance(1_000);
  assertEquals(await listed(bench), []);
});

test("S7 a tombstone answers later calls: how it ended, when and why it went, and that its output is gone", async () => {
  const bench = open({ cleanupMs: 60_000 });
  const [expired, other] = [await background(bench, { command: "npm test" }), await background(bench)];
  expired.child.end(7);
  await bench.clock.advance(90_000);
  for (const action of ["poll", "log", "kill", "clear", "remove"]) {
    const { reason, text, known, departed } = await refused(bench.agent, { action, sessionId: expired.id });
    assertEquals([reason, known], ["gone", [other.id]]);
    assertEquals(
      text,
      `Session "${expired.id}" (npm test) is not kept any more: its time to live passed 30 s ago. ` +
        "It had ended 90 s ago, completed: exit code 7. Its output is gone",
    );
    assertEquals(departed, {
      status: "completed",
      ok: false,
      exitCode: 7,
      signal: null,
      reason: "exit",
      limit: null,
      name: "npm test",
      endedAt: EPOCH,
      goneAt: EPOCH + 60_000,
      why: "expired",
    });
  }
});

/** What a call to a departed session is told of its end. */
async function toldOfEnd(bench: Bench, sessionId: string): Promise<string> {
  const { text, reason } = await refused(bench.agent, { action: "poll", sessionId });
  assertEquals(reason, "gone");
  return text.slice(text.indexOf("It had ended"));
}

test("S7 the tombstone says as much about the end as the session did: timeout, kill, signal", async () => {
  const bench = open({ cleanupMs: 60_000 });
  const sessions = {
    timedOut: await background(bench, { timeout: 2 }),
    killed: await background(bench),
    signalled: await background(bench),
  };
  await act(bench.agent, { action: "kill", sessionId: sessions.killed.id });
  sessions.signalled.child.end("SIGSEGV");
  await bench.clock.advance(182_000);
  assertStringIncludes(
    await toldOfEnd(bench, sessions.timedOut.id),
    "It had ended 3 min ago, failed: timed out after 2 s, ended by SIGTERM",
  );
  assertStringIncludes(await toldOfEnd(bench, sessions.killed.id), "3 min ago, killed on request, ended by SIGTERM");
  assertStringIncludes(await toldOfEnd(bench, sessions.signalled.id), "failed: ended by signal SIGSEGV");
});

test("S7 the tombstone says which way a session went", async () => {
  const bench = open({ maxFinished: 1 });
  const [evicted, cleared] = [await finished(bench), await finished(bench)];
  await act(bench.agent, { action: "clear", sessionId: cleared.id });
  const removed = await finished(bench);
  await act(bench.agent, { action: "remove", sessionId: removed.id });
  const words = [[evicted, "newer ones took its place"], [cleared, "it was cleared"], [
    removed,
    "it was removed",
  ]] as const;
  for (const [{ id }, why] of words) {
    assertStringIncludes((await refused(bench.agent, { action: "poll", sessionId: id })).text, why);
  }
});

test("S7 of more than maxFinished the ones that ended first go, whatever the order of their starts", async () => {
  const bench = open({ maxFinished: 2 });
  const [a, b, c, running] = [
    await background(bench),
    await background(bench),
    await background(bench),
    await background(bench),
  ];
  for (const { child } of [b, c, a]) {
    child.end(0);
    await settle();
  }
  assertEquals(await listed(bench), [running.id, c.id, a.id]);
});

test("S7 maxFinished counts by scope", async () => {
  const bench = open({ maxFinished: 1 });
  const other = bench.offstage.agent("another");
  const own = await finished(bench);
  await finished(bench, "", other);
  await finished(bench, "", other);
  assertEquals(await listed(bench), [own.id]);
  assertEquals((await act(other, { action: "list" })).sessions.length, 1);
});

test("S7 [76] maxFinishedChars bounds the output of all; the newest always stays, however big", async () => {
  const bench = open({ maxFinishedChars: 10_000 });
  const small = await finished(bench, "x".repeat(4_000));
  const middle = await finished(bench, "x".repeat(4_000));
  assertEquals(await listed(bench), [middle.id, small.id]);
  const next = await finished(bench, "x".repeat(4_000));
  assertEquals(await listed(bench), [next.id, middle.id]);
  assertEquals((await refused(bench.agent, { action: "poll", sessionId: small.id })).departed?.why, "evicted");
  const big = await finished(bench, "x".repeat(50_000));
  assertEquals(await listed(bench), [big.id]);
});

test("S7 with too much in all the scope that holds most gives up its oldest: a noisy one cannot push out another's", async () => {
  const bench = open({ maxFinishedChars: 10_000 });
  const [quiet, noisy] = [bench.offstage.agent("quiet"), bench.offstage.agent("noisy")];
  const precious = [await finished(bench, "x".repeat(1_500), quiet), await finished(bench, "x".repeat(1_500), quiet)];
  const spam = [];
  for (let count = 0; count < 20; count++) spam.push(await finished(bench, "x".repeat(2_000), noisy));
  const newestFirst = (sessions: readonly Running[]) => sessions.map(({ id }) => id).reverse();
  assertEquals(await listed({ ...bench, agent: quiet }), newestFirst(precious));
  assertEquals(await listed({ ...bench, agent: noisy }), newestFirst(spam.slice(-3)));
});

test("S7 what a scope has cleared does not count as its own any more", async () => {
  const bench = open({ maxFinishedChars: 10_000 });
  const [tidy, noisy] = [bench.offstage.agent("tidy"), bench.offstage.agent("noisy")];
  const kept = await finished(bench, "x".repeat(1_000), tidy);
  const cleared = await finished(bench, "x".repeat(6_000), tidy);
  await act(tidy, { action: "clear", sessionId: cleared.id });
  for (let count = 0; count < 4; count++) await finished(bench, "x".repeat(2_500), noisy);
  assertEquals(await listed({ ...bench, agent: tidy }), [kept.id]);
});

test("S7 what holds no output is not evicted for the sake of its size", async () => {
  const bench = open({ maxFinishedChars: 1_000 });
  const silent = await finished(bench);
  await finished(bench, "x".repeat(900));
  const newest = await finished(bench, "x".repeat(900));
  assertEquals(await listed(bench), [newest.id, silent.id]);
});

test("R6 a session whose tree lives on does not take the place of others while it waits to go", async () => {
  const bench = open({ maxFinished: 2 });
  const living = await background(bench);
  living.child.started.push({ pid: 2001, name: "server", inGroup: true });
  living.child.exit(0);
  await bench.clock.advance(1_000);
  const [, second, third] = [await finished(bench), await finished(bench), await finished(bench)];
  assertEquals(await listed(bench), [third.id, second.id, living.id]);
});

test("R6 a session whose tree lives on goes once that has ended, if there was too much output meanwhile", async () => {
  const bench = open({ maxFinishedChars: 1_000 });
  const living = await background(bench);
  living.child.print("x".repeat(900));
  living.child.started.push({ pid: 2001, name: "server", inGroup: true });
  living.child.exit(0);
  await bench.clock.advance(1_000);
  const next = await finished(bench, "x".repeat(900));
  assertEquals(await listed(bench), [next.id, living.id]);
  living.child.started.length = 0;
  await bench.clock.advance(60_000);
  assertEquals(await listed(bench), [next.id]);
});

test("S7 [76] thousands of finished sessions leave no timers and no output behind", async () => {
  const bench = open({ maxFinished: 5 });
  for (let count = 0; count < 2_000; count++) await finished(bench, "x".repeat(1_000));
  assertEquals([(await listed(bench)).length, bench.clock.pending], [5, 5]);
  assertEquals(bench.spawner.children.filter(({ released }) => !released).length, 5);
});

test("S7 no timer of a session keeps the host alive", async () => {
  const bench = open({ timeoutSeconds: 60 });
  await background(bench);
  await finished(bench);
  assert(bench.clock.pending >= 2);
  assertEquals(bench.clock.holding, 0);
});

test("R6 retention keeps a session until the tree that it left has ended", async () => {
  const bench = open({ cleanupMs: 60_000, maxFinished: 1 });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  await finished(bench);
  await bench.clock.advance(300_000);
  assertEquals(await listed(bench), [id]);
  child.started.length = 0;
  await bench.clock.advance(60_000);
  assertEquals(await listed(bench), []);
});

test("S7 cleared and removed sessions are let go with their timers; clearing twice is answered", async () => {
  const bench = open();
  const { id, child } = await finished(bench);
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals([bench.clock.pending, child.released, bench.machine.shutdownHooks.size], [0, true, 0]);
  assertEquals((await refused(bench.agent, { action: "clear", sessionId: id })).reason, "gone");
});

test("E36 the pipes of a forgotten session are read as long as somebody holds them, then let go", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.exit(0);
  await bench.clock.advance(1_000);
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals(child.released, false);
  child.print("still writing");
  child.closeOutput();
  assertEquals(child.released, true);
});

test("E36 when the instance closes, the pipes of forgotten sessions are let go, whoever holds them", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.exit(0);
  await bench.clock.advance(1_000);
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals(child.released, false);
  await bench.offstage.close();
  assertEquals(child.released, true);
});

test("S7 a closed instance remembers no session", async () => {
  const bench = open({ maxFinished: 1 });
  const { id } = await finished(bench);
  await finished(bench);
  await bench.offstage.close();
  assertEquals((await refused(bench.agent, { action: "poll", sessionId: id })).reason, "unknown-session");
});

test("S7 a session of which its scope has never been told leaves no tombstone", async () => {
  const bench = open();
  const { child } = await start(bench, { yieldMs: 100 });
  let killed: Promise<unknown> | undefined;
  bench.clock.timer(100, () => void (killed = bench.agent.killAll())); // while exec looks whether it has ended
  await bench.clock.advance(100);
  await killed;
  const { reason } = await refused(bench.agent, { action: "poll", sessionId: child.spec.sessionId });
  assertEquals(reason, "unknown-session");
});

test("S7 at most 1000 departed sessions are remembered", async () => {
  const bench = open({ maxFinished: 1 });
  const first = await finished(bench);
  const second = await finished(bench);
  for (let count = 0; count < 1_000; count++) await finished(bench);
  const reasonOf = async (sessionId: string) => (await refused(bench.agent, { action: "poll", sessionId })).reason;
  assertEquals([await reasonOf(first.id), await reasonOf(second.id)], ["unknown-session", "gone"]);
});

test("S7 departed sessions are forgotten fairly as well: of the scope that has most of them", async () => {
  const bench = open({ maxFinished: 1 });
  const other = bench.offstage.agent("other");
  const quiet = await finished(bench);
  await finished(bench);
  for (let count = 0; count < 1_010; count++) await finished(bench, "", other);
  assertEquals((await refused(bench.agent, { action: "poll", sessionId: quiet.id })).reason, "gone");
});

test("S1 ids are readable and never given twice", async () => {
  const bench = open({ maxFinished: 1 });
  const ids = new Set<string>();
  for (let count = 0; count < 600; count++) ids.add((await finished(bench)).id);
  assertEquals(ids.size, 600);
  for (const id of ids) assert(/^[a-z]+-[a-z]+-[2-9a-hjkmnp-z]{4}$/.test(id), id);
});

test("S1 an id that the host's randomness brings again is not given again", async () => {
  const bench = open();
  const { machine, spawner, clock } = bench;
  let drawn = 0;
  const randomBytes = (count: number): Uint8Array => new Uint8Array(count).fill(drawn++ >> 1);
  const runtime = { ...createFakeRuntime(machine, spawner, clock), randomBytes };
  const agent = createOffstage({ runtime }).agent("tester");
  const ids = new Set<string>();
  for (let count = 0; count < 5; count++) ids.add((await background(bench, {}, agent)).id);
  assertEquals(ids.size, 5);
});

test("S1 each random byte makes an id another one", () => {
  const idOf = (place: number): string =>
    newSessionId((count) => Uint8Array.from({ length: count }, (_, index) => Number(index === place)), () => false);
  assertEquals(new Set([-1, 0, 1, 2, 3, 4, 5].map(idOf)).size, 7);
});

test("S7 E25 a finished command whose output did not fit is kept for its time to live, too", async () => {
  const bench = open({ cleanupMs: 60_000, maxResultChars: 1_000 });
  const { answer, child } = await start(bench);
  child.print("x".repeat(5_000));
  child.end(0);
  await bench.clock.advance(1_000);
  const { sessionId = "" } = (await ended(answer)).details;
  assertEquals(await listed(bench), [sessionId]);
  await bench.clock.advance(60_000);
  assertEquals(await listed(bench), []);
});
