/**
 * What is left out is said, and nothing grows without bound: section E of the cases from the field, second half.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import {
  assert,
  assertArrayIncludes,
  assertEquals,
  assertGreater,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { type Agent, createOffstage, type ListEntry, type Runtime } from "../../mod.ts";
import { runtimeName, skipUnless } from "../skip.ts";
import {
  background,
  eventually,
  kill,
  log,
  open,
  openDescriptors,
  poll,
  pollToEnd,
  pollUntil,
  repeat,
  runToEnd,
} from "./agent.ts";
import { closing, test } from "../closing.ts";

const posix = skipUnless(process.platform !== "win32", "the commands are written for a POSIX shell");
const proc = posix || skipUnless(existsSync("/proc/self/fd"), "there is no /proc to look for descriptors");

/** `echo FIRST; seq 1 500000; echo LAST`. */
const WHOLE = `FIRST\n${Array.from({ length: 500_000 }, (_, index) => `${index + 1}\n`).join("")}LAST\n`;
const WHOLE_COMMAND = "echo FIRST; seq 1 500000; echo LAST";

/** A line of two million characters, and one after it. */
const HUGE_COMMAND = "head -c 2000000 /dev/zero | tr '\\0' x; echo; echo tail";

/** A command that prints 200 KB. */
const BULKY_COMMAND = "head -c 200000 /dev/zero | tr '\\0' x";

const lengthOf = (text: string): number => [...text].length;

async function listed(agent: Agent): Promise<readonly ListEntry[]> {
  const { details, text } = await agent.process({ action: "list" });
  assert("sessions" in details, text);
  return details.sessions;
}

/** Runs a command in the background to its end. */
async function endedInBackground(agent: Agent, command: string): Promise<string> {
  const { id } = await background(agent, { command, background: true });
  await pollToEnd(agent, id);
  return id;
}

/** What a log or a poll says of a session that is not kept any more. */
async function farewell(agent: Agent, sessionId: string): Promise<string> {
  const { text, isError } = await agent.process({ action: "log", sessionId });
  assert(isError, text);
  return text;
}

// [74] one huge line

test("P20 E25 one huge line does not fill an answer: it is clipped, and what follows is seen [74]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { details, text } = await runToEnd(bench.agent, { command: HUGE_COMMAND });
  assertLessOrEqual(lengthOf(details.output), 30_000);
  assertLess(text.length, 31_000);
  assertMatch(details.output, /xxx\ntail\n$/);
  assertMatch(details.output, /… \d+ characters.* left out …/);
  assertEquals(details.omittedChars, 2_000_000 - (details.output.match(/x/g)?.length ?? 0));

  const page = await log(bench.agent, details.sessionId ?? "", { limit: 10 });
  assertLessOrEqual(page.text.length, 30_000);
  assertEquals(page.lines.length, 2);
  assertLessOrEqual(lengthOf(page.lines[0]?.text ?? ""), 2_000);
  assertMatch(page.lines[0]?.text ?? "", /^x+… \[line of at least \d+ characters\]$/);
  assertEquals(page.lines[1], { number: 1, text: "tail" });
});

test("P20 a line that is held whole is clipped with its exact length [74]", { skip: posix }, async () => {
  const bench = closing(open());
  const id = await endedInBackground(bench.agent, "head -c 150000 /dev/zero | tr '\\0' x; echo; echo tail");
  const { lines, text } = await log(bench.agent, id, { limit: 10 });
  assertMatch(lines[0]?.text ?? "", /^x+… \[line of 150000 characters\]$/);
  assertEquals(lines[1]?.text, "tail");
  assertLess(text.length, 3_000);
});

