/**
 * The race that `exec` is: the end, the time to yield, an abort (spec E28–E33, R3).
 *
 * @module
 */
import { assert, assertEquals, assertLessOrEqual, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import {
  AbortError,
  type ExecAnswer,
  type ExecOptions,
  type ExecUpdate,
  OffstageError,
  type ProcessOptions,
  type Spawner,
} from "../mod.ts";
import {
  act,
  answeredAfter,
  background,
  countingSignal,
  ended,
  notStarted,
  open,
  refused,
  start,
} from "./fakes/bench.ts";
import { EPOCH, settle } from "./fakes/clock.ts";

test("E28 the answer of a command that runs on says all there is to know", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { command: "npm run dev", yieldMs: 500, timeout: 60, workdir: "/srv" });
  child.print("listening\n");
  await bench.clock.advance(500);
  assertEquals((await answer).details, {
    status: "running",
    sessionId: "agile-badger-2222",
    pid: child.pid,
    startedAt: EPOCH,
    cwd: "/srv",
    name: "npm run",
    host: "gateway",
    shell: "bash",
    pty: false,
    stdin: "open",
    waitingForInput: false,
    evidence: null,
    reader: null,
    tail: "listening\n",
    timeoutAt: EPOCH + 60_000,
    twins: [],
    warnings: [],
  });
});

test("E28 the tail is the last 2000 characters, in the text too", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 500 });
  child.print(`${"x".repeat(50)}\n`.repeat(100));
  await bench.clock.advance(500);
  const { details, text } = await answer;
  assert(details.status === "running");
  assertLessOrEqual(details.tail.length, 2_000);
  assertStringIncludes(text, details.tail);
});

test("E29 [33] the session is listed before exec answers, also with a terminal", async () => {
  const bench = open();
  const { id } = await background(bench, { pty: true });
  assertEquals((await act(bench.agent, { action: "list" })).sessions.map((session) => session.sessionId), [id]);
});

test("E29 a spawn failure is told by exec itself, also in the background, and leaves no session", async () => {
  for (const params of [{ background: true }, { yieldMs: 100 }, { pty: true }]) {
    const bench = open();
    bench.spawner.failure = new OffstageError("spawn-failed", "cannot start bash: too many processes");
    const { details, text } = await notStarted(bench.agent.exec({ command: "ls", ...params }));
    assertEquals([details.reason, text], ["spawn-error", "cannot start bash: too many processes"]);
    assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
    assertEquals([bench.clock.pending, bench.machine.shutdownHooks.size], [0, 0]);
  }
});

test("E30 an end at the very instant of the yield counts as ended, whichever comes first", async () => {
  for (const order of ["end first", "yield first"]) {
    const bench = open();
    const endAt = (ms: number): unknown => bench.clock.timer(ms, () => bench.spawner.last.end(3));
    if (order === "end first") endAt(1_000);
    const { answer } = await start(bench, { yieldMs: 1_000 });
    if (order === "yield first") endAt(1_000);
    await bench.clock.advance(1_000);
    const { details } = await ended(answer);
    assertEquals([details.status, details.exitCode, details.sessionId], ["completed", 3, undefined], order);
  }
});

test("E30 a shell that has exited by the yield is waited for until its output is there", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 1_000 });
  await bench.clock.advance(990);
  child.exit(0);
  await bench.clock.advance(100);
  child.print("late");
  child.closeOutput();
  assertEquals((await ended(answer)).details.output, "late");
});

test("E30 yielding never touches the child", async () => {
  const { child } = await background(open());
  assertEquals([child.signals, child.writes, child.released, child.inputEnded], [[], [], false, false]);
});

test("E31 without the process tool a command runs to its end; what was given for a yield is warned of", async () => {
  for (const params of [{ background: true }, { yieldMs: 100 }, {}]) {
    const bench = open({}, { processTool: false });
    const { answer, child } = await start(bench, params);
    await bench.clock.advance(200_000);
    child.end(0);
    const { details } = await ended(answer);
    assertEquals(details.warnings.length, "background" in params || "yieldMs" in params ? 1 : 0);
    assertEquals(child.spec.stdin, "closed");
  }
});

