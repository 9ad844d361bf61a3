/**
 * Commands on pipes and in terminals, started by the Deno adapter. Conformance covers what all runtimes promise; here is
 * what has gone wrong with Deno in particular.
 *
 * @module
 */

import { assert, assertEquals, assertLess, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { denoRuntime } from "../adapters/deno/runtime.ts";
import { type Child, type Exit, OffstageError, type OutputSink, type SpawnSpec, type StreamName } from "../mod.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "deno" && process.platform !== "win32", "this is about Deno on POSIX");

/** How a command is connected. */
interface Way {
  readonly name: string;
  readonly spec: Partial<SpawnSpec>;
}

const PIPES: Way = { name: "pipes", spec: {} };
const TERMINAL: Way = { name: "terminal", spec: { terminal: { cols: 90, rows: 20 } } };

interface Run {
  readonly child: Child;
  readonly chunks: readonly Uint8Array[];
  /** Resolves when all output has come. */
  readonly ended: Promise<void>;
  readonly text: (stream?: StreamName) => string;
  /** Resolves when the output contains that text. */
  readonly seen: (text: string) => Promise<void>;
}

async function start(way: Way, argv: SpawnSpec["argv"], over: Partial<SpawnSpec> = {}): Promise<Run> {
  const pieces: { readonly stream: StreamName; readonly bytes: Uint8Array }[] = [];
  const chunks: Uint8Array[] = [];
  const text = (stream?: StreamName): string =>
    Buffer.concat(pieces.filter((piece) => stream === undefined || piece.stream === stream).map(({ bytes }) => bytes))
      .toString();
  let waiting = (): void => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const sessionId = "deno-spawner-test";
  const env = { PATH: process.env.PATH ?? "", TERM: "xterm-256color", OFFSTAGE_SESSION_ID: sessionId };
  const spec: SpawnSpec = { argv, cwd: "/", env, stdin: "closed", sessionId, ...way.spec, ...over };
  const child = await denoRuntime().spawner.spawn(spec, {
    chunk: (stream, bytes) => {
      pieces.push({ stream, bytes });
      chunks.push(bytes);
      waiting();
    },
    end,
  });
  const seen = (part: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = () => text().includes(part) && resolve();
      waiting();
    });
  return { child, chunks, ended, text, seen };
}

const bash = (way: Way, script: string, over: Partial<SpawnSpec> = {}): Promise<Run> =>
  start(way, ["bash", "-c", script], over);