test("P13 P20 a long line that still grows is polled and paged within bounds [74]", { skip: posix }, async () => {
  const bench = closing(open({ maxOutputChars: 50_000, pendingMaxOutputChars: 5_000 }));
  const command = "while :; do head -c 20000 /dev/zero | tr '\\0' x; sleep 0.05; done";
  const { id } = await background(bench.agent, { command, background: true });
  let delivered = 0;
  let dropped = 0;
  for (let last = 0; last < 400_000;) {
    const answer = await poll(bench.agent, id, { timeout: 30_000 });
    assertLessOrEqual(answer.output.length, 5_000);
    assertMatch(answer.output, /^x*$/);
    assertEquals(answer.from, last);
    assertEquals(answer.output.length + answer.dropped, answer.to - answer.from);
    delivered += answer.output.length;
    dropped += answer.dropped;
    last = answer.to;
    const page = await log(bench.agent, id, { limit: 10 });
    assertLess(page.text.length, 3_000);
    assertEquals([page.lines.length, page.totalLines], [1, 1]);
  }
  assertGreater(delivered, 0);
  assertGreater(dropped, 0);
  assertLessOrEqual((await listed(bench.agent))[0]?.tail.length ?? 0, 120);
});

// [75] head and tail

test("E25 an answer that is too long has its first and its last line, and counts what is between [75]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { details, text } = await runToEnd(bench.agent, { command: WHOLE_COMMAND });
  const [, head = "", note = "", tail = ""] = /^([^]*\n)(… .* left out …\n)([^]*)$/.exec(details.output) ?? [];
  assert(head.startsWith("FIRST\n1\n") && tail.endsWith("\n500000\nLAST\n"), note);
  assert(WHOLE.startsWith(head) && WHOLE.endsWith(tail), note);
  const omitted = WHOLE.slice(head.length, WHOLE.length - tail.length);
  assertEquals(details.omittedChars, omitted.length);
  assertEquals(details.omittedLines, omitted.split("\n").length - 1);
  assertEquals(note, `… ${details.omittedChars} characters in ${details.omittedLines} lines left out …\n`);
  assertEquals(details.truncated, true);
  assertLessOrEqual(lengthOf(details.output), 30_000);
  assertStringIncludes(text, `process { action: "log", sessionId: "${details.sessionId}" }`);
});

test("E25 S4 the log goes on where such an answer points, and says what even it has lost [75]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { details } = await runToEnd(bench.agent, { command: WHOLE_COMMAND });
  const id = details.sessionId ?? "";
  const newest = await log(bench.agent, id);
  assertEquals(newest.totalLines, 500_002);
  assertEquals(newest.lines.at(-1), { number: 500_001, text: "LAST" });
  assert(newest.truncated && newest.firstHeld > 0, newest.text.slice(0, 200));
  assertStringIncludes(newest.text, `[lines 0 to ${newest.firstHeld - 1} are not held any more]`);
  const oldest = await log(bench.agent, id, { offset: 0, limit: 2 });
  assertEquals(oldest.lines[0]?.number, oldest.firstHeld);
  assertEquals(oldest.lines[1], { number: oldest.firstHeld + 1, text: `${oldest.firstHeld + 1}` });
  let held = 0;
  for (let offset: number | null = oldest.firstHeld; offset !== null;) {
    const page = await log(bench.agent, id, { offset });
    held += page.lines.length;
    assertLessOrEqual(page.text.length, 30_000);
    offset = page.nextOffset;
  }
  assertEquals(held, newest.totalLines - newest.firstHeld);
});

test("E25 an answer that fits is whole and leaves no session behind [75]", { skip: posix }, async () => {
  const bench = closing(open());
  const { details, text } = await runToEnd(bench.agent, { command: "echo FIRST; seq 1 5000; echo LAST" });
  assertEquals([details.truncated, details.omittedChars, details.omittedLines], [false, 0, 0]);
  assertEquals(details.output.split("\n").length, 5_003);
  assertEquals(details.sessionId, undefined);
  assert(!text.includes("left out"), text.slice(-200));
  assertEquals(await listed(bench.agent), []);
});

test("E25 the error at the end of a long output is seen, wherever it was printed [75]", { skip: posix }, async () => {
  const bench = closing(open());
  const { details } = await runToEnd(bench.agent, {
    command: "echo FIRST; seq 1 300000; sleep 0.1; echo 'fatal: it broke' >&2; exit 3",
  });
  assertEquals(details.exitCode, 3);
  assert(details.output.startsWith("FIRST\n"), details.output.slice(0, 100));
  assert(details.output.endsWith("fatal: it broke\n"), details.output.slice(-100));
});

