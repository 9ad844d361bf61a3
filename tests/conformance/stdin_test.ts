/**
 * What is written to a session reaches its program, all of it, or the answer says what did not: section F of the cases
 * from the field.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { createHash } from "node:crypto";
import {
  assert,
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertLessOrEqual,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { Agent, FailureDetails, ProcessParams, ToolAnswer, WriteDetails } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { background, eventually, log, open, poll, pollToEnd, pollUntil, repeat, runToEnd } from "./agent.ts";
import { closing, test } from "../closing.ts";
import { posix, terminal as pty } from "./machine.ts";

const proc = posix || skipUnless(existsSync("/proc/self/syscall"), "who reads its input is asked of /proc");

/** Tells "soon" from "when the program ends". */
const SOON_MS = 10_000;
const MEBIBYTE = 1_048_576;

type Typing = ProcessParams & { readonly action: "write" | "submit" | "paste" | "send-keys" };

/** Types something that is expected to be taken. */
async function type(agent: Agent, params: Typing): Promise<WriteDetails & { text: string }> {
  const { details, text } = await agent.process(params);
  if (!("accepted" in details)) throw new Error(`Expected a write's answer but got: ${text}`);
  return { ...details, text };
}

/** Types something that is expected to be refused. */
async function refused(agent: Agent, params: Typing): Promise<ToolAnswer<FailureDetails>> {
  const { details, text, isError } = await agent.process(params);
  if (!("problems" in details)) throw new Error(`Expected a failure but got: ${text}`);
  assert(isError, text);
  return { details, text, isError };
}

const write = (sessionId: string, data: string): Typing => ({ action: "write", sessionId, data });

const untilInput = (sessionId: string): ProcessParams & { readonly action: "poll" } => ({
  action: "poll",
  sessionId,
  timeout: 30_000,
  until: "input",
});

/** Text in which no two stretches are alike, so that a lost, doubled or misplaced one shows. */
function numbered(bytes: number): string {
  let text = "";
  for (let index = 0; text.length < bytes; index++) text += `${index.toString(36)}\n`;
  return text.slice(0, bytes - 1) + "\n";
}

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");

/** One of each action that writes. */
function everyTyping(sessionId: string): readonly Typing[] {
  return [
    write(sessionId, "x\n"),
    { action: "write", sessionId, data: "", eof: true },
    { action: "submit", sessionId },
    { action: "paste", sessionId, text: "x" },
    { action: "send-keys", sessionId, keys: ["Enter"] },
    { action: "send-keys", sessionId, keys: ["C-d"] },
  ];
}

// [83] nobody reads any more

test(
  "P31 a program that closes its stdin is said to have done so, and the host lives [83]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    await repeat(8, async () => {
      const { id } = await background(bench.agent, { command: "exec 0<&-; echo ready; sleep 9", background: true });
      await pollUntil(bench.agent, id, "ready");
      const began = Date.now();
      for (let round = 0; round < 3; round++) {
        const { details, text } = await refused(bench.agent, write(id, "x".repeat(MEBIBYTE)));
        assertEquals(details.reason, "not-possible");
        assertStringIncludes(text, "stdin closed by the process");
      }
      assertLess(Date.now() - began, SOON_MS);
      assertEquals((await log(bench.agent, id)).stdin, "closed");
      assertEquals((await poll(bench.agent, id)).status, "running");
    });
  },
);

test("P31 a program that ends after one byte of 10 MB is no success and no crash [83]", { skip: posix }, async () => {
  const bench = closing(open());
  await repeat(8, async () => {
    const { id } = await background(bench.agent, { command: "head -c1 >/dev/null", background: true });
    const { text } = await refused(bench.agent, write(id, "x".repeat(10_000_000)));
    assertMatch(text, /stdin closed by the process/);
    const { last } = await pollToEnd(bench.agent, id);
    assertEquals(last.exitCode, 0);
    assertStringIncludes((await refused(bench.agent, write(id, "x"))).text, "it has ended (completed: exit code 0)");
  });
});

