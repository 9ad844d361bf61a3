/**
 * A terminal is a whole terminal on every runtime, and where there is none that is said: section H and E6, P35, R16.
 *
 * @module
 */
import process from "node:process";
import { setImmediate } from "node:timers";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Agent, OffstageError, type ProcessParams, type Runtime } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { runtimeName } from "../skip.ts";
import { background, kill, log, open, poll, pollToEnd, pollUntil, repeat, runToEnd } from "./agent.ts";
import { CONNECTIONS, needs, openOn, openWith, posix, terminal, thisRuntime } from "./machine.ts";

const bash = terminal || await needs("bash");
const python = terminal || await needs("python3");

// E6, [115], [116]

test("E6 this runtime has terminals [115] [116]", { skip: posix }, async () => {
  const bench = closing(open());
  const { details, text } = await runToEnd(bench.agent, { command: "test -t 0 && test -t 1 && test -t 2", pty: true });
  assertEquals([details.ok, details.pty, details.warnings], [true, true, []], text);
});

test("E6 it is the controlling terminal, 120 by 30 unless the call says otherwise", { skip: terminal }, async () => {
  const bench = closing(open());
  const command = "stty size; tty | grep -c /dev/; echo controlling >/dev/tty; echo also >&2";
  const { details } = await runToEnd(bench.agent, { command, pty: true });
  assertEquals(details.output, "30 120\n1\ncontrolling\nalso\n");
  const other = await runToEnd(bench.agent, { command: "stty size", pty: true, cols: 41, rows: 7 });
  assertEquals(other.details.output, "7 41\n");
});

test("E6 a size that no terminal has is refused, all of it at once, and nothing starts", { skip: posix }, async () => {
  const bench = closing(open());
  for (const size of [{ cols: 0, rows: 1001 }, { cols: -1, rows: 1.5 }]) {
    const { details, isError, text } = await bench.agent.exec({ command: "echo ran", pty: true, ...size });
    assert(isError && "problems" in details, text);
    assertEquals(details.problems.map(({ key }) => key).sort(), ["cols", "rows"]);
  }
});

test("E6 an interactive shell has job control", { skip: bash }, async () => {
  const bench = closing(open({ killGraceMs: 200 }));
  const { agent } = bench;
  const { id } = await background(agent, { command: "exec bash --norc --noprofile -i", pty: true, background: true });
  await poll(agent, id, { until: "input", timeout: 30_000 });
  await agent.process({ action: "write", sessionId: id, data: "sh -c 'echo st\"\"arted; exec sleep 60'\n" });
  await pollUntil(agent, id, "started");
  await agent.process({ action: "send-keys", sessionId: id, keys: ["C-z"] });
  await pollUntil(agent, id, "Stopped");
  await agent.process({ action: "write", sessionId: id, data: "fg\n" });
  await pollUntil(agent, id, /fg\n.*sleep/);
  await agent.process({ action: "send-keys", sessionId: id, keys: ["C-c"] });
  await poll(agent, id, { until: "input", timeout: 30_000 });
  await agent.process({ action: "write", sessionId: id, data: "exit 3\n" });
  const { last } = await pollToEnd(agent, id);
  assertEquals(last.exitCode, 3);
});

// E35, the tail

test("E35 terminal: 20000 lines arrive whole and in order, two hundred times [4]", { skip: terminal }, async () => {
  const bench = closing(open({ maxResultChars: 200_000, backgroundMs: 120_000 }));
  const expected = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("");
  await repeat(200, async () => {
    const { details } = await runToEnd(bench.agent, { command: "seq 1 20000", pty: true });
    assertEquals(details.exitCode, 0);
    assert(details.output === expected, `${details.output.length} of ${expected.length} characters`);
  });
});

test("E35 terminal: a child that lets go of its terminal before it exits is heard to its end [4]", {
  skip: terminal,
}, async () => {
  const bench = closing(open());
  const command = "echo last words; exec </dev/null >/dev/null 2>&1; sleep 0.1; exit 7";
  await repeat(20, async () => {
    const { details } = await runToEnd(bench.agent, { command, pty: true });
    assertEquals([details.output, details.exitCode, details.status], ["last words\n", 7, "completed"]);
  });
});

