/**
 * Commands on pipes and in terminals, started by the Bun adapter. Conformance covers what all runtimes promise; here is
 * what has gone wrong with Bun and bun-pty in particular.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertLess,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bridgeChildProcess } from "../adapters/bun/bridge.ts";
import { type BunPtyKind, bunRuntime } from "../adapters/bun/runtime.ts";
import { createBunSpawner } from "../adapters/bun/spawner.ts";
import { type BunGlobal, bunGlobal } from "../adapters/bun/types.ts";
import { OffstageError } from "../mod.ts";
import type { Child, Exit, OutputSink, SpawnSpec, StreamName } from "../mod.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "bun" && process.platform !== "win32", "this is about Bun on POSIX");

/** How a command is connected, and which back-end does it. */
interface Way {
  readonly name: string;
  readonly pty: BunPtyKind;
  readonly spec: Partial<SpawnSpec>;
}

const TERMINAL_SPEC = { terminal: { cols: 90, rows: 20 } };
const PIPES: Way = { name: "pipes", pty: "terminal", spec: {} };
const TERMINAL: Way = { name: "terminal", pty: "terminal", spec: TERMINAL_SPEC };
const BUN_PTY: Way = { name: "bun-pty", pty: "bun-pty", spec: TERMINAL_SPEC };

let started = 0;

interface Run {
  readonly child: Child;
  /** Resolves when all output has come. */
  readonly ended: Promise<void>;
  readonly text: (stream?: StreamName) => string;
  /** Resolves when the output contains that text. */
  readonly seen: (text: string) => Promise<void>;
}

async function start(way: Way, argv: SpawnSpec["argv"], over: Partial<SpawnSpec> = {}): Promise<Run> {
  const chunks: { readonly stream: StreamName; readonly bytes: Uint8Array }[] = [];
  const text = (stream?: StreamName): string =>
    Buffer.concat(chunks.filter((chunk) => stream === undefined || chunk.stream === stream).map(({ bytes }) => bytes))
      .toString();
  let waiting = (): void => {};
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const sessionId = `bun-spawner-test-${process.pid}-${++started}`; // by which a tree is found
  const env = { PATH: process.env.PATH ?? "", TERM: "xterm-256color", OFFSTAGE_SESSION_ID: sessionId };
  const { spawner } = bunRuntime({ pty: way.pty });
  const child = await spawner.spawn({ argv, cwd: "/", env, stdin: "closed", sessionId, ...way.spec, ...over }, {
    chunk: (stream, bytes) => {
      chunks.push({ stream, bytes });
      waiting();
    },
    end,
  });
  const seen = (part: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = () => text().includes(part) && resolve();
      waiting();
    });
  return { child, ended, text, seen };
}

const bash = (way: Way, script: string, over: Partial<SpawnSpec> = {}): Promise<Run> =>
  start(way, ["bash", "-c", script], over);

