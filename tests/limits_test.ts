/**
 * Resource limits: which are taken, which win, what the shell is told, what its report means, and which one ended a
 * command.
 *
 * @module
 */
import {
  assert,
  assertEquals,
  assertLessOrEqual,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import type { ExecAnswer, ExecConfig, ExecParams, LimitName, Limits, OutputSink, StreamName } from "../mod.ts";
import { AbortError, OffstageError } from "../mod.ts";
import { limitScript } from "../src/exec/limit_script.ts";
import { shellCommand, type ShellKind } from "../src/exec/shell.ts";
import { LIMIT_NAMES, limitsInForce } from "../src/limits.ts";
import { withoutReport } from "../src/session/limit_report.ts";
import { REPORT_END, REPORT_START } from "../src/session/limit_words.ts";
import { withOutputLimit } from "../src/session/output_limit.ts";
import {
  act,
  answeredAfter,
  background,
  type Bench,
  countingSignal,
  ended,
  notStarted,
  open,
  start,
} from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import { createFakeSpawner, type FakeChild } from "./fakes/spawner.ts";

/** What a shell prints that could set everything, or all but some. */
const report = (...words: readonly string[]): string => `${[REPORT_START, ...words].join(" ")}${REPORT_END}`;

/** Starts a command with limits, whose shell reports. */
async function startLimited(
  bench: Bench,
  params: Partial<ExecParams>,
  ...words: readonly string[]
): Promise<{ readonly answer: Promise<ExecAnswer>; readonly child: FakeChild }> {
  const started = await start(bench, params);
  started.child.print(report(...words), params.pty === true ? "terminal" : "stderr");
  await settle();
  return started;
}

// what is taken

/** Each a list of wrong values for one limit, with what the message must name. */
const WRONG: readonly (readonly [key: string, value: unknown, says: RegExp])[] = [
  ["openFiles", 15, /whole number of at least 16, the least a shell works with, but received 15$/],
  ["openFiles", 16.5, /whole number of at least 16.*16\.5/],
  ["memoryBytes", 16_777_215, /at least 16777216, the least a shell and small programs start with/],
  ["memoryBytes", Infinity, /whole number/],
  ["memoryBytes", 2 ** 53, /whole number/],
  ["cpuSeconds", 0, /whole number of at least 1, but received 0/],
  ["cpuSeconds", -3, /at least 1/],
  ["cpuSeconds", 0.5, /whole number/],
  ["processes", 0, /at least 1/],
  ["outputBytes", 0, /at least 1/],
  ["outputBytes", true, /expected/],
  ["openfiles", 64, /did you mean "openFiles"/],
  ["memory", 1e9, /did you mean "memoryBytes"/],
  ["memory_bytes", 1e9, /did you mean "memoryBytes"/],
  ["cpu", 3, /did you mean "cpuSeconds"/],
  ["nproc", 3, /did you mean "processes"/],
  ["nofile", 64, /did you mean "openFiles"/],
  ["xyzzy", 1, /known are memoryBytes, cpuSeconds, processes, openFiles, outputBytes/],
];

for (const [key, value, says] of WRONG) {
  test(`C1 E10 limits.${key}: ${value} is refused by name, in a call and in the settings`, async () => {
    const limits = { [key]: value };
    const { details } = await notStarted(open().agent.exec({ command: "ls", limits }));
    const error = assertThrows(() => open({ limits }), OffstageError);
    for (const [problems, path] of [[details.problems, ""], [error.problems, "tools.exec."]] as const) {
      assertEquals(problems.map((problem) => problem.key), [`${path}limits.${key}`]);
      assertMatch(problems[0]?.message ?? "", says);
    }
  });
}

test("E10 everything that is wrong with limits is listed at once, beside what else is wrong", async () => {
  const params = { command: "ls", cols: 0, limits: { openFiles: 1, cpuSeconds: 0, fuel: 3 } };
  const { details, text } = await notStarted(open().agent.exec(params as ExecParams));
  const keys = details.problems.map(({ key }) => key).sort();
  assertEquals(keys, ["cols", "limits.cpuSeconds", "limits.fuel", "limits.openFiles"]);
  assertStringIncludes(text, "limits.fuel: unknown");
});

test("E10 a limit outside limits is pointed to its place", async () => {
  for (const name of LIMIT_NAMES) {
    const { text } = await notStarted(open().agent.exec({ command: "ls", [name]: 64 } as ExecParams));
    assertStringIncludes(text, `did you mean "limits.${name}"?`);
  }
});

test("C2 limits that are no object are refused", async () => {
  for (const limits of [5, "openFiles=64", [64], true] as unknown as Limits[]) {
    const { details } = await notStarted(open().agent.exec({ command: "ls", limits }));
    assertEquals(details.problems.map(({ key }) => key), ["limits"]);
    assertThrows(() => open({ limits }), OffstageError, "tools.exec.limits: expected an object");
  }
});

test("E10 null is absent, and a model's number in a string is a number", async () => {
  const asked: (Limits | undefined)[] = [];
  const bench = open({}, { authorize: ({ limits }) => (asked.push(limits), { allow: true }) });
  const limits = { outputBytes: "500", openFiles: null } as unknown as Limits;
  await start(bench, { limits });
  await start(bench, { limits: {} });
  await start(bench);
  assertEquals(asked, [{ outputBytes: 500 }, undefined, undefined]);
});

// which one is in force

const anyLimits = fc.record(
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, fc.integer({ min: 16_777_216, max: 2 ** 40 })])),
  { requiredKeys: [] },
) as fc.Arbitrary<Limits>;