test("E38 a program that ends while it is written to breaks nothing [83]", { skip: posix }, async () => {
  const bench = closing(open());
  await repeat(20, async (round) => {
    const { id } = await background(bench.agent, { command: `sleep 0.${round % 4}; exit 3`, background: true });
    const { text, details } = await bench.agent.process(write(id, "x".repeat(5 * MEBIBYTE)));
    assert("problems" in details, text);
    const { last } = await pollToEnd(bench.agent, id);
    assertEquals(last.exitCode, 3);
  });
});

test("E38 a terminal that ends while it is written to breaks nothing [83]", { skip: pty }, async () => {
  const bench = closing(open());
  await repeat(20, async (round) => {
    const command = `stty raw -echo; sleep 0.${round % 4}; exit 3`;
    const { id } = await background(bench.agent, { command, background: true, pty: true });
    await bench.agent.process(write(id, "x".repeat(MEBIBYTE)));
    const { last } = await pollToEnd(bench.agent, id);
    assertEquals(last.exitCode, 3);
  });
});

// [84] pipe sessions

test("P31 a session on pipes is written to, and eof ends its input [84]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id, details } = await background(bench.agent, { command: "cat" });
  assertEquals(details.stdin, "open");
  const first = await type(bench.agent, write(id, "hi\n"));
  assertEquals([first.accepted, first.queued, first.refused, first.eof], [3, 0, 0, false]);
  assertEquals(await pollUntil(bench.agent, id, "hi\n"), "hi\n");
  const last = await type(bench.agent, { action: "write", sessionId: id, data: "", eof: true });
  assertEquals([last.accepted, last.eof], [0, true]);
  const { last: end } = await pollToEnd(bench.agent, id);
  assertEquals([end.status, end.exitCode], ["completed", 0]);
});

test("P31 eof by itself ends a program on a terminal, also after an unfinished line [84]", { skip: pty }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "stty -echo; echo ready; cat", background: true, pty: true });
  await pollUntil(bench.agent, id, "ready");
  await type(bench.agent, write(id, "unfinished"));
  await type(bench.agent, { action: "write", sessionId: id, eof: true });
  assertEquals((await pollToEnd(bench.agent, id)).output.trim(), "unfinished");
});

test("P31 what is written before eof arrives before it, however much it is [84]", { skip: posix }, async () => {
  const bench = closing(open());
  const text = numbered(900_000);
  const { id } = await background(bench.agent, { command: "md5sum" });
  const { accepted, eof } = await type(bench.agent, { action: "write", sessionId: id, data: text, eof: true });
  assertEquals([accepted, eof], [900_000, true]);
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(text));
});

test("P31 bytes are written as base64 or as text, either one exactly [84]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "od -An -v -tx1" });
  await type(bench.agent, { action: "write", sessionId: id, base64: "AP+ACg==" });
  const { accepted } = await type(bench.agent, { action: "write", sessionId: id, data: "é😀\0", eof: true });
  assertEquals(accepted, 7);
  const { output } = await pollToEnd(bench.agent, id);
  assertEquals(output.trim(), "00 ff 80 0a c3 a9 f0 9f 98 80 00");
});

test("P33 P34 submit is a line feed on pipes, and a paste is the text itself [84]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "read a; read b; read c; echo [$a][$b][$c]" });
  await type(bench.agent, write(id, "one"));
  await type(bench.agent, { action: "submit", sessionId: id });
  const { bracketed } = await type(bench.agent, { action: "paste", sessionId: id, text: "two\nthree" });
  assertEquals(bracketed, false);
  await type(bench.agent, { action: "submit", sessionId: id });
  assertEquals((await pollToEnd(bench.agent, id)).output, "[one][two][three]\n");
});

// [85] control keys without a terminal

const SIGNAL_KEYS = [["C-c", "SIGINT"], ["C-\\", "SIGQUIT"], ["C-z", "SIGTSTP"]] as const;

