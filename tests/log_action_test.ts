/**
 * `log` as a tool: pages of lines, and what is said about them (spec P20, S4). How pages are cut is tested with the log.
 *
 * @module
 */
import { assert, assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import type { ExecConfig } from "../mod.ts";
import { act, background, type Bench, open, type Running } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

type Started = Bench & Running & { readonly log: (params?: LogParams) => ReturnType<typeof act<"log">> };

interface LogParams {
  readonly offset?: number;
  readonly limit?: number;
  readonly stream?: "stdout" | "stderr";
  readonly grep?: string;
  readonly raw?: boolean;
  readonly bytes?: boolean;
  readonly since?: number;
}

async function session(output: string, exec: ExecConfig = {}): Promise<Started> {
  const bench = open(exec);
  const running = await background(bench);
  running.child.print(output);
  const log: Started["log"] = (params = {}) => act(bench.agent, { action: "log", sessionId: running.id, ...params });
  return { ...bench, ...running, log };
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index}\n`).join("");
}

async function numbers(pages: Promise<{ readonly lines: readonly { readonly number: number }[] }>): Promise<number[]> {
  return (await pages).lines.map(({ number }) => number);
}

test("P20 without offset and limit come the last 200 lines, with a note on how to page", async () => {
  const { log } = await session(numbered(500));
  const { lines, totalLines, olderOffset, nextOffset, truncated, text } = await log();
  assertEquals([lines.length, lines[0], lines.at(-1)?.number], [200, { number: 300, text: "line 300" }, 499]);
  assertEquals([totalLines, olderOffset, nextOffset, truncated], [500, 100, null, true]);
  assertStringIncludes(text, "[lines 300 to 499 of 500; older ones: offset 100; running, stdin open, idle 0 s]");
});

test("P20 offset only goes to the end, limit only is the last so many, both are the window", async () => {
  const { log } = await session(numbered(10));
  assertEquals(await numbers(log({ offset: 7 })), [7, 8, 9]);
  assertEquals(await numbers(log({ limit: 2 })), [8, 9]);
  assertEquals(await numbers(log({ offset: 3, limit: 2 })), [3, 4]);
  assertEquals((await log({ offset: 3, limit: 2 })).nextOffset, 5);
  assertEquals(await numbers(log({ offset: -3, limit: 2 })), [7, 8]);
  assertEquals(await numbers(log({ limit: 1e9 })), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("P20 [26] a limit that leaves lines out says that there are older ones and where", async () => {
  const { log } = await session("one\ntwo\nthree\n");
  const { truncated, olderOffset, text } = await log({ limit: 2 });
  assertEquals([truncated, olderOffset], [true, 0]);
  assertStringIncludes(text, "older ones: offset 0");
});

test("P20 [24] past the end is an empty page with the total, never an error and never a line twice", async () => {
  const { log } = await session("a\nb\nc\n");
  for (const params of [{ offset: 3 }, { offset: 99 }, { offset: 3, limit: 1 }, { offset: 0, limit: 0 }]) {
    const { lines, totalLines, text } = await log(params);
    assertEquals([lines, totalLines], [[], 3]);
    assertStringIncludes(text, "(no lines)\n[no lines of 3");
  }
});

test("P20 stream shows one stream by itself, grep only lines that match with their own numbers", async () => {
  const { log, child } = await session("out 0\nout 1\n");
  child.print("err 0\n", "stderr");
  assertEquals((await log({ stream: "stderr" })).lines, [{ number: 0, text: "err 0" }]);
  const { lines, matches, text } = await log({ grep: "^out 1$|(?:err)" });
  assertEquals([lines.map(({ number }) => number), matches], [[1, 2], 2]);
  assertStringIncludes(text, "2 match");
  assertEquals(await numbers(log({ grep: "(?i)OUT", limit: 1 })), [1]);
  assertEquals((await log({ grep: "nowhere" })).matches, 0);
});

test("P20 [74] a line over 2000 characters is clipped with its length", async () => {
  const { log } = await session(`${"x".repeat(5_000)}\ntail\n`);
  const [first, second] = (await log()).lines;
  assertLessOrEqual(first?.text.length ?? Infinity, 2_000);
  assertStringIncludes(first?.text ?? "", "[line of 5000 characters]");
  assertEquals(second?.text, "tail");
});

test("P20 the answer is bounded by maxResultChars and says where to go on", async () => {
  const { log } = await session(numbered(1_000), { maxResultChars: 1_000 });
  const { lines, nextOffset, text } = await log({ offset: 0 });
  assertEquals(nextOffset, lines.length);
  assertStringIncludes(text, `more: offset ${nextOffset}`);
  const shown = lines.reduce((sum, line) => sum + line.text.length + 1, 0);
  assert(text.length <= 1_000 && shown > 500, `${text.length}, lines ${shown}`);
});

test("P20 [25] walking by nextOffset gives every line once", async () => {
  const { log } = await session(numbered(1_000), { maxResultChars: 1_000 });
  const seen: number[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page: Awaited<ReturnType<typeof log>> = await log({ offset, limit: 70 });
    seen.push(...page.lines.map(({ number }) => number));
    offset = page.nextOffset;
  }
  assertEquals(seen, Array.from({ length: 1_000 }, (_, index) => index));
});

test("S4 lines that are not held any more are said to be so, the others keep their numbers", async () => {
  const { log } = await session(numbered(10_000), { maxOutputChars: 1_000 });
  const { lines, firstHeld, truncated, totalLines, text } = await log();
  assertEquals([truncated, totalLines, lines.at(-1)], [true, 10_000, { number: 9_999, text: "line 9999" }]);
  assert(firstHeld > 9_800);
  assertStringIncludes(text, `[lines 0 to ${firstHeld - 1} are not held any more]`);
  assertEquals((await log({ offset: 0, limit: 1 })).lines[0]?.number, firstHeld);
});

test("P20 log consumes nothing: a poll after it still gets everything", async () => {
  const { log, agent, id } = await session("precious\n");
  await log();
  await log({ grep: "x", limit: 1 });
  assertEquals((await act(agent, { action: "poll", sessionId: id })).output, "precious\n");
});

test("P20 it shows the state of stdin, the idle time and the input hint too", async () => {
  const { log, clock, child } = await session("Continue? ", { inputWaitIdleMs: 1_000 });
  await clock.advance(2_500);
  const { stdin, idleMs, waitingForInput, evidence, text } = await log();
  assertEquals([stdin, idleMs, waitingForInput, evidence], ["open", 2_500, true, "idle"]);
  assertStringIncludes(text, "stdin open, idle 2.5 s");
  assertStringIncludes(text, "maybe waiting for input");
  child.end(0);
  await settle();
  const ended = await log();
  assertEquals([ended.stdin, ended.waitingForInput, ended.status], ["closed", false, "completed"]);
});

test("P20 raw gives the lines as they came, by the same numbers", async () => {
  const { log } = await session("one\r\n10 %\r\x1b[32m20 %\x1b[0m\n");
  assertEquals((await log()).lines, [{ number: 0, text: "one" }, { number: 1, text: "20 %" }]);
  const { lines, text } = await log({ raw: true });
  assertEquals(lines, [{ number: 0, text: "one\r" }, { number: 1, text: "10 %\r\x1b[32m20 %\x1b[0m" }]);
  assertStringIncludes(text, "\x1b[32m");
  assertEquals((await log({ raw: true, grep: "32m" })).lines.map(({ number }) => number), [1]);
});

test("P20 raw does not clip a line that fits on the page", async () => {
  const { log } = await session(`${"x".repeat(5_000)}\n`);
  assertEquals((await log({ raw: true })).lines[0]?.text.length, 5_000);
  assertStringIncludes((await log()).lines[0]?.text ?? "", "[line of 5000 characters]");
});

test("S5 bytes come whole, in pages that say where to go on", async () => {
  const output = `${"€\x1b[1m".repeat(1_000)}end`;
  const { log } = await session(output, { maxResultChars: 1_000 });
  const { bytes, lines, nextOffset, text } = await log({ bytes: true });
  assertEquals([lines, nextOffset, bytes?.from, bytes?.total], [[], null, 0, 7_003]);
  assertLessOrEqual(text.length, 1_000);
  assertStringIncludes(text, `more: since ${bytes?.to}`);
  const pieces: string[] = [];
  for (let since = 0; since < 7_003;) {
    const page = (await log({ bytes: true, since })).bytes;
    pieces.push(atob(page?.base64 ?? ""));
    since = page?.to ?? Infinity;
  }
  const whole = Uint8Array.from(pieces.join(""), (char) => char.charCodeAt(0));
  assertEquals(new TextDecoder().decode(whole), output);
});

test("bytes have no lines, and lines no since: the call is refused and says what to use", async () => {
  const { agent, id } = await session("x\n");
  for (const params of [{ bytes: true, offset: 1 }, { bytes: true, raw: true }, { since: 3 }]) {
    assert((await agent.process({ action: "log", sessionId: id, ...params })).isError);
  }
});

test("repeated lines are told once with their range, if that is wanted; details have them all", async () => {
  const output = `begin\n${"tick\n".repeat(5)}end\n`;
  const { log, agent, id } = await session(output, { foldRepeats: true });
  const page = await log();
  assertStringIncludes(page.text, "begin\ntick × 5 [lines 1 to 5]\nend\n");
  assertEquals(page.lines.length, 7);
  assertEquals((await act(agent, { action: "poll", sessionId: id })).output, "begin\ntick × 5\nend\n");
  const plain = await session(output);
  assertStringIncludes((await plain.log()).text, "tick\n".repeat(5));
});

test("P20 S6 redraws are folded in a log too, by numbers that stay", async () => {
  const { log, child } = await session("begin\na 1\nb 1\n");
  child.print("\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2\n");
  const { lines, totalLines } = await log();
  assertEquals(lines, [{ number: 0, text: "begin" }, { number: 1, text: "a 2" }, { number: 2, text: "b 2" }]);
  assertEquals(totalLines, 5);
  child.print("end\n");
  assertEquals((await log({ offset: 3 })).lines, [{ number: 3, text: "end" }]);
});

test("P21 while a full-screen program is up, log and poll point to its screen; its drawings are not in them", async () => {
  const bench = open();
  const { id, child } = await background(bench, { pty: true });
  child.print("$ vim\r\n\x1b[?1049h\x1b[Hsecret drawing");
  for (const action of ["log", "poll"] as const) {
    const { text } = await act(bench.agent, { action, sessionId: id });
    assertStringIncludes(text, "[full-screen program: what it drew is left out here]");
    assertStringIncludes(text, `[a full-screen program is up: process { action: "screen", sessionId: "${id}" }`);
    assert(!text.includes("drawing"), text);
  }
  child.print("\x1b[2;1Hmore drawing\x1b[?1049l$ ");
  const { output, text } = await act(bench.agent, { action: "poll", sessionId: id });
  assertEquals(output, "$ ");
  assert(!text.includes("full-screen"), text);
});

test("P21 where the beginning of a full-screen program is not held any more, its drawings are left out all the same", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await background(bench, { pty: true });
  child.print("\x1b[?1049h");
  for (let frame = 0; frame < 5_000; frame++) child.print(`\x1b[Hdrawing ${frame}\r\n`);
  assert(!(await act(bench.agent, { action: "log", sessionId: id })).text.includes("drawing"));
  assertEquals((await act(bench.agent, { action: "list" })).sessions[0]?.tail.includes("drawing"), false);
});

test("S5 a log says that its output is binary", async () => {
  const { log } = await session("\0\x01\x02\x03".repeat(50));
  assertStringIncludes((await log()).text, "[the output is mostly binary]");
});