test("what is configured is the most a call may ask for, and what it asked beyond that is a warning", () => {
  fc.assert(fc.property(anyLimits, anyLimits, (configured, asked) => {
    const { limits = {}, warnings } = limitsInForce(configured, asked);
    const lowered: LimitName[] = [];
    for (const name of LIMIT_NAMES) {
      const given = [configured[name], asked[name]].filter((value) => value !== undefined);
      assertEquals(limits[name], given.length === 0 ? undefined : Math.min(...given));
      if ((asked[name] ?? 0) > (configured[name] ?? Infinity)) lowered.push(name);
    }
    assertEquals(warnings.length, lowered.length);
    lowered.forEach((name, index) => assertStringIncludes(warnings[index] ?? "", `limits.${name} is ${limits[name]}`));
  }));
});

test("a limit that was lowered is in force, and the answer says so", async () => {
  const bench = open({ limits: { outputBytes: 1_000, openFiles: 64 } });
  const { answer, child } = await startLimited(bench, { limits: { outputBytes: 5_000, openFiles: 32 } });
  child.end(0);
  const { details } = await ended(answer);
  assertEquals(details.warnings, ["limits.outputBytes is 1000, not 5000: tools.exec.limits allows no more"]);
  assertStringIncludes(child.spec.argv.join(" "), "ulimit -S -n 32 ");
});

test("E28 the running answer names the limits in force, if there are any", async () => {
  const bench = open({ limits: { outputBytes: 1_000 } });
  const { details, text } = await background(bench);
  assertEquals(details.limits, { outputBytes: 1_000 });
  assertStringIncludes(text, "\n[limits: outputBytes 1000]");
  const plain = await background(open());
  assertEquals(["limits" in plain.details, plain.text.includes("limits")], [false, false]);
});

// what the shell is told

const KINDS: readonly ShellKind[] = ["bash", "zsh", "sh", "dash", "ksh", "pwsh", "powershell"];

test("a command without limits of the kernel's is started exactly as before", () => {
  for (const kind of KINDS) {
    const shell = { path: `/bin/${kind}`, kind };
    const plain = shellCommand(shell, "ls", { mergeStreams: true, close: [12] });
    for (const limits of [undefined, {}, { outputBytes: 5 }]) {
      assertEquals(shellCommand(shell, "ls", { mergeStreams: true, close: [12], limits }), plain);
    }
  }
});