for (const [key, signal] of SIGNAL_KEYS) {
  test(
    `P32 ${key} on pipes is ${signal} to the group, and the program's own exit stands [85]`,
    { skip: posix },
    async () => {
      const bench = closing(open());
      const name = signal.slice(3);
      const command = `trap 'echo ${name}; exit 42' ${name}; (trap 'echo child; exit' ${name}; echo ready; ` +
        "while :; do sleep 0.05; done) & while :; do sleep 0.05; done";
      const { id } = await background(bench.agent, { command, background: true });
      let output = await pollUntil(bench.agent, id, "ready");
      const { text, accepted } = await type(bench.agent, { action: "send-keys", sessionId: id, keys: [key] });
      assertStringIncludes(text, `${signal} sent`);
      assertEquals(accepted, 0);
      const { output: rest, last } = await pollToEnd(bench.agent, id);
      output += rest;
      assertStringIncludes(output, `${name}\n`);
      assertStringIncludes(output, "child\n");
      assertEquals([last.status, last.exitCode, last.signal, last.reason], ["completed", 42, null, "exit"]);
    },
  );
}

test("P32 C-d on pipes is the end of input [85]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "wc -c" });
  await type(bench.agent, write(id, "four"));
  const { eof } = await type(bench.agent, { action: "send-keys", sessionId: id, keys: ["C-d"] });
  assertEquals(eof, true);
  assertEquals((await pollToEnd(bench.agent, id)).output.trim(), "4");
});

test("P32 C-c reaches a session whose stdin is closed, and one whose end has come is a no-op [85]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const command = "trap 'exit 42' INT; echo ready; while :; do sleep 0.05; done";
  const { id } = await background(bench.agent, { command, background: true, stdin: "closed" });
  await pollUntil(bench.agent, id, "ready");
  await type(bench.agent, { action: "send-keys", sessionId: id, keys: ["C-c"] });
  assertEquals((await pollToEnd(bench.agent, id)).last.exitCode, 42);
  const { text, exitCode } = await type(bench.agent, { action: "send-keys", sessionId: id, keys: ["C-c"] });
  assertEquals(exitCode, 42);
  assertMatch(text, /not sent, it has ended.*exit code 42/);
});

test(
  "P32 another key on pipes is an error that says what to use, and nothing is sent [85]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { id } = await background(bench.agent, { command: "cat" });
    for (const keys of [["Up"], ["C-a"], ["x"], ["C-d", "Enter"]]) {
      const { text } = await refused(bench.agent, { action: "send-keys", sessionId: id, keys });
      assertStringIncludes(text, "pty: true");
    }
    assertEquals((await log(bench.agent, id)).stdin, "open");
  },
);

// [86] who gets an open stdin

test("E7 a command in the foreground that reads stdin finds it at its end [86]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const [command, output] of [["cat", ""], ["wc -c", "0"], ["sh -s; echo $?", "0"], ["cat; cat; echo ok", "ok"]]) {
    const { details } = await runToEnd(bench.agent, { command: command as string });
    assertEquals([details.ok, details.output.trim()], [true, output]);
  }
});

test("E7 P30 whoever means to talk to it gets an open stdin, and is told who waits for it [86]", {
  skip: proc,
}, async () => {
  const bench = closing(open());
  for (const how of [{ yieldMs: 200 }, { background: true }, { background: true, stdin: "open" }] as const) {
    const { id } = await background(bench.agent, { command: "echo ready; sort", ...how });
    const { details, text } = await bench.agent.process(untilInput(id));
    assert("wokenBy" in details, text);
    assertEquals([details.wokenBy, details.waitingForInput, details.evidence], ["input", true, "blocked-in-read"]);
    assertMatch(text, /waiting for input: sort is reading it \(.*eof: true/);
    assertEquals((await log(bench.agent, id)).waitingForInput, true);
    const list = await bench.agent.process({ action: "list" });
    assert("sessions" in list.details && list.details.sessions[0]?.waitingForInput === true, list.text);
    await type(bench.agent, { action: "write", sessionId: id, data: "b\na\n", eof: true });
    const { output, last } = await pollToEnd(bench.agent, id);
    assertEquals([output, last.ok, last.waitingForInput], ["a\nb\n", true, false]);
  }
});

test("R8 a poll until input has the prompt as well, however quickly the program gets there [86]", {
  skip: proc,
}, async () => {
  const bench = closing(open());
  await repeat(60, async () => {
    const { id } = await background(bench.agent, { command: "echo ready; sort", background: true });
    const { details, text } = await bench.agent.process(untilInput(id));
    assert("output" in details, text);
    assertEquals([details.output, details.wokenBy, details.waitingForInput], ["ready\n", "input", true]);
    await type(bench.agent, { action: "write", sessionId: id, data: "", eof: true });
  }, 1);
});

test('E7 stdin: "closed" holds in the background too, and a write says so [86]', { skip: posix }, async () => {
  const bench = closing(open());
  const { id, details } = await background(bench.agent, {
    command: "wc -c; sleep 9",
    background: true,
    stdin: "closed",
  });
  assertEquals(details.stdin, "closed");
  assertEquals((await pollUntil(bench.agent, id, "\n")).trim(), "0");
  for (const typing of everyTyping(id)) {
    const { text } = await refused(bench.agent, typing);
    assertMatch(text, /stdin closed|pty: true/);
  }
  assertEquals((await poll(bench.agent, id)).status, "running");
});

test("E7 a command reads the script it is given, whatever came before it [86]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "cat </dev/null; sh -s" });
  await type(bench.agent, { action: "write", sessionId: id, data: "echo $((6*7)); exit 5\n", eof: true });
  const { output, last } = await pollToEnd(bench.agent, id);
  assertEquals([output, last.exitCode], ["42\n", 5]);
});

