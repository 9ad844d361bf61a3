/**
 * What `poll`, `log` and `list` say, and that they say the same: section B of the cases from the field.
 *
 * A number of seconds in an assertion only tells "at once" from "at the end of the wait".
 *
 * @module
 */
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import {
  assert,
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { AbortError, type Agent, type ListEntry, type Outcome, type ProcessParams } from "../../mod.ts";
import { background, eventually, log, open, poll, pollToEnd, pollUntil, repeat, runToEnd } from "./agent.ts";
import { closing, test } from "../closing.ts";
import { posix, proc, terminal as pty } from "./machine.ts";

/** Tells "at once" from a poll's 30 s. */
const AT_ONCE_MS = 5_000;

/** Runs a command in the background to its end, without anybody reading its output. */
async function ended(agent: Agent, command: string): Promise<string> {
  const { id } = await background(agent, { command, background: true });
  await eventually(async () => (await log(agent, id)).status !== "running", `the end of ${command}`);
  return id;
}

async function texts(agent: Agent, id: string, window: { offset?: number; limit?: number } = {}): Promise<string[]> {
  return (await log(agent, id, window)).lines.map(({ text }) => text);
}

async function entryOf(agent: Agent, id: string): Promise<ListEntry | undefined> {
  const { details } = await agent.process({ action: "list" });
  return "sessions" in details ? details.sessions.find(({ sessionId }) => sessionId === id) : undefined;
}

/** A call as a program without types would make it. */
function untyped(agent: Agent, input: object): ReturnType<Agent["process"]> {
  return agent.process(input as ProcessParams);
}

// [18]

const CALLS: Readonly<Record<string, object>> = {
  "poll": { action: "poll", timeout: 30_000 },
  "poll for the end": { action: "poll", timeout: 30_000, until: "exit" },
  "poll for a port": { action: "poll", timeout: 30_000, until: "port:1" },
  "log": { action: "log" },
  "write": { action: "write", data: "x" },
  "send-keys": { action: "send-keys", keys: ["Enter"] },
  "submit": { action: "submit" },
  "paste": { action: "paste", text: "x" },
  "resize": { action: "resize", cols: 80, rows: 24 },
  "kill": { action: "kill", wait: 30_000 },
  "clear": { action: "clear" },
  "remove": { action: "remove" },
};

for (const [name, call] of Object.entries(CALLS)) {
  test(
    `section 6: ${name} of an unknown id fails at once, naming it and the ids that exist [18]`,
    { skip: posix },
    async () => {
      const bench = closing(open());
      const { agent, offstage } = bench;
      const startedAt = performance.now();
      const none = await untyped(agent, { ...call, sessionId: "nope" });
      assertEquals([none.isError, none.details], [true, {
        status: "failed",
        reason: "unknown-session",
        message: none.text,
        problems: [],
        known: [],
      }]);
      assertMatch(none.text, /"nope".*there are none/);

      const { id } = await background(agent, { command: "sleep 60", background: true });
      const other = await untyped(agent, { ...call, sessionId: "nope" });
      assertEquals("known" in other.details && other.details.known, [id]);
      assertStringIncludes(other.text, id);
      // somebody else's session is as unknown as any
      const foreign = await untyped(offstage.agent("stranger"), { ...call, sessionId: id });
      assertEquals(foreign.text, none.text.replace("nope", id));
      assertLess(performance.now() - startedAt, AT_ONCE_MS);
      assertEquals((await poll(agent, id)).status, "running");
    },
  );
}

test("P11 polls that do not wait, one after the other, let the end be seen", { skip: posix }, async () => {
  const { agent } = closing(open());
  const until = [{}, { since: 0 }, { until: "exit" }, { until: "never" }, { until: "idle:60000" }];
  for (const params of until) {
    const { id } = await background(agent, { command: ":", background: true, stdin: "closed" });
    let polls = 0;
    while ((await poll(agent, id, params)).status === "running") assertLess(++polls, 20_000, JSON.stringify(params));
  }
});

// [19]

for (const [code, terminal] of [[0, false], [3, false], [0, true], [3, true]] as const) {
  const where = terminal ? "terminal" : "pipe";
  test(`P10 ${where}, code ${code}: what ended before anybody read it is read in full, its end for ever [19]`, {
    skip: terminal ? pty : posix,
  }, async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: `echo hi; exit ${code}`, pty: terminal, background: true });
    await eventually(async () => (await log(agent, id)).status !== "running", "the end");
    await sleep(1_000);
    const first = await poll(agent, id);
    assertEquals([first.output, first.status, first.exitCode, first.ok], ["hi\n", "completed", code, code === 0]);
    for (let later = 0; later < 2; later++) {
      const answer = await poll(agent, id, { timeout: 30_000 });
      assertEquals([answer.output, answer.status, answer.exitCode, answer.retryInMs], ["", "completed", code, null]);
      assertStringIncludes(answer.text, "(no new output)");
      assertStringIncludes(answer.text, `exit code ${code}`);
      assertEquals(await texts(agent, id), ["hi"]);
    }
    assertEquals((await poll(agent, id, { since: 0 })).output, "hi\n");
    assertEquals((await entryOf(agent, id))?.exitCode, code);

    assertEquals((await agent.process({ action: "clear", sessionId: id })).isError, false);
    assertEquals(await entryOf(agent, id), undefined);
    const gone = await agent.process({ action: "poll", sessionId: id });
    assertEquals([gone.isError, "reason" in gone.details && gone.details.reason], [true, "gone"]);
    assertStringIncludes(gone.text, `exit code ${code}`);
  });
}

