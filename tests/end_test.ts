/**
 * The end of a session: when it has come, and what it means (spec E26, E27, E35).
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import type { EndReason, EndStatus, SignalName } from "../mod.ts";
import { act, answeredAfter, background, ended, open, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

test("E35 a session ends at once when the shell has exited and its output is at its end, in either order", async () => {
  for (const order of ["exit first", "output first"]) {
    const bench = open();
    const { answer, child } = await start(bench);
    child.print("done\n");
    if (order === "exit first") child.exit(0);
    child.closeOutput();
    child.exit(0);
    assertEquals(await answeredAfter(bench, answer), 0, order);
    assertEquals((await ended(answer)).details.output, "done\n");
  }
});

test("E35 an end of output alone is no end", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 100 });
  child.closeOutput();
  await bench.clock.advance(100);
  assertEquals((await answer).details.status, "running");
});

test("E35 [2] when somebody holds the pipes the end comes after 500 ms of silence", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  await bench.clock.advance(5_000);
  child.exit(3);
  assertEquals(await answeredAfter(bench, answer), 500);
  const { details } = await ended(answer);
  assertEquals([details.exitCode, details.durationMs], [3, 5_000]);
});

test("E35 [3] each byte restarts the silence, for 2 s at most", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  child.exit(0);
  for (let tick = 1; tick <= 50; tick++) bench.clock.timer(tick * 100, () => child.print(`${tick} `));
  assertEquals(await answeredAfter(bench, answer), 2_000);
  assertMatch((await ended(answer)).details.output, /^1 2 3 .* 19 (20 )?$/);
});

test("E35 [3] the end comes 2 s after the exit, also when the silence was younger than its 500 ms", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  child.exit(0);
  for (let tick = 1; tick <= 20; tick++) bench.clock.timer(tick * 350, () => child.print(`${tick} `));
  assertEquals(await answeredAfter(bench, answer), 2_000);
});

test("E5 [51] a timeout that strikes while a left-behind child prints leaves the exit as it is and is told", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { timeout: 1, yieldMs: 60_000 });
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  const printOrBeGone = (): void => child.started.length > 0 ? child.print("tick\n") : child.closeOutput();
  child.exit(0);
  for (let tick = 1; tick <= 50; tick++) bench.clock.timer(tick * 90, printOrBeGone);
  assertEquals(await answeredAfter(bench, answer), 1_080);
  const { details, text } = await ended(answer);
  assertEquals([details.status, details.exitCode, details.reason], ["completed", 0, "exit"]);
  assertEquals(details.warnings, ["the processes that the shell had left behind were ended: timed out after 1 s"]);
  assertStringIncludes(text, "timed out after 1 s");
});

test("E35 [3] one late piece of output is in the answer, and the end comes 500 ms after it", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  child.print("A");
  child.exit(0);
  bench.clock.timer(300, () => child.print("B"));
  assertEquals(await answeredAfter(bench, answer), 800);
  assertEquals((await ended(answer)).details.output, "AB");
});

test("E35 on a host too busy to look, what was there all along is read before the silence counts", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  child.exit(0);
  await settle();
  bench.clock.stall(5_000);
  bench.clock.timer(0, () => child.print("had been there\n")); // reading gets its turn in the same round as the timer
  await bench.clock.advance(1_000);
  assertEquals((await ended(answer)).details.output, "had been there\n");
});

test("E35 when it is silent but nobody is left to hold the pipes, their last bytes are waited for once more", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { answer, child } = await start(bench, { yieldMs: 60_000 });
  child.exit(0);
  bench.clock.timer(700, () => {
    child.print("on its way\n");
    child.closeOutput();
  });
  assertEquals(await answeredAfter(bench, answer), 700);
  assertEquals((await ended(answer)).details.output, "on its way\n");
});

test("E35 what a left-behind child prints after the end is still appended to the log", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).status, "completed");
  child.print("still here\n");
  const { output, status } = await act(bench.agent, { action: "poll", sessionId: id });
  assertEquals([output, status], ["still here\n", "completed"]);
  assertEquals((await act(bench.agent, { action: "log", sessionId: id })).lines[0]?.text, "still here");
});

test("E35 [15] a foreground session whose tree lives is kept, and the answer names who and how to end them", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { answer, child } = await start(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true }, { pid: 2002, name: "worker", inGroup: false });
  child.exit(0);
  await bench.clock.advance(1_000);
  const { details, text } = await ended(answer);
  assertEquals(details.survivors, [{ pid: 2001, name: "server" }, { pid: 2002, name: "worker" }]);
  assertEquals(details.sessionId, child.spec.sessionId);
  assertStringIncludes(text, "2 processes it started still run: server 2001, worker 2002");
  assertStringIncludes(text, `process { action: "kill", sessionId: "${details.sessionId}" }`);
});

test("R7 the process tree of a plain command is never looked at", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { answer, child } = await start(bench);
  child.print("x");
  child.end(0);
  await ended(answer);
  assertEquals(child.looks, 0);
});

test("E35 a character that was begun when the pipes were given up is shown as one U+FFFD", async () => {
  const bench = open();
  const { answer, child } = await start(bench);
  child.print(new Uint8Array([0x41, 0xf0, 0x9f]));
  child.exit(0);
  await bench.clock.advance(1_000);
  assertEquals((await ended(answer)).details.output, "A\ufffd");
});

interface Row {
  readonly exit: number | SignalName | null;
  readonly status: EndStatus;
  readonly reason: EndReason;
  readonly text: RegExp;
}

/** Ends that nobody has asked for. */
const OWN_ENDS: readonly Row[] = [
  { exit: 0, status: "completed", reason: "exit", text: /^\(no output\)$/ },
  { exit: 1, status: "completed", reason: "exit", text: /exit code 1\]/ },
  { exit: 126, status: "completed", reason: "exit", text: /126: found but not executable/ },
  { exit: 127, status: "completed", reason: "exit", text: /127: command not found/ },
  { exit: null, status: "completed", reason: "exit", text: /exit code is unknown/ },
  { exit: "SIGKILL", status: "failed", reason: "signal", text: /ended by signal SIGKILL/ },
  { exit: "SIGSEGV", status: "failed", reason: "signal", text: /ended by signal SIGSEGV/ },
];