// [88] long writes

test("P34 1 MiB pasted into a raw terminal arrives whole and in order [88]", { skip: pty }, async () => {
  const bench = closing(open());
  const command = `stty raw -echo; echo ready; head -c ${MEBIBYTE} | md5sum`;
  const { id } = await background(bench.agent, { command, background: true, pty: true });
  await pollUntil(bench.agent, id, "ready");
  const text = numbered(MEBIBYTE).replaceAll("\n", ",");
  const { refused } = await type(bench.agent, { action: "paste", sessionId: id, text });
  assertEquals(refused, 0);
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(text));
});

for (const bytes of [4_095, 65_536, 300_000]) {
  test(`P31 ${bytes} bytes for a raw terminal arrive whole and in order [88]`, { skip: pty }, async () => {
    const bench = closing(open());
    await repeat(4, async () => {
      const command = `stty raw -echo; echo ready; sleep 0.5; head -c ${bytes} | md5sum`;
      const { id } = await background(bench.agent, { command, background: true, pty: true });
      await pollUntil(bench.agent, id, "ready");
      const text = numbered(bytes);
      const { accepted, queued, refused } = await type(bench.agent, write(id, text));
      assertEquals([accepted, queued, refused], [bytes, 0, 0]);
      assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(text));
    });
  });
}

test("P31 a terminal that echoes 240 KB while they are typed does not lock up [88]", { skip: pty }, async () => {
  const bench = closing(open({ maxOutputChars: 2_000_000, pendingMaxOutputChars: 2_000_000 }));
  const line = "0123456789".repeat(8) + "\n";
  const text = line.repeat(3_000);
  const { id } = await background(bench.agent, { command: "stty -echo; echo ready; cat", background: true, pty: true });
  await pollUntil(bench.agent, id, "ready\n");
  const { accepted } = await type(bench.agent, { action: "write", sessionId: id, data: text, eof: true });
  assertEquals(accepted, text.length);
  const { output, last } = await pollToEnd(bench.agent, id);
  assert(output === text, `${output.length} of ${text.length} characters came back`);
  assertEquals(last.status, "completed");
});

test("P31 writes that follow each other at once arrive in their order [88]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "md5sum" });
  const parts = Array.from({ length: 40 }, (_, index) => `${index}:`.padEnd(10_000, `${index}`) + "\n");
  const answers = await Promise.all(parts.map((part) => type(bench.agent, write(id, part))));
  assertEquals(answers.map(({ accepted }) => accepted), parts.map((part) => part.length));
  await type(bench.agent, { action: "write", sessionId: id, data: "", eof: true });
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(parts.join("")));
});

// R5