// [20]

for (
  const [right, input] of [
    ["timeout", { action: "poll", timeoutMs: 5_000 }],
    ["timeout", { action: "poll", timeout_ms: 5_000 }],
    ["timeout", { action: "poll", timout: 5_000 }],
    ["until", { action: "poll", untill: "exit" }],
    ["offset", { action: "log", ofset: 1 }],
    ["limit", { action: "log", lines: 5 }],
    ["keys", { action: "send-keys", key: "C-c" }],
    ["data", { action: "write", input: "x" }],
    ["eof", { action: "write", data: "x", EOF: true }],
    ["wait", { action: "kill", waitMs: 100 }],
    ["text", { action: "paste", txt: "x" }],
    ["poll", { action: "pol" }],
    ["send-keys", { action: "sendKeys", keys: ["a"] }],
  ] as const
) {
  test(`section 6: ${JSON.stringify(input)} is refused, naming ${right} [20]`, { skip: posix }, async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: "echo out; sleep 60", background: true });
    await eventually(async () => (await log(agent, id)).totalLines === 1, "the output");
    const { isError, text, details } = await untyped(agent, { ...input, sessionId: id });
    assertEquals([isError, "reason" in details && details.reason], [true, "invalid"]);
    assertStringIncludes(text, `"${right}"`);
    assertEquals((await poll(agent, id)).output, "out\n"); // the bad call has consumed nothing
  });
}

test("section 6: the session's id has a right name too [20]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const wrong of ["session_id", "sessionID", "id", "session"]) {
    const { isError, text } = await untyped(bench.agent, { action: "poll", [wrong]: "amber-otter-7k3f" });
    assert(isError);
    assertStringIncludes(text, '"sessionId"');
  }
});

for (
  const [right, input] of [
    ["command", { cmd: "ls" }],
    ["yieldMs", { command: "ls", yield_ms: 1 }],
    ["workdir", { command: "ls", cwd: "/" }],
    ["background", { command: "ls", backgroud: true }],
    ["timeoutSeconds", { command: "ls", timeoutMs: 1_000 }],
    ["pty", { command: "ls", tty: true }],
  ] as const
) {
  test(`E10 exec ${JSON.stringify(input)} is refused, naming ${right} [20]`, { skip: posix }, async () => {
    const bench = closing(open());
    const { isError, text, details } = await bench.agent.exec(input as never);
    assertEquals([isError, "reason" in details && details.reason], [true, "invalid"]);
    assertStringIncludes(text, `"${right}"`);
  });
}

test("E10 all that is wrong is said at once, and a session that is misaddressed as well is not touched [20]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { details } = await untyped(bench.agent, { action: "poll", timeoutMs: 1, offset: 3, until: "port:99999" });
  assert("problems" in details);
  assertEquals(details.problems.map(({ key }) => key).sort(), ["offset", "sessionId", "timeoutMs", "until"]);
});

// [21]