async function finish(run: Run): Promise<Exit> {
  const exit = await run.child.exited;
  await run.ended;
  return exit;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

for (const way of [PIPES, TERMINAL, BUN_PTY]) {
  test(`case 6 ${way.name}: the exit code is the command's, every time`, { skip }, async () => {
    for (let i = 0; i < 20; i++) {
      assertEquals(await finish(await bash(way, "echo M; exit 7")), { code: 7 });
    }
  });

  test(`case 119 ${way.name}: what cannot be started is one clear error, and no ghost`, { skip }, async () => {
    const cases: readonly (readonly [SpawnSpec["argv"], Partial<SpawnSpec>, RegExp])[] = [
      [["no-such-program"], {}, /"no-such-program": there is no such program/],
      [["/etc/passwd"], {}, /"\/etc\/passwd": it may not be executed/],
      [["true"], { cwd: "/no/such" }, /in "\/no\/such": the working directory does not exist/],
      [["true", "x".repeat(140_000)], {}, /140000 bytes of at most 131071/],
    ];
    const heard: string[] = [];
    const sink: OutputSink = { chunk: () => heard.push("chunk"), end: () => heard.push("end") };
    const { spawner } = bunRuntime({ pty: way.pty });
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
    await finish(run);
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
    process.env.BUN_SPAWNER_TEST_SECRET = "x";
    const run = await start(way, ["sh", "-c", "env; echo done; read x"]);
    delete process.env.BUN_SPAWNER_TEST_SECRET;
    await run.seen("done");
    if (way.spec.terminal !== undefined) await run.child.write(encode("\r"));
    await finish(run);
    const names = [...run.text().matchAll(/^(\w+)=/gm)].map(([, name]) => name).filter((name) => name !== "PWD");
    assertEquals(names.sort(), ["OFFSTAGE_SESSION_ID", "PATH", "TERM"]);
  });

  test(`E21 ${way.name}: the child leads its group, and a group signal reaches its children`, { skip }, async () => {
    const run = await bash(way, "sleep 60 & echo up; wait");
    await run.seen("up");
    const tree = await run.child.inspector?.tree() ?? [];
    assertEquals(tree.every(({ inGroup }) => inGroup), true);
    assertEquals(run.child.signal("SIGKILL", "group"), "sent");
    await finish(run);
    for (let i = 0; i < 500 && (await run.child.inspector?.tree() ?? []).length > 0; i++) await sleep(10);
    assertEquals(await run.child.inspector?.tree() ?? [], []);
  });

  test(`case 114 ${way.name}: ended children leave no descriptor behind`, { skip }, async () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    await finish(await start(way, ["true"]));
    const before = count();
    for (let i = 0; i < 40; i++) await finish(await start(way, ["true"]));
    await assertRejects(() => start(way, ["no-such-program"]));
    for (let i = 0; i < 500 && count() > before; i++) await sleep(10);
    assertLess(count() - before, 2);
  });
}

for (const way of [PIPES, TERMINAL]) {
  test(`E27 ${way.name}: a death by signal is reported by the signal's name`, { skip }, async () => {
    for (const name of ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGUSR1"] as const) {
      assertEquals(await finish(await bash(way, `kill -${name} $$`)), { signal: name });
    }
    assertEquals(await finish(await bash(way, "exit 143")), { code: 143 });
  });

  test(`E35 ${way.name}: the exit does not wait for a left-behind child, whose output still arrives`, {
    skip,
  }, async () => {
    const run = await bash(
      way,
      "trap '' HUP; (trap 'seq 1 20000; exit' USR1; echo up; while :; do sleep 0.1; done) & exit 4",
    );
    assertEquals(await run.child.exited, { code: 4 });
    await run.seen("up");
    assertEquals(run.child.signal("SIGUSR1", "child"), "gone");
    assertEquals([run.child.groupAnswers?.(), run.child.signal("SIGUSR1", "group")], [true, "sent"]);
    await run.ended;
    assert(run.text().replaceAll("\r", "").endsWith("\n20000\n"));
  });
}