test("R5 a write goes on as long as the program takes what comes [88]", { skip: posix }, async () => {
  const bench = closing(open());
  const bytes = 3 * MEBIBYTE;
  const command = `i=0; while [ $i -lt 12 ]; do sleep 0.25; head -c ${bytes / 12} | wc -c; i=$((i+1)); done`;
  const { id } = await background(bench.agent, { command, background: true });
  const began = Date.now();
  const { accepted, queued, refused } = await type(bench.agent, write(id, "x".repeat(bytes)));
  assertEquals([accepted, queued, refused], [bytes, 0, 0]);
  assertGreater(Date.now() - began, 2_000); // longer than a write waits for a program that takes nothing
  const { output } = await pollToEnd(bench.agent, id);
  assertEquals(output.split("\n").filter((line) => line !== "").map(Number), Array(12).fill(bytes / 12));
});

test("R5 a write to a program that takes nothing answers with what is queued and what is refused", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "sleep 60", background: true });
  const bytes = 3 * MEBIBYTE;
  const began = Date.now();
  const { details, text, isError } = await bench.agent.process(write(id, "x".repeat(bytes)));
  const waited = Date.now() - began;
  assert("accepted" in details && isError, text);
  assertGreaterOrEqual(waited, 1_900);
  assertLess(waited, 3_900); // once two seconds, not for each thing that could be waited for
  assertEquals(details.accepted + details.refused, bytes);
  assertGreater(details.refused, 0);
  assertGreater(details.queued, 0);
  assertLessOrEqual(details.queued, MEBIBYTE);
  for (const number of [details.accepted, details.queued, details.refused]) assertStringIncludes(text, `${number}`);
  const again = await bench.agent.process(write(id, "y"));
  assert("accepted" in again.details && again.isError, again.text);
  assertEquals([again.details.accepted, again.details.refused], [0, 1]);
});

test("R5 a caller that goes on from what was accepted loses nothing and doubles nothing", { skip: posix }, async () => {
  const bench = closing(open());
  const text = numbered(3 * MEBIBYTE);
  const { id } = await background(bench.agent, { command: "sleep 4; md5sum", background: true });
  let answers = 0;
  for (let at = 0; at < text.length; answers++) at += (await type(bench.agent, write(id, text.slice(at)))).accepted;
  assertGreater(answers, 1);
  await type(bench.agent, { action: "write", sessionId: id, data: "", eof: true });
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(text));
});

test("R5 what is queued arrives once the program reads, and then eof [84]", { skip: posix }, async () => {
  const bench = closing(open());
  const text = numbered(900_000);
  const { id } = await background(bench.agent, { command: "sleep 3; md5sum", background: true });
  const { accepted, queued, eof } = await type(bench.agent, {
    action: "write",
    sessionId: id,
    data: text,
    eof: true,
  });
  assertEquals([accepted, eof], [text.length, true]);
  assertGreater(queued, 0);
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(text));
});

// [89] cooked lines

test("P31 a line too long for a terminal's normal mode is not sent, with a warning; a raw one's is not cut [89]", {
  skip: pty,
}, async () => {
  const bench = closing(open());
  const command = "stty -echo; echo ready; read x; echo ${#x}";
  const { id } = await background(bench.agent, { command, background: true, pty: true });
  await pollUntil(bench.agent, id, "ready");
  const { warnings, text, accepted, refused } = await type(bench.agent, write(id, `${"a".repeat(5_000)}\r`));
  assertEquals([warnings.length, accepted, refused], [1, 0, 5_001]);
  for (const wanted of ["Nothing was sent", "5000", "4095"]) assertStringIncludes(text, wanted);
  await type(bench.agent, write(id, `${"a".repeat(4_095)}\r`));
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, "4095");

  const raw = await background(bench.agent, {
    command: "stty raw -echo; echo ready; head -c 5000 | wc -c",
    background: true,
    pty: true,
  });
  await pollUntil(bench.agent, raw.id, "ready");
  await type(bench.agent, write(raw.id, "a".repeat(5_000)));
  assertStringIncludes((await pollToEnd(bench.agent, raw.id)).output, "5000");
});

