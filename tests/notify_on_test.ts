/**
 * Match events: lines of a background session's output that match `notifyOn` (case 135).
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import type { ExecConfig, ExecParams, MatchEvent, NotifyOn } from "../mod.ts";
import { createRation } from "../src/session/line_watch.ts";
import { act, background, type Bench, ended, open, type Running, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

type Watched = Bench & Running & {
  /** Match events, and `exit` for the end. */
  readonly heard: (MatchEvent | "exit")[];
  /** Prints, and lets the output be looked at. */
  readonly print: (output: string) => Promise<void>;
  /** Ends the session. */
  readonly end: () => Promise<void>;
};

async function watch(notifyOn: NotifyOn, exec: ExecConfig = {}, params: Partial<ExecParams> = {}): Promise<Watched> {
  const heard: Watched["heard"] = [];
  const bench = open(exec, { onEvent: (event) => void heard.push(event.type === "exit" ? "exit" : event) });
  const running = await background(bench, { notifyOn, ...params });
  const { child } = running;
  await bench.clock.advance(1_000); // silent at first: the first line is looked at as it comes
  return {
    ...bench,
    ...running,
    heard,
    print: async (output) => {
      child.print(output);
      await bench.clock.advance(200);
    },
    end: async () => {
      child.end(1);
      await bench.clock.advance(200);
    },
  };
}

/** Line number and text of each match, and where the exit came. */
function places(heard: Watched["heard"]): readonly string[] {
  return heard.map((event) => event === "exit" ? event : `${event.lineNumber} ${event.line}`);
}

test("[135] after lines that were drawn again a match has the number that log gives it", async () => {
  const { id, heard, print, end, agent } = await watch({ pattern: "^done" }, {}, { pty: true });
  await print("a\r\nb\r\n\x1b[2Aa 1\r\nb 1\r\n\x1b[2Aa 2\r\nb 2\r\nmid\r\ndone now\r\n");
  await end();
  assertEquals(places(heard), ["7 done now", "exit"]);
  const { lines } = await act(agent, { action: "log", sessionId: id });
  assertEquals(lines.at(-1), { number: 7, text: "done now" });
});

test("[135] a match is told with its line, the line's number as log counts, and the counts", async () => {
  const { id, heard, print, agent } = await watch({ pattern: "^listening on \\d+$" }, {}, { command: "npm run dev" });
  await print("starting\nnot listening on 1\nlisten");
  assertEquals(heard, []);
  await print("ing on \x1b[1m80\x1b[0m\r\nlistening on 81\n");
  assertEquals(heard, [{
    type: "match",
    id: `${id}.match-1`,
    sessionId: id,
    scope: "tester",
    name: "npm run",
    pattern: "^listening on \\d+$",
    line: "listening on 80",
    lineNumber: 2,
    matched: 2,
    untold: 1,
    skippedLines: 0,
  }]);
  const page = await act(agent, { action: "log", sessionId: id, offset: 2, limit: 1 });
  assertEquals(page.lines, [{ number: 2, text: "listening on 80" }]);
});

test("[135] lines are tried whole, as they are in the end: redraws are folded and (?i) ignores case", async () => {
  const { heard, print } = await watch({ pattern: "(?i)DONE$", max: 9 }, {}, { pty: true });
  await print("10 %\r50 %, almost done\r");
  await print("all 100 % are done\r\n20 % done\r90 % left\r\n");
  assertEquals(places(heard), ["0 all 100 % are done"]);
});

test("[135] at the end the last line counts as it is, and its match is told before the exit", async () => {
  const { heard, print, end } = await watch({ pattern: "error" });
  await print("fine\nfatal error, no line end");
  assertEquals(heard, []);
  await end();
  assertEquals(places(heard), ["1 fatal error, no line end", "exit"]);
});

test("[135] what was printed right before the end is told before the exit", async () => {
  const bench = await watch({ pattern: "error", max: 3 });
  bench.child.print("error 1\nfine\nerror 2\n");
  bench.child.end(1);
  await settle();
  assertEquals(places(bench.heard), ["0 error 1", "2 error 2", "exit"]);
});