for (const { how, pty, skip } of CONNECTIONS) {
  test(`E35 ${how}: nothing is lost to a host that has other work in every turn of its event loop [4]`, {
    skip,
  }, async () => {
    const bench = closing(open());
    const params = { command: "echo last words; exit 7", pty, yieldMs: 60_000 };
    await runToEnd(bench.agent, params);
    let isBusy = true;
    const work = (): void => {
      for (const until = performance.now() + 25; performance.now() < until;);
      if (isBusy) setImmediate(work);
    };
    work();
    const runs = await Promise.all(Array.from({ length: 10 }, () => runToEnd(bench.agent, params)))
      .finally(() => isBusy = false);
    for (const { details } of runs) assertEquals([details.output, details.exitCode], ["last words\n", 7]);
  });
}

// [100]

/** Asks a question on a raw terminal and prints what comes back within a second, up to `last`, as hex. */
function asking(question: string, last: string): string {
  return `python3 -uc '
import os, select, sys, tty
tty.setraw(0)
question, last = ${pythonText(question)}, ${pythonText(last)}
for piece in question.split("|"):
  os.write(1, piece.encode())
  if "|" in question: select.select([], [], [], 0.2)
answer = b""
while not answer.endswith(last.encode()) and select.select([0], [], [], 30)[0]: answer += os.read(0, 64)
print("answer", answer.hex(), end="\\r\\n")
more = os.read(0, 64) if select.select([0], [], [], 0.3)[0] else b""
print("more", more.hex(), end="\\r\\n")
'`;
}

/** A Python literal without quotes or characters of ours. */
function pythonText(text: string): string {
  return `bytes.fromhex("${[...new TextEncoder().encode(text)].map(hexByte).join("")}").decode()`;
}

function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}

for (
  const [what, question, answer] of [
    ["where the cursor is", "\x1b[6n", "\x1b[1;1R"],
    ["where the cursor is, in two writes", "\x1b[|6n", "\x1b[1;1R"],
    ["where the cursor is, a byte a write", "\x1b|[|6|n", "\x1b[1;1R"],
    ["where the cursor is, amid text", "before\x1b[6nafter", "\x1b[1;1R"],
    ["twice where the cursor is", "\x1b[6n\x1b[6n", "\x1b[1;1R\x1b[1;1R"],
    ["whether it is well", "\x1b[5n", "\x1b[0n"],
    ["what it is", "\x1b[c", "\x1b[?1;2c"],
    ["what it is, secondly", "\x1b[>c", "\x1b[>0;0;0c"],
    ["for its name", "\x1b[>q", "\x1bP>|Offstage\x1b\\"],
    ["whether pastes are bracketed", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"],
    ["for its text colour", "\x1b]10;?\x07", /^.\]10;rgb:[0-9a-f/]+.$/],
    ["for its background", "\x1b]11;?\x1b\\", /^.\]11;rgb:[0-9a-f/]+.\\$/],
    ["everything a start-up asks", "\x1b[6n\x1b[?u\x1b[c", "\x1b[1;1R\x1b[?1;2c"],
  ] as const
) {
  test(`R16 a terminal asked ${what} answers once, and the question is not in the log [100]`, {
    skip: python,
  }, async () => {
    const bench = closing(open());
    const last = typeof answer === "string" ? answer : question.slice(-1);
    const { id } = await background(bench.agent, { command: asking(question, last), pty: true, background: true });
    const { output } = await pollToEnd(bench.agent, id);
    const [, hex = "", more] = /answer ([0-9a-f]*)\nmore ([0-9a-f]*)\n$/.exec(output) ?? [];
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
    const text = new TextDecoder().decode(bytes);
    if (typeof answer === "string") assertEquals([text, more], [answer, ""]);
    else assertMatch(text, answer);
    assertEquals(more, "");
    const raw = await log(bench.agent, id, { offset: 0 });
    assertMatch(raw.lines.map((line) => line.text).join("\n"), /^(?:beforeafter)?answer [^\\]*$/);
  });
}