test("E1 limits change nothing but the fixed part of the arguments, which stays one line", () => {
  const limits = { memoryBytes: 2 ** 30, cpuSeconds: 2, processes: 9, openFiles: 64, outputBytes: 5 };
  for (const kind of KINDS.filter((kind) => kind !== "pwsh" && kind !== "powershell")) {
    const shell = { path: kind, kind };
    const plain = shellCommand(shell, "ls $x", { mergeStreams: false });
    const limited = shellCommand(shell, "ls $x", { mergeStreams: false, limits });
    assertEquals(limited.env, plain.env);
    assertEquals(limited.argv.slice(0, -1), plain.argv.slice(0, -1));
    assertEquals(limited.argv.at(-1), limitScript(limits, kind) + plain.argv.at(-1));
    assert(!limited.argv.join("").includes("\n"));
  }
});

test("a sandbox and a node are limited as this machine is", async () => {
  const [sandbox, builder] = [createFakeSpawner(), createFakeSpawner()];
  const limits = { openFiles: 64 };
  for (const host of ["sandbox", "node"] as const) {
    void open({ host, limits }, { sandbox, nodes: { builder } }).agent.exec({ command: "ls", background: true });
    await settle();
  }
  for (const { last } of [sandbox, builder]) {
    assertStringIncludes(last.spec.argv.join(" "), limitScript(limits, "bash"));
  }
});

test("units are those of ulimit: KiB, rounded down, and seconds with time to tidy up", () => {
  assertStringIncludes(
    limitScript({ memoryBytes: 2 ** 30 + 1_023 }, "bash"),
    "ulimit -S -v 1048576 && ulimit -H -v 1048576;",
  );
  assertStringIncludes(limitScript({ cpuSeconds: 3 }, "sh"), "ulimit -S -t 8 && ulimit -H -t 8; ulimit -S -t 3;");
  assertEquals(limitScript({ outputBytes: 3 }, "bash"), "");
});

test("PowerShell cannot set the kernel's limits: the answer names each, and waits for no report", async () => {
  const bench = open({ shell: "pwsh" });
  bench.machine.programs.add("pwsh");
  const { answer, child } = await start(bench, { limits: { cpuSeconds: 3, outputBytes: 9, openFiles: 64 } });
  child.end(0);
  const { details } = await ended(answer);
  assertEquals(details.warnings, [
    "limits.cpuSeconds is not in force: pwsh could not set it",
    "limits.openFiles is not in force: pwsh could not set it",
  ]);
});

// the shell's report

interface Chunk {
  readonly stream: StreamName;
  readonly text: string;
}

/** A sink that remembers. */
function recorder(): { readonly sink: OutputSink; readonly got: Partial<Record<StreamName, string>>; ends: number } {
  const got: Partial<Record<StreamName, string>> = {};
  const state = {
    got,
    ends: 0,
    sink: {
      chunk: (stream: StreamName, bytes: Uint8Array) => {
        assert(bytes.length > 0);
        got[stream] = (got[stream] ?? "") + new TextDecoder("latin1").decode(bytes);
      },
      end: () => void state.ends++,
    },
  };
  return state;
}

function feed(sink: OutputSink, { stream, text }: Chunk): void {
  sink.chunk(stream, Uint8Array.from(text, (character) => character.charCodeAt(0)));
}

/** A text in pieces, cut at any places. */
function piecesOf(text: string, cuts: readonly number[]): readonly string[] {
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
  return [...places, text.length].map((place, index) => text.slice(places[index - 1] ?? 0, place))
    .filter((piece) => piece !== "");
}

const ascii = fc.string({ unit: fc.constantFrom("\x1b", "_", "o", "f", "\\", " ", "\n", "x", "\xff") });
const cuts = fc.array(fc.nat(), { maxLength: 8 });

test("the report is taken out however it is split, and what follows is the output, byte for byte", () => {
  const words = fc.uniqueArray(fc.constantFrom("openFiles", "processes", "as-root", "cpuSeconds"));
  const streams = fc.constantFrom<[StreamName, StreamName]>(["stderr", "stdout"], ["stdout", "stderr"]);
  fc.assert(
    fc.property(words, streams, ascii, ascii, cuts, fc.boolean(), (words, [own, other], after, beside, cuts, last) => {
      const seen = recorder();
      const reports: (readonly string[])[] = [];
      const filter = withoutReport(seen.sink, (words) => reports.push(words));
      const foreign = piecesOf(beside, cuts).map((text) => ({ stream: other, text }));
      const mine = piecesOf(report(...words) + after, cuts).map((text) => ({ stream: own, text }));
      for (const chunk of last ? [...mine, ...foreign] : [...foreign, ...mine]) feed(filter, chunk);
      filter.end();
      assertEquals(reports, [words]);
      assertEquals([seen.got[own] ?? "", seen.got[other] ?? "", seen.ends], [after, beside, 1]);
    }),
  );
});

