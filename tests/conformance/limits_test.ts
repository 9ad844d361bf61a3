/**
 * Resource limits on real shells and programs: each one binds, the answer says which it was, and nothing else changes.
 *
 * @module
 */
import process from "node:process";
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import type { ExecParams, LimitEnd, Limits } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { background, open, poll, pollToEnd, runToEnd } from "./agent.ts";
import { CONNECTIONS, needs, proc } from "./machine.ts";

/** Each with why it is left out, if it is. */
const SHELLS = await Promise.all(
  ["bash", "dash", "zsh", "ksh"].map(async (shell) => ({ shell, missing: await needs(shell) })),
);

const isRoot = process.getuid?.() === 0;

/** What every answer to a limit of processes warns of here. */
const ROOT_WARNING = "limits.processes may not hold: the kernel holds no command of root to it";

/** Words of the C library that do not depend on the tester's language. */
const env = { LC_ALL: "C" };

const KERNEL_LIMITS: Limits = { memoryBytes: 500_000_000, cpuSeconds: 600, processes: 5_000, openFiles: 99 };

/** Soft and hard limits of a process, as `/proc` has them, of the four resources. */
function limitsIn(output: string): readonly string[] {
  const rows = [...output.matchAll(/^Max (address space|cpu time|processes|open files) +(\w+) +(\w+) /gm)];
  return rows.map(([, name, soft, hard]) => `${name} ${soft} ${hard}`).sort();
}

const SHOW_LIMITS = "cat /proc/self/limits";

for (const { shell, missing } of SHELLS) {
  for (const { how, pty, skip } of CONNECTIONS) {
    test(`limits hold in ${shell} on ${how}, for children too, and leave no trace in what is run`, {
      skip: skip || missing,
    }, async () => {
      const bench = closing(open({ shell }));
      const before = await runToEnd(bench.agent, { command: SHOW_LIMITS, pty });
      const command = `echo "$? $LINENO"; sh -c '${SHOW_LIMITS}; :'; echo "$#"`;
      const { details, text } = await runToEnd(bench.agent, { command, pty, limits: KERNEL_LIMITS });
      assertEquals(limitsIn(details.output), [
        "address space 499999744 499999744",
        "cpu time 600 605",
        "open files 99 99",
        "processes 5000 5000",
      ], text);
      assertMatch(details.output, /^0 1?\n/); // dash has no LINENO here
      assert(details.output.endsWith("\n0\n"), text);
      assertEquals(details.warnings, isRoot ? [ROOT_WARNING] : []);
      assertEquals([details.limit, details.ok], [null, true]);
      const after = await runToEnd(bench.agent, { command: SHOW_LIMITS, pty });
      assertEquals(limitsIn(after.details.output), limitsIn(before.details.output));
    });

    test(`the least limits there are do for ${shell} on ${how}`, { skip: skip || missing }, async () => {
      const bench = closing(open({ shell, limits: { openFiles: 16, memoryBytes: 16_777_216 } }));
      const command = "echo a >/dev/null; { echo $(echo b | cat); } 2>&1; cat <<X\nc\nX\n(echo d) | cat | cat";
      const { details, text } = await runToEnd(bench.agent, { command, pty, env });
      assertEquals([details.output, details.ok], ["b\nc\nd\n", true], text);
    });
  }
}

interface Case {
  readonly what: string;
  readonly params: ExecParams;
  readonly limit: LimitEnd;
}

const BURN = "while :; do :; done";

const CASES: readonly Case[] = [
  {
    what: "too much memory",
    params: { command: "head -c 400000000 /dev/zero | tail", limits: { memoryBytes: 100_000_000 } },
    limit: { name: "memoryBytes", evidence: "output" },
  },
  {
    what: "too many files",
    params: { command: "tee $(yes /dev/null | head -n 100) </dev/null", limits: { openFiles: 40 }, pty: true },
    limit: { name: "openFiles", evidence: "output" },
  },
];