/** An abort signal that knows how many listen to it. */
function countingSignal(): {
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  count(): number;
} {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { signal, abort: (reason) => controller.abort(reason), count: () => listeners.size };
}

for (const until of [undefined, "exit", "never printed", "idle:20000", "input", "port:1"]) {
  const what = until === undefined ? "output" : `"${until}"`;
  test(
    `P15 a poll that waits for ${what} can be aborted; nothing is ended or consumed [21]`,
    { skip: posix },
    async () => {
      const bench = closing(open());
      const { agent } = bench;
      const command = "while [ ! -e $stop ]; do sleep 0.05; done; echo late; sleep 60";
      const folder = `/tmp/offstage-${Math.random().toString().slice(2)}`;
      const { id } = await background(agent, { command, env: { stop: folder }, background: true, stdin: "closed" });
      const { signal, abort, count } = countingSignal();
      const startedAt = performance.now();
      const waiting = agent.process(
        { action: "poll", sessionId: id, timeout: 30_000, ...(until !== undefined && { until }) },
        { signal },
      );
      await eventually(() => count() === 1, "the poll to listen to its signal");
      const reason = new Error("changed my mind");
      abort(reason);
      const error = await assertRejects(() => waiting, AbortError);
      assertLess(performance.now() - startedAt, 20_000);
      assertEquals([error.name, error.cause, count()], ["AbortError", reason, 0]);
      await runToEnd(agent, { command: `touch ${folder}` });
      assertStringIncludes(await pollUntil(agent, id, "late\n"), "late\n");
      assertEquals((await poll(agent, id)).status, "running");
      await runToEnd(agent, { command: `rm ${folder}` });
    },
  );
}

test("P15 a poll with a signal that has fired already consumes nothing [21]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "echo out; sleep 60", background: true });
  await eventually(async () => (await log(agent, id)).totalLines === 1, "the output");
  const signal = AbortSignal.abort("enough");
  await assertRejects(() => agent.process({ action: "poll", sessionId: id, timeout: 30_000 }, { signal }), AbortError);
  assertEquals((await poll(agent, id)).output, "out\n");
});

test(
  "P15 a poll that has its answer leaves no listener, and a later abort does not matter [21]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: "sleep 0.2; echo out; sleep 0.2; exit 4", background: true });
    const { signal, abort, count } = countingSignal();
    for (let polls = 0; polls < 2; polls++) {
      await agent.process({ action: "poll", sessionId: id, timeout: 30_000 }, { signal });
      assertEquals(count(), 0);
    }
    await agent.process({ action: "poll", sessionId: id, timeout: 50, until: "never printed" }, { signal });
    assertEquals(count(), 0);
    abort("late");
    assertEquals((await pollToEnd(agent, id)).last.exitCode, 4);
  },
);

// [23]

test(
  "P13 a poll of a torrent is bounded, counts what it leaves out, and says where it is [23]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: "yes prompt-error", background: true });
    let place = 0;
    for (let polls = 0; polls < 3; polls++) {
      await sleep(500);
      const answer = await poll(agent, id);
      assertLessOrEqual(answer.output.length, 30_000);
      assertEquals([answer.truncated, answer.status, answer.from], [true, "running", place]);
      assertEquals(answer.dropped + answer.output.length, answer.to - answer.from);
      assertEquals(answer.droppedByStream, { stdout: answer.dropped, stderr: 0, terminal: 0 });
      assertStringIncludes(answer.text, `${answer.dropped} older bytes`);
      assertMatch(answer.text, /process log offset \d+/);
      place = answer.to;
    }
  },
);

test("P13 what a poll left out is in the log, at the offset it names [23]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  // Two pipes have no order of their own: the second is written to when the first has been read
  const { id } = await background(agent, { command: "seq 1 20000; read go; echo broken >&2", background: true });
  await eventually(async () => (await log(agent, id)).totalLines === 20_000, "all of stdout is in the log");
  await agent.process({ action: "write", sessionId: id, data: "\n" });
  await eventually(async () => (await log(agent, id)).status !== "running", "the end");
  const answer = await poll(agent, id);
  assertEquals([answer.truncated, answer.logOffset, answer.droppedByStream.stderr], [true, 0, 0]);
  assertGreater(answer.droppedByStream.stdout, 70_000);
  // the newest of stdout is kept, and a stream that is not over its cap is whole
  assert(answer.output.endsWith("\n19999\n20000\nbroken\n"));

  const [, offset] = /process log offset (\d+)/.exec(answer.text) ?? [];
  const lines: string[] = [];
  for (let next: number | null = Number(offset); next !== null;) {
    const page = await log(agent, id, { offset: next });
    lines.push(...page.lines.map(({ text }) => text));
    next = page.nextOffset;
  }
  assertEquals(lines, [...Array.from({ length: 20_000 }, (_, index) => `${index + 1}`), "broken"]);
});

