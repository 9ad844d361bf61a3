/**
 * `exec` answers as soon as the platform says that its program waits for input (spec P30, R8, E31).
 *
 * @module
 */
import { assert, assertEquals, assertLessOrEqual, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { AbortError, type InputReader } from "../mod.ts";
import { answeredAfter, type Bench, type BenchOptions, ended, open, start } from "./fakes/bench.ts";

const READER: InputReader = { pid: 2001, name: "ssh-keygen", inGroup: true, signal: () => "sent" };

function openInspecting(options: BenchOptions = {}): Bench {
  return open({ inputWaitIdleMs: 1_000 }, { ...options, host: { inspects: true } });
}

for (const params of [{ pty: true }, { yieldMs: 60_000 }, { stdin: "open" }] as const) {
  test(`P30 a program that waits for input is told within half a second: ${Object.keys(params)}`, async () => {
    const bench = openInspecting();
    const { answer, child } = await start(bench, params);
    child.print("Enter passphrase: ");
    child.reader = READER;
    assertLessOrEqual(await answeredAfter(bench, answer), 500);
    const { details, text } = await answer;
    assert(details.status === "running");
    const { waitingForInput, evidence, reader, tail } = details;
    assertEquals([waitingForInput, evidence, reader], [true, "blocked-in-read", "ssh-keygen"]);
    assertEquals(tail, "Enter passphrase: ");
    assertStringIncludes(text, "Enter passphrase: \n");
    assertStringIncludes(text, "waiting for input: ssh-keygen is reading it");
    assertStringIncludes(text, `[process { action: "write", sessionId: "${details.sessionId}", data: "…`);
    assertEquals([bench.clock.holding, child.released], [0, false]);
  });
}

test("P30 a full-screen program is answered with keys: Enter would be one more of them", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { pty: true });
  child.print("\x1b[?1049h(END)");
  child.reader = { ...READER, name: "less" };
  await answeredAfter(bench, answer);
  const { text, details } = await answer;
  const id = "sessionId" in details ? details.sessionId : "";
  assertStringIncludes(text, "[waiting for input: less is reading it (send-keys)]");
  assertStringIncludes(text, `[process { action: "send-keys", sessionId: "${id}", keys: ["…"] } answers it]`);
  assertEquals(text.includes("submit"), false);
});

test("P30 one that comes to wait after a long silence is told within half a second too", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  await bench.clock.advance(20_000);
  child.reader = READER;
  assertLessOrEqual(await answeredAfter(bench, answer), 500);
});

test("R8 what was printed before the program began to wait, and is read only now, is in the answer", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  await bench.clock.advance(90);
  child.reader = READER;
  bench.clock.timer(10, () => child.print("late prompt: ")); // after the question, in the same moment
  await bench.clock.advance(500);
  const { details } = await answer;
  assertEquals("tail" in details && details.tail, "late prompt: ");
});

test("P30 the platform is not asked about a quick command, nor while a program prints", async () => {
  const bench = openInspecting();
  const quick = await start(bench, { pty: true });
  await bench.clock.advance(90);
  quick.child.end(0);
  await ended(quick.answer);
  assertEquals(quick.child.readerAsked, 0);

  const { answer, child } = await start(bench, { yieldMs: 5_000 });
  for (let round = 0; round < 100; round++) {
    await bench.clock.advance(50);
    child.print("tick\n");
  }
  assertEquals((await answer).details.status, "running");
  assertEquals(child.readerAsked, 0);
});

test("P30 a silent program is asked about less and less often", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { yieldMs: 10_000 });
  assertEquals(await answeredAfter(bench, answer), 10_000);
  assertLessOrEqual(child.readerAsked, 28);
  const { details, text } = await answer;
  assert(details.status === "running");
  assertEquals([details.waitingForInput, details.evidence, details.reader], [false, null, null]);
  assert(!text.includes("waiting for input"));
});

test("P30 a guess never ends the wait: not from silence, not where the platform cannot tell", async () => {
  for (const inspects of [true, false]) {
    const bench = open({ inputWaitIdleMs: 1_000 }, { host: { inspects } });
    const { answer, child } = await start(bench, { yieldMs: 10_000 });
    child.reader = "unknown";
    assertEquals(await answeredAfter(bench, answer), 10_000);
  }
});

test("P30 a relay, which waits for input whatever happens, does not end the wait", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { yieldMs: 10_000 });
  child.reader = { ...READER, relays: true };
  assertEquals(await answeredAfter(bench, answer), 10_000);
});

test("E4 E32 a platform that takes long to tell holds up neither the yield, nor the end, nor an abort", async () => {
  const slow = new Promise<undefined>(() => {});
  const bench = openInspecting();
  const yielded = await start(bench, { yieldMs: 300 });
  yielded.child.reader = slow;
  assertEquals(await answeredAfter(bench, yielded.answer), 300);

  const ending = await start(bench, { yieldMs: 10_000 });
  ending.child.reader = slow;
  await bench.clock.advance(500);
  ending.child.end(3);
  assertEquals((await ended(ending.answer)).details.exitCode, 3);

  const controller = new AbortController();
  const aborted = await start(bench, { yieldMs: 10_000 }, { signal: controller.signal });
  aborted.child.reader = slow;
  await bench.clock.advance(500);
  controller.abort();
  await assertRejects(() => aborted.answer, AbortError);
  assertEquals(bench.clock.holding, 0);
});

test("E7 nobody is asked about a command whose stdin is closed", async () => {
  const bench = openInspecting();
  for (const params of [{}, { yieldMs: 10_000, stdin: "closed" }] as const) {
    const { answer, child } = await start(bench, params);
    child.reader = READER;
    assertEquals(await answeredAfter(bench, answer), 10_000);
    assertEquals(child.readerAsked, 0);
  }
});

test("E31 without the process tool nobody could answer: exec waits for the end", async () => {
  const bench = openInspecting({ processTool: false });
  const { answer, child } = await start(bench, { pty: true });
  child.reader = READER;
  await bench.clock.advance(60_000);
  assertEquals(child.readerAsked, 0);
  child.end(3);
  assertEquals((await ended(answer)).details.exitCode, 3);
});

test("E4 background answers at once and asks nobody", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { background: true, pty: true });
  child.reader = READER;
  await bench.clock.advance(0);
  assertEquals((await answer).details.status, "running");
  assertEquals(child.readerAsked, 0);
});

test("E30 an end that comes while the platform is asked counts as an end", async () => {
  const bench = openInspecting();
  const { answer, child } = await start(bench, { pty: true });
  let tell = (): void => {};
  child.reader = new Promise((resolve) => (tell = () => resolve(undefined)));
  await bench.clock.advance(200);
  assertEquals(child.readerAsked, 1);
  child.end(4);
  tell();
  assertEquals((await ended(answer)).details.exitCode, 4);
});

test("E32 an abort while the platform is asked ends the command", async () => {
  const bench = openInspecting();
  const abort = new AbortController();
  const { answer, child } = await start(bench, { pty: true }, { signal: abort.signal });
  let tell = (): void => {};
  child.reader = new Promise((resolve) => (tell = () => resolve(undefined)));
  await bench.clock.advance(200);
  abort.abort("enough");
  tell();
  await bench.clock.advance(1_000);
  await assertRejects(() => answer, AbortError);
  assertEquals(child.signals[0], "SIGTERM group");
});
