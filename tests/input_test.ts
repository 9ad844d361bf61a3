/**
 * Writing to a session: in order, bounded, and with the truth about what became of it (spec P31–P35, R5).
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { AbortError, type ProcessParams, type WriteDetails } from "../mod.ts";
import { createInputQueue } from "../src/session/input.ts";
import type { Session } from "../src/session/session.ts";
import { act, answeredAfter, background, type Bench, open, refused, type Running } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

type Typing = "write" | "send-keys" | "submit" | "paste";
type Started = Bench & Running & {
  readonly type: (action: Typing, params?: Partial<ProcessParams>) => Promise<WriteDetails & { readonly text: string }>;
};

const MIB = 1_048_576;

async function session(pty = false): Promise<Started> {
  const bench = open();
  const running = await background(bench, { pty });
  const type: Started["type"] = (action, params = {}) => act(bench.agent, { ...params, action, sessionId: running.id });
  return { ...bench, ...running, type };
}

test("P31 [84] write hands text and bytes over as they are and says how many were taken", async () => {
  const { type, child } = await session();
  const { accepted, queued, refused: left, eof, text } = await type("write", { data: "hé\n" });
  assertEquals([accepted, queued, left, eof, text], [4, 0, 0, false, "Wrote 4 bytes."]);
  await type("write", { base64: "AAEC" });
  await type("write", { data: "" });
  assertEquals(child.writes, ["hé\n", "\x00\x01\x02"]);
});

test("P31 eof ends stdin after what was written, and then nothing can be written", async () => {
  const { type, child, agent, id } = await session();
  assertEquals((await type("write", { data: "x", eof: true })).text, "Wrote 1 byte and ended the input.");
  assertEquals([child.writes, child.inputEnded], [["x"], true]);
  const { reason, text } = await refused(agent, { action: "write", sessionId: id, data: "y" });
  assertEquals(reason, "not-possible");
  assertStringIncludes(text, "has been ended by eof: true");
});

test("P31 eof on a terminal types ^D: once at the start of a line, twice after other text", async () => {
  for (const [data, end] of [["", "\x04"], ["line\n", "\x04"], ["line\r", "\x04"], ["word", "\x04\x04"]] as const) {
    const { type, child } = await session(true);
    await type("write", { data, eof: true });
    assertEquals([child.writes.join(""), child.inputEnded], [data + end, false]);
  }
});

test("P31 [84] eof on a terminal knows of text that was typed before, by whatever action", async () => {
  const earlier: readonly (readonly [Parameters<Started["type"]>[0], Parameters<Started["type"]>[1], string])[] = [
    ["write", { data: "word" }, "\x04\x04"],
    ["paste", { text: "word" }, "\x04\x04"],
    ["send-keys", { keys: ["a"] }, "\x04\x04"],
    ["send-keys", { literal: "word", keys: ["C-d"] }, "\x04"],
    ["send-keys", { literal: "word", keys: ["C-u"] }, "\x04"],
  ];
  for (const [action, params, end] of earlier) {
    const { type, child } = await session(true);
    await type(action, params);
    const before = child.writes.length;
    await type("write", { eof: true });
    assertEquals(child.writes.slice(before).join(""), end);
  }
});

test("P31 [89] a line is as long as all the writes it came in, up to the Enter that ends it", async () => {
  const { type } = await session(true);
  const warnings: number[] = [];
  for (const data of ["a".repeat(4_095), "b", "c\r", "d".repeat(4_095)]) {
    warnings.push((await type("write", { data })).warnings.length);
  }
  assertEquals(warnings, [0, 1, 1, 0]);
});

test("R5 [88] a write waits while the child makes progress", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  const pending = bench.type("write", { data: "x".repeat(5 * 65_536) });
  for (const ms of [1_900, 3_800, 5_700, 7_600, 9_500]) bench.clock.timer(ms, () => bench.child.take(1));
  assertEquals(await answeredAfter(bench, pending), 9_500);
  const { accepted, queued } = await pending;
  assertEquals([accepted, queued, bench.child.writes.join("").length], [5 * 65_536, 0, 5 * 65_536]);
});

test("R5 after 2 s without progress it answers how much is queued; the child gets it later, in order", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  const pending = bench.type("write", { data: "first" });
  assertEquals(await answeredAfter(bench, pending), 2_000);
  const { accepted, queued, refused: left, text } = await pending;
  assertEquals([accepted, queued, left], [5, 5, 0]);
  assertStringIncludes(text, "5 of them wait: the program does not read at the moment");
  const next = bench.type("write", { data: "second" });
  bench.child.stdin = "takes";
  assertEquals((await next).queued, 0);
  assertEquals(bench.child.writes, ["first", "second"]);
});

test("R5 nothing is handed over, nor the end of the input, before the child has taken what was before", async () => {
  const bench = await session();
  const { child } = bench;
  child.stdin = "leaves";
  for (const params of [{ data: "one" }, { data: "two", eof: true }]) {
    await answeredAfter(bench, bench.type("write", params));
    assertEquals([child.writes, child.inputEnded], [["one"], false]);
  }
  child.stdin = "takes";
  await settle();
  assertEquals([child.writes, child.inputEnded], [["one", "two"], true]);
});

test("R5 what does not fit the queue of 1 MiB is refused, and the caller goes on from accepted", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  const data = Array.from({ length: MIB + 100 }, (_, index) => String.fromCharCode(97 + index % 26)).join("");
  const call = { action: "write", sessionId: bench.id } as const;
  const pending = bench.agent.process({ ...call, data });
  assertEquals(await answeredAfter(bench, pending), 2_000);
  const { details, text, isError } = await pending;
  assert("accepted" in details);
  assertEquals([details.accepted, details.queued, details.refused, isError], [MIB, MIB, 100, true]);
  assertStringIncludes(text, `go on from byte ${MIB}`);
  bench.child.stdin = "takes";
  await settle();
  await bench.type("write", { data: data.slice(details.accepted) });
  assertEquals(bench.child.writes.join("") === data, true);
});

test("R5 the queue is filled to its last byte", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  for (const [length, accepted] of [[MIB - 1, MIB - 1], [2, 1]] as const) {
    const pending = bench.agent.process({ action: "write", sessionId: bench.id, data: "x".repeat(length) });
    await answeredAfter(bench, pending);
    const { details } = await pending;
    assert("accepted" in details);
    assertEquals([details.accepted, details.refused], [accepted, length - accepted]);
  }
});

test("R5 what is longer than the queue is taken whole by a child that reads", async () => {
  const bench = await session();
  const { accepted, refused, queued } = await bench.type("write", { data: "x".repeat(3 * MIB + 1) });
  assertEquals([accepted, refused, queued], [3 * MIB + 1, 0, 0]);
});

test("R5 two writes at once do not mix", async () => {
  const { type, child } = await session();
  await Promise.all([type("write", { data: "a".repeat(200_000) }), type("write", { data: "b".repeat(200_000) })]);
  assertEquals(child.writes.join(""), "a".repeat(200_000) + "b".repeat(200_000));
});

test("P31 [83] a child that closes its stdin makes this write and all later ones fail, saying so", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  const pending = bench.agent.process({ action: "write", sessionId: bench.id, data: "x".repeat(300_000) });
  await settle();
  bench.child.stdin = "closed";
  const { isError, text } = await pending;
  assertEquals(isError, true);
  assertStringIncludes(text, "stdin closed by the process");
  const later = await refused(bench.agent, { action: "write", sessionId: bench.id, data: "y" });
  assertStringIncludes(later.text, "stdin closed by the process");
});

test("P31 what waits behind a write that fails is not handed over any more", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  const pending = bench.agent.process({ action: "write", sessionId: bench.id, data: "x".repeat(300_000) });
  await settle();
  bench.child.stdin = "closed"; // what waits fails
  bench.child.stdin = "takes";
  assertEquals([(await pending).isError, bench.child.writes.length], [true, 1]);
});

test("P31 a stdin that cannot be ended is broken, and that is all", async () => {
  const endInput = (): Promise<void> => Promise.reject(new Error("EPIPE"));
  const session = { facts: { pty: false }, input: "open", child: { endInput }, touch: () => {} } as Session;
  createInputQueue(session).end();
  await settle();
  assertEquals(session.input, "broken");
});

test("P31 [90] nothing can be typed into a session that has ended, and the failure states the exit", async () => {
  const bench = await session(true);
  bench.child.end(3);
  await settle();
  const calls = [{ action: "write", data: "x" }, { action: "submit" }, { action: "paste", text: "x" }, {
    action: "send-keys",
    keys: ["Enter"],
  }];
  for (const call of calls) {
    const { reason, text } = await refused(bench.agent, { ...call, sessionId: bench.id });
    assertEquals(reason, "not-possible");
    assertStringIncludes(text, "exit code 3");
  }
});

test("P31 a write that waits when the session ends fails, it does not hang", async () => {
  const bench = await session();
  bench.child.stdin = "leaves";
  const pending = bench.agent.process({ action: "write", sessionId: bench.id, data: "x" });
  bench.clock.timer(500, () => bench.child.end(0));
  assertEquals(await answeredAfter(bench, pending), 500);
  assertEquals((await pending).isError, true);
});

test("P31 a session that was started with its stdin closed says how to open it", async () => {
  const bench = open();
  const { id } = await background(bench, { stdin: "closed" });
  assertStringIncludes(
    (await refused(bench.agent, { action: "write", sessionId: id, data: "x" })).text,
    'stdin: "open"',
  );
});

test("P31 [93] what was written as sensitive does not show in poll, log and list, however its echo is split", async () => {
  const { type, child, agent, id } = await session(true);
  const { text } = await type("write", { data: "hunter2\rs3cret-two\r", sensitive: true });
  for (const piece of ["Password: hun", "ter2\r\ns3cr", "et-two\r\nhunter2 again"]) child.print(piece);
  child.end(0);
  await settle();
  const shown = JSON.stringify([
    text,
    await act(agent, { action: "list" }),
    await act(agent, { action: "log", sessionId: id }),
    await act(agent, { action: "poll", sessionId: id }),
  ]);
  for (const secret of ["hunter2", "s3cret-two"]) assertEquals(shown.includes(secret), false, shown);
  assertStringIncludes(shown, "Password: [redacted]");
});

test("P31 what only looks like the beginning of a secret is output, at the latest at the end", async () => {
  const { type, child, agent, id } = await session();
  await type("write", { data: "hunter2\n", sensitive: true });
  child.print("hunt");
  child.end(0);
  await settle();
  assertEquals((await act(agent, { action: "log", sessionId: id })).lines, [{ number: 0, text: "hunt" }]);
});

test("P31 [89] a line that a terminal would cut is warned of, one that fits or goes to a pipe is not", async () => {
  const terminal = await session(true);
  assertEquals((await terminal.type("write", { data: `${"a".repeat(4_095)}\r` })).warnings, []);
  const { warnings, accepted } = await terminal.type("write", { data: `x\r${"a".repeat(4_096)}\r` });
  assertEquals([warnings.length, accepted], [1, 4_099]);
  assertStringIncludes(warnings[0] ?? "", "4096 bytes");
  assertEquals((await (await session()).type("write", { data: "a".repeat(9_000) })).warnings, []);
});

test("P32 [104] each key is its own write, delayMs apart; Escape is paced so that it is not read as Alt", async () => {
  const bench = await session(true);
  const slow = bench.type("send-keys", { keys: ["Down", "j", "Enter"], delayMs: 200 });
  assertEquals(await answeredAfter(bench, slow), 400);
  assertEquals(bench.child.writes, ["\x1b[B", "j", "\r"]);
  const escape = bench.type("send-keys", { keys: ["Escape", "j"] });
  assert(await answeredAfter(bench, escape) >= 100);
  assertEquals(bench.child.writes.slice(3), ["\x1b", "j"]);
});

test("P32 R12 literal comes first, then hex, then keys", async () => {
  const { type, child } = await session(true);
  await type("send-keys", { keys: ["C-c"], hex: "41 42", literal: "Enter" });
  assertEquals(child.writes, ["Enter", "AB", "\x03"]);
});

test("P32 [102] arrows follow the mode the program has set", async () => {
  const { type, child } = await session(true);
  child.print("\x1b[?1h");
  await type("send-keys", { keys: ["Up"] });
  child.print("\x1b[?1l");
  await type("send-keys", { keys: ["Up"] });
  assertEquals(child.writes, ["\x1bOA", "\x1b[A"]);
});

test("P15 P32 an abort while keys are paced ends the call at once and leaves no timer", async () => {
  const { agent, id, clock, child } = await session(true);
  const timers = clock.pending;
  const controller = new AbortController();
  const call = { action: "send-keys", sessionId: id, keys: ["a", "b"], delayMs: 5_000 } as const;
  const pending = agent.process(call, { signal: controller.signal });
  pending.catch(() => {});
  await settle();
  controller.abort();
  await assertRejects(() => pending, AbortError);
  assertEquals([child.writes, clock.pending], [["a"], timers]);
});

test("P15 P33 a call that has been aborted writes nothing, not even after its pause", async () => {
  const { agent, id, child, clock, type } = await session(true);
  const call = (params: ProcessParams, signal: AbortSignal) => agent.process({ ...params, sessionId: id }, { signal });
  for (const params of [{ action: "write", data: "x" }, { action: "paste", text: "x" }] as const) {
    await assertRejects(() => call(params, AbortSignal.abort()), AbortError);
  }
  await type("write", { data: "text" });
  const controller = new AbortController();
  const submitting = call({ action: "submit" }, controller.signal);
  submitting.catch(() => {});
  await settle();
  controller.abort();
  await clock.advance(1_000);
  await assertRejects(() => submitting, AbortError);
  assertEquals(child.writes, ["text"]);
});

test("P32 [85] on pipes C-c, C-\\, C-z mean signals to the group and C-d the end of input", async () => {
  const { type, child } = await session();
  child.ignores = ["SIGINT", "SIGQUIT", "SIGTSTP"];
  const { text, eof } = await type("send-keys", { keys: ["C-c", "C-\\", "C-z", "C-d"] });
  assertEquals(child.signals, ["SIGINT group", "SIGQUIT group", "SIGTSTP group"]);
  assertEquals([child.writes, child.inputEnded, eof], [[], true, true]);
  assertStringIncludes(text, "SIGINT sent");
});

test("P32 on pipes any other key refuses the whole call", async () => {
  const { agent, id, child } = await session();
  for (const params of [{ keys: ["C-c", "Up"] }, { literal: "x" }, { hex: "41" }]) {
    assertEquals((await refused(agent, { action: "send-keys", sessionId: id, ...params })).reason, "invalid");
  }
  assertEquals([child.signals, child.writes], [[], []]);
});

test("P33 [105] submit is one CR by itself, apart from the text before it; on pipes one LF", async () => {
  const terminal = await session(true);
  await terminal.clock.advance(1_000);
  await terminal.type("write", { data: "text" });
  const pending = terminal.type("submit");
  assert(await answeredAfter(terminal, pending) >= 20);
  assertEquals(terminal.child.writes, ["text", "\r"]);
  const pipes = await session();
  await pipes.type("submit");
  assertEquals(pipes.child.writes, ["\n"]);
});

test("P34 [111] paste is marked when the program asked for it, as told, and never on pipes; the answer says which", async () => {
  const rows = [
    { pty: true, asked: false, bracketed: undefined, marked: false },
    { pty: true, asked: true, bracketed: undefined, marked: true },
    { pty: true, asked: true, bracketed: false, marked: false },
    { pty: true, asked: false, bracketed: true, marked: true },
    { pty: false, asked: false, bracketed: undefined, marked: false },
  ];
  for (const { pty, asked, bracketed, marked } of rows) {
    const { type, child } = await session(pty);
    if (asked) child.print("\x1b[?2004h");
    const answer = await type("paste", { text: "one two", ...(bracketed !== undefined && { bracketed }) });
    assertEquals([answer.bracketed, child.writes[0]?.startsWith("\x1b[200~")], [marked, marked]);
    assertStringIncludes(answer.text, marked ? "Marked as a paste." : "Not marked as a paste.");
  }
});

test("P35 resize reaches the terminal; after the end it is a no-op, without a terminal an error", async () => {
  const { agent, id, child } = await session(true);
  const call = { action: "resize", sessionId: id, cols: 80, rows: 24 } as const;
  assertEquals((await act(agent, call)).resized, true);
  child.end(0);
  await settle();
  assertEquals([(await act(agent, call)).resized, child.sizes], [false, [{ cols: 80, rows: 24 }]]);
  const pipes = await session();
  assertStringIncludes((await refused(pipes.agent, { ...call, sessionId: pipes.id })).text, "pty: true");
});
