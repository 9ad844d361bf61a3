/**
 * `poll`: every byte once, and waiting for it (spec P10–P15, R4).
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { AbortError, type ExecConfig, type InputReader, type Until } from "../mod.ts";
import { act, answeredAfter, background, type Bench, countingSignal, open, type Running } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import type { FakeHost } from "./fakes/spawner.ts";

type Started = Bench & Running & {
  readonly poll: (params?: PollParams) => ReturnType<typeof act<"poll">>;
};

interface PollParams {
  readonly timeout?: number;
  readonly until?: Until;
  readonly since?: number;
}

async function session(exec: ExecConfig = {}, host: FakeHost = {}, pty = false): Promise<Started> {
  const bench = open(exec, { host });
  const running = await background(bench, { pty });
  const poll: Started["poll"] = (params = {}) => act(bench.agent, { action: "poll", sessionId: running.id, ...params });
  return { ...bench, ...running, poll };
}

const READER: InputReader = { pid: 2001, name: "python3", inGroup: true, signal: () => "sent" };

test("P10 each poll gives what came since the last, as bytes of one log", async () => {
  const { poll, child } = await session();
  child.print("one\n");
  child.print("é", "stderr");
  const first = await poll();
  assertEquals([first.output, first.from, first.to, first.dropped, first.status], ["one\né", 0, 6, 0, "running"]);
  const empty = await poll();
  assertEquals([empty.output, empty.from, empty.to], ["", 6, 6]);
  child.print("two\n");
  const second = await poll();
  assertEquals([second.output, second.from, second.to], ["two\n", 6, 10]);
});

test("P10 [19] after the end comes the rest and the exit, later the exit and no output; log has all of it", async () => {
  const { poll, child, agent, id } = await session();
  child.print("hi\n");
  child.end(3);
  await settle();
  const [first, second, third] = [await poll(), await poll(), await poll()];
  assertEquals([first.output, second.output, third.output], ["hi\n", "", ""]);
  for (const { status, exitCode, reason, ok, retryInMs } of [first, second, third]) {
    assertEquals([status, exitCode, reason, ok, retryInMs], ["completed", 3, "exit", false, null]);
  }
  assertStringIncludes(second.text, "(no new output)");
  assertEquals((await act(agent, { action: "log", sessionId: id })).lines.map(({ text }) => text), ["hi"]);
});

test("P10 two pollers of a scope share one place: every byte once, and the slower one waits on", async () => {
  const { poll, child, clock } = await session();
  const [one, two] = [poll({ timeout: 1_000 }), poll({ timeout: 1_000 })];
  child.print("once\n");
  await clock.advance(1_000);
  assertEquals([(await one).output, (await two).output].sort(), ["", "once\n"]);
});

test("P10 R4 since reads again from an offset and does not move the shared place", async () => {
  const { poll, child } = await session();
  child.print("0123456789");
  assertEquals((await poll({ since: 4 })).output, "456789");
  assertEquals((await poll()).output, "0123456789");
  assertEquals((await poll({ since: 8 })).output, "89");
  const past = await poll({ since: 99 });
  assertEquals([past.output, past.from, past.to], ["", 10, 10]);
});

test("P11 a poll returns at once when there is output, at its end or its time, and never looks in between", async () => {
  const bench = await session();
  const { poll, child, clock } = bench;
  child.print("x");
  assertEquals((await poll({ timeout: 30_000 })).wokenBy, "output");
  const timers = clock.pending;
  const waiting = poll({ timeout: 30_000 });
  await settle();
  assertEquals(clock.pending, timers + 1);
  assertEquals(await answeredAfter(bench, waiting), 30_000);
  assertEquals((await waiting).wokenBy, "timeout");
  const woken = poll({ timeout: 30_000 });
  clock.timer(700, () => child.print("y"));
  assertEquals(await answeredAfter(bench, woken), 700);
  const last = poll({ timeout: 30_000 });
  clock.timer(900, () => child.end(0));
  assertEquals(await answeredAfter(bench, last), 900);
  assertEquals((await last).wokenBy, "exit");
});

test('P12 until "exit" waits for the end and gives all output meanwhile', async () => {
  const bench = await session();
  const waiting = bench.poll({ timeout: 30_000, until: "exit" });
  bench.clock.timer(100, () => bench.child.print("a\n"));
  bench.clock.timer(200, () => bench.child.print("b\n"));
  bench.clock.timer(300, () => bench.child.end(0));
  assertEquals(await answeredAfter(bench, waiting), 300);
  const { wokenBy, output } = await waiting;
  assertEquals([wokenBy, output], ["exit", "a\nb\n"]);
});

test("P12 [135] until a pattern sees lines across chunks, rendered, and tells what woke it", async () => {
  const bench = await session();
  const waiting = bench.poll({ timeout: 30_000, until: "^Listening on port \\d+$" });
  bench.clock.timer(100, () => bench.child.print("not Listening on port 1\nList\x1b[1mening"));
  bench.clock.timer(200, () => bench.child.print(" on port 80\x1b[0m\nmore"));
  assertEquals(await answeredAfter(bench, waiting), 200);
  const { wokenBy, output } = await waiting;
  assertEquals([wokenBy, output], ["match", "not Listening on port 1\nListening on port 80\nmore"]);
});

test("P12 until a pattern finds what is unread already; what was read before does not count", async () => {
  const bench = await session();
  bench.child.print("ready\n");
  assertEquals((await bench.poll({ timeout: 30_000, until: "(?i)READY" })).wokenBy, "match");
  const again = bench.poll({ timeout: 500, until: "ready" });
  assertEquals(await answeredAfter(bench, again), 500);
  assertEquals((await again).wokenBy, "timeout");
});

test("P12 the newest 10000 characters of a growing line are tried, and no line begins where they do", async () => {
  const untilOf = async (until: string): Promise<string> => {
    const bench = await session({ maxOutputChars: 100_000 });
    const waiting = bench.poll({ timeout: 1_000, until });
    for (const ms of [100, 200, 300]) bench.clock.timer(ms, () => bench.child.print(`${ms}${"x".repeat(20_000)}`));
    bench.clock.timer(400, () => bench.child.print("end"));
    await answeredAfter(bench, waiting);
    return (await waiting).wokenBy;
  };
  assertEquals(await untilOf("x{9000}end$"), "match");
  assertEquals(await untilOf("300x*end$"), "timeout");
  assertEquals(await untilOf("^x"), "timeout");
});

test("P12 until a pattern ends with the session", async () => {
  const bench = await session();
  const waiting = bench.poll({ timeout: 30_000, until: "ready" });
  bench.clock.timer(100, () => bench.child.end(1));
  assertEquals(await answeredAfter(bench, waiting), 100);
  assertEquals((await waiting).wokenBy, "exit");
});

test("P12 the text tells what a wait for something came to, and advises no other poll when it came", async () => {
  const bench = await session();
  bench.machine.ports.add(8080);
  const told = async (until: Until, timeout = 2_000): Promise<readonly string[]> => {
    const waiting = bench.poll({ timeout, until });
    await answeredAfter(bench, waiting);
    return (await waiting).text.split("\n").filter((line) => !line.startsWith("[maybe"));
  };
  assertEquals(await told("port:8080"), ["(no new output)", "[running]", "[port 8080 accepts connections]"]);
  assertEquals(await told("idle:500"), ["(no new output)", "[running]", "[silent for 0.5 s]"]);
  bench.child.print("ready\n");
  assertEquals(await told({ pattern: "^rea" }), ["ready", "[running]", '["^rea" has matched]']);
  assertEquals((await told("Exit")).slice(1, 3), [
    "[running; nothing new, poll again in 5 s]",
    '[waited 2 s in vain for "Exit"]',
  ]);
  bench.child.end(0);
  assertEquals((await told("ready")).slice(1), [
    "[completed: exit code 0]",
    '[it ended while this waited for "ready"]',
  ]);
  assertEquals((await told("exit")).slice(1), ["[completed: exit code 0]"]);
});

test("P12 a poll with until and no timeout waits 10 s", async () => {
  const bench = await session();
  assertEquals(await answeredAfter(bench, bench.poll({ until: "ready" })), 10_000);
});

test("P12 until idle waits for silence, counted from the last output", async () => {
  const bench = await session();
  const waiting = bench.poll({ timeout: 30_000, until: "idle:1000" });
  for (const ms of [300, 900, 1_500]) bench.clock.timer(ms, () => bench.child.print("."));
  assertEquals(await answeredAfter(bench, waiting), 2_500);
  const { wokenBy, output } = await waiting;
  assertEquals([wokenBy, output], ["idle", "..."]);
});

test("P12 R8 until input is woken by whoever reads, with the prompt in the answer", async () => {
  const bench = await session({}, { inspects: true });
  const waiting = bench.poll({ timeout: 30_000, until: "input" });
  bench.clock.timer(450, () => {
    bench.child.print("Name? ");
    bench.child.reader = READER;
  });
  assert(await answeredAfter(bench, waiting) <= 950);
  const { wokenBy, output, waitingForInput, evidence, text } = await waiting;
  assertEquals([wokenBy, output, waitingForInput, evidence], ["input", "Name? ", true, "blocked-in-read"]);
  assertStringIncludes(text, "python3 is reading it");
});

test("P30 P12 until input waits for what was typed to be taken: the sleep before it does not count", async () => {
  const bench = await session({}, { inspects: true }, true);
  bench.child.reader = { ...READER, sleep: "first" };
  await bench.clock.advance(100);
  assertEquals((await bench.poll()).waitingForInput, true);
  await act(bench.agent, { action: "write", sessionId: bench.id, data: "Ada\n" });
  assertEquals((await bench.poll()).waitingForInput, false);
  const waiting = bench.poll({ timeout: 30_000, until: "input" });
  bench.clock.timer(120, () => {
    bench.child.print("Age? ");
    bench.child.reader = { ...READER, sleep: "second" };
  });
  const after = await answeredAfter(bench, waiting);
  assert(after >= 120 && after <= 220, `${after}`);
  assertEquals([(await waiting).wokenBy, (await waiting).output], ["input", "Age? "]);
});

test("P30 a reader that what was typed does not wake is said to wait all the same: half a line is kept by the terminal", async () => {
  const bench = await session({}, { inspects: true }, true);
  bench.child.reader = { ...READER, sleep: "first" };
  await bench.clock.advance(100);
  await bench.poll();
  await act(bench.agent, { action: "write", sessionId: bench.id, data: "half a line" });
  const waiting = bench.poll({ timeout: 30_000, until: "input" });
  const after = await answeredAfter(bench, waiting);
  assert(after >= 200 && after <= 500, `${after}`);
  assertEquals((await waiting).wokenBy, "input");
});

test("R8 a program that runs between two looks is looked at again, but not for ever", async () => {
  const bench = await session({}, { inspects: true });
  let looks = 0;
  Object.defineProperty(bench.child, "reader", { get: () => ({ ...READER, sleep: `${++looks}` }) });
  await bench.clock.advance(100);
  const waiting = bench.poll({ timeout: 30_000, until: "input" });
  assertEquals(await answeredAfter(bench, waiting), 0);
  assertEquals((await waiting).wokenBy, "input");
  assert(looks > 4 && looks < 20, `${looks}`);
});

test("P12 until port is woken when something listens there", async () => {
  const bench = await session();
  const waiting = bench.poll({ timeout: 30_000, until: "port:8080" });
  bench.clock.timer(1_234, () => bench.machine.ports.add(8080));
  const after = await answeredAfter(bench, waiting);
  assert(after >= 1_234 && after <= 1_400, `${after}`);
  assertEquals((await waiting).wokenBy, "port");
});

test("P12 every condition gives way to the time and to the end", async () => {
  for (const until of ["exit", "input", "idle:5000", "port:8080", "ready"]) {
    const bench = await session();
    const timed = bench.poll({ timeout: 300, until });
    assertEquals(await answeredAfter(bench, timed), 300, until);
    assertEquals((await timed).wokenBy, "timeout");
    const fresh = await session();
    const ending = fresh.poll({ timeout: 30_000, until });
    fresh.clock.timer(300, () => fresh.child.end(0));
    assertEquals(await answeredAfter(fresh, ending), 300, until);
    assertEquals((await ending).wokenBy, "exit");
  }
});

test("P13 R4 [23] of more than pendingMaxOutputChars a stream the newest is kept and the rest accounted for", async () => {
  const { poll, child, agent, id } = await session({ pendingMaxOutputChars: 1_000 });
  child.print("first\n");
  child.print(`${"x".repeat(99)}\n`.repeat(30));
  child.print("only little\n", "stderr");
  const { output, from, to, dropped, droppedByStream, truncated, logOffset, text } = await poll();
  assertEquals([from, to, truncated, logOffset], [0, 3_018, true, 0]);
  assertEquals(droppedByStream, { stdout: dropped, stderr: 0, terminal: 0 });
  assertEquals(new TextEncoder().encode(output).length + dropped, to - from);
  assertEquals(output.length - "only little\n".length, 1_000);
  assertMatch(text, /^\[2006 older bytes are left out here \(stdout 2006\); it begins at process log offset 0\]/);
  assertEquals((await act(agent, { action: "log", sessionId: id, offset: 0, limit: 1 })).lines[0]?.text, "first");
});

test("P14 [35] the advice when to poll again grows with empty polls and is reset by output", async () => {
  const { poll, child } = await session();
  const advice: (number | null)[] = [];
  for (let count = 0; count < 5; count++) advice.push((await poll()).retryInMs);
  assertEquals(advice, [5_000, 10_000, 30_000, 60_000, 60_000]);
  await poll({ since: 0 });
  child.print("x");
  assertEquals((await poll()).retryInMs, null);
  assertEquals((await poll()).retryInMs, 5_000);
});

test("P14 [14] a silent session on pipes gets the buffering hint once, one on a terminal never", async () => {
  const { poll } = await session();
  assertStringIncludes((await poll()).text, "python -u");
  assertEquals((await poll()).text.includes("python -u"), false);
  assertEquals((await (await session({}, {}, true)).poll()).text.includes("python -u"), false);
});

test("P15 [21] an abort ends the wait, consumes nothing, ends nothing and leaves nobody listening", async () => {
  for (const until of [undefined, "exit", "ready", "idle:20000", "input", "port:1"]) {
    const { agent, id, child, clock, poll } = await session();
    const { signal, abort, listeners } = countingSignal();
    const timers = clock.pending;
    const call = { action: "poll", sessionId: id, timeout: 30_000, ...(until !== undefined && { until }) } as const;
    const waiting = agent.process(call, { signal });
    waiting.catch(() => {});
    await clock.advance(200);
    if (until !== undefined) child.print("kept");
    abort("enough");
    const error = await assertRejects(() => waiting, AbortError);
    assertEquals([error.cause, listeners(), clock.pending, child.signals], ["enough", 0, timers, []]);
    assertEquals((await poll()).output, until === undefined ? "" : "kept");
  }
});

test("P15 an aborted call of poll waits for nothing and consumes nothing", async () => {
  const { agent, id, child, poll } = await session();
  child.print("kept");
  const call = { action: "poll", sessionId: id, timeout: 30_000 } as const;
  await assertRejects(() => agent.process(call, { signal: AbortSignal.abort() }), AbortError);
  assertEquals((await poll()).output, "kept");
});

test("P30 waiting for input: what the platform says, and the clock only where it says nothing", async () => {
  const seen = await session({ inputWaitIdleMs: 1_000 }, { inspects: true });
  await seen.clock.advance(60_000);
  assertEquals((await seen.poll()).waitingForInput, false); // silent, and nobody reads
  seen.child.reader = READER;
  assertEquals((await seen.poll()).evidence, "blocked-in-read");
  seen.child.reader = "unknown";
  assertEquals((await seen.poll()).evidence, "idle");
  const unseen = await session({ inputWaitIdleMs: 1_000 });
  await unseen.clock.advance(999);
  assertEquals((await unseen.poll()).evidence, null);
  await unseen.clock.advance(1);
  const { evidence, text } = await unseen.poll();
  assertEquals(evidence, "idle");
  assertStringIncludes(text, "maybe waiting for input");
});