test("[135] once is the default: later matches are counted, and the list has the newest count", async () => {
  const { heard, print, agent } = await watch({ pattern: "tick" });
  for (let round = 0; round < 10; round++) await print("tick\ntick\nboom\n");
  assertEquals(heard.length, 1);
  const [event] = agent.events.list().events;
  assert(event?.type === "match");
  assertEquals([event.matched, event.untold], [20, 19]);
});

test("[135] cooldownMs is the least time between two events; what matches meanwhile is counted by the next", async () => {
  const { heard, print } = await watch({ pattern: "tick", cooldownMs: 1_000 });
  for (let round = 0; round < 12; round++) await print("tick\n"); // each takes 200 ms
  assertEquals(heard.map((event) => event !== "exit" && [event.lineNumber, event.matched, event.untold]), [
    [0, 1, 0],
    [5, 6, 4],
    [10, 11, 8],
  ]);
});

test("[135] max is the most events ever; without once, cooldownMs and max there is one a second", async () => {
  const few = await watch({ pattern: "tick", max: 3 });
  for (let round = 0; round < 10; round++) await few.print("tick\n");
  assertEquals(places(few.heard), ["0 tick", "1 tick", "2 tick"]);
  const many = await watch({ pattern: "tick", once: false });
  for (let round = 0; round < 10; round++) await many.print("tick\n");
  assertEquals(places(many.heard), ["0 tick", "5 tick"]);
});

test("[135] never more than max, never sooner than the cooldown, and none that is due is withheld", () => {
  const rule = fc.record({ cooldownMs: fc.nat({ max: 50 }), max: fc.integer({ min: 1, max: 6 }) });
  fc.assert(fc.property(rule, fc.array(fc.nat({ max: 30 })), ({ cooldownMs, max }, gaps) => {
    const ration = createRation({ pattern: "x", cooldownMs, max });
    let now = 0;
    const told: number[] = [];
    for (const gap of gaps) {
      now += gap;
      const isDue = told.length < max && now - (told.at(-1) ?? -Infinity) >= cooldownMs;
      assertEquals(ration.take(now), isDue);
      if (isDue) told.push(now);
      assertEquals([ration.taken, ration.isSpent], [told.length, told.length === max]);
    }
  }));
});

test("[135] however output is cut into chunks, exactly the lines that log finds are told, with their numbers", async () => {
  const line = fc.constantFrom("tick", "tock", "tick tick", "", "a tick\rb", "é tick", "\x1b[31mtick\x1b[0m");
  const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 15 }), cuts, fc.boolean(), async (lines, at, isTerminated) => {
      const bench = await watch({ pattern: "tick", max: 1_000 });
      const bytes = new TextEncoder().encode(lines.join("\n") + (isTerminated ? "\n" : ""));
      let from = 0;
      for (const cut of [...at.toSorted((a, b) => a - b), bytes.length]) {
        bench.child.print(bytes.slice(from, cut));
        from = Math.max(from, cut);
        if (cut % 2 === 0) await bench.clock.advance(100);
      }
      await bench.end();
      const page = await act(bench.agent, { action: "log", sessionId: bench.id, offset: 0, grep: "tick" });
      const told = bench.heard.flatMap((event) => event === "exit" ? [] : [[event.lineNumber, event.line]]);
      assertEquals(told, page.lines.map(({ number, text }) => [number, text]));
    }),
    { numRuns: 60 },
  );
});

test("[135] what matched in the foreground is told by exec's answer, and counts as told", async () => {
  const heard: string[] = [];
  const bench = open({}, { onEvent: ({ type }) => void heard.push(type) });
  const { answer, child } = await start(bench, { yieldMs: 1_000, notifyOn: { pattern: "ready" } });
  child.print("ready on 80\n");
  await bench.clock.advance(500);
  child.print("x\n".repeat(5_000) + "ready on 81\n");
  await bench.clock.advance(500);
  const { details, text } = await answer;
  assert(details.status === "running");
  assertEquals(details.match, { line: "ready on 80", lineNumber: 0, matched: 2, untold: 1, skippedLines: 0 });
  assertStringIncludes(text, "\n[notifyOn has matched line 0: ready on 80; 1 more line matches]\n");
  assertEquals([details.tail.includes("ready on 80"), text.includes("when a line matches")], [false, false]);
  child.print("ready on 82\n");
  await bench.clock.advance(5_000);
  assertEquals(heard, []);
});

