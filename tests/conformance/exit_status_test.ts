/**
 * How a command ended, or why it was not started, is told truly and plainly: section D of the cases from the field.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertGreater, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import type { Agent, ExecAnswer, ExecParams, NotStartedDetails } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { background, log, open, poll, pollToEnd, processesCarrying, runToEnd } from "./agent.ts";
import { CONNECTIONS, freshFolder, posix } from "./machine.ts";
import { closing, test } from "../closing.ts";

const linux = skipUnless(process.platform === "linux", "the limits are Linux's");
const plainUser = skipUnless(process.getuid?.() !== 0, "root may enter every directory");

/** Makes a call that must start nothing, and checks that no half-made session is left. */
async function refused(agent: Agent, params: ExecParams): Promise<ExecAnswer & { details: NotStartedDetails }> {
  const startedAt = performance.now();
  const answer = await agent.exec(params);
  assertLess(performance.now() - startedAt, 5_000);
  const { details } = answer;
  if (!("message" in details)) throw new Error(`Expected a refusal but got: ${answer.text}`);
  assertEquals([answer.isError, details.status, details.exitCode, details.ok], [true, "failed", null, false]);
  assertEquals((await agent.process({ action: "list" })).text, "No sessions.");
  return { ...answer, details };
}

// [61] death by signal

const SIGNALS = ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGINT", "SIGHUP", "SIGABRT", "SIGUSR1", "SIGPIPE"] as const;

for (const { how, pty, skip } of CONNECTIONS) {
  test(
    `E27 a death by signal on ${how} is failed with that signal's name, never code 0 [61]`,
    { skip },
    async () => {
      const bench = closing(open());
      await Promise.all(SIGNALS.map(async (name) => {
        const command = `echo before; kill -${name.slice(3)} $$; sleep 60`;
        const { details, text, isError } = await runToEnd(bench.agent, { command, pty, yieldMs: 20_000 });
        const { status, reason, signal, exitCode, ok } = details;
        assertEquals(
          { status, reason, signal, exitCode, ok },
          { status: "failed", reason: "signal", signal: name, exitCode: null, ok: false },
        );
        assertEquals(isError, true);
        assertStringIncludes(text, `ended by signal ${name}`);
        assertStringIncludes(details.output, "before");
      }));
    },
  );

  test(`E27 a program's death by signal on ${how} that its shell reports is the shell's code 128+n [61]`, {
    skip: posix,
  }, async () => {
    const bench = closing(open());
    const { details } = await runToEnd(bench.agent, { command: "sh -c 'kill -9 $$'; exit $?", pty });
    assertEquals([details.status, details.exitCode, details.signal], ["completed", 137, null]);
  });

  test(`E27 exec replaces the shell on ${how}, and the program's own death counts [61]`, { skip }, async () => {
    const bench = closing(open());
    const { details } = await runToEnd(bench.agent, { command: "exec sh -c 'kill -TERM $$; sleep 60'", pty });
    assertEquals([details.status, details.signal, details.exitCode], ["failed", "SIGTERM", null]);
  });
}

// [63] the code is never lost

for (const { how, pty, skip } of CONNECTIONS) {
  test(
    `E27 the code of a command that went to the background on ${how} stays known [63]`,
    { skip },
    async () => {
      const bench = closing(open());
      const { id } = await background(bench.agent, { command: "sleep 3; exit 42", yieldMs: 200, pty });
      const { last } = await pollToEnd(bench.agent, id);
      assertEquals([last.status, last.exitCode, last.ok], ["completed", 42, false]);
      assertStringIncludes(last.text, "exit code 42");
      assertEquals((await poll(bench.agent, id)).exitCode, 42);
    },
  );

  test(`E27 a log read before the poll does not use up the code on ${how} [63]`, { skip }, async () => {
    const bench = closing(open());
    const { id } = await background(bench.agent, { command: "sleep 0.3; exit 42", background: true, pty });
    await bench.agent.process({ action: "poll", sessionId: id, until: "exit", timeout: 30_000, since: 0 });
    assertEquals((await log(bench.agent, id)).exitCode, 42);
    assertEquals((await poll(bench.agent, id)).exitCode, 42);
    const { details } = await bench.agent.process({ action: "list" });
    assertEquals("sessions" in details && details.sessions[0]?.exitCode, 42);
  });

  test(`E26 every code is told as it is on ${how} [63]`, { skip }, async () => {
    const bench = closing(open());
    await Promise.all([0, 1, 2, 42, 125, 128, 130, 137, 254, 255].map(async (code) => {
      const { details, text, isError } = await runToEnd(bench.agent, { command: `exit ${code}`, pty });
      assertEquals([details.status, details.exitCode, details.ok], ["completed", code, code === 0]);
      assertEquals(isError, false);
      assertEquals(text, code === 0 ? "(no output)" : `(no output)\n[exit code ${code}]`);
    }));
  });
}