for (const { shell, missing } of SHELLS) {
  test(`CPU time is up in ${shell} for the shell itself and for a program, and the answer says so`, {
    skip: CONNECTIONS[1].skip || missing,
  }, async () => {
    const bench = closing(open({ shell }));
    const limits = { cpuSeconds: 1 };
    const [own, child] = await Promise.all([
      runToEnd(bench.agent, { command: BURN, limits, yieldMs: 120_000 }),
      runToEnd(bench.agent, { command: `sh -c '${BURN}'; exit $?`, pty: true, limits, yieldMs: 120_000 }),
    ]);
    const bySignal = { name: "cpuSeconds", evidence: "signal" };
    assertEquals([own.details.status, own.details.signal, own.details.limit], ["failed", "SIGXCPU", bySignal]);
    // ksh counts signals from 256, of which an exit code keeps 24: then its words tell
    const { exitCode, limit } = child.details;
    assertEquals([exitCode, limit?.evidence], shell === "ksh" ? [24, "output"] : [152, "signal"], child.text);
    for (const { text } of [own, child]) assertStringIncludes(text, "limits.cpuSeconds 1");
  });

  for (const { what, params, limit } of CASES) {
    const skip = CONNECTIONS[params.pty === true ? 1 : 0].skip || missing;
    test(`a program that wants ${what} is denied it in ${shell}, and the answer says by what`, { skip }, async () => {
      const bench = closing(open({ shell }));
      const { details, text } = await runToEnd(bench.agent, { env, yieldMs: 120_000, ...params });
      assertEquals([details.limit, details.ok, details.pty], [limit, false, params.pty === true], text);
      assertStringIncludes(text, `limits.${limit.name} `);
    });
  }
}

/** As somebody else than root, where we are root: the kernel does not hold root to it. */
const AS_NOBODY = "setpriv --reuid=64999 --regid=64999 --clear-groups ";

test(
  "a program that starts too many processes is refused them, and the answer says so",
  { skip: await needs("dash") || (isRoot ? await needs("setpriv") : false) },
  async () => {
    const bench = closing(open({ shell: "dash" }));
    const forks = "sleep 0.2 & sleep 0.2 & sleep 0.2 & wait";
    const { details, text } = await runToEnd(bench.agent, {
      command: isRoot ? `${AS_NOBODY}dash -c '${forks}'` : forks,
      limits: { processes: 2 },
      workdir: "/",
      env,
    });
    assertEquals([details.limit, details.ok], [{ name: "processes", evidence: "output" }, false], text);
    assertEquals(details.warnings, isRoot ? [ROOT_WARNING] : []);
  },
);

test("what is not in force is told by the first answer, in the background too", { skip: proc }, async () => {
  const bench = closing(open());
  const run = await background(bench.agent, { command: "sleep 60", background: true, limits: { processes: 5_000 } });
  assertEquals(run.details.warnings, isRoot ? [ROOT_WARNING] : []);
  assertEquals([run.details.limits, run.details.tail], [{ processes: 5_000 }, ""]);
  assertStringIncludes(run.text, "[limits: processes 5000]");
});

for (const { how, pty, skip } of CONNECTIONS) {
  test(`yes is ended by outputBytes on ${how}, after exactly that many`, { skip }, async () => {
    const bench = closing(open());
    const { id } = await background(bench.agent, {
      command: "yes",
      background: true,
      pty,
      limits: { outputBytes: 1_001 },
    });
    const { last } = await pollToEnd(bench.agent, id);
    assertEquals([last.status, last.reason, last.signal], ["killed", "killed", "SIGTERM"]);
    assertEquals([last.limit, last.to], [{ name: "outputBytes", evidence: "counted" }, 1_001]);
    assertEquals(
      (await poll(bench.agent, id, { since: 0 })).output,
      pty ? "y\n".repeat(333) + "y" : `${"y\n".repeat(500)}y`,
    );
  });
}

test("what is printed past outputBytes is neither held nor in the way of the end", { skip: proc }, async () => {
  const bench = closing(open({ maxOutputChars: 1e12, killGraceMs: 1_000 }));
  const before = process.memoryUsage().rss;
  const { details } = await runToEnd(bench.agent, {
    command: "trap '' TERM; yes | cat",
    limits: { outputBytes: 100_000 },
  });
  assertEquals([details.status, details.signal], ["killed", "SIGKILL"]);
  assertEquals(details.survivors, []);
  // a second of it is a gigabyte and more; held would be held whole
  assertLess(process.memoryUsage().rss - before, 250_000_000);
});

test("a command that its limits do not touch ends as it would without", { skip: proc }, async () => {
  const bench = closing(open({ limits: { ...KERNEL_LIMITS, outputBytes: 50_000 } }));
  const ends = [["exit 7", 7], ["echo o; echo e >&2", 0], ["nosuchcommand", 127]] as const;
  for (const [command, exitCode] of ends) {
    const { details } = await runToEnd(bench.agent, { command, mergeStreams: true });
    assertEquals([details.status, details.exitCode, details.limit], ["completed", exitCode, null]);
    if (exitCode === 0) assertEquals(details.output, "o\ne\n");
  }
});