test("E31 E35 what a command leaves behind without the process tool is told, and ended by killAll and close", async () => {
  for (const way of ["killAll", "close"] as const) {
    const bench = open({ maxResultChars: 1_000 }, { processTool: false });
    const { answer, child } = await start(bench);
    child.print("line\n".repeat(1_000));
    child.started.push({ pid: 2001, name: "server", inGroup: true });
    child.end(0);
    await bench.clock.advance(100);
    const { text, details } = await ended(answer);
    assertStringIncludes(text, "[the shell has exited, 1 process it started still runs:");
    assertEquals([text.includes("process {"), details.sessionId], [false, undefined]); // nothing it cannot call
    const done = way === "close" ? bench.offstage.close() : bench.agent.killAll();
    await bench.clock.advance(100);
    await done;
    assertEquals([child.started, child.signals[0]], [[], "SIGTERM group"]);
  }
});

test("E32 an aborted call starts nothing", async () => {
  const bench = open();
  const reason = new Error("changed my mind");
  const call = bench.agent.exec({ command: "ls" }, { signal: AbortSignal.abort(reason) });
  const error = await assertRejects(() => call, AbortError);
  assertEquals([error.cause, bench.spawner.children], [reason, []]);
});

test("E32 an abort while the start is being authorised starts nothing", async () => {
  let allow!: (verdict: { allow: true }) => void;
  const bench = open({}, { authorize: () => new Promise((resolve) => (allow = resolve)) });
  const { signal, abort, listeners } = countingSignal();
  const call = bench.agent.exec({ command: "ls" }, { signal });
  await settle();
  abort("no");
  allow({ allow: true });
  await assertRejects(() => call, AbortError);
  assertEquals([bench.spawner.children.length, listeners()], [0, 0]);
});

test("E32 an abort in the foreground ends the tree and rejects with the reason and the output so far", async () => {
  const bench = open();
  const { signal, abort, listeners } = countingSignal();
  const { answer, child } = await start(bench, {}, { signal });
  child.print("half of it\n");
  await settle();
  assertEquals(listeners(), 1);
  abort("enough");
  const error = await assertRejects(() => answer, AbortError);
  assertEquals([error.name, error.cause, error.output], ["AbortError", "enough", "half of it\n"]);
  assertEquals(child.signals[0], "SIGTERM group");
  assertEquals([listeners(), bench.clock.pending, child.released], [0, 0, true]);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
});

test("E32 E34 what an abort cannot end is named, and kept so that it can still be killed", async () => {
  const bench = open({}, { host: { inspects: true } });
  const controller = new AbortController();
  const { answer, child } = await start(bench, { yieldMs: 60_000 }, { signal: controller.signal });
  child.started.push({ pid: 2001, name: "server", inGroup: true, ignores: ["SIGTERM", "SIGKILL"] });
  const rejected = assertRejects(() => answer, AbortError);
  controller.abort();
  await bench.clock.advance(20_000);
  const { message } = await rejected;
  assertStringIncludes(message, "server 2001");
  const { sessions } = await act(bench.agent, { action: "list" });
  assertEquals(sessions.map(({ sessionId }) => message.includes(sessionId)), [true]);
});

test("E32 an abort while the spawn is under way ends what was started", async () => {
  const bench = open();
  let openGate = (): void => {};
  bench.spawner.gate = new Promise((resolve) => (openGate = resolve));
  const { signal, abort } = countingSignal();
  const call = bench.agent.exec({ command: "ls" }, { signal });
  await settle();
  abort("late");
  openGate();
  await assertRejects(() => call, AbortError);
  assertEquals(bench.spawner.last.signals[0], "SIGTERM group");
});

test("E32 an abort at the very instant of the yield still finds the call waiting", async () => {
  const bench = open();
  const { signal, abort, listeners } = countingSignal();
  const { answer, child } = await start(bench, { yieldMs: 100 }, { signal });
  bench.clock.timer(100, () => abort("just in time"));
  await bench.clock.advance(100);
  const error = await assertRejects(() => answer, AbortError);
  assertEquals([error.cause, child.signals[0], listeners()], ["just in time", "SIGTERM group", 0]);
});

test("E32 R1 a signal that is none is refused before anything starts, an absent one may be null", async () => {
  const bench = open();
  const exec = (options: unknown): Promise<ExecAnswer> => bench.agent.exec({ command: "ls" }, options as ExecOptions);
  for (const signal of [{}, "abort", 5, { aborted: false }]) {
    const { problems } = (await notStarted(exec({ signal }))).details;
    assertEquals(problems.map(({ key }) => key), ["signal"]);
    const call = bench.agent.process({ action: "list" }, { signal } as unknown as ProcessOptions);
    assertEquals((await call).isError, true);
  }
  assertEquals(bench.spawner.children, []);
  for (const options of [null, { signal: null }]) {
    const answer = exec(options);
    await settle();
    bench.spawner.last.end(0);
    assertEquals((await ended(answer)).details.ok, true);
  }
});