for (const way of [TERMINAL, BUN_PTY]) {
  test(`E6 ${way.name}: it has the size and the type that were asked for, and can be resized`, { skip }, async () => {
    const run = await bash(way, "stty size; echo $TERM; read; stty size; read");
    await run.seen("xterm-256color");
    run.child.resize?.({ cols: 33, rows: 11 });
    await run.child.write(encode("\r"));
    await run.seen("11 33");
    await run.child.write(encode("\r"));
    assertEquals(await finish(run), { code: 0 });
    assertEquals(run.text().split("\r\n").filter((line) => line !== ""), ["20 90", "xterm-256color", "11 33"]);
  });

  test(`R12 ${way.name}: cat ends with code 0 after ^D`, { skip }, async () => {
    const run = await start(way, ["cat"]);
    await run.child.write(encode("é\n"));
    await run.seen("é\r\né\r\n");
    await run.child.write(Uint8Array.of(4));
    assertEquals(await finish(run), { code: 0 });
  });

  test(`case 88 ${way.name}: a paste into a program that reads late arrives whole`, { skip }, async () => {
    const run = await bash(way, "stty raw -echo; echo ready; sleep 1; head -c 65536 | wc -c; read");
    await run.seen("ready");
    await run.child.write(new Uint8Array(65_536).fill(97));
    await run.seen("65536");
    run.child.signal("SIGKILL", "group");
    await finish(run);
  });

  test(`case 7 ${way.name}: a storm of exits does not end a terminal whose child lives`, { skip }, async () => {
    const run = await start(way, ["sleep", "60"]);
    let isOver = false;
    run.child.exited.then(() => isOver = true);
    for (let i = 0; i < 200; i++) await finish(await start(PIPES, ["true"]));
    assertEquals(isOver, false);
    assertEquals(run.child.signal("SIGTERM", "group"), "sent");
    await finish(run);
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

test("case 90 pipes: a write after the end of input is refused", { skip }, async () => {
  const run = await start(PIPES, ["wc", "-c"], { stdin: "open" });
  await run.child.write(new Uint8Array(3_000_000));
  await run.child.endInput();
  await assertRejects(() => run.child.write(new Uint8Array(1)), OffstageError);
  assertEquals(await finish(run), { code: 0 });
  assertEquals(run.text().trim(), "3000000");
});

test("S4 pipes: a small chunk has memory of its own, and no more of it than it needs", { skip }, async () => {
  const chunks: Uint8Array[] = [];
  const { spawner } = bunRuntime();
  const spec: SpawnSpec = {
    argv: ["bash", "-c", "for i in 1 2 3; do echo $i; sleep 0.05; done"],
    cwd: "/",
    env: { PATH: process.env.PATH ?? "" },
    stdin: "closed",
    sessionId: "x",
  };
  await new Promise<void>((end) => void spawner.spawn(spec, { chunk: (_stream, bytes) => chunks.push(bytes), end }));
  assertEquals(Buffer.concat(chunks).toString(), "1\n2\n3\n");
  assertEquals(new Set(chunks.map(({ buffer }) => buffer)).size, chunks.length);
  assertEquals(chunks.filter((bytes) => bytes.buffer.byteLength > 2 * bytes.length), []);
});

test("case 4 terminal: the end of the output is never lost", { skip }, async () => {
  for (let i = 0; i < 10; i++) {
    const long = await start(TERMINAL, ["seq", "1", "20000"]);
    await finish(long);
    assertEquals(long.text().length, 128_894, `run ${i}`);
    const short = await start(TERMINAL, ["printf", "short"]);
    await finish(short);
    assertEquals(short.text(), "short");
  }
});

test("case 88 terminal: a write waits until the program reads", { skip }, async () => {
  const run = await bash(TERMINAL, "stty raw -echo; echo ready; sleep 1; echo reading; head -c 65536 | wc -c");
  await run.seen("ready");
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 20);
  await run.child.write(new Uint8Array(65_536).fill(97));
  clearInterval(ticking);
  assertStringIncludes(run.text(), "reading");
  assertGreater(ticks, 5);
  await finish(run);
});

test("case 88 terminal: 240 KB typed into cat come back whole", { skip }, async () => {
  const lines = `${"x".repeat(79)}\n`.repeat(100);
  for (const echo of ["-echo", "echo"]) {
    const run = await bash(TERMINAL, `stty ${echo}; echo ready; exec cat`);
    await run.seen("ready\r\n");
    await Promise.all(Array.from({ length: 30 }, () => run.child.write(encode(lines))));
    await run.child.write(Uint8Array.of(4));
    assertEquals(await finish(run), { code: 0 });
    const count = run.text().match(/x/g)?.length ?? 0;
    if (echo === "-echo") assertEquals(count, 79 * 3_000);
    else assertGreaterOrEqual(count, 79 * 3_000); // the kernel drops some of its echo, and none of the output
  }
});

test("case 88 terminal: a write that nobody reads is refused when the child ends", { skip }, async () => {
  const run = await bash(TERMINAL, "stty raw -echo; echo ready; sleep 60");
  await run.seen("ready");
  const refused = assertRejects(() => run.child.write(new Uint8Array(65_536)), OffstageError);
  run.child.signal("SIGKILL", "group");
  assertEquals((await refused).code, "stdin-closed");
  await finish(run);
});

test("case 6 terminal: a child that lets go of its terminal early is neither ended nor hung up", { skip }, async () => {
  const run = await bash(TERMINAL, "echo bye; exec <&- >&- 2>&-; sleep 0.3; exit 5");
  await run.ended;
  assertEquals(await run.child.exited, { code: 5 });
});

test("terminal: a release hangs up, tells the end, and the child goes with its terminal", { skip }, async () => {
  const run = await bash(TERMINAL, "echo up; exec sleep 60");
  await run.seen("up");
  run.child.release();
  await run.ended;
  assertEquals(await run.child.exited, { signal: "SIGHUP" });
});

test("bun-pty: a code that a signal may have made up is reported as unknown", { skip }, async () => {
  assertEquals(await finish(await bash(BUN_PTY, "exit 1")), { code: 1 });
  const run = await start(BUN_PTY, ["sleep", "60"]);
  run.child.signal("SIGKILL", "group");
  assertEquals(await finish(run), { code: null });
});

test("bun-pty: bytes that are no text are refused, a character in two writes is not", { skip }, async () => {
  const run = await start(BUN_PTY, ["cat"]);
  const error = await assertRejects(() => run.child.write(Uint8Array.of(0xff)), OffstageError);
  assertEquals(error.code, "unsupported");
  const [first = 0, second = 0] = encode("é");
  await run.child.write(Uint8Array.of(first));
  await run.child.write(Uint8Array.of(second, 10));
  await run.seen("é\r\né\r\n");
  run.child.signal("SIGKILL", "group");
  await finish(run);
});

test("E6 a Bun without terminals says why when they are asked of it", { skip }, async () => {
  const { version, spawn } = bunGlobal();
  const old: BunGlobal = { version, spawn };
  assertMatch(String((await createBunSpawner(old, "terminal").capabilities()).pty), /since 1\.3\.5/);
  assertEquals(await createBunSpawner(old).capabilities(), { pty: true, signals: true, groups: true }); // bun-pty
});

test("the Bun adapter refuses other runtimes", { skip: skipUnless(runtimeName !== "bun", "this is Bun") }, () => {
  assertEquals(assertThrows(() => bunRuntime(), OffstageError).code, "unsupported");
});

test("case 48 a signal to the host is answered by ending sessions, then ends the host", { skip }, async () => {
  const script = `
    const { bunRuntime } = await import(${JSON.stringify(new URL("../adapters/bun/runtime.ts", import.meta.url).href)});
    bunRuntime().onShutdown(async () => { await new Promise((r) => setTimeout(r, 20)); console.log("ended"); });
    setInterval(() => {}, 1000);
    console.log("ready");`;
  const host = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  host.stdout.on("data", (bytes) => {
    text += bytes;
    if (text === "ready\n") host.kill("SIGTERM");
  });
  assertEquals(await once(host, "close"), [null, "SIGTERM"]);
  assertEquals(text, "ready\nended\n");
});

test("B1 B2 a bridge forwards signals, onSignal first, until the child ends", { skip }, async () => {
  const { Bun } = globalThis as unknown as { readonly Bun: BridgedSpawn };
  const child = Bun.spawn(["bash", "-c", "trap 'echo HUP; exit 3' HUP; echo ready; while :; do sleep 0.05; done"]);
  const reader = child.stdout.getReader();
  await reader.read();
  const told: string[] = [];
  const before = process.listenerCount("SIGHUP");
  const bridge = bridgeChildProcess(child, {
    signals: ["SIGHUP"],
    onSignal: (signal) => {
      told.push(signal);
      throw new Error("hook");
    },
  });
  process.kill(process.pid, "SIGHUP");
  assertEquals(await child.exited, 3);
  await sleep(0);
  assertEquals([told, process.listenerCount("SIGHUP")], [["SIGHUP"], before]);
  bridge.detach();
  bridgeChildProcess(child).detach();
  assertEquals(process.listenerCount("SIGHUP"), before);
});

/** What the test of the bridge uses of Bun: a child as users have it. */
interface BridgedSpawn {
  spawn(argv: readonly string[]): Parameters<typeof bridgeChildProcess>[0] & {
    readonly stdout: ReadableStream<Uint8Array>;
  };
}