// R4 offsets and counts

test("R4 what a poll delivers and what it drops add up to the bytes between its offsets [75]", {
  skip: posix,
}, async () => {
  const bench = closing(open({ maxOutputChars: 4_000, pendingMaxOutputChars: 1_000 }));
  const command = "for i in $(seq 1 12); do seq -f 'o€%08g' 1 150; seq -f 'e😀%08g' 1 300 >&2; sleep 0.1; done";
  const { id } = await background(bench.agent, { command, background: true });
  const totals = { stdout: 0, stderr: 0, terminal: 0 };
  let delivered = 0;
  let at = 0;
  for (;;) {
    const answer = await poll(bench.agent, id, { timeout: 30_000 });
    const bytes = new TextEncoder().encode(answer.output).length;
    const { stdout, stderr, terminal } = answer.droppedByStream;
    assertEquals(answer.from, at);
    assertEquals(stdout + stderr + terminal, answer.dropped);
    assertEquals(bytes + answer.dropped, answer.to - answer.from);
    assertEquals(answer.truncated, answer.dropped > 0);
    assertLessOrEqual(lengthOf(answer.output), 2_000); // 1000 of each stream
    totals.stdout += stdout;
    totals.stderr += stderr;
    delivered += bytes;
    at = answer.to;
    if (answer.status !== "running") break;
  }
  assertEquals(at, 12 * (150 * 13 + 300 * 14));
  assertEquals(delivered + totals.stdout + totals.stderr, at);
  assert(totals.stdout > 0 && totals.stderr > totals.stdout, JSON.stringify(totals));
});

test("R4 since reads again from any offset, by bytes, and moves nobody's place", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "printf 'a€b😀c'; sleep 0.3; printf 'end\\n'; sleep 9" });
  await pollUntil(bench.agent, id, "end\n");
  const whole = "a€b😀cend\n";
  const bytes = new TextEncoder().encode(whole);
  for (let since = 0; since <= bytes.length + 3; since++) {
    const answer = await poll(bench.agent, id, { since });
    const begin = Math.min(since, bytes.length);
    assertEquals(answer.to, bytes.length);
    assertLessOrEqual(begin - answer.from, 3); // within a character it is the character's start
    assertEquals(new TextEncoder().encode(answer.output).length, answer.to - answer.from);
    assert(whole.endsWith(answer.output), answer.output);
    assertEquals(answer.dropped, 0);
  }
  const next = await poll(bench.agent, id);
  assertEquals([next.output, next.from, next.to], ["", bytes.length, bytes.length]);
});

test("R4 since an offset that is not held any more says how many bytes are missing", { skip: posix }, async () => {
  const bench = closing(open({ maxOutputChars: 1_000, pendingMaxOutputChars: 100_000 }));
  const id = await endedInBackground(bench.agent, "seq -w 1 5000");
  const answer = await poll(bench.agent, id, { since: 0 });
  assertEquals([answer.from, answer.to], [0, 25_000]);
  assertEquals(answer.output.length + answer.dropped, 25_000);
  assertEquals(answer.droppedByStream, { stdout: answer.dropped, stderr: 0, terminal: 0 });
  assertLessOrEqual(answer.output.length, 1_000);
  assertMatch(answer.text, new RegExp(`${answer.dropped} older bytes are left out`));
});

test("R4 caps are characters: wide ones are not cut to a third [75]", { skip: posix }, async () => {
  const bench = closing(open({ maxOutputChars: 3_000, pendingMaxOutputChars: 2_000, maxResultChars: 10_000 }));
  const text = "€".repeat(2_000);
  const fits = await runToEnd(bench.agent, { command: `printf %s '${text}'` });
  assertEquals([fits.details.truncated, fits.details.output === text], [false, true]);
  const { id } = await background(bench.agent, { command: `printf %s '${text}'`, background: true });
  const { output, dropped } = await poll(bench.agent, id, { timeout: 30_000, until: "exit" });
  assertEquals([output === text, dropped], [true, 0]);
});

// [76] finished sessions