async function finish(run: Run): Promise<Exit> {
  const exit = await run.child.exited;
  await run.ended;
  run.child.release();
  return exit;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

for (const way of [PIPES, TERMINAL]) {
  test(`case 63 ${way.name}: the exit code is the command's, every time`, { skip }, async () => {
    for (let i = 0; i < 20; i++) {
      const run = await bash(way, "echo M; exit 7");
      assertEquals([await finish(run), run.text().trim()], [{ code: 7 }, "M"]);
    }
  });

  test(`E27 ${way.name}: a death by signal is reported by the signal's name`, { skip }, async () => {
    for (const name of ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGUSR1", "SIGHUP"] as const) {
      assertEquals(await finish(await bash(way, `ulimit -c 0; kill -${name} $$`)), { signal: name });
    }
    assertEquals(await finish(await bash(way, "exit 143")), { code: 143 });
    // Deno has no name for a real-time signal, and fails to report the exit at all
    assertEquals(await finish(await bash(way, "kill -40 $$")), { code: null });
  });

  test(`E29 ${way.name}: what cannot be started is one clear error, and no ghost`, { skip }, async () => {
    const cases: readonly (readonly [SpawnSpec["argv"], Partial<SpawnSpec>, RegExp])[] = [
      [["no-such-program"], {}, /"no-such-program": there is no such program/],
      [["/etc/passwd"], {}, /"\/etc\/passwd".* may not be executed/],
      [["true"], { cwd: "/no/such" }, /in "\/no\/such": the working directory does not exist/],
      [["true"], { cwd: "/etc/passwd" }, /in "\/etc\/passwd": it is not a directory/],
      [["true", "x".repeat(140_000)], {}, /140000 bytes of at most 131071/],
    ];
    const heard: string[] = [];
    const sink: OutputSink = { chunk: () => heard.push("chunk"), end: () => heard.push("end") };
    const { spawner } = denoRuntime();
    for (const [argv, more, message] of cases) {
      const env = { PATH: process.env.PATH ?? "" };
      const spec: SpawnSpec = { argv, cwd: "/", env, stdin: "open", sessionId: "x", ...way.spec, ...more };
      const error = await assertRejects(() => spawner.spawn(spec, sink), OffstageError);
      assertEquals(error.code, "spawn-failed");
      assertMatch(error.message, message);
    }
    await sleep(50);
    assertEquals(heard, []);
  });

  test(`${way.name}: every method of a child is safe after its exit`, { skip }, async () => {
    const run = await bash(way, "true", { stdin: "open" });
    await run.child.exited;
    await run.ended;
    assertEquals(run.child.signal("SIGTERM", "child"), "gone");
    assertEquals(run.child.signal("SIGTERM", "group"), "gone");
    assertEquals(run.child.groupAnswers?.(), false);
    assertEquals((await assertRejects(() => run.child.write(new Uint8Array(1)), OffstageError)).code, "stdin-closed");
    await run.child.endInput();
    run.child.resize?.({ cols: 10, rows: 10 });
    run.child.release();
    run.child.release();
  });

  test(`C3 ${way.name}: nothing of the host's environment reaches the child`, { skip }, async () => {
    process.env.DENO_SPAWNER_TEST_SECRET = "x";
    const run = await start(way, ["env"]);
    delete process.env.DENO_SPAWNER_TEST_SECRET;
    await finish(run);
    const names = run.text().trim().split(/\r?\n/).map((line) => line.split("=")[0]).filter((name) => name !== "PWD");
    assertEquals(names.sort(), ["OFFSTAGE_SESSION_ID", "PATH", "TERM"]);
  });

  test(`E21 ${way.name}: a group signal reaches the child's children`, { skip }, async () => {
    const run = await bash(way, "sleep 60 & echo up; wait");
    await run.seen("up");
    assertEquals(run.child.groupAnswers?.(), true);
    assertEquals(run.child.signal("SIGKILL", "group"), "sent");
    assertEquals(await finish(run), { signal: "SIGKILL" }); // the output ends only when sleep has
  });

  test(`case 47 ${way.name}: a second signal arrives after a first that was ignored`, { skip }, async () => {
    const run = await bash(way, "trap 'echo TERM' TERM; echo up; while :; do sleep 0.05; done");
    await run.seen("up");
    run.child.signal("SIGTERM", "child");
    await run.seen("TERM");
    run.child.signal("SIGSTOP", "child");
    run.child.signal("SIGCONT", "child");
    run.child.signal("SIGKILL", "group");
    assertEquals(await finish(run), { signal: "SIGKILL" });
  });

  test(`P30 ${way.name}: the process that waits for input is found`, {
    skip: skip || skipUnless(process.platform === "linux", "there is no /proc"),
  }, async () => {
    const run = await bash(way, "echo up; cat; :", { stdin: "open" });
    await run.seen("up");
    let reader = await run.child.inspector?.reader();
    for (let i = 0; i < 500 && reader === undefined; i++) {
      await sleep(10);
      reader = await run.child.inspector?.reader();
    }
    assertEquals(typeof reader === "object" ? reader.name : reader, "cat");
    run.child.signal("SIGKILL", "group");
    await finish(run);
  });

  test(`E35 ${way.name}: the exit does not wait for a left-behind child, whose output still arrives`, {
    skip,
  }, async () => {
    const run = await bash(way, "trap '' HUP; (sleep 0.3; seq 1 20000) & exit 4");
    assertEquals(await run.child.exited, { code: 4 });
    assertEquals([run.text(), run.child.groupAnswers?.()], ["", true]);
    await run.ended;
    assert(run.text().replaceAll("\r", "").endsWith("\n20000\n"));
  });

  test(`case 114 ${way.name}: ended children leave no descriptor behind`, { skip }, async () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    for (let i = 0; i < 5; i++) await finish(await start(way, ["true"], { stdin: "open" }));
    const before = count();
    for (let i = 0; i < 60; i++) await finish(await start(way, ["true"], { stdin: "open" }));
    await assertRejects(() => start(way, ["no-such-program"]));
    for (let i = 0; i < 500 && count() > before; i++) await sleep(10);
    assertLess(count() - before, 4); // Deno keeps a few of its own
  });
}

test("case 83 pipes: writing to a child that closed its stdin is refused, and nothing escapes", { skip }, async () => {
  const run = await bash(PIPES, "exec 0<&-; echo closed; sleep 60", { stdin: "open" });
  await run.seen("closed");
  for (const size of [10, 1_000_000, 1_000_000]) {
    const error = await assertRejects(() => run.child.write(new Uint8Array(size)), OffstageError);
    assertEquals(error.code, "stdin-closed");
  }
  await run.child.endInput();
  run.child.signal("SIGKILL", "group");
  assertEquals(await finish(run), { signal: "SIGKILL" });
});

