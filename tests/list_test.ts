/**
 * `list`: the sessions of the scope at a glance (spec P1, S3).
 *
 * @module
 */
import { assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { act, background, ended, open, start } from "./fakes/bench.ts";
import { EPOCH, settle } from "./fakes/clock.ts";

test("P1 an empty list says so", async () => {
  const { sessions, text } = await act(open().agent, { action: "list" });
  assertEquals([sessions, text], [[], "No sessions."]);
});

test("P1 every session with what is known about it", async () => {
  const bench = open({ inputWaitIdleMs: 1_000 });
  const { id, child } = await background(bench, { command: "npm run dev --port 80", pty: true, workdir: "/srv" });
  child.print("first line\nlast \x1b[1mline\x1b[0m\n");
  await bench.clock.advance(3_000);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, [{
    sessionId: id,
    scope: "tester",
    status: "running",
    ok: null,
    exitCode: null,
    signal: null,
    reason: null,
    limit: null,
    name: "npm run",
    runtimeMs: 3_000,
    startedAt: EPOCH,
    pid: child.pid,
    cwd: "/srv",
    host: "gateway",
    pty: true,
    stdin: "open",
    waitingForInput: true,
    evidence: "idle",
    idleMs: 3_000,
    truncated: false,
    survivors: [],
    tail: "last line",
  }]);
});

test("P1 a session whose shell has ended says how many of its processes live on, for as long as they do", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 2001, name: "server", inGroup: true }, { pid: 2002, name: "worker", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  const { sessions: [both], text } = await act(bench.agent, { action: "list" });
  assertEquals([both?.sessionId, both?.survivors.map(({ pid }) => pid)], [id, [2001, 2002]]);
  assertStringIncludes(text, " | 2 processes it started still run: server 2001, worker 2002");
  child.started.length = 0;
  const later = await act(bench.agent, { action: "list" });
  assertEquals(later.sessions[0]?.survivors, []);
  assertEquals(later.text.includes("still run"), false);
});

test("P1 the newest start comes first, also among starts of the same moment, and stays so after ends", async () => {
  const bench = open();
  const ids: string[] = [];
  for (let count = 0; count < 4; count++) ids.unshift((await background(bench)).id);
  const listed = async () => (await act(bench.agent, { action: "list" })).sessions.map(({ sessionId }) => sessionId);
  assertEquals(await listed(), ids);
  bench.spawner.children[1]?.end(0);
  bench.spawner.children[3]?.end(0);
  await settle();
  assertEquals(await listed(), ids);
});

test("P1 an ended session shows its exit, and how long it ran, not how long ago that was", async () => {
  const bench = open();
  const { child } = await background(bench);
  await bench.clock.advance(1_500);
  child.end(3);
  await bench.clock.advance(60_000);
  const { sessions, text } = await act(bench.agent, { action: "list" });
  const [{ status, exitCode, runtimeMs, stdin, waitingForInput } = { status: "none" }] = sessions;
  assertEquals([status, exitCode, runtimeMs, stdin, waitingForInput], ["completed", 3, 1_500, "closed", false]);
  assertStringIncludes(text, "completed: exit code 3, 1.5 s");
});

test("P1 output that is not held any more is said, the tail is one short line", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { child } = await background(bench);
  child.print(`${"x".repeat(20_000)}\n\n`);
  const [entry] = (await act(bench.agent, { action: "list" })).sessions;
  assertEquals(entry?.truncated, true);
  assertLessOrEqual(entry?.tail.length ?? Infinity, 120);
});

test("S3 a foreground command is neither listed while it runs nor kept after it", async () => {
  const bench = open();
  const { answer, child } = await start(bench);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
  child.end(0);
  await ended(answer);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
});

test("E25 a foreground command whose output did not fit is kept, listed and can be read", async () => {
  const bench = open({ maxResultChars: 1_000 });
  const { answer, child } = await start(bench);
  child.print(`FIRST\n${"x".repeat(99)}\n`.repeat(50));
  child.end(0);
  const { details, text } = await ended(answer);
  assertEquals([details.truncated, details.sessionId], [true, child.spec.sessionId]);
  assertStringIncludes(text, `process { action: "log", sessionId: "${details.sessionId}" }`);
  const sessionId = details.sessionId ?? "";
  assertEquals((await act(bench.agent, { action: "list" })).sessions.map((each) => each.sessionId), [sessionId]);
  assertEquals((await act(bench.agent, { action: "log", sessionId, offset: 0, limit: 1 })).lines[0]?.text, "FIRST");
});

test("R11 [125] no secret of the command is in its name or the list", async () => {
  const bench = open();
  await background(bench, {
    command: "curl -H 'Authorization: Bearer abc123' --token=s3cr3t https://u:pw@example.org",
  });
  const { text, sessions } = await act(bench.agent, { action: "list" });
  const shown = text + JSON.stringify(sessions);
  for (const secret of ["abc123", "s3cr3t", "pw@"]) assertEquals(shown.includes(secret), false, secret);
  assertStringIncludes(text, "curl");
});

test("P1 a list of one session looks at no other, and is empty for one that the scope does not have", async () => {
  const bench = open({}, { host: { inspects: true } });
  const [first, second] = [await background(bench, { pty: true }), await background(bench, { pty: true })];
  await bench.clock.advance(1_000);
  const only = async (id: string): Promise<readonly string[]> =>
    (await act(bench.agent, { action: "list" }, { only: id })).sessions.map(({ sessionId }) => sessionId);
  const before = [first.child.readerAsked, second.child.readerAsked];
  assertEquals(await only(first.id), [first.id]);
  const asked = [first.child.readerAsked, second.child.readerAsked].map((times, index) => times - (before[index] ?? 0));
  assertEquals(asked, [1, 0]);
  assertEquals(await only("never-was-here"), []);
});