test("R16 the question of a shell script is answered as the field's case has it [100]", { skip: bash }, async () => {
  const bench = closing(open());
  const command = "stty raw -echo; printf '\\033[6n'; IFS= read -rs -d R -t 30 p; echo rc=$? ${p#?}";
  const { details } = await runToEnd(bench.agent, { command, pty: true, yieldMs: 60_000 });
  assertMatch(details.output, /^rc=0 \[1;1\r?\n/);
});

test("R16 only a terminal answers: what looks like a question on pipes is output [100]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "printf '\\033[6nx'; cat; echo end" });
  await pollUntil(bench.agent, id, "x");
  await bench.agent.process({ action: "write", sessionId: id, eof: true });
  assertEquals((await pollToEnd(bench.agent, id)).output, "end\n");
});

// P35

test("P35 a resize reaches the program, as a size and as a signal", { skip: python }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const script =
    "import os,signal\nsize=lambda *_:print(os.get_terminal_size().lines,os.get_terminal_size().columns)\n" +
    "signal.signal(signal.SIGWINCH,size)\nsize()\nwhile 1:signal.pause()";
  const { id } = await background(agent, { command: `exec python3 -uc '${script}'`, pty: true });
  await pollUntil(agent, id, "30 120\n");
  for (const [cols, rows] of [[100, 40], [1, 1], [1_000, 1_000], [80, 24]] as const) {
    const { details } = await agent.process({ action: "resize", sessionId: id, cols, rows });
    assert("resized" in details && details.resized);
    await pollUntil(agent, id, `${rows} ${cols}\n`);
  }
});

test(
  "P35 after the end a resize is a no-op that says so, a hundred times around the end",
  { skip: terminal },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    await repeat(100, async (round) => {
      const { id } = await background(agent, { command: `sleep 0.0${round % 9}`, pty: true, background: true });
      const resize = { action: "resize", sessionId: id, cols: 90, rows: 20 } as const;
      for (;;) {
        const { details, text, isError } = await agent.process(resize);
        assert(!isError && "resized" in details, text);
        if (!details.resized) return assertMatch(text, /has ended.*exit code 0/);
        await poll(agent, id, { timeout: 5 });
      }
    });
  },
);

test("P35 pipes have no size, and a terminal has none outside 1 to 1000", { skip: terminal }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const resize = (sessionId: string, cols: number, rows: number): ReturnType<Agent["process"]> =>
    agent.process({ action: "resize", sessionId, cols, rows } as ProcessParams & { readonly action: "resize" });
  const pipes = await background(agent, { command: "cat" });
  const { text, isError } = await resize(pipes.id, 80, 24);
  assert(isError, text);
  assertMatch(text, /no terminal.*pty: true/);
  const { id } = await background(agent, { command: "cat", pty: true });
  for (const [cols, rows] of [[0, 24], [80, 0], [1_001, 24], [80, 1e9], [-1, -1], [1.5, 24], [NaN, 24]] as const) {
    const answer = await resize(id, cols, rows);
    assert(answer.isError && "reason" in answer.details && answer.details.reason === "invalid", answer.text);
  }
});

// [118], [119]

/** This runtime as it is where no terminals can be opened. */
async function withoutTerminals(): Promise<Runtime> {
  switch (runtimeName) {
    case "node": {
      const { nodeRuntime } = await import("../../adapters/node.ts");
      return nodeRuntime({ pty: [() => import(`${"no"}-such-package`)] });
    }
    case "deno": {
      const { denoRuntime } = await import("../../adapters/deno.ts");
      return denoRuntime({ pty: [() => import(`${"no"}-such-package`)] });
    }
    case "bun": {
      const { bunGlobal } = await import("../../adapters/bun/types.ts");
      const { createBunSpawner } = await import("../../adapters/bun/spawner.ts");
      const { version, spawn } = bunGlobal();
      return { ...await thisRuntime(), spawner: createBunSpawner({ version, spawn }, "terminal") };
    }
  }
}