test("S7 finished sessions are kept up to a count, the oldest go first, and say why they went [76]", {
  skip: posix,
}, async () => {
  const bench = closing(open({ maxFinished: 3 }));
  const { id: running } = await background(bench.agent, { command: "sleep 60", background: true });
  const ids: string[] = [];
  for (let round = 0; round < 6; round++) ids.push(await endedInBackground(bench.agent, `echo ${round}`));
  await eventually(async () => (await listed(bench.agent)).length <= 4, "the surplus goes");
  const left = (await listed(bench.agent)).map(({ sessionId }) => sessionId);
  assertEquals(left, [...ids.slice(-3).reverse(), running]);
  for (const id of ids.slice(0, 3)) {
    const text = await farewell(bench.agent, id);
    for (const wanted of [id, "newer ones took its place", "exit code 0"]) assertStringIncludes(text, wanted);
  }
  assertEquals((await log(bench.agent, ids[3] ?? "")).lines.map(({ text }) => text), ["3"]);
});

test("S7 a scope's count does not touch another scope's sessions [76]", { skip: posix }, async () => {
  const bench = closing(open({ maxFinished: 2 }));
  const other = bench.offstage.agent("other");
  const kept = [await endedInBackground(other, "echo a"), await endedInBackground(other, "echo b")];
  for (let round = 0; round < 5; round++) await endedInBackground(bench.agent, `echo ${round}`);
  assertArrayIncludes((await listed(other)).map(({ sessionId }) => sessionId), kept);
  await eventually(async () => (await listed(bench.agent)).length === 2, "the surplus goes");
});

test("S7 finished sessions of all scopes together are kept up to a number of characters [76]", {
  skip: posix,
}, async () => {
  const bench = closing(open({ maxFinishedChars: 1_000_000, maxFinished: 1_000 }));
  const agents = ["tester", "second", "third"].map((scope) => bench.offstage.agent(scope));
  const { id: running } = await background(bench.agent, {
    command: `${BULKY_COMMAND}; echo alive; sleep 60`,
    background: true,
  });
  // One at a time in each scope: what has just ended is the newest there, and is not evicted before it is polled
  await Promise.all(agents.map((agent) =>
    repeat(20, async () => {
      await endedInBackground(agent, BULKY_COMMAND);
    }, 1)
  ));
  const finished = async (): Promise<number> => {
    const lists = await Promise.all(agents.map((agent) => listed(agent)));
    return lists.flat().filter(({ status }) => status !== "running").length;
  };
  await eventually(async () => await finished() <= 5, "no more than a million characters are left");
  assertEquals(await finished(), 5);
  assertEquals((await poll(bench.agent, running, { timeout: 30_000, until: "alive" })).status, "running");
});

test("S7 the newest finished session stays, however big it is [76]", { skip: posix }, async () => {
  const bench = closing(open({ maxFinishedChars: 1_000, maxFinished: 1 }));
  const first = await endedInBackground(bench.agent, BULKY_COMMAND);
  assertEquals((await listed(bench.agent)).length, 1);
  const second = await endedInBackground(bench.agent, BULKY_COMMAND);
  await eventually(async () => (await listed(bench.agent)).length === 1, "the older one goes");
  assertEquals((await listed(bench.agent))[0]?.sessionId, second);
  assertStringIncludes(await farewell(bench.agent, first), "newer ones took its place");
  assertStringIncludes((await log(bench.agent, second)).text, "xxx");
});

test("S7 R6 a session whose tree lives on is not evicted, and can still be killed [76]", { skip: proc }, async () => {
  const bench = closing(open({ maxFinished: 1 }));
  const { details } = await runToEnd(bench.agent, { command: "sleep 60 >/dev/null 2>&1 & echo left" });
  const id = details.sessionId ?? "";
  for (let round = 0; round < 4; round++) await endedInBackground(bench.agent, `echo ${round}`);
  assertEquals((await kill(bench.agent, id)).confirmed, true);
});

// [77], [78] disk

