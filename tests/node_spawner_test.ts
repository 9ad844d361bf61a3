/**
 * Commands on pipes and in terminals, started by the Node adapter. Conformance covers what all runtimes promise; here
 * is what has gone wrong with Node and node-pty in particular.
 *
 * @module
 */

import { assert, assertEquals, assertGreater, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { nodeRuntime } from "../adapters/node/runtime.ts";
import { OffstageError } from "../mod.ts";
import type { Child, Exit, SpawnSpec, StreamName } from "../mod.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "node" && process.platform !== "win32", "this is about Node on POSIX");
const runtime = nodeRuntime();
const TERMINAL = { terminal: { cols: 90, rows: 20 } };

interface Run {
  readonly child: Child;
  /** Resolves when all output has come. */
  readonly ended: Promise<void>;
  readonly hasEnded: () => boolean;
  readonly text: (stream?: StreamName) => string;
  /** Resolves when the output contains that text. */
  readonly seen: (text: string) => Promise<void>;
}

async function start(argv: SpawnSpec["argv"], over: Partial<SpawnSpec> = {}): Promise<Run> {
  const chunks: { readonly stream: StreamName; readonly bytes: Uint8Array }[] = [];
  const text = (stream?: StreamName): string =>
    Buffer.concat(chunks.filter((chunk) => stream === undefined || chunk.stream === stream).map(({ bytes }) => bytes))
      .toString();
  let waiting = (): void => {};
  let hasEnded = false;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const env = { PATH: process.env.PATH ?? "", TERM: "xterm-256color", OFFSTAGE_SESSION_ID: "node-spawner-test" };
  const spec: SpawnSpec = { argv, cwd: "/", env, stdin: "closed", sessionId: "node-spawner-test", ...over };
  const child = await runtime.spawner.spawn(spec, {
    chunk: (stream, bytes) => {
      chunks.push({ stream, bytes });
      waiting();
    },
    end: () => {
      hasEnded = true;
      end();
    },
  });
  const seen = (part: string): Promise<void> =>
    new Promise((resolve) => {
      waiting = () => text().includes(part) && resolve();
      waiting();
    });
  return { child, ended, hasEnded: () => hasEnded, text, seen };
}

async function finish(run: Run): Promise<Exit> {
  const exit = await run.child.exited;
  await run.ended;
  return exit;
}

const bash = (script: string, over: Partial<SpawnSpec> = {}): Promise<Run> => start(["bash", "-c", script], over);

test("E9 pipes: each chunk is tagged with its stream, and the code is the shell's", { skip }, async () => {
  const run = await bash("echo out; echo err >&2; exit 3");
  assertEquals(await finish(run), { code: 3 });
  assertEquals([run.text("stdout"), run.text("stderr")], ["out\n", "err\n"]);
});

test(
  "E35 pipes: the exit is told while a left-behind child still holds the pipe, and its group answers",
  { skip },
  async () => {
    const run = await bash("sleep 60 & echo spawned; exit 3");
    assertEquals(await run.child.exited, { code: 3 });
    await run.seen("spawned");
    assertEquals([run.hasEnded(), run.child.groupAnswers?.()], [false, true]);
    assertEquals(run.child.signal("SIGKILL", "child"), "gone");
    assertEquals(run.child.signal("SIGKILL", "group"), "sent");
    await run.ended;
  },
);

for (const [how, over] of [["pipes", {}], ["terminal", TERMINAL]] as const) {
  test(`E27 ${how}: a death by signal is reported by the signal's name`, { skip }, async () => {
    for (const name of ["SIGTERM", "SIGKILL", "SIGSEGV", "SIGABRT", "SIGUSR1"] as const) {
      assertEquals(await finish(await bash(`kill -${name} $$`, over)), { signal: name });
    }
  });

  test(`E29 ${how}: what cannot be started is an error that names what is wrong`, { skip }, async () => {
    const cases: readonly (readonly [SpawnSpec["argv"], Partial<SpawnSpec>, RegExp])[] = [
      [["no-such-program"], {}, /"no-such-program": there is no such program/],
      [["/etc/passwd"], {}, /"\/etc\/passwd": it may not be executed/],
      [["true"], { cwd: "/no/such" }, /in "\/no\/such": the working directory does not exist/],
      [["true"], { cwd: "/etc/passwd" }, /in "\/etc\/passwd": it is not a directory/],
      [["true", "x".repeat(140_000)], {}, /140000 bytes of at most 131071/],
    ];
    for (const [argv, more, message] of cases) {
      const error = await assertRejects(() => start(argv, { ...over, ...more }), OffstageError);
      assertEquals(error.code, "spawn-failed");
      assertMatch(error.message, message);
    }
  });

  test(`${how}: every method of a child is safe after its exit`, { skip }, async () => {
    const run = await bash("true", { ...over, stdin: "open" });
    await finish(run);
    assertEquals(run.child.signal("SIGTERM", "child"), "gone");
    assertEquals(run.child.signal("SIGTERM", "group"), "gone");
    assertEquals((await assertRejects(() => run.child.write(new Uint8Array(1)), OffstageError)).code, "stdin-closed");
    await run.child.endInput();
    run.child.resize?.({ cols: 10, rows: 10 });
    run.child.release();
    run.child.release();
  });

  test(`C3 ${how}: nothing of the host's environment is added`, { skip }, async () => {
    const run = await start(["env"], over);
    await finish(run);
    const names = run.text().trim().split(/\r?\n/).map((line) => line.split("=")[0]).filter((name) => name !== "PWD");
    assertEquals(names.sort(), ["OFFSTAGE_SESSION_ID", "PATH", "TERM"]);
  });

  test(`case 114 ${how}: ended children leave no descriptor behind`, { skip }, async () => {
    const count = (): number => readdirSync("/proc/self/fd").length;
    await finish(await start(["true"], over));
    const before = count();
    for (let i = 0; i < 40; i++) await finish(await start(["true"], over));
    await assertRejects(() => start(["no-such-program"], over));
    for (let i = 0; i < 100 && count() > before; i++) await sleep(10);
    assertEquals(Math.max(count() - before, 0), 0);
  });
}

test("case 83 pipes: writing to a child that closed its stdin is refused, again and again, and nothing escapes", {
  skip,
}, async () => {
  const run = await bash("exec 0<&-; echo closed; sleep 60", { stdin: "open" });
  await run.seen("closed");
  for (let i = 0; i < 3; i++) {
    const error = await assertRejects(() => run.child.write(new Uint8Array(1_000_000)), OffstageError);
    assertEquals(error.code, "stdin-closed");
  }
  run.child.signal("SIGKILL", "group");
  assertEquals(await finish(run), { signal: "SIGKILL" });
});

test("case 84 pipes: a big write arrives whole, and the end of input after it", { skip }, async () => {
  const run = await start(["wc", "-c"], { stdin: "open" });
  await run.child.write(new Uint8Array(3_000_000));
  await run.child.endInput();
  assertEquals(await finish(run), { code: 0 });
  assertEquals(run.text().trim(), "3000000");
});

test("E6 terminal: it has the size and the type that were asked for, and can be resized", { skip }, async () => {
  const run = await bash("stty size; echo $TERM; read; stty size", TERMINAL);
  await run.seen("xterm-256color");
  run.child.resize?.({ cols: 33, rows: 11 });
  await run.child.write(Buffer.from("\r"));
  assertEquals(await finish(run), { code: 0 });
  assertEquals(run.text().split("\r\n").filter((line) => line !== ""), ["20 90", "xterm-256color", "11 33"]);
});

test("case 4 terminal: the end of the output is never lost", { skip }, async () => {
  const expected = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\r\n`).join("");
  for (let i = 0; i < 20; i++) {
    const run = await start(["seq", "1", "20000"], TERMINAL);
    assertEquals(await finish(run), { code: 0 });
    assert(run.text() === expected, `run ${i}: ${run.text().length} of ${expected.length} characters`);
  }
  for (let i = 0; i < 20; i++) {
    const run = await start(["printf", "short"], TERMINAL);
    await finish(run);
    assertEquals(run.text(), "short");
  }
});

test(
  "E35 terminal: what a left-behind child prints after the exit still arrives, to its last byte",
  { skip },
  async () => {
    const run = await bash("trap '' HUP; (sleep 0.3; seq 1 20000) & exit 4", TERMINAL);
    assertEquals(await run.child.exited, { code: 4 });
    await run.ended;
    assert(run.text().endsWith("\r\n20000\r\n"));
  },
);

test("R12 terminal: cat ends with code 0 after ^D, not with a hang-up", { skip }, async () => {
  for (let i = 0; i < 20; i++) {
    const run = await start(["cat"], TERMINAL);
    await run.child.write(Buffer.from("a\n"));
    await run.seen("a\r\na\r\n");
    await run.child.write(Buffer.from([4]));
    assertEquals(await finish(run), { code: 0 });
  }
});

test(
  "case 88 terminal: a paste into a program that reads late arrives whole while the host goes on",
  { skip },
  async () => {
    const run = await bash("stty raw -echo; echo ready; sleep 1; head -c 65536 | wc -c", TERMINAL);
    await run.seen("ready");
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 20);
    await run.child.write(new Uint8Array(65_536).fill(97));
    clearInterval(ticking);
    assertEquals(await finish(run), { code: 0 });
    assertStringIncludes(run.text(), "65536");
    assertGreater(ticks, 5);
  },
);

test("case 88 terminal: 240 KB typed into cat does not lock up against what it prints", { skip }, async () => {
  const line = `${"x".repeat(79)}\n`;
  const run = await bash("stty -echo; echo ready; exec cat", TERMINAL); // the kernel drops echoes that nobody reads in time
  await run.seen("ready");
  await run.child.write(Buffer.from(line.repeat(3_000)));
  await run.child.write(Buffer.from([4]));
  assertEquals(await finish(run), { code: 0 });
  assertEquals(run.text().match(/x/g)?.length, 79 * 3_000);
});

test("terminal: a release hangs up, tells the end, and the child goes with its terminal", { skip }, async () => {
  const run = await bash("echo up; exec sleep 60", TERMINAL);
  await run.seen("up");
  run.child.release();
  await run.ended;
  assertEquals(await run.child.exited, { signal: "SIGHUP" });
});

test("case 118: without a terminal back-end the capabilities say why, and a spawn is refused", { skip }, async () => {
  const { spawner } = nodeRuntime({ pty: [() => Promise.reject(new Error("wrong architecture\nat x"))] });
  assertMatch(String((await spawner.capabilities()).pty), /install @lydell\/node-pty: wrong architecture$/);
  assertEquals((await nodeRuntime({ pty: [] }).spawner.capabilities()).pty, "terminals are turned off");
  const spec: SpawnSpec = { argv: ["true"], cwd: "/", env: {}, stdin: "open", sessionId: "x", ...TERMINAL };
  const error = await assertRejects(() => spawner.spawn(spec, { chunk: () => {}, end: () => {} }), OffstageError);
  assertEquals(error.code, "unsupported");
});

test("E2 a directory's status tells missing, file and directory apart", { skip }, async () => {
  assertEquals(await runtime.directoryStatus("/"), "ok");
  assertEquals(await runtime.directoryStatus("/no/such"), "missing");
  assertEquals(await runtime.directoryStatus("/etc/passwd"), "not-a-directory");
});

test("E20 programs are found by name on the PATH, and by path", { skip }, async () => {
  assertEquals(await Promise.all(["sh", "/bin/sh", "no-such-program", "/etc/passwd", "/"].map(runtime.hasProgram)), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("P12 a port counts as open while something listens on the loopback", { skip }, async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  assertEquals(await runtime.portOpen(port), true);
  await new Promise((resolve) => server.close(resolve));
  assertEquals(await runtime.portOpen(port), false);
});