test("output that is no report is output, at the latest at its end, which is passed on once", () => {
  const like = fc.oneof(ascii, fc.nat(REPORT_START.length).map((length) => REPORT_START.slice(0, length)));
  fc.assert(fc.property(fc.tuple(like, ascii).map((parts) => parts.join("")), cuts, (text, cuts) => {
    fc.pre(!(text.startsWith(REPORT_START) && text.includes(REPORT_END)));
    const seen = recorder();
    const filter = withoutReport(seen.sink, () => assert(false, "there is no report"));
    for (const piece of piecesOf(text, cuts)) feed(filter, { stream: "terminal", text: piece });
    filter.end();
    assertEquals([seen.got.terminal ?? "", seen.ends], [text, 1]);
  }));
});

test("once a stream has begun with output no report is looked for in it, and the report frees the other one", () => {
  const late = recorder();
  const filter = withoutReport(late.sink, () => assert(false, "it is not at the beginning"));
  feed(filter, { stream: "stderr", text: "x" });
  feed(filter, { stream: "stderr", text: report("openFiles") });
  assertEquals(late.got.stderr, `x${report("openFiles")}`);
  const seen = recorder();
  const other = withoutReport(seen.sink, () => {});
  feed(other, { stream: "stdout", text: REPORT_START.slice(0, 2) });
  assertEquals(seen.got, {});
  feed(other, { stream: "stderr", text: report("openFiles") });
  assertEquals(seen.got, { stdout: REPORT_START.slice(0, 2) });
});

test("a sequence that never ends is not held back for ever", () => {
  const seen = recorder();
  const filter = withoutReport(seen.sink, () => assert(false, "there is no report"));
  const text = REPORT_START + " x".repeat(200);
  for (const piece of piecesOf(text, [1, 20, 100, 300])) feed(filter, { stream: "stderr", text: piece });
  assertEquals(seen.got.stderr, text);
});

for (const pty of [false, true]) {
  test(`what the shell could not set is a warning of the first answer, in the background too, pty: ${pty}`, async () => {
    const bench = open();
    const limits = { processes: 50, openFiles: 64 };
    const { answer, child } = await startLimited(bench, { limits, pty, background: true }, "as-root", "openFiles");
    const { details, text } = await answer;
    assert(details.status === "running");
    const warnings = [
      "limits.openFiles is not in force: bash could not set it",
      "limits.processes may not hold: the kernel holds no command of root to it",
    ];
    assertEquals([details.warnings, details.tail], [warnings, ""]);
    for (const warning of warnings) assertStringIncludes(text, `\n[${warning}]`);
    child.print("out\n");
    child.end(0);
    await settle();
    const last = await act(bench.agent, { action: "poll", sessionId: details.sessionId });
    assertEquals([last.output, last.text], ["out\n", "out\n[completed: exit code 0]"]); // told once
  });
}

test("a report that is late is told at the end, and the answer waits for it no longer than 5 s", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { limits: { openFiles: 64 }, background: true });
  await bench.clock.advance(5_000);
  const { details } = await answer;
  assert(details.status === "running");
  assertEquals(details.warnings, []);
  child.print(report("openFiles"), "stderr");
  child.end(0);
  await settle();
  const { text } = await act(bench.agent, { action: "poll", sessionId: details.sessionId });
  assertStringIncludes(text, "[limits.openFiles is not in force: bash could not set it]");
  assertEquals(bench.clock.pending, 1); // its time to live
});

test("the answer waits for no report of a shell that has ended, although its output goes on", async () => {
  const bench = open();
  const { answer, child } = await start(bench, { limits: { openFiles: 64 }, background: true });
  child.exit(2);
  assertEquals(await answeredAfter(bench, answer), 0);
});