test("S3 nothing is written to disk, however much is printed [77] [78]", { skip: proc }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "offstage-bounds-"));
  const before = process.env.TMPDIR;
  process.env.TMPDIR = folder;
  try {
    const bench = closing(open());
    const files = (): readonly string[] => openDescriptors().filter((path) => /^\/(?!dev|proc)/.test(path)).toSorted();
    const opened = files();
    const { id } = await background(bench.agent, { command: "yes", background: true });
    await pollUntil(bench.agent, id, "y");
    for (let round = 0; round < 5; round++) {
      const { to } = await poll(bench.agent, id, { timeout: 30_000 });
      assertGreater(to, 0);
      assertEquals(files(), opened);
    }
    assertEquals(await readdir(folder), []);
    await kill(bench.agent, id);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(folder, { recursive: true });
  }
});

test("E36 S4 a command that prints without end costs a bounded memory [77]", { skip: proc }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "yes 'a line of some length, again and again'" });
  const printed = async (): Promise<number> => (await poll(bench.agent, id)).to;
  await eventually(async () => await printed() > 50_000_000, "the first 50 MB");
  const before = process.memoryUsage().rss;
  await eventually(async () => await printed() > 400_000_000, "the next 350 MB", 60_000);
  assertLess(process.memoryUsage().rss - before, 200_000_000);
  await kill(bench.agent, id);
});

// [82] time to live

/** The runtime the test runs on, on which waits of a minute and more take a hundredth of their time. */
async function hastyRuntime(): Promise<Runtime> {
  const runtime = await ownRuntime();
  const { clock } = runtime;
  return {
    ...runtime,
    clock: { ...clock, timer: (ms, fire, holding) => clock.timer(ms < 60_000 ? ms : ms / 100, fire, holding) },
  };
}

async function ownRuntime(): Promise<Runtime> {
  if (runtimeName === "bun") return (await import("../../adapters/bun/runtime.ts")).bunRuntime();
  if (runtimeName === "deno") return (await import("../../adapters/deno/runtime.ts")).denoRuntime();
  return (await import("../../adapters/node/runtime.ts")).nodeRuntime();
}

test("S7 a finished session goes when its time is up, a running one does not [82]", { skip: posix }, async () => {
  const runtime = await hastyRuntime();
  const offstage = closing(createOffstage({ runtime, tools: { exec: { cleanupMs: 60_000, timeoutSeconds: 0 } } }));
  const agent = offstage.agent("tester");
  const { id: running } = await background(agent, { command: "sleep 60", background: true });
  const finished = await endedInBackground(agent, "echo done; exit 3");
  assertEquals((await log(agent, finished)).lines.length, 1);
  await eventually(async () => (await listed(agent)).length === 1, "the finished session expires");
  assertEquals((await poll(agent, running)).status, "running");
  const text = await farewell(agent, finished);
  for (const wanted of ["its time to live passed", "exit code 3"]) assertStringIncludes(text, wanted);
  await kill(agent, running);
  await eventually(async () => (await listed(agent)).length === 0, "the other one expires after its end");
});

test("S7 a session whose tree outlives it is kept past its time, until the tree has ended [82]", {
  skip: proc,
}, async () => {
  const runtime = await hastyRuntime();
  const offstage = closing(createOffstage({ runtime, tools: { exec: { cleanupMs: 60_000 } } }));
  const agent = offstage.agent("tester");
  const { details } = await runToEnd(agent, { command: "sleep 60 >/dev/null 2>&1 & echo left" });
  const bystander = await endedInBackground(agent, "echo gone");
  await eventually(async () => (await listed(agent)).length === 1, "the bystander expires");
  await farewell(agent, bystander);
  const id = details.sessionId ?? "";
  assertEquals((await log(agent, id)).lines.map(({ text }) => text), ["left"]);
  assertEquals((await kill(agent, id)).confirmed, true);
  await eventually(async () => (await listed(agent)).length === 0, "it expires once its tree has ended");
});

test("S7 a program that has run its commands ends by itself, whatever is still kept [82]", {
  skip: posix,
}, async () => {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const fixture = fileURLToPath(new URL(`../fixtures/one_exec.${extension}`, import.meta.url));
  const args = runtimeName === "deno" ? ["run", "-A", "--no-check", fixture] : [fixture];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  assertEquals(stdout, "hello\n");
});
