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
