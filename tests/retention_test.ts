/**
 * How long finished sessions are kept, and what is remembered of them (spec S1, S7, R6).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { act, background, type Bench, open, refused, type Running } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

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
  await bench.clock.advance(60_000);
  for (const action of ["poll", "log", "kill", "clear", "remove"]) {
    const { reason, text, known } = await refused(bench.agent, { action, sessionId: expired.id });
    assertEquals([reason, known], ["gone", [other.id]]);
    assertEquals(
      text,
      `Session "${expired.id}" (npm test) is not kept any more: its time to live passed. ` +
        "It had ended, completed: exit code 7. Its output is gone",
    );
  }
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
  const big = await finished(bench, "x".repeat(50_000));
  assertEquals(await listed(bench), [big.id]);
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

test("S7 at most 1000 departed sessions are remembered", async () => {
  const bench = open({ maxFinished: 1 });
  const first = await finished(bench);
  const second = await finished(bench);
  for (let count = 0; count < 1_000; count++) await finished(bench);
  const reasonOf = async (sessionId: string) => (await refused(bench.agent, { action: "poll", sessionId })).reason;
  assertEquals([await reasonOf(first.id), await reasonOf(second.id)], ["unknown-session", "gone"]);
});

test("S1 ids are readable and never given twice", async () => {
  const bench = open({ maxFinished: 1 });
  const ids = new Set<string>();
  for (let count = 0; count < 600; count++) ids.add((await finished(bench)).id);
  assertEquals(ids.size, 600);
  for (const id of ids) assert(/^[a-z]+-[a-z]+-[2-9a-hjkmnp-z]{4}$/.test(id), id);
});