test("E32 an abort after the yield has no effect, and nobody listens for it any more", async () => {
  const bench = open();
  const { signal, abort, listeners } = countingSignal();
  const { answer, child } = await start(bench, { yieldMs: 100 }, { signal });
  await bench.clock.advance(100);
  assertEquals([(await answer).details.status, listeners()], ["running", 0]);
  abort("too late");
  await bench.clock.advance(1_000);
  assertEquals(child.signals, []);
});

test("E32 no listener and no timer remains after an end in the foreground", async () => {
  const bench = open();
  const { signal, listeners } = countingSignal();
  const { answer, child } = await start(bench, { timeout: 60 }, { signal, onUpdate: () => {} });
  child.print("x");
  child.end(0);
  await ended(answer);
  assertEquals([listeners(), bench.clock.pending, bench.machine.shutdownHooks.size], [0, 0, 0]);
});

test("E33 updates give the tail at most ten times a second, and never after the answer", async () => {
  const bench = open();
  const updates: ExecUpdate[] = [];
  const { answer, child } = await start(bench, { yieldMs: 1_000 }, { onUpdate: (update) => updates.push(update) });
  for (let count = 0; count < 100; count++) {
    child.print(`${count}\n`);
    await bench.clock.advance(10);
  }
  await answer;
  assert(updates.length >= 9 && updates.length <= 11, `${updates.length} updates`);
  assertEquals(updates[0], { tail: "0\n", bytes: 2 });
  assert(updates.every(({ bytes }, index) => index === 0 || bytes > (updates[index - 1]?.bytes ?? 0)));
  const told = updates.length;
  child.print("more\n");
  await bench.clock.advance(10_000);
  assertEquals(updates.length, told);
});

test("E29 a spawner that gives no child is an answer, and leaves no session", async () => {
  for (const wrong of [undefined, {}, { pid: 1, exited: 0 }]) {
    const bench = open();
    Object.assign(bench.spawner, { spawn: () => Promise.resolve(wrong) });
    const { details } = await bench.agent.exec({ command: "make" });
    assert(details.status === "failed");
    assertEquals(details.reason, "spawn-error");
    assert("message" in details && details.message.includes("gave no child"));
    assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
  }
});

test("E33 what was printed before the spawn returned is told too", async () => {
  const bench = open();
  const { spawn } = bench.spawner;
  const early: Spawner["spawn"] = async (spec, sink) => {
    const child = await spawn(spec, sink);
    sink.chunk("stdout", new TextEncoder().encode("early\n"));
    return child;
  };
  Object.assign(bench.spawner, { spawn: early });
  const updates: ExecUpdate[] = [];
  const { answer, child } = await start(bench, {}, { onUpdate: (update) => updates.push(update) });
  await bench.clock.advance(200);
  assertEquals(updates, [{ tail: "early\n", bytes: 6 }]);
  child.end(0);
  await ended(answer);
});

test("E33 without new output there is no update, and one that throws does not break the command", async () => {
  const bench = open();
  let calls = 0;
  const onUpdate = (): never => {
    calls += 1;
    throw new Error("broken display");
  };
  const { answer, child } = await start(bench, {}, { onUpdate });
  child.print("x");
  await bench.clock.advance(5_000);
  child.end(0);
  assertEquals([(await ended(answer)).details.ok, calls], [true, 1]);
});

test("R3 a scope has at most maxSessions live background sessions; the refusal names them", async () => {
  const bench = open({ maxSessions: 2 });
  const [first, second] = [await background(bench), await background(bench, { command: "sleep 9" })];
  const { details, text } = await notStarted(bench.agent.exec({ command: "ls" }));
  assertEquals(details.reason, "refused");
  for (const { id } of [first, second]) assertStringIncludes(text, id);
  assertEquals((await background(bench, {}, bench.offstage.agent("another"))).details.status, "running");
  first.child.end(0);
  await settle();
  assertEquals((await background(bench)).details.status, "running");
});