test("E26 codes 126 and 127 carry a hint and are completed like any other", { skip: posix }, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  await writeFile(join(folder.path, "plain.txt"), "hello");
  const denied = await runToEnd(bench.agent, { command: "./plain.txt", workdir: folder.path });
  assertEquals([denied.details.status, denied.details.exitCode], ["completed", 126]);
  assertStringIncludes(denied.text, "exit code 126: found but not executable");
  const missing = await runToEnd(bench.agent, { command: "no-such-command-anywhere" });
  assertEquals([missing.details.status, missing.details.exitCode], ["completed", 127]);
  assertStringIncludes(missing.text, "exit code 127: command not found");
});

// [64] the working directory

for (const params of [{}, { background: true }, { pty: true }, { yieldMs: 50 }] satisfies Partial<ExecParams>[]) {
  test(`E2 E29 a directory that is missing is named, and nothing starts ${JSON.stringify(params)} [64]`, {
    skip: posix,
  }, async () => {
    const bench = closing(open());
    const { details, text } = await refused(bench.agent, { command: "echo hi", workdir: "/no/such", ...params });
    assertEquals(details.reason, "spawn-error");
    assertStringIncludes(text, "working directory does not exist: /no/such");
    assert(!/ENOENT|spawn |\/bin\//.test(text), text);
  });
}

test("E2 a file, a path through a file and an empty name are told apart [64]", { skip: posix }, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  const file = join(folder.path, "file");
  await writeFile(file, "");
  for (const workdir of [file, `${file}/below`]) {
    assertStringIncludes(
      (await refused(bench.agent, { command: "pwd", workdir })).text,
      `working directory is not a directory: ${workdir}`,
    );
  }
  assertEquals((await runToEnd(bench.agent, { command: "pwd", workdir: "" })).details.cwd, process.cwd());
});

test("E2 a directory that may not be entered is named as such [64]", { skip: posix || plainUser }, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  const locked = join(folder.path, "locked");
  await mkdir(locked);
  await chmod(locked, 0o600);
  assertStringIncludes(
    (await refused(bench.agent, { command: "pwd", workdir: locked })).text,
    `working directory may not be entered (permission denied): ${locked}`,
  );
});

test("E2 ~, ~/x and relative paths are resolved, names that only look so are not [64]", { skip: posix }, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  const below = join(folder.path, "below");
  await mkdir(below);
  const cwdOf = async (workdir: string): Promise<string> =>
    (await runToEnd(bench.agent, { command: "pwd -P", workdir })).details.output.trim();
  const real = await cwdOf(below);
  assertEquals(await cwdOf(relative(process.cwd(), below)), real);
  assertEquals(await cwdOf(`${below}/../below/.`), real);
  assertEquals(await cwdOf("~"), await cwdOf(homedir()));
  assertEquals(await cwdOf(`~/${relative(homedir(), below)}`), real);
  assertMatch((await refused(bench.agent, { command: "pwd", workdir: "~nobody-here" })).text, /~nobody-here$/);
  assertStringIncludes(
    (await refused(bench.agent, { command: "pwd", workdir: "no/such" })).text,
    join(process.cwd(), "no/such"),
  );
});

test(
  "E2 a directory that goes while its command runs disturbs neither it nor the next [64]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const folder = closing(await freshFolder());
    const doomed = join(folder.path, "doomed");
    await mkdir(doomed);
    const { id } = await background(bench.agent, { command: "sleep 0.5; echo still here; exit 9", workdir: doomed });
    await rename(doomed, `${doomed}-elsewhere`);
    await rm(`${doomed}-elsewhere`, { recursive: true });
    const { output, last } = await pollToEnd(bench.agent, id);
    assertEquals([output, last.exitCode], ["still here\n", 9]);
    const again = await bench.agent.exec({ command: "pwd", workdir: doomed });
    assertStringIncludes(again.text, `working directory does not exist: ${doomed}`);
  },
);