test("a report that comes after an abort is told by the session that could not be ended", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { signal, abort } = countingSignal();
  const { answer, child } = await start(bench, { limits: { openFiles: 64 } }, { signal });
  child.ignores = ["SIGTERM", "SIGKILL"];
  abort();
  await settle();
  child.print(report("openFiles"), "stderr");
  await bench.clock.advance(20_000);
  await assertRejects(() => answer, AbortError);
  const { text } = await act(bench.agent, { action: "poll", sessionId: child.spec.sessionId });
  assertStringIncludes(text, "[limits.openFiles is not in force: bash could not set it]");
});

test("E32 an abort does not wait for the report", async () => {
  for (const background of [false, true]) {
    const bench = open();
    const { signal, abort, listeners } = countingSignal();
    const { answer, child } = await start(bench, { limits: { openFiles: 64 }, background }, { signal });
    abort("enough");
    assertLessOrEqual(await answeredAfter(bench, answer), 100);
    await assertRejects(() => answer, AbortError);
    assertEquals([child.signals[0], listeners(), bench.clock.pending], ["SIGTERM group", 0, 0]);
  }
});

test("without a report the answer says that nobody knows", async () => {
  const { answer, child } = await start(open(), { limits: { openFiles: 64 } });
  child.end(2);
  const { details } = await ended(answer);
  assertEquals(details.warnings, ["its limits may not have been in force: bash did not report on them"]);
});

test("a command without limits waits for nothing, and output that looks like a report is output", async () => {
  const bench = open();
  const { answer, child } = await start(bench);
  child.print(report("openFiles"));
  child.end(0);
  const { details } = await ended(answer);
  assertEquals([details.warnings, details.limit], [[], null]);
});

// what is printed

test("exactly the first bytes are passed on, and the first one too many is told once", () => {
  const chunks = fc.array(fc.record({ stream: fc.constantFrom<StreamName>("stdout", "stderr"), text: ascii }));
  fc.assert(fc.property(chunks, fc.integer({ min: 1, max: 40 }), (chunks, limit) => {
    const passed: string[] = [];
    let told = 0;
    const sink: OutputSink = { chunk: (_, bytes) => void passed.push(...[...bytes].map(String)), end: () => {} };
    const counter = withOutputLimit(sink, limit, () => void told++);
    for (const chunk of chunks) feed(counter, chunk);
    const all = [...chunks.map(({ text }) => text).join("")].map((character) => String(character.charCodeAt(0)));
    assertEquals(passed, all.slice(0, limit));
    assertEquals(told, all.length > limit ? 1 : 0);
  }));
});

const LIMITED: ExecConfig = { limits: { outputBytes: 10 } };

test("E34 past outputBytes the tree is ended by the ladder, and every answer says by which limit", async () => {
  const bench = open({ ...LIMITED, cleanupMs: 60_000 });
  const { id, child } = await background(bench);
  child.ignores = ["SIGTERM"];
  child.print("12345678");
  child.print("9abcdef");
  child.print("never seen");
  await settle();
  assertEquals(child.signals, ["SIGTERM group", "SIGCONT group"]);
  const during = await act(bench.agent, { action: "log", sessionId: id });
  assertStringIncludes(during.text, "123456789a");
  assertEquals(during.status, "running");
  await bench.clock.advance(5_000);
  const expected = { name: "outputBytes", evidence: "counted" };
  const [listed] = (await act(bench.agent, { action: "list" })).sessions;
  const answers = [
    await act(bench.agent, { action: "poll", sessionId: id }),
    await act(bench.agent, { action: "log", sessionId: id }),
    await act(bench.agent, { action: "kill", sessionId: id }),
  ];
  for (const { status, ok, reason, signal, limit, text } of answers) {
    assertEquals([status, ok, reason, signal, limit], ["killed", false, "killed", "SIGKILL", expected]);
    assertStringIncludes(
      text,
      "killed, ended by SIGKILL; it printed more than limits.outputBytes 10, what came after that is dropped",
    );
  }
  assertEquals(listed?.limit, expected);
  assertEquals(answers[0]?.text.split("\n")[0], "123456789a");
  await bench.clock.advance(60_000);
  const { text } = await bench.agent.process({ action: "poll", sessionId: id });
  assertStringIncludes(text, "killed, ended by SIGKILL; it printed more than limits.outputBytes 10");
});