test("E6 without a terminal back-end the command runs on pipes, and the answer says why [118]", {
  skip: posix,
}, async () => {
  const bench = closing(openOn(await withoutTerminals()));
  const { agent } = bench;
  const { details, text } = await runToEnd(agent, { command: "echo hi; echo $TERM; test -t 1", pty: true });
  assertEquals([details.output, details.exitCode, details.pty], ["hi\ndumb\n", 1, false]);
  assertEquals(details.warnings.length, 1);
  assertMatch(details.warnings.join(), /no terminal.*pipes/);
  assertStringIncludes(text, details.warnings.join());

  const { id, details: started } = await background(agent, { command: "cat", pty: true, background: true });
  assertEquals(started.warnings.length, 1);
  await agent.process({ action: "write", sessionId: id, data: "typed", eof: true });
  const { output, last } = await pollToEnd(agent, id);
  assertEquals([output, last.exitCode], ["typed", 0]);
});

test("E6 where a terminal cannot be opened the command runs on pipes, and the answer says why [118]", {
  skip: posix,
}, async () => {
  const bench = closing(
    await openWith((spawner, spec, sink) =>
      spec.terminal === undefined
        ? spawner.spawn(spec, sink)
        : Promise.reject(new OffstageError("spawn-failed", 'Cannot start "bash": posix_spawnp failed'))
    ),
  );
  const { agent } = bench;
  const { details, text } = await runToEnd(agent, { command: "echo hi; echo $TERM; test -t 1", pty: true });
  assertEquals([details.output, details.exitCode, details.pty], ["hi\ndumb\n", 1, false]);
  assertMatch(details.warnings.join(), /no terminal.*posix_spawnp failed.*pipes/);
  assertStringIncludes(text, details.warnings.join());

  const { id } = await background(agent, { command: "cat", pty: true });
  await agent.process({ action: "write", sessionId: id, data: "typed", eof: true });
  assertEquals((await pollToEnd(agent, id)).output, "typed");
  const { details: listed } = await agent.process({ action: "list" });
  assert("sessions" in listed);
  assertEquals(listed.sessions.map(({ sessionId, pty }) => [sessionId, pty]), [[id, false]]);
});

test("E29 a start that fails on a terminal as on pipes is one clear error, and leaves no session [118] [119]", {
  skip: posix || (process.platform === "linux" ? false : "the limit is Linux's"),
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  // More environment than execve(2) takes, in pieces that are each small enough
  const env = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`BIG_${index}`, "x".repeat(100_000)]));
  for (const background of [false, true]) {
    const { details, text, isError } = await agent.exec({ command: "echo ran", pty: true, env, background });
    assert(isError && details.status === "failed", text);
    assertEquals(details.reason, "spawn-error");
    assertMatch(text, /too big/);
    assert(!text.includes("ran"), text);
  }
  const { details } = await agent.process({ action: "list" });
  assert("sessions" in details);
  assertEquals(details.sessions, []);
});

test(
  "E26 a terminal's program that is not there is told by the shell, with its code [119]",
  { skip: terminal },
  async () => {
    const bench = closing(open());
    const { details } = await runToEnd(bench.agent, { command: "exec /no/such/program", pty: true });
    assertEquals([details.status, details.exitCode, details.pty], ["completed", 127, true]);
  },
);

test("E27 a terminal's program that a signal ends names it, also on request [115]", { skip: terminal }, async () => {
  const bench = closing(open());
  for (const signal of ["TERM", "KILL", "SEGV", "HUP"] as const) {
    const { details } = await runToEnd(bench.agent, { command: `kill -${signal} $$`, pty: true });
    assertEquals([details.status, details.reason, details.signal, details.exitCode], [
      "failed",
      "signal",
      `SIG${signal}`,
      null,
    ]);
  }
  const { id } = await background(bench.agent, { command: "exec sleep 60", pty: true });
  const { status, signal, confirmed } = await kill(bench.agent, id);
  assertEquals([status, signal, confirmed], ["killed", "SIGTERM", true]);
});