test("E2 without workdir nothing runs elsewhere when the host's own directory has gone [64]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  const doomed = join(folder.path, "doomed");
  await mkdir(doomed);
  const home = process.cwd();
  try {
    process.chdir(doomed);
    await rm(doomed, { recursive: true });
    for (const params of [{}, { workdir: "below" }]) {
      const { text } = await refused(bench.agent, { command: "pwd", ...params });
      assertStringIncludes(text, "working directory does not exist: /");
    }
    assertEquals((await runToEnd(bench.agent, { command: "pwd", workdir: "/" })).details.output, "/\n");
  } finally {
    process.chdir(home);
  }
});

test(
  "E29 a shell that is not there is named, on pipes and terminals, and leaves no session",
  { skip: posix },
  async () => {
    const bench = closing(open({ shell: "/no/such/bash" }));
    for (const params of [{}, { pty: true }, { background: true }]) {
      const { details, text } = await refused(bench.agent, { command: "echo hi", ...params });
      assertEquals(details.reason, "spawn-error");
      assertStringIncludes(text, "/no/such/bash");
    }
  },
);

// [65] long commands

const ARGUMENT_LIMIT = 131_072; // Linux: MAX_ARG_STRLEN, its NUL included
const COMMAND_LIMIT = 1_048_576;

for (const { how, pty, skip } of CONNECTIONS) {
  test(`E37 the kernel's limit for one argument is none for a command on ${how} [65]`, { skip }, async () => {
    const bench = closing(open());
    for (const bytes of [ARGUMENT_LIMIT - 1, ARGUMENT_LIMIT, ARGUMENT_LIMIT + 1, 2 * ARGUMENT_LIMIT, COMMAND_LIMIT]) {
      const command = "echo whole;".padEnd(bytes - "exit 3".length) + "exit 3";
      assertEquals(command.length, bytes);
      const { details } = await runToEnd(bench.agent, { command, pty });
      assertEquals([details.output.trim(), details.exitCode], ["whole", 3], `${bytes} bytes`);
    }
  });
}

test("E37 a here-document of nearly a megabyte arrives to the byte [65]", { skip: posix }, async () => {
  const bench = closing(open());
  const lines = Array.from({ length: 16_000 }, (_, index) => `line ${index} ` + "x€".repeat(12)).join("\n");
  const bytes = new TextEncoder().encode(`${lines}\n`).length;
  assertGreater(bytes, 900_000);
  const { details } = await runToEnd(bench.agent, { command: `cat <<'END' | wc -c\n${lines}\nEND\n` });
  assertEquals(Number(details.output), bytes);
});

test("E37 a command over the limit starts nothing and names both numbers [65]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const [unit, count] of [["x", COMMAND_LIMIT - 3], ["€", Math.ceil((COMMAND_LIMIT - 3) / 3)]] as const) {
    const command = `: ${unit.repeat(count)};:`;
    const { details, text } = await refused(bench.agent, { command });
    assertEquals(details.reason, "invalid");
    assertStringIncludes(text, String(new TextEncoder().encode(command).length));
    assertStringIncludes(text, String(COMMAND_LIMIT));
  }
});

test("E37 one variable over the kernel's limit is named with both numbers, one at the limit works [65]", {
  skip: linux,
}, async () => {
  const bench = closing(open());
  const value = "x".repeat(ARGUMENT_LIMIT - 1 - "LONG=".length);
  const { details } = await runToEnd(bench.agent, { command: "echo ${#LONG}", env: { LONG: value } });
  assertEquals(details.output, `${value.length}\n`);
  const { text } = await refused(bench.agent, { command: "echo ${#LONG}", env: { LONG: `${value}x` } });
  assertMatch(text, /LONG.*131072.*131071/);
});

for (const { how, pty, skip } of CONNECTIONS) {
  test(
    `E37 more than the kernel takes in all is an error on ${how} that says how much that is [65]`,
    { skip },
    async () => {
      const bench = closing(open());
      const mark = Math.random().toString().slice(2);
      const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`V${index}`, "x".repeat(100_000)]));
      const { details, text } = await refused(bench.agent, {
        command: "echo started",
        env: { ...many, OFFSTAGE_TEST_MARK: mark },
        pty,
      });
      assertEquals(details.reason, "spawn-error");
      assertStringIncludes(text, "too big");
      assertMatch(text, /all together 4\d{6} of about \d+/);
      assertEquals(existsSync("/proc/self") ? processesCarrying(`OFFSTAGE_TEST_MARK=${mark}`) : [], []);
    },
  );
}