test("case 83 pipes: a write that the child stops reading half-way is refused", { skip }, async () => {
  const run = await bash(PIPES, "head -c1 >/dev/null", { stdin: "open" });
  const error = await assertRejects(() => run.child.write(new Uint8Array(10_000_000)), OffstageError);
  assertEquals(error.code, "stdin-closed");
  assertEquals(await finish(run), { code: 0 });
});

test("case 90 pipes: writes arrive in order, and one after the end of input is refused", { skip }, async () => {
  const run = await start(PIPES, ["md5sum"], { stdin: "open" });
  await Promise.all([run.child.write(encode("one")), run.child.write(encode("two"))]);
  await run.child.endInput();
  await run.child.endInput();
  await assertRejects(() => run.child.write(new Uint8Array(1)), OffstageError);
  assertEquals(await finish(run), { code: 0 });
  assertEquals(run.text(), "5b9164ad6f496d9dee12ec7634ce253f  -\n");
});

test("S4 pipes: each chunk has memory of its own, and no more of it than it needs", { skip }, async () => {
  const run = await bash(PIPES, "for i in 1 2 3; do echo $i; sleep 0.05; done; head -c 1000000 /dev/zero");
  await finish(run);
  assertEquals(run.chunks.reduce((sum, { length }) => sum + length, 0), 1_000_006);
  assertEquals(new Set(run.chunks.map(({ buffer }) => buffer)).size, run.chunks.length);
  assertEquals(run.chunks.filter((bytes) => bytes.buffer.byteLength !== bytes.length), []);
});

test("case 10 pipes: both are read at once, and the host's other work goes on", { skip }, async () => {
  let turns = 0;
  const turning = setInterval(() => turns++, 10);
  const run = await bash(PIPES, "head -c 50000000 /dev/zero >&2; head -c 1000 /dev/zero; exit 5");
  assertEquals(await finish(run), { code: 5 });
  clearInterval(turning);
  assertEquals([run.text("stdout").length, run.text("stderr").length], [1_000, 50_000_000]);
  assert(turns > 0);
});

test("case 4 terminal: the end of the output is never lost", { skip }, async () => {
  for (let i = 0; i < 20; i++) {
    const long = await start(TERMINAL, ["seq", "1", "20000"]);
    await finish(long);
    assertEquals(long.text().length, 128_894, `run ${i}`);
    const short = await start(TERMINAL, ["printf", "short"]);
    await finish(short);
    assertEquals(short.text(), "short");
  }
});

test("E6 terminal: it has the size and the type that were asked for, and can be resized", { skip }, async () => {
  const run = await bash(TERMINAL, "stty size; echo $TERM; read; stty size");
  await run.seen("xterm-256color");
  run.child.resize?.({ cols: 33, rows: 11 });
  await run.child.write(encode("\r"));
  assertEquals(await finish(run), { code: 0 });
  assertEquals(run.text().split("\r\n").filter((line) => line !== ""), ["20 90", "xterm-256color", "11 33"]);
});

test("R12 terminal: cat ends with code 0 after ^D, every time", { skip }, async () => {
  for (let i = 0; i < 20; i++) {
    const run = await start(TERMINAL, ["cat"]);
    await run.child.write(encode("é\n"));
    await run.seen("é\r\né\r\n");
    await run.child.write(Uint8Array.of(4));
    assertEquals(await finish(run), { code: 0 });
  }
});

test("case 88 terminal: a paste into a program that reads late arrives whole", { skip }, async () => {
  const run = await bash(TERMINAL, "stty raw -echo; echo ready; sleep 1; head -c 65536 | wc -c");
  await run.seen("ready");
  await run.child.write(new Uint8Array(65_536).fill(97));
  assertEquals(await finish(run), { code: 0 });
  assertMatch(run.text(), /65536/);
});

test("case 88 terminal: 240 KB typed does not lock up against its own echo", { skip }, async () => {
  const line = encode(`${"x".repeat(79)}\n`.repeat(100));
  // The kernel may drop some of the echo, so what arrived is counted
  const run = await bash(TERMINAL, "tee /dev/tty | wc -c");
  await Promise.all(Array.from({ length: 30 }, () => run.child.write(line)));
  await run.child.write(Uint8Array.of(4));
  assertEquals(await finish(run), { code: 0 });
  assertMatch(run.text(), /\b240000\r\n$/);
});

test("the Deno adapter refuses other runtimes", { skip: skipUnless(runtimeName !== "deno", "this is Deno") }, () => {
  assertEquals(assertThrows(() => denoRuntime(), OffstageError).code, "unsupported");
});