test("S4 where the log has dropped some of it too, poll and log name the first line that is held [23]", {
  skip: posix,
}, async () => {
  const bench = closing(open({ maxOutputChars: 60_000 }));
  const { agent } = bench;
  const id = await ended(agent, "seq 1 20000");
  const { text, truncated, logOffset } = await poll(agent, id);
  const [, offset = ""] = /process log offset (\d+)/.exec(text) ?? [];
  const page = await log(agent, id, { offset: 0 });
  assertEquals([page.firstHeld, page.totalLines, page.lines[0]?.number], [Number(offset), 20_000, Number(offset)]);
  assertEquals([truncated, page.truncated, logOffset], [true, true, page.firstHeld]);
  assertGreater(page.firstHeld, 5_000);
  assertStringIncludes(page.text, `lines 0 to ${page.firstHeld - 1} are not held any more`);
  assertEquals((await entryOf(agent, id))?.truncated, true);
});

test(
  "P13 two polls of one scope share every byte: nothing is told twice, nothing is lost [23]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: "for i in $(seq 1 400); do echo $i; sleep 0.002; done" });
    const [one, two] = await Promise.all([pollToEnd(agent, id), pollToEnd(agent, id)]);
    const all = `${one.output}${two.output}`.trim().split("\n").map(Number).sort((a, b) => a - b);
    assertEquals(all, Array.from({ length: 400 }, (_, index) => index + 1));
    assertEquals([one.last.exitCode, two.last.exitCode], [0, 0]);
  },
);

// [24], [25], [26], [28]

for (
  const [what, command] of [
    ["three lines", "printf 'one\\ntwo\\nthree\\n'"],
    ["three lines, the last unfinished", "printf 'one\\ntwo\\nthree'"],
    ["three lines on stderr", "printf 'one\\ntwo\\nthree\\n' >&2"],
  ] as const
) {
  test(`P20 windows of ${what}: past the end is empty with the total, and no line comes twice [24]`, {
    skip: posix,
  }, async () => {
    const bench = closing(open());
    const { agent } = bench;
    const id = await ended(agent, command);
    for (
      const window of [{ offset: 99 }, { offset: 3 }, { offset: 3, limit: 1 }, { offset: 0, limit: 0 }, { limit: 0 }]
    ) {
      const { details, text, isError } = await agent.process({ action: "log", sessionId: id, ...window });
      assert("lines" in details, text);
      assertEquals([isError, details.lines, details.totalLines], [false, [], 3]);
      assertStringIncludes(text, "no lines of 3");
    }
    assertEquals(await texts(agent, id), ["one", "two", "three"]);
    assertEquals(await texts(agent, id, { offset: 2 }), ["three"]);
    assertEquals(await texts(agent, id, { offset: 2, limit: 5 }), ["three"]);
    assertEquals(await texts(agent, id, { offset: 1, limit: 1 }), ["two"]);
    assertEquals(await texts(agent, id, { limit: 2 }), ["two", "three"]);
  });
}

test("P20 the log of a command that printed nothing is empty, whatever the window [24]", { skip: posix }, async () => {
  const bench = closing(open());
  const id = await ended(bench.agent, "true");
  for (const window of [{}, { offset: 0 }, { offset: 5 }, { offset: -5 }, { limit: 3 }]) {
    const page = await log(bench.agent, id, window);
    assertEquals([page.lines, page.totalLines, page.nextOffset, page.olderOffset], [[], 0, null, null]);
  }
});