test("E34 a command that has printed too much before its start is over is ended all the same", async () => {
  const bench = open(LIMITED);
  bench.spawner.early = "more than ten bytes";
  const { answer, child } = await start(bench);
  await bench.clock.advance(100);
  const { status, output, limit } = (await ended(answer)).details;
  assertEquals([status, output, limit?.name], ["killed", "more than ", "outputBytes"]);
  assertEquals(child.signals[0], "SIGTERM group");
});

test("outputBytes is not passed by as many bytes, the last of which may be half a character", async () => {
  const bench = open(LIMITED);
  const { answer, child } = await start(bench);
  child.print("12345678€");
  child.end(0);
  const { details } = await ended(answer);
  assertEquals([details.status, details.reason], ["killed", "killed"]);
  assertEquals(details.output, "12345678\ufffd");
  const other = await start(bench);
  other.child.print("1234567€");
  other.child.end(0);
  assertEquals((await ended(other.answer)).details.ok, true);
});

for (const [what, order] of [["before its exit is known", 0], ["after its exit", 1]] as const) {
  test(`a command that prints too much and exits by itself was killed all the same, ${what}`, async () => {
    const { answer, child } = await start(open(LIMITED));
    if (order === 0) child.print("12345678901");
    child.exit(0);
    await settle();
    if (order === 1) child.print("12345678901");
    child.closeOutput();
    await settle();
    const { details, text } = await ended(answer);
    const { status, ok, exitCode, reason, limit, warnings } = details;
    assertEquals([status, ok, exitCode, reason], ["killed", false, 0, "killed"]);
    assertEquals([limit?.evidence, warnings], ["counted", []]);
    assertStringIncludes(text, "[killed, exited with code 0; it printed more than limits.outputBytes 10");
  });
}

test("E27 the first cause wins: what is printed during a timeout's ladder is cut, and the reason stays", async () => {
  const bench = open(LIMITED);
  const { answer, child } = await start(bench, { timeout: 1 });
  child.ignores = ["SIGTERM"];
  await bench.clock.advance(1_000);
  child.print("12345678901");
  await bench.clock.advance(5_000);
  const { details } = await ended(answer);
  assertEquals([details.status, details.reason, details.limit], ["failed", "timeout", null]);
  assertStringIncludes(details.warnings.join("\n"), "it printed more than limits.outputBytes 10");
});

test("E35 what a left-behind child prints past outputBytes after the end ends that child", async () => {
  const bench = open(LIMITED, { host: { inspects: true } });
  const { id, child } = await background(bench);
  child.started.push({ pid: 77, name: "server", inGroup: true });
  child.exit(0);
  await bench.clock.advance(1_000);
  const before = await act(bench.agent, { action: "poll", sessionId: id });
  assertEquals([before.status, before.limit, before.survivors.length], ["completed", null, 1]);
  child.print("12345678901");
  await bench.clock.advance(1_000);
  assertEquals(child.started, []);
  const after = await act(bench.agent, { action: "log", sessionId: id });
  assertEquals([after.status, after.exitCode, after.limit], ["completed", 0, null]);
  assertStringIncludes(after.text, "1234567890\n");
  assertStringIncludes(after.text, "exit code 0, it printed more than limits.outputBytes 10");
});

// which limit ended it

interface End {
  readonly limits: Limits;
  readonly exit: Parameters<FakeChild["end"]>[0];
  readonly prints?: string;
  readonly limit: readonly [LimitName, string] | null;
}

const ALL: Limits = { memoryBytes: 2 ** 30, cpuSeconds: 2, processes: 50, openFiles: 64, outputBytes: 10_000 };
const { cpuSeconds: _, ...NO_CPU } = ALL;