test("P31 many lines, each short enough, are not warned of, nor is any on pipes [89]", { skip: pty }, async () => {
  const bench = closing(open());
  const terminal = await background(bench.agent, { command: "cat >/dev/null", pty: true });
  const lines = await type(bench.agent, write(terminal.id, `${"a".repeat(4_000)}\r`.repeat(3)));
  assertEquals(lines.warnings, []);
  const pipes = await background(bench.agent, { command: "cat >/dev/null" });
  assertEquals((await type(bench.agent, write(pipes.id, "a".repeat(9_000)))).warnings, []);
});

test("P31 a line is as long for a terminal as all the writes it came in [89]", { skip: pty }, async () => {
  const bench = closing(open());
  const command = "stty -echo; echo ready; read x; echo ${#x}";
  const { id } = await background(bench.agent, { command, background: true, pty: true });
  await pollUntil(bench.agent, id, "ready");
  const accepted: number[] = [];
  for (let times = 0; times < 5; times++) {
    accepted.push((await type(bench.agent, write(id, "a".repeat(1_000)))).accepted);
  }
  assertEquals(accepted, [1_000, 1_000, 1_000, 1_000, 0]);
  await type(bench.agent, { action: "submit", sessionId: id });
  assertStringIncludes((await pollToEnd(bench.agent, id)).output, "4000");
});

// [90] nobody there

for (
  const { how, pty: isTerminal, skip } of [
    { how: "pipes", pty: false, skip: posix },
    { how: "a terminal", pty: true, skip: pty },
  ]
) {
  test(`P31 typing into a session that has ended fails with its state and code, on ${how} [90]`, { skip }, async () => {
    const bench = closing(open());
    const { id } = await background(bench.agent, { command: "exit 7", pty: isTerminal, background: true });
    await pollToEnd(bench.agent, id);
    for (const typing of everyTyping(id)) {
      const { details, text } = await refused(bench.agent, typing);
      assertEquals(details.reason, "not-possible");
      assertMatch(text, /it has ended \(completed: exit code 7\)/);
    }
  });
}

test(
  "P31 typing into a session whose shell has gone but whose tree lives fails too [90]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { details } = await runToEnd(bench.agent, { command: "sleep 60 >/dev/null 2>&1 & exit 7" });
    const { text } = await refused(bench.agent, write(details.sessionId ?? "", "x"));
    assertStringIncludes(text, "exit code 7");
  },
);

test("P31 writing after eof fails and says that, more eof as well [90]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "cat; sleep 9" });
  await type(bench.agent, { action: "write", sessionId: id, data: "x", eof: true });
  for (const typing of everyTyping(id).filter(({ keys }) => keys?.[0] !== "Enter")) {
    const { text } = await refused(bench.agent, typing);
    assertStringIncludes(text, "ended by eof: true");
  }
  assertEquals((await poll(bench.agent, id)).status, "running");
});

test("section 6: typing into an unknown session names the ones there are [90]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "cat" });
  for (const typing of everyTyping("no-such-session")) {
    const { details } = await refused(bench.agent, typing);
    assertEquals([details.reason, details.known], ["unknown-session", [id]]);
  }
});

// [93] secrets

const SECRET = "hunter2-correct-horse";

/** Everything the agent is ever shown of a session. */
async function shown(agent: Agent, id: string): Promise<string> {
  const list = await agent.process({ action: "list" });
  const pages = [await log(agent, id), await poll(agent, id, { since: 0 })];
  return JSON.stringify([list, pages]);
}

test("P31 a secret that a terminal echoes is redacted wherever output is read [93]", { skip: pty }, async () => {
  const bench = closing(open());
  const command = "read -p 'Password: ' p; echo ok; echo got ${#p}; echo $p; sleep 9";
  const { id } = await background(bench.agent, { command, background: true, pty: true });
  await pollUntil(bench.agent, id, "Password: ");
  const answer = await type(bench.agent, { action: "write", sessionId: id, data: `${SECRET}\r`, sensitive: true });
  assert(!answer.text.includes(SECRET), answer.text);
  const output = await pollUntil(bench.agent, id, /ok\n[^]*\n[^]*\n/);
  assertEquals(output, `[redacted]\nok\ngot ${SECRET.length}\n[redacted]\n`);
  const everything = await shown(bench.agent, id);
  assert(!everything.includes(SECRET), everything);
});