test("P20 odd windows are clamped or refused, and never dump everything [25]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const id = await ended(agent, "seq 1 20000");
  const all = 20_000;
  const read = async (window: object) => {
    const { details, text, isError } = await untyped(agent, { action: "log", sessionId: id, ...window });
    assertLess(text.length, 31_000);
    return { isError, text, lines: "lines" in details ? details.lines.map((line) => line.text) : [] };
  };
  assertEquals((await read({ offset: -1 })).lines, [`${all}`]);
  assertEquals((await read({ offset: "-2" })).lines, [`${all - 1}`, `${all}`]);
  assertEquals((await read({ offset: "2", limit: "2" })).lines, ["3", "4"]);
  assertEquals((await read({ offset: -1e9, limit: 2 })).lines, ["1", "2"]);
  assertEquals((await read({ limit: 0 })).lines, []);
  assertEquals((await read({ offset: 1e15 })).lines, []);
  const huge = await read({ limit: 1e9 });
  assertEquals([huge.lines.at(-1), huge.isError], [`${all}`, false]);
  assertMatch(huge.text, /older ones: offset \d+/);
  const fromStart = await read({ offset: 0, limit: 1e9 });
  assertEquals([fromStart.lines[0], fromStart.isError], ["1", false]);
  assertMatch(fromStart.text, /more: offset \d+/);
  for (
    const bad of [{ limit: -5 }, { limit: NaN }, { offset: NaN }, { offset: 1.5 }, { limit: "few" }, { offset: [] }]
  ) {
    const answer = await read(bad);
    assertEquals([answer.isError, answer.lines], [true, []]);
    assertStringIncludes(answer.text, Object.keys(bad)[0] ?? "");
  }
  const endless = await read({ limit: Infinity });
  assert(endless.isError || endless.lines.at(-1) === `${all}`);
});

test("P20 lines that a limit leaves out are said, with the offset that shows them [26]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const id = await ended(agent, "printf 'one\\ntwo\\nthree\\n'");
  const page = await log(agent, id, { limit: 2 });
  assertEquals(page.lines, [{ number: 1, text: "two" }, { number: 2, text: "three" }]);
  assertEquals([page.truncated, page.totalLines, page.olderOffset, page.nextOffset], [true, 3, 0, null]);
  assertStringIncludes(page.text, "older ones: offset 0");
  const first = await log(agent, id, { offset: page.olderOffset ?? 0, limit: 2 });
  assertEquals([first.lines[0]?.text, first.truncated, first.nextOffset], ["one", true, 2]);
  assertStringIncludes(first.text, "more: offset 2");
  const whole = await log(agent, id);
  assertEquals([whole.truncated, whole.olderOffset, whole.nextOffset], [false, null, null]);
});

test(
  "P20 without a window the last 200 lines are shown, with a note if there are more [26]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const fits = await log(agent, await ended(agent, "seq 1 200"));
    assertEquals([fits.lines.length, fits.truncated], [200, false]);
    const page = await log(agent, await ended(agent, "seq 1 201"));
    assertEquals([page.lines.length, page.lines[0]?.number, page.truncated], [200, 1, true]);
    assertStringIncludes(page.text, "older ones: offset 0");
  },
);

test("P20 going back page by page shows every line once [26]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const id = await ended(agent, "seq 1 1000");
  let page = await log(agent, id, { limit: 300 });
  let seen = page.lines.map(({ text }) => text);
  while (page.olderOffset !== null) {
    const until = page.lines[0]?.number ?? 0;
    page = await log(agent, id, { offset: page.olderOffset, limit: until - page.olderOffset });
    seen = [...page.lines.map(({ text }) => text), ...seen];
  }
  assertEquals(seen, Array.from({ length: 1_000 }, (_, index) => `${index + 1}`));
});

test("P20 a limit counts lines, however long they are [28]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const id = await ended(agent, "for i in $(seq 1 100); do printf 'é%.0s' $(seq 1 1500); echo $i; done");
  const page = await log(agent, id, { limit: 5 });
  assertEquals(page.lines.map(({ text }) => text), [96, 97, 98, 99, 100].map((i) => `${"é".repeat(1_500)}${i}`));
  const middle = await log(agent, id, { offset: 10, limit: 5 });
  assertEquals(middle.lines.map(({ number }) => number), [10, 11, 12, 13, 14]);
  // five lines are five lines; a hundred are as many as one answer holds, and it says so
  const many = await log(agent, id, { offset: 0, limit: 100 });
  assertEquals([many.lines.length, many.nextOffset, many.truncated], [19, 19, true]);
});