const ENDS: readonly End[] = [
  { limits: ALL, exit: "SIGXCPU", limit: ["cpuSeconds", "signal"] },
  { limits: ALL, exit: 152, limit: ["cpuSeconds", "signal"] },
  { limits: NO_CPU, exit: "SIGXCPU", limit: null },
  { limits: NO_CPU, exit: 152, limit: null },
  {
    limits: ALL,
    exit: 24,
    prints: "ksh: eval: line 1: 23683: Exceeded CPU time limit",
    limit: ["cpuSeconds", "output"],
  },
  { limits: ALL, exit: 2, prints: "make: *** [all] CPU time limit exceeded", limit: ["cpuSeconds", "output"] },
  { limits: ALL, exit: 0, prints: "sort: too many open files", limit: null },
  { limits: ALL, exit: null, prints: "sort: too many open files", limit: null },
  { limits: ALL, exit: 3, prints: "no such thing", limit: null },
  { limits: ALL, exit: "SIGKILL", limit: null },
  { limits: ALL, exit: 1, prints: "OSError: [Errno 24] Too many open files: 'x'", limit: ["openFiles", "output"] },
  { limits: { cpuSeconds: 5 }, exit: 1, prints: "OSError: [Errno 24] Too many open files", limit: null },
  { limits: ALL, exit: 1, prints: "code: 'EMFILE',\n  syscall: 'open'", limit: ["openFiles", "output"] },
  { limits: ALL, exit: 1, prints: "Traceback\nMemoryError", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 12, prints: "Out of memory!", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 1, prints: "tail: memory exhausted", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 2, prints: "bash: xrealloc: cannot allocate 200704000 bytes", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: "SIGABRT", prints: "terminate called: std::bad_alloc", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 133, prints: "# Fatal process OOM in Failed to reserve", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 1, prints: "java.lang.OutOfMemoryError: Java heap space", limit: ["memoryBytes", "output"] },
  {
    limits: ALL,
    exit: 254,
    prints: "bash: fork: retry: Resource temporarily unavailable",
    limit: ["processes", "output"],
  },
  { limits: ALL, exit: 2, prints: "dash: 1: Cannot fork", limit: ["processes", "output"] },
  {
    limits: ALL,
    exit: 1,
    prints: "zsh:1: fork failed: resource temporarily unavailable",
    limit: ["processes", "output"],
  },
  { limits: ALL, exit: 1, prints: "RuntimeError: can't start new thread", limit: ["processes", "output"] },
  {
    limits: { memoryBytes: 2 ** 30 },
    exit: 1,
    prints: "RuntimeError: can't start new thread",
    limit: ["memoryBytes", "output"],
  },
  { limits: ALL, exit: 1, prints: "too many open files, retrying\nMemoryError", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 1, prints: "MemoryError\ntoo many open files\nMemoryError", limit: ["memoryBytes", "output"] },
  { limits: ALL, exit: 1, prints: `MemoryError${"\nfine".repeat(1_000)}`, limit: null },
  { limits: {}, exit: 152, prints: "Too many open files", limit: null },
];

for (const { limits, exit, prints = "", limit } of ENDS) {
  const what = `${exit} after ${JSON.stringify(prints.slice(0, 50))} under ${Object.keys(limits).length} limits`;
  test(`E26 ${what} is ${limit === null ? "no limit's doing" : `${limit[0]} by ${limit[1]}`}`, async () => {
    const { answer, child } = await startLimited(open(), { limits });
    child.print(prints);
    child.end(exit);
    const { details, text } = await ended(answer);
    assertEquals(details.limit, limit === null ? null : { name: limit[0], evidence: limit[1] });
    if (limit !== null) assertStringIncludes(text, `limits.${limit[0]} ${limits[limit[0]]}`);
    assertEquals(text.includes("limits.") || text.includes("probably"), limit !== null);
  });
}

test("E27 a command that is killed, timed out or aborted was not ended by what it says", async () => {
  const bench = open();
  const { answer, child } = await startLimited(bench, { limits: ALL, background: true });
  const { details } = await answer;
  assert(details.status === "running");
  child.print("MemoryError\n");
  await act(bench.agent, { action: "kill", sessionId: details.sessionId });
  await settle();
  const { status, limit } = await act(bench.agent, { action: "poll", sessionId: details.sessionId });
  assertEquals([status, limit], ["killed", null]);
});