for (const { exit, status, reason, text } of OWN_ENDS) {
  test(`E26 E27 [61] an end with ${exit} of its own is ${status}, ${reason}`, async () => {
    const bench = open();
    const { answer, child } = await start(bench);
    child.end(exit);
    const { details, text: said, isError } = await ended(answer);
    const { exitCode, signal, ok } = details;
    assertEquals([details.status, details.reason], [status, reason]);
    assertEquals([exitCode, signal, ok], [
      typeof exit === "number" ? exit : null,
      typeof exit === "string" ? exit : null,
      exit === 0,
    ]);
    assertEquals(isError, status === "failed");
    assertMatch(said, text);
  });
}

/** Ends while the session is being stopped: the cause, how the shell ends then, and what that is. */
const STOPPED: readonly (readonly ["killed" | "timeout" | "shutdown", Row["exit"], EndStatus, EndReason])[] = [
  ["killed", "SIGTERM", "killed", "killed"],
  ["killed", "SIGKILL", "killed", "killed"],
  ["killed", 4, "completed", "exit"],
  ["killed", 0, "completed", "exit"],
  ["killed", null, "killed", "killed"],
  ["timeout", "SIGTERM", "failed", "timeout"],
  ["timeout", 0, "failed", "timeout"],
  ["timeout", 143, "failed", "timeout"],
  ["shutdown", "SIGTERM", "failed", "shutdown"],
];

for (const [cause, exit, status, reason] of STOPPED) {
  test(`E27 [51] ${cause}, and the shell ends with ${exit}: ${status}, ${reason}`, async () => {
    const bench = open();
    const { answer, child } = await start(bench, { yieldMs: 100_000, ...(cause === "timeout" && { timeout: 3 }) });
    child.print("partial");
    child.onSignal = () => child.end(exit);
    if (cause === "shutdown") void bench.offstage.close();
    if (cause === "killed") void bench.agent.killAll();
    await bench.clock.advance(3_000);
    const { details } = await ended(answer);
    assertEquals([details.status, details.reason, details.output], [status, reason, "partial"]);
    assertEquals([details.exitCode, details.signal], [
      typeof exit === "number" ? exit : null,
      typeof exit === "string" ? exit : null,
    ]);
  });
}

test("E5 [11] a timeout says how long it was, by what the command ended and what it had printed", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { timeout: 1.5 });
  child.print("partial");
  await bench.clock.advance(1_500);
  const { text, isError } = await ended(answer);
  assertEquals([text.split("\n")[0], isError], ["partial", true]);
  assertStringIncludes(text, "timed out after 1.5 s, ended by SIGTERM");
});

test("E5 [50] the timeout covers the background too", async () => {
  const bench = open({ timeoutSeconds: 2 });
  const { id, child } = await background(bench);
  await bench.clock.advance(1_999);
  assertEquals(child.signals, []);
  await bench.clock.advance(1);
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).reason, "timeout");
});

test("E5 [52] a timeout past 2^31 ms does not fire early, and fires", async () => {
  const bench = open();
  const { id, child } = await background(bench, { timeout: 5_000_000 }); // about 58 days, twice what a timer takes
  for (let days = 0; days < 57; days++) {
    await bench.clock.advance(86_400_000);
    assertEquals(child.signals, []);
  }
  await bench.clock.advance(5_000_000_000 - bench.clock.monotonic());
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).reason, "timeout");
});

test("E5 a timeout that has been outlived does nothing any more", async () => {
  const bench = open();
  const { child } = await background(bench, { timeout: 10 });
  child.end(0);
  await bench.clock.advance(20_000);
  assertEquals(child.signals, []);
});

test("[31] poll, log and list tell the same end", async () => {
  for (const exit of [0, 7, "SIGKILL"] as const) {
    const bench = open();
    const { id, child } = await background(bench);
    child.end(exit);
    await settle();
    const { agent } = bench;
    const answers = [
      await act(agent, { action: "poll", sessionId: id }),
      await act(agent, { action: "log", sessionId: id }),
      (await act(agent, { action: "list" })).sessions[0],
      await act(agent, { action: "kill", sessionId: id }),
    ];
    const ends = answers.map((
      answer,
    ) => [answer?.status, answer?.exitCode, answer?.signal, answer?.reason, answer?.ok]);
    assertEquals(ends, ends.map(() => ends[0]) as typeof ends);
  }
});

test("E34 what was on its way out when the shell ended holds the end up until it is gone, no longer", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { answer, child } = await start(bench);
  child.started.push({ pid: 2001, name: "dying", inGroup: true });
  bench.clock.timer(1, () => void child.started.splice(0));
  child.end(0);
  assertEquals(await answeredAfter(bench, answer), 5);
  assertEquals((await ended(answer)).details.survivors, []);
});

test("S5 what a terminal's program left unfinished at its end is in the log", async () => {
  const bench = open();
  const { id, child } = await background(bench, { pty: true });
  child.print("text\x1b[6");
  child.end(0);
  await settle();
  assertEquals((await act(bench.agent, { action: "log", sessionId: id, raw: true })).lines, [
    { number: 0, text: "text\x1b[6" },
  ]);
});