test("P20 a line over 2000 characters is clipped, with its length [28]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const id = await ended(agent, "head -c 5000 /dev/zero | tr '\\0' x; echo; echo next");
  const [long, next] = await texts(agent, id);
  assertEquals([long?.length, next], [2_000, "next"]);
  assertStringIncludes(long ?? "", "line of 5000 characters");
});

// [31]

const ENDS: Readonly<
  Record<string, {
    readonly command: string;
    readonly timeout?: number;
    readonly end?: (agent: Agent, id: string, pid: number) => unknown;
    readonly outcome: Outcome;
  }>
> = {
  "a natural end": {
    command: "sleep 0.1; exit 6",
    outcome: { status: "completed", ok: false, exitCode: 6, signal: null, reason: "exit", limit: null },
  },
  "a kill": {
    command: "sleep 60",
    end: (agent, sessionId) => agent.process({ action: "kill", sessionId }),
    outcome: { status: "killed", ok: false, exitCode: null, signal: "SIGTERM", reason: "killed", limit: null },
  },
  "a kill that needs SIGKILL": {
    command: "trap '' TERM; echo ready; while :; do sleep 60; done",
    end: async (agent, sessionId) => {
      await eventually(async () => (await log(agent, sessionId)).totalLines === 1, "the trap");
      await agent.process({ action: "kill", sessionId });
    },
    outcome: { status: "killed", ok: false, exitCode: null, signal: "SIGKILL", reason: "killed", limit: null },
  },
  "a timeout": {
    command: "sleep 60",
    timeout: 0.5,
    outcome: { status: "failed", ok: false, exitCode: null, signal: "SIGTERM", reason: "timeout", limit: null },
  },
  "somebody else's SIGKILL": {
    command: "exec sleep 60",
    end: (_agent, _id, pid) => process.kill(pid, "SIGKILL"),
    outcome: { status: "failed", ok: false, exitCode: null, signal: "SIGKILL", reason: "signal", limit: null },
  },
};

for (const terminal of [false, true]) {
  for (const [what, { command, timeout, end, outcome }] of Object.entries(ENDS)) {
    test(`R2 ${terminal ? "terminal" : "pipe"}: list, poll, log and kill agree on ${what} [31]`, {
      skip: terminal ? pty : proc,
    }, async () => {
      const bench = closing(open({ killGraceMs: 300 }));
      const { agent } = bench;
      const { id, details } = await background(agent, {
        command,
        pty: terminal,
        background: true,
        ...(timeout !== undefined && { timeout }),
      });
      for (const answer of [await entryOf(agent, id), await log(agent, id), await poll(agent, id)]) {
        if (end !== undefined) assertEquals([answer?.status, answer?.exitCode, answer?.ok], ["running", null, null]);
      }
      await end?.(agent, id, details.pid ?? 0);
      // whoever is asked first once it has ended, the others say the same at that moment
      await eventually(async () => (await entryOf(agent, id))?.status !== "running", "the end in the list");
      const listed = await entryOf(agent, id);
      const logged = await log(agent, id);
      const polled = await poll(agent, id);
      const killed = (await agent.process({ action: "kill", sessionId: id })).details;
      const again = await poll(agent, id);
      for (const answer of [listed, logged, polled, killed, again]) {
        assert(answer !== undefined && "ok" in answer);
        const { status, ok, exitCode, signal, reason, limit } = answer;
        assertEquals({ status, ok, exitCode, signal, reason, limit }, outcome);
      }
      assertEquals("confirmed" in killed && killed.confirmed, true);
    });
  }
}

test("R2 once one of them has told the end, none of them says running [31]", { skip: proc }, async () => {
  const bench = closing(open({ killGraceMs: 300 }));
  const { agent } = bench;
  const ways = [
    async (id: string) => (await entryOf(agent, id))?.status,
    async (id: string) => (await log(agent, id)).status,
    async (id: string) => (await poll(agent, id)).status,
  ];
  await repeat(24, async (round) => {
    const { id } = await background(agent, { command: "sleep 0.1; seq 1 100; exit 1", background: true });
    if (round % 2 === 1) void agent.process({ action: "kill", sessionId: id });
    let told: string | undefined;
    for (let look = round, left = 9; left > 0; look++) {
      const status = await ways[look % ways.length]?.(id);
      if (status !== "running") told ??= status;
      if (told !== undefined) {
        assertEquals(status, told);
        left--;
      }
      await sleep(1);
    }
  });
});