test("R3 calls at the same time do not get past the limit together, and a failed start takes no place", async () => {
  const bench = open({ maxSessions: 2 });
  bench.spawner.failure = new OffstageError("spawn-failed", "cannot start bash: too many processes");
  await Promise.all([1, 2, 3].map(() => bench.agent.exec({ command: "ls", background: true })));
  bench.spawner.failure = undefined;
  const calls = [1, 2, 3, 4].map(() => bench.agent.exec({ command: "sleep 9", background: true }));
  await bench.clock.advance(0);
  const statuses = (await Promise.all(calls)).map(({ details }) => details.status);
  assertEquals(statuses, ["running", "running", "failed", "failed"]);
  bench.spawner.last.end(0);
  await settle();
  assertEquals((await background(bench)).details.status, "running");
});

test("R3 foreground commands do not count and a yield is never refused", async () => {
  const bench = open({ maxSessions: 1 });
  const one = await start(bench, { yieldMs: 100 });
  const two = await start(bench, { yieldMs: 100 });
  await bench.clock.advance(100);
  assertEquals([(await one.answer).details.status, (await two.answer).details.status], ["running", "running"]);
});

test("R3 a removed session counts until its end is confirmed", async () => {
  const bench = open({ maxSessions: 1 });
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM"];
  await act(bench.agent, { action: "remove", sessionId: id });
  assertEquals((await notStarted(bench.agent.exec({ command: "ls" }))).details.reason, "refused");
  await bench.clock.advance(6_000);
  assertEquals((await background(bench)).details.status, "running");
});

test("[59] the same command in the same directory mentions its running twin, and only that", async () => {
  const bench = open();
  const first = await background(bench, { command: "npm start" });
  assertEquals((await background(bench, { command: "npm start", workdir: "/elsewhere" })).details.twins, []);
  const twin = await background(bench, { command: "npm start" });
  assertEquals(twin.details.twins, [first.id]);
  assertStringIncludes(twin.text, first.id);
});

test("[59] a twin that has ended, or is being removed, is not mentioned", async () => {
  const bench = open();
  const first = await background(bench, { command: "npm start" });
  const second = await background(bench, { command: "npm start" });
  second.child.ignores = ["SIGTERM"];
  await act(bench.agent, { action: "remove", sessionId: second.id });
  const third = await background(bench, { command: "npm start" });
  assertEquals(third.details.twins, [first.id]);
  third.child.end(0);
  await settle();
  assertEquals((await background(bench, { command: "npm start" })).details.twins, [first.id]);
});

test("[59] of many twins the newest three are named and the others counted: the answer does not grow with them", async () => {
  const bench = open({ maxSessions: 1_000 });
  const ids: string[] = [];
  let last = await background(bench, { command: "npm start" });
  for (let count = 1; count < 100; count++) {
    ids.push(last.details.sessionId);
    last = await background(bench, { command: "npm start" });
    assertEquals(last.details.twins, ids.slice(-3));
    assertEquals(last.details.moreTwins, count > 3 ? count - 3 : undefined);
  }
  assertStringIncludes(last.text, '\n[and as 96 more sessions: process { action: "list" }]');
  assertLessOrEqual(last.text.length, 600);
});

test("a closed instance starts nothing, not even what was being prepared", async () => {
  let allow!: (verdict: { allow: true }) => void;
  const bench = open({}, { authorize: () => new Promise((resolve) => (allow = resolve)) });
  const call = bench.agent.exec({ command: "ls" });
  await settle();
  await bench.offstage.close();
  allow({ allow: true });
  assertEquals((await notStarted(call)).details.reason, "shutdown");
  assertEquals((await notStarted(bench.agent.exec({ command: "ls" }))).details.reason, "shutdown");
  assertEquals(bench.spawner.children, []);
});

test("closing while a spawn is under way ends what it starts", async () => {
  const bench = open();
  let openGate = (): void => {};
  bench.spawner.gate = new Promise((resolve) => (openGate = resolve));
  const call = bench.agent.exec({ command: "ls" });
  await settle();
  const closing = bench.offstage.close();
  openGate();
  assertEquals(await answeredAfter(bench, closing), 0);
  assertEquals(bench.spawner.last.signals[0], "SIGTERM group");
  assertEquals((await call).details.status, "failed");
});

test("an id that is not known any more after a foreground end is unknown to process", async () => {
  const bench = open();
  const { answer, child } = await start(bench);
  child.end(0);
  await ended(answer);
  const sessionId = child.spec.sessionId;
  assertEquals((await refused(bench.agent, { action: "poll", sessionId })).reason, "unknown-session");
});