test("[135] without a match in the foreground the answer says nothing of it, and the first one later is told", async () => {
  const { details, text, heard, print } = await watch({ pattern: "ready" });
  assertEquals(["match" in details, text.includes("has matched")], [false, false]);
  await print("ready\n");
  assertEquals(places(heard), ["0 ready"]);
});

test("[135] a command that ends in the foreground makes no event, and leaves no timer", async () => {
  const heard: string[] = [];
  const bench = open({}, { onEvent: ({ type }) => void heard.push(type) });
  const { answer, child } = await start(bench, { notifyOn: { pattern: "ready" } });
  child.print("ready\n");
  child.end(0);
  const { details, text } = await ended(answer);
  assertEquals([details.output, text, heard, bench.clock.pending], ["ready\n", "ready", [], 0]);
});

test("[135] an agent without the process tool is not watched for: its answer has all output", async () => {
  const bench = open({}, { processTool: false });
  const { child } = await start(bench, { notifyOn: { pattern: "ready" } });
  const before = bench.clock.pending;
  child.print("ready\n");
  assertEquals(bench.clock.pending, before);
});

test("[135] output that is dropped before it is looked at is skipped, and said; numbers stay right", async () => {
  const { heard, print, agent, id } = await watch({ pattern: "tick", cooldownMs: 0 }, { maxOutputChars: 1_000 });
  await print("first tick\n");
  await print("tick ".repeat(10).concat("\n").repeat(1_000));
  await print("last tick\n");
  const last = heard.at(-1);
  assert(last !== undefined && last !== "exit");
  assertEquals([last.line, last.lineNumber], ["last tick", 1_001]);
  assert(last.skippedLines > 900 && last.skippedLines < 1_000, `${last.skippedLines} skipped`);
  assertEquals(last.matched + last.skippedLines, 1_002);
  const page = await act(agent, { action: "log", sessionId: id, limit: 1 });
  assertEquals(page.lines, [{ number: 1_001, text: "last tick" }]);
});

test("[135] one turn looks at a bounded amount, the next ones at the rest, and at most 20 events come of each", async () => {
  const { heard, child, clock, agent } = await watch({ pattern: "tick", cooldownMs: 0 }, { maxOutputChars: 1_000_000 });
  child.print("tick\n".repeat(100_000));
  let turns = 0;
  for (; clock.pending > 1 && turns < 1_000; turns++) {
    const before = heard.length;
    await clock.advance(turns === 0 ? 100 : 0);
    assert(heard.length - before <= 20 * 8 + 20, `${heard.length - before} at once`);
  }
  const newest = agent.events.list().events.at(-1);
  assert(newest?.type === "match");
  assertEquals([newest.matched, newest.untold], [100_000, 100_000 - heard.length]);
  assert(heard.length > 20 && heard.length <= 20 * 10, `${heard.length} events`);
});

test("[135] a fast printer is looked at ten times a second at most", async () => {
  const { child, clock, heard } = await watch({ pattern: "tick", cooldownMs: 0 });
  for (let round = 0; round < 1_000; round++) {
    child.print("tick\n");
    await clock.advance(1);
  }
  const batches = new Set(heard.map((event) => event !== "exit" && event.matched));
  assert(batches.size >= 9 && batches.size <= 11, `${batches.size} batches`);
});

test("[135] a long line is bounded in the event and says how long it is", async () => {
  const { heard, print } = await watch({ pattern: "end$" });
  await print(`${"x".repeat(5_000)}end\n`);
  const [event] = heard;
  assert(event !== undefined && event !== "exit");
  assertEquals(event.line.length, 500);
  assertMatch(event.line, /x… \[line of 5003 characters\]$/);
});