// [33]

for (const terminal of [true, false]) {
  test(`E29 ${terminal ? "terminal" : "pipe"}: a background session is in the list when exec answers [33]`, {
    skip: terminal ? pty : posix,
  }, async () => {
    const bench = closing(open({ killGraceMs: 100 })); // a shell at its prompt does not heed SIGTERM
    const { agent } = bench;
    await repeat(20, async () => {
      const { id, details } = await background(agent, { command: "bash", pty: terminal, background: true });
      const entry = await entryOf(agent, id);
      assertEquals([entry?.status, entry?.pid, entry?.pty, entry?.stdin, entry?.name], [
        "running",
        details.pid,
        terminal,
        "open",
        "bash",
      ]);
    });
  });
}

test(
  "P1 the list shows the newest start first, and what runs in the foreground is not in it [33]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await background(agent, { command: "sleep 60", background: true })).id);
    const foreground = agent.exec({ command: "sleep 1; echo done" });
    for (let looks = 0; looks < 3; looks++) {
      const { details } = await agent.process({ action: "list" });
      assert("sessions" in details);
      assertEquals(details.sessions.map(({ sessionId }) => sessionId), ids);
    }
    assertEquals((await foreground).text, "done");
  },
);

// [35]

test("P11 one long poll sees the end, at once, however silent the command was [35]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "sleep 2", background: true });
  const startedAt = performance.now();
  const { status, wokenBy, retryInMs } = await poll(agent, id, { timeout: 30_000 });
  assertEquals([status, wokenBy, retryInMs], ["completed", "exit", null]);
  assertLess(performance.now() - startedAt, 20_000);
});

test('P12 a poll until "exit" sees the end of a chatty command in one call, with all its output [35]', {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "for i in $(seq 1 30); do echo $i; sleep 0.05; done; exit 2" });
  const { output, wokenBy, exitCode } = await poll(agent, id, { timeout: 30_000, until: "exit" });
  assertEquals(output, Array.from({ length: 30 }, (_, index) => `${index + 1}\n`).join(""));
  assertEquals([wokenBy, exitCode], ["exit", 2]);
});

test("P12 a poll until a pattern waits for it and not for any output [35]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const command = "for i in $(seq 1 30); do echo step $i; sleep 0.05; done; echo listening on 80; sleep 60";
  const { id } = await background(agent, { command, background: true });
  const { output, wokenBy, status } = await poll(agent, id, { timeout: 30_000, until: "listening on \\d+" });
  assertEquals([wokenBy, status, output.split("\n").length], ["match", "running", 32]);
});

test(
  "P14 the advice when to poll again grows with each empty poll, and output resets it [35]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const command = "read a; echo $a; read b; echo $b; exit";
    const { id } = await background(agent, { command, background: true });
    const advice = async (): Promise<readonly (number | null)[]> => {
      const given: (number | null)[] = [];
      for (let polls = 0; polls < 6; polls++) given.push((await poll(agent, id, { timeout: 10 })).retryInMs);
      return given;
    };
    const growing = [5_000, 10_000, 30_000, 60_000, 60_000, 60_000];
    assertEquals(await advice(), growing);
    await agent.process({ action: "write", sessionId: id, data: "hello\n" });
    const heard = await poll(agent, id, { timeout: 30_000 });
    assertEquals([heard.output, heard.retryInMs], ["hello\n", null]);
    assertEquals(await advice(), growing);
    await agent.process({ action: "write", sessionId: id, data: "bye\n" });
    const { output, last } = await pollToEnd(agent, id);
    assertEquals([output, last.retryInMs], ["bye\n", null]);
  },
);

test(
  "P11 a poll's wait is clamped, not refused, and an empty one says when to come again [35]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: "sleep 3; echo out; sleep 60", background: true });
    assertEquals((await poll(agent, id, { timeout: -5 })).wokenBy, "timeout");
    const empty = await poll(agent, id);
    assertStringIncludes(empty.text, "poll again in 10 s");
    assertEquals((await poll(agent, id, { timeout: 1e12 })).output, "out\n");
    assertGreaterOrEqual((await poll(agent, id, { timeout: 100 })).retryInMs ?? 0, 5_000);
  },
);