test("P31 a secret that is not echoed still arrives, and nothing else is redacted [93]", { skip: pty }, async () => {
  const bench = closing(open());
  const command = "read -s -p 'Password: ' p; echo; printf %s \"$p\" | wc -c; echo hunter2 is no secret";
  const { id } = await background(bench.agent, { command, background: true, pty: true });
  await pollUntil(bench.agent, id, "Password: ");
  await type(bench.agent, { action: "write", sessionId: id, data: SECRET, sensitive: true });
  await type(bench.agent, { action: "submit", sessionId: id });
  assertEquals((await pollToEnd(bench.agent, id)).output, `\n${SECRET.length}\nhunter2 is no secret\n`);
});

test(
  "P31 a secret on pipes is redacted too, also when it comes in pieces or on stderr [93]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const command = "read p; echo $p; echo $p >&2; printf %s ${p%%-*}; sleep 0.2; echo -${p#*-}; echo done";
    const { id } = await background(bench.agent, { command });
    await type(bench.agent, { action: "write", sessionId: id, data: `${SECRET}\n`, sensitive: true });
    const { output } = await pollToEnd(bench.agent, id);
    assertEquals(output.match(/\[redacted\]/g)?.length, 3);
    assertStringIncludes(output, "done");
    const everything = output + await shown(bench.agent, id);
    assert(!everything.includes(SECRET) && !everything.includes("correct-horse"), everything);
  },
);

test(
  "P31 each line of a secret of many lines is redacted, whatever line ends come back [93]",
  { skip: pty },
  async () => {
    const bench = closing(open());
    const lines = ["-----BEGIN KEY-----", "bm90IGEgcmVhbCBrZXk=", "-----END KEY-----"];
    for (const isTerminal of [true, false]) {
      const { id } = await background(bench.agent, { command: "cat", pty: isTerminal });
      await type(bench.agent, { action: "write", sessionId: id, data: `${lines.join("\n")}\n`, sensitive: true });
      await type(bench.agent, { action: "write", sessionId: id, data: "", eof: true });
      const { output } = await pollToEnd(bench.agent, id);
      assertStringIncludes(output, "[redacted]\n[redacted]\n[redacted]\n");
      const everything = output + await shown(bench.agent, id);
      for (const line of lines) assert(!everything.includes(line), everything);
    }
  },
);

// [94] wrappers

test("E1 E9 whatever a command is wrapped in, its stdin is the session's [94]", { skip: posix }, async () => {
  const bench = closing(open());
  const long = `: ${"x".repeat(300_000)}`;
  for (const { prefix = "", ...params } of [{}, { mergeStreams: true }, { prefix: `${long}\n` }]) {
    const command = `${prefix}read first; cat; cat; echo "[$first]"`;
    const { id } = await background(bench.agent, { command, ...params });
    await type(bench.agent, { action: "write", sessionId: id, data: "P\nrest\n", eof: true });
    assertEquals((await pollToEnd(bench.agent, id)).output, "rest\n[P]\n");
  }
});

test("E1 a pipe within the command reaches its reader, and a background job takes nothing away [94]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  for (const mergeStreams of [false, true]) {
    const { details } = await runToEnd(bench.agent, { command: "echo P | cat; cat <<< Q", mergeStreams });
    assertEquals(details.output, "P\nQ\n");
  }
  const { id } = await background(bench.agent, { command: "sleep 0.1 & read x; echo $x; wait" });
  await type(bench.agent, write(id, "for the shell\n"));
  assertEquals((await pollToEnd(bench.agent, id)).output, "for the shell\n");
});

test("P31 an aborted write stops waiting, and the session lives [83]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "sleep 60", background: true });
  const abort = new AbortController();
  const call = bench.agent.process(write(id, "x".repeat(3 * MEBIBYTE)), { signal: abort.signal });
  abort.abort(new Error("enough"));
  const error: unknown = await call.then(() => undefined, (reason: unknown) => reason);
  assert(error instanceof Error && error.name === "AbortError", String(error));
  await eventually(async () => (await poll(bench.agent, id)).status === "running", "the session lives");
});