test("[135] a removed session tells no match any more, one that was left behind by its shell does", async () => {
  const removed = await watch({ pattern: "tick" });
  removed.child.ignores = ["SIGTERM"];
  await removed.agent.process({ action: "remove", sessionId: removed.id });
  await removed.print("tick\n");
  await removed.clock.advance(30_000);
  assertEquals(removed.heard, []);
  const left = await watch({ pattern: "tick", max: 9 });
  left.child.started.push({ pid: 5_001, name: "server", inGroup: true });
  left.child.exit(3);
  await left.clock.advance(3_000);
  await left.print("tick by the server\n");
  assertEquals(places(left.heard), ["exit", "0 tick by the server"]);
});

test("[135] a session without notifyOn has nothing that looks at its output", async () => {
  const bench = open();
  const { child } = await background(bench);
  const before = bench.clock.pending;
  child.print("tick\n");
  assertEquals(bench.clock.pending, before);
});

for (
  const [what, notifyOn, key] of [
    ["a pattern that is none", { pattern: "(" }, "notifyOn.pattern"],
    ["once with max", { pattern: "x", once: true, max: 2 }, "notifyOn.once"],
    ["an unknown key", { pattern: "x", every: 1 }, "notifyOn.every"],
  ] as const
) {
  test(`E10 ${what} is refused by name and nothing is started`, async () => {
    const bench = open();
    const { details, isError } = await bench.agent.exec({ command: "ls", notifyOn: notifyOn as NotifyOn });
    assert(details.status === "failed" && "problems" in details && isError);
    assertEquals([details.problems.map((problem) => problem.key), bench.spawner.children], [[key], []]);
  });
}

test("[135] a line that is unfinished when the command goes to the background is looked at once it is whole", async () => {
  const heard: string[] = [];
  const bench = open({}, { onEvent: (event) => void (event.type === "match" && heard.push(event.line)) });
  const { answer, child } = await start(bench, { notifyOn: { pattern: "ERROR" }, yieldMs: 1_000 });
  child.print("ERR");
  await bench.clock.advance(1_000);
  assertEquals((await answer).details.status, "running");
  child.print("OR\n");
  await bench.clock.advance(200);
  assertEquals(heard, ["ERROR"]);
});

test("[135] what is printed at the very end is looked at whole before the end is told", async () => {
  const { heard, print, child, clock } = await watch({ pattern: "^hit", max: 5 });
  await print("hit first\n");
  child.print(`${`${"x".repeat(99)}\n`.repeat(3_000)}hit last\n`);
  child.end(1);
  await clock.advance(200);
  assertEquals(places(heard), ["0 hit first", "3001 hit last", "exit"]);
});

test("[135] a line that is longer than what one turn looks at is looked at, and so is what follows it", async () => {
  const { heard, print } = await watch({ pattern: "^(?:x+y|hit)$", max: 5 });
  await print(`${"x".repeat(70_000)}y\nhit\n`);
  assertEquals(heard.map((event) => event !== "exit" && event.lineNumber), [0, 1]);
});

test("[135] what is printed before the start is over is looked at to its end", async () => {
  const heard: string[] = [];
  const bench = open({}, { onEvent: (event) => void (event.type === "match" && heard.push(event.line)) });
  bench.spawner.early = `${`${"x".repeat(99)}\n`.repeat(1_000)}hit\n`;
  await background(bench, { notifyOn: { pattern: "^hit" } });
  await bench.clock.advance(200);
  assertEquals(heard, ["hit"]);
});

test("[135] nothing is looked at any more at the end of the output, or once its session is forgotten", async () => {
  const over = await watch({ pattern: "tick", max: 9 });
  await over.print("tick\n");
  over.child.end(0);
  await settle();
  assertEquals(over.clock.pending, 1); // its time to live
  const held = await watch({ pattern: "tick", max: 9 });
  held.child.exit(0);
  await held.clock.advance(1_000);
  await act(held.agent, { action: "clear", sessionId: held.id });
  await held.clock.advance(200);
  held.child.print("still writing\n");
  assertEquals(held.clock.pending, 0);
});
