/**
 * A stop ends the whole tree, politely first, and says how it went: section C of the cases from the field, without
 * the host's own end, which is in `shutdown_test.ts`.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertLess, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { groupSignal, readStat } from "../../adapters/linux/proc.ts";
import { nodeKill } from "../../adapters/node/kill.ts";
import { nodeRuntime } from "../../adapters/node/runtime.ts";
import { AbortError, createOffstage } from "../../mod.ts";
import type { Agent, EndedDetails, ExecParams, Spawner } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import {
  background,
  eventually,
  kill,
  log,
  open,
  poll,
  pollToEnd,
  pollUntil,
  processesCarrying,
  processesWith,
  processState,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";

const hasProc = existsSync("/proc/self/stat");
const proc = skipUnless(hasProc, "processes are counted in /proc");
const python = skipUnless(hasProc && hasProgram("python3"), "it needs /proc and python3");

/** How a command's streams are connected, for what must hold either way. */
const CONNECTIONS = [{ how: "pipes", pty: false }, { how: "a terminal", pty: true }] as const;

function hasProgram(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((directory) => existsSync(join(directory, name)));
}

/** An environment entry that marks every process of one test, whatever its command line says. */
function uniqueMark(): { readonly env: Record<string, string>; readonly variable: string } {
  const value = Math.random().toString().slice(2);
  return { env: { OFFSTAGE_TEST_MARK: value }, variable: `OFFSTAGE_TEST_MARK=${value}` };
}

async function freshFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "offstage-kill-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const settle = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => settle(true)).once("error", () => settle(false));
  });
}

const gone = (variable: string): Promise<void> =>
  eventually(() => processesCarrying(variable).length === 0, "every process of the command ends");

// [36] the whole tree

const TREES = {
  "a program it waits for": "bash -c 'bash -c \"while :; do :; done\" & wait'",
  "busy subshells": "for c in 1 2 3 4; do (while :; do :; done) & done; sleep 99",
  "what the ended shell left behind": "(sleep 99 & sleep 99) & sleep 99 & wait",
} as const;

for (const [what, command] of Object.entries(TREES)) {
  for (const { how, pty } of CONNECTIONS) {
    test(`E34 a timeout ends the whole tree on ${how}, ${what} included [36]`, { skip: proc }, async () => {
      await using bench = open();
      const { env, variable } = uniqueMark();
      const { details, text } = await runToEnd(bench.agent, { command, env, pty, timeout: 0.5 });
      assertEquals([details.status, details.reason, details.signal], ["failed", "timeout", "SIGTERM"]);
      assertEquals(details.survivors, []);
      assertStringIncludes(text, "timed out after 0.5 s");
      assertEquals(processesCarrying(variable), []);
    });
  }
}

test("P41 R6 a kill ends the tree of a shell that has long ended [36] [15]", { skip: proc }, async () => {
  await using bench = open();
  const marker = uniqueSleep();
  const { details } = await runToEnd(bench.agent, { command: `nohup ${marker} >/dev/null 2>&1 & ${marker} & exit 3` });
  assertEquals([details.status, details.exitCode, details.survivors.length], ["completed", 3, 2]);
  const killed = await kill(bench.agent, details.sessionId ?? "");
  assertEquals([killed.confirmed, killed.exitCode, killed.reason], [true, 3, "exit"]);
  assertEquals(processesWith(marker), []);
});

test("E32 an abort in the foreground ends the whole tree", { skip: proc }, async () => {
  await using bench = open({ killGraceMs: 500 });
  const { env, variable } = uniqueMark();
  const abort = new AbortController();
  const call = bench.agent.exec(
    { command: "(trap '' TERM; sleep 99) & setsid sleep 99 & echo up; wait", env, yieldMs: 60_000 },
    { signal: abort.signal, onUpdate: ({ tail }) => tail.includes("up") && abort.abort("enough") },
  );
  const error = await assertRejects(() => call, AbortError);
  assertEquals([error.cause, error.output], ["enough", "up\n"]);
  await gone(variable);
});

// [37] servers and pipelines

test("E34 a kill ends a server's children and frees their ports [37]", { skip: python }, async () => {
  await using bench = open();
  const ports = [await freePort(), await freePort()] as const;
  const serve = (port: number): string => `python3 -m http.server --bind 127.0.0.1 ${port}`;
  const { id } = await background(bench.agent, {
    command: `sh -c '${serve(ports[0])} & ${serve(ports[1])}; wait'`,
  });
  for (const port of ports) await eventually(() => answers(port), "the servers come up");
  const { confirmed, status, signal } = await kill(bench.agent, id);
  assertEquals([confirmed, status, signal], [true, "killed", "SIGTERM"]);
  for (const port of ports) assertEquals(await answers(port), false);
});

test("E34 a kill ends every member of a pipeline [37]", { skip: proc }, async () => {
  await using bench = open();
  const { env, variable } = uniqueMark();
  const { id } = await background(bench.agent, { command: "sleep 999 | cat | cat", env });
  await eventually(() => processesCarrying(variable).length === 4, "shell and pipeline are up");
  assertEquals((await kill(bench.agent, id)).confirmed, true);
  assertEquals(processesCarrying(variable), []);
});

// [38] the group is the child's own

for (const { how, pty } of CONNECTIONS) {
  test(
    `E21 a command on ${how} leads its own group and session, which are not the host's [38]`,
    { skip: proc },
    async () => {
      await using bench = open();
      const { details } = await background(bench.agent, { command: "sleep 99", pty });
      const stat = readStat(details.pid ?? 0);
      assertEquals([stat?.group, stat?.session], [details.pid, details.pid]);
      assert(stat?.group !== readStat(process.pid)?.group);
    },
  );
}

test("E21 a child that leads no group is signalled alone, so the host lives [38]", { skip: proc }, async () => {
  const child = spawn("sleep", ["99"], { detached: false, stdio: "ignore" });
  const exited = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  const pid = child.pid ?? 0;
  assertEquals(readStat(pid)?.group, readStat(process.pid)?.group);
  assertEquals(groupSignal({ pid, sessionId: "none", kill: nodeKill }, "SIGTERM"), "sent");
  assertEquals(await exited, "SIGTERM");
});

// [39] a chance to clean up

const TIDY = "trap 'echo bye; rm -f lock; exit 0' TERM; touch lock; echo up; while :; do sleep 0.05; done";

test("E34 a killed program cleans up first, and its own exit stands [39]", async () => {
  await using bench = open();
  await using folder = await freshFolder();
  const { id } = await background(bench.agent, { command: TIDY, workdir: folder.path });
  await pollUntil(bench.agent, id, "up");
  const { status, exitCode, reason, text } = await kill(bench.agent, id);
  assertEquals([status, exitCode, reason], ["completed", 0, "exit"]);
  assertStringIncludes(text, "while it was being killed");
  assertEquals((await log(bench.agent, id)).text.includes("bye"), true);
  assertEquals(existsSync(join(folder.path, "lock")), false);
});

test("E34 so does one whose time is up, and it has failed all the same [39]", async () => {
  await using bench = open();
  await using folder = await freshFolder();
  const { details } = await runToEnd(bench.agent, { command: TIDY, workdir: folder.path, timeout: 1 });
  assertEquals([details.status, details.reason, details.exitCode], ["failed", "timeout", 0]);
  assertMatch(details.output, /^up\n(Terminated\n)?bye\n$/); // bash says that its sleep was terminated too
  assertEquals(existsSync(join(folder.path, "lock")), false);
});

test("E34 so does one whose instance is closed [39]", async () => {
  await using folder = await freshFolder();
  const bench = open();
  const { id } = await background(bench.agent, { command: TIDY, workdir: folder.path });
  await pollUntil(bench.agent, id, "up");
  await bench.offstage.close();
  assertEquals(existsSync(join(folder.path, "lock")), false);
});

test("R7 an EXIT trap runs to its end: nobody gets a second SIGTERM [39]", async () => {
  await using bench = open();
  const command = "trap 'sleep 1; echo tidied' EXIT; trap 'exit 4' TERM; echo up; while :; do sleep 0.05; done";
  const { id } = await background(bench.agent, { command });
  await pollUntil(bench.agent, id, "up");
  await kill(bench.agent, id, { wait: 0 });
  const { status, exitCode } = await kill(bench.agent, id);
  assertEquals([status, exitCode], ["completed", 4]);
  assertStringIncludes((await log(bench.agent, id)).text, "tidied");
});

// [41] [47] escalation

for (const { how, pty } of CONNECTIONS) {
  test(`E34 what ignores SIGTERM on ${how} gets SIGKILL after the grace, however often it is killed [41] [47]`, async () => {
    await using bench = open({ killGraceMs: 500 });
    const command = "trap '' TERM; echo up; while :; do sleep 1; done";
    const { id } = await background(bench.agent, { command, pty });
    await pollUntil(bench.agent, id, "up");
    const first = await kill(bench.agent, id, { wait: 0 });
    assertEquals([first.status, first.confirmed], ["running", false]);
    const [second, third] = await Promise.all([kill(bench.agent, id), kill(bench.agent, id)]);
    for (const { status, signal, reason, confirmed } of [second, third]) {
      assertEquals([status, signal, reason, confirmed], ["killed", "SIGKILL", "killed", true]);
    }
    const again = await kill(bench.agent, id);
    assertEquals(again.signal, "SIGKILL");
    assertStringIncludes(again.text, "already ended");
  });

  test(`P40 signals sent alone arrive on ${how}, the second and the third too [47]`, { skip: proc }, async () => {
    await using bench = open();
    const { id, details } = await background(bench.agent, {
      command: "trap 'echo usr1' USR1; echo up; while :; do sleep 0.05; done",
      pty,
    });
    const pid = details.pid ?? 0;
    await pollUntil(bench.agent, id, "up");
    for (let round = 0; round < 2; round++) {
      await kill(bench.agent, id, { signal: "SIGSTOP" });
      await eventually(() => processState(pid) === "T", "it stops");
      await kill(bench.agent, id, { signal: "SIGCONT" });
      await eventually(() => processState(pid) !== "T", "it goes on");
      await kill(bench.agent, id, { signal: "SIGUSR1" });
      await pollUntil(bench.agent, id, "usr1");
    }
    assertEquals((await poll(bench.agent, id)).status, "running");
  });

  test(`E34 a stopped program on ${how} is woken to act on its SIGTERM [47]`, { skip: proc }, async () => {
    await using bench = open();
    const { id, details } = await background(bench.agent, {
      command: "trap 'echo bye; exit 6' TERM; echo up; while :; do sleep 0.05; done",
      pty,
    });
    await pollUntil(bench.agent, id, "up");
    await kill(bench.agent, id, { signal: "SIGSTOP" });
    await eventually(() => processState(details.pid ?? 0) === "T", "it stops");
    const { exitCode, status } = await kill(bench.agent, id);
    assertEquals([status, exitCode], ["completed", 6]);
    assertStringIncludes((await log(bench.agent, id)).text, "bye");
  });
}

// [42] clear and remove

test("P42 clear refuses a running session, remove ends it and hides it at once [42]", { skip: proc }, async () => {
  await using bench = open();
  const marker = uniqueSleep();
  const { id } = await background(bench.agent, { command: marker });
  const cleared = await bench.agent.process({ action: "clear", sessionId: id });
  assertEquals(cleared.isError, true);
  assertStringIncludes(cleared.text, "running");
  assertEquals(processesWith(marker).length, 1);

  assertEquals((await bench.agent.process({ action: "remove", sessionId: id })).isError, false);
  assertEquals((await bench.agent.process({ action: "list" })).text, "No sessions.");
  await eventually(() => processesWith(marker).length === 0, "the removed session's process ends");
});

test("P42 a removed session counts as active until its end is confirmed [42]", async () => {
  await using bench = open({ maxSessions: 1, killGraceMs: 1_000 });
  const { id } = await background(bench.agent, { command: "trap '' TERM; echo up; while :; do sleep 0.2; done" });
  await pollUntil(bench.agent, id, "up");
  await bench.agent.process({ action: "remove", sessionId: id });
  const refused = await bench.agent.exec({ command: "true" });
  assertEquals([refused.isError, "reason" in refused.details && refused.details.reason], [true, "refused"]);
  await eventually(async () => !(await bench.agent.exec({ command: "true" })).isError, "the place becomes free");
});

test("R6 clear refuses a session whose tree lives on, remove ends that tree [42]", { skip: proc }, async () => {
  await using bench = open();
  const marker = uniqueSleep();
  const { details } = await runToEnd(bench.agent, { command: `${marker} >/dev/null 2>&1 &` });
  const sessionId = details.sessionId ?? "";
  const cleared = await bench.agent.process({ action: "clear", sessionId });
  assertEquals(cleared.isError, true);
  assertStringIncludes(cleared.text, "still runs");
  await bench.agent.process({ action: "remove", sessionId });
  await eventually(() => processesWith(marker).length === 0, "the tree ends");
});

// [43] out of the group

const ESCAPES = {
  "setsid": (marker: string) => `setsid ${marker} & exec ${marker}`,
  "a double fork": (marker: string) => `(setsid ${marker} >/dev/null 2>&1 &) ; ${marker}`,
  "setsid that ignores SIGTERM": (marker: string) => `setsid sh -c "trap '' TERM; ${marker}; ${marker}" & ${marker}`,
  "setsid without a shell to come back to": (marker: string) => `setsid setsid ${marker} & setsid ${marker} & wait`,
} as const;

for (const [what, command] of Object.entries(ESCAPES)) {
  for (const { how, pty } of CONNECTIONS) {
    test(`E34 a kill on ${how} finds what left the group: ${what} [43]`, { skip: proc }, async () => {
      await using bench = open({ killGraceMs: 1_000 });
      const marker = uniqueSleep();
      const { id } = await background(bench.agent, { command: command(marker), pty });
      await eventually(() => processesWith(marker).length >= 2, "both are up");
      const { confirmed, survivors } = await kill(bench.agent, id);
      assertEquals([confirmed, survivors], [true, []]);
      assertEquals(processesWith(marker), []);
    });
  }
}

test("E34 a timeout finds what left the group [43]", { skip: proc }, async () => {
  await using bench = open({ killGraceMs: 1_000 });
  const marker = uniqueSleep();
  const { details } = await runToEnd(bench.agent, { command: `setsid ${marker} & ${marker}`, timeout: 0.5 });
  assertEquals([details.reason, details.survivors], ["timeout", []]);
  assertEquals(processesWith(marker), []);
});

test("E34 what left the group and took another environment is found while it has a parent in the tree [43]", {
  skip: proc,
}, async () => {
  await using bench = open({ killGraceMs: 1_000 });
  const marker = uniqueSleep();
  const { id } = await background(bench.agent, {
    command: `env -i setsid ${marker} & trap 'sleep 0.5; exit' TERM; echo up; while :; do sleep 0.05; done`,
  });
  await pollUntil(bench.agent, id, "up");
  await eventually(() => processesWith(marker).length === 1, "it is up");
  assertEquals((await kill(bench.agent, id)).confirmed, true);
  assertEquals(processesWith(marker), []);
});

// [45] a signal the system refuses

test("P40 a refused signal loses nothing: the session stays, and a later kill works [45]", async () => {
  const runtime = nodeRuntime();
  let refusing = true;
  const spawner: Spawner = {
    ...runtime.spawner,
    spawn: async (spec, sink) => {
      const child = await runtime.spawner.spawn(spec, sink);
      return { ...child, signal: (name, target) => refusing ? "refused" : child.signal(name, target) };
    },
  };
  await using offstage = createOffstage({ runtime: { ...runtime, spawner } });
  const agent: Agent = offstage.agent("tester");
  const { id } = await background(agent, { command: "sleep 99" });
  const refused = await agent.process({ action: "kill", sessionId: id, signal: "SIGINT" });
  assertEquals(refused.isError, true);
  assertStringIncludes(refused.text, "does not permit");
  assertEquals((await poll(agent, id)).status, "running");
  refusing = false;
  assertEquals((await kill(agent, id)).status, "killed");
});

// [50] [52] the timeout's length

const BACKGROUNDED: readonly Partial<ExecParams>[] = [{ yieldMs: 50 }, { background: true }];

for (const how of BACKGROUNDED) {
  const name = JSON.stringify(how);
  test(`E5 the default timeout holds in the background too, and both answers say so ${name} [50]`, async () => {
    await using bench = open({ timeoutSeconds: 1 });
    const run = await background(bench.agent, { command: "sleep 60", ...how });
    assertStringIncludes(run.text, "stopped after 1 s (timeout)");
    assertEquals(run.details.timeoutAt, run.details.startedAt + 1_000);
    const { last } = await pollToEnd(bench.agent, run.id);
    assertEquals([last.status, last.reason], ["failed", "timeout"]);
    assertStringIncludes(last.text, "timed out after 1 s");
  });

  test(`E5 a call's timeout of 0 beats the default: the command finishes ${name} [50]`, async () => {
    await using bench = open({ timeoutSeconds: 1 });
    const run = await background(bench.agent, { command: "sleep 2; echo done", timeout: 0, ...how });
    assertStringIncludes(run.text, "no timeout");
    assertEquals(run.details.timeoutAt, null);
    const { output, last } = await pollToEnd(bench.agent, run.id);
    assertEquals([output, last.status, last.exitCode], ["done\n", "completed", 0]);
  });
}

test("E5 a default of 0 is no timeout, and a call's own still holds [50]", async () => {
  await using bench = open({ timeoutSeconds: 0 });
  const run = await background(bench.agent, { command: "sleep 60", background: true });
  assertEquals(run.details.timeoutAt, null);
  const { details } = await runToEnd(bench.agent, { command: "sleep 60", timeout: 0.2 });
  assertEquals(details.reason, "timeout");
});

test("E5 without any setting a command is stopped after 1800 s, and the answer says so [50]", async () => {
  await using bench = open();
  assertStringIncludes((await background(bench.agent, { command: "sleep 60" })).text, "stopped after 1800 s");
});

test("E5 no timeout, however long, strikes at once [52]", async () => {
  await using bench = open();
  const timeouts = [2_147_483.648, 3_000_000, 1e12, Number.MAX_VALUE, Infinity, 0, -1, -Infinity];
  await Promise.all(timeouts.map(async (timeout) => {
    const { details } = await runToEnd(bench.agent, { command: "sleep 1; echo ok", timeout });
    assertEquals([details.output, details.status], ["ok\n", "completed"], String(timeout));
  }));
});

test("E5 E10 a timeout that is no number is an error that names it, and starts nothing [52]", async () => {
  await using bench = open();
  await using folder = await freshFolder();
  for (const timeout of [NaN, "soon", {}]) {
    const answer = await bench.agent.exec(
      { command: "touch ran", workdir: folder.path, timeout } as unknown as ExecParams,
    );
    assertEquals(answer.isError, true, String(timeout));
    assertStringIncludes(answer.text, "timeout");
  }
  assertEquals(existsSync(join(folder.path, "ran")), false);
});

test("P11 E4 a poll's and a yield's time are clamped, never zero by overflow [52]", async () => {
  await using bench = open();
  for (const yieldMs of [2 ** 31, 1e12]) {
    const { details } = await runToEnd(bench.agent, { command: "sleep 0.3; echo ok", yieldMs });
    assertEquals(details.output, "ok\n");
  }
  const { id } = await background(bench.agent, { command: "sleep 1; echo ok", background: true });
  const { output, wokenBy } = await poll(bench.agent, id, { timeout: 2 ** 31 });
  assertEquals([output, wokenBy], ["ok\n", "output"]);
});

// [51] the cause of death

interface Death {
  readonly cause: string;
  readonly end: (agent: Agent, id: string, pid: number) => Promise<unknown>;
  readonly params?: Partial<ExecParams>;
  readonly expected: Pick<EndedDetails, "status" | "reason" | "signal" | "exitCode">;
}

const DEATHS: readonly Death[] = [
  {
    cause: "its own exit",
    params: { command: "sleep 0.5; exit 3" },
    end: () => Promise.resolve(),
    expected: { status: "completed", reason: "exit", signal: null, exitCode: 3 },
  },
  {
    cause: "a kill",
    end: (agent, id) => kill(agent, id, { wait: 0 }),
    expected: { status: "killed", reason: "killed", signal: "SIGTERM", exitCode: null },
  },
  {
    cause: "its timeout",
    params: { timeout: 0.5 },
    end: () => Promise.resolve(),
    expected: { status: "failed", reason: "timeout", signal: "SIGTERM", exitCode: null },
  },
  {
    cause: "somebody else's SIGKILL",
    end: (_, __, pid) => Promise.resolve(process.kill(pid, "SIGKILL")),
    expected: { status: "failed", reason: "signal", signal: "SIGKILL", exitCode: null },
  },
];

for (const { cause, end, params, expected } of DEATHS) {
  for (const { how, pty } of CONNECTIONS) {
    test(`E27 poll, log and list all name the cause of death on ${how}: ${cause} [51] [31]`, async () => {
      await using bench = open();
      const { id, details } = await background(bench.agent, { command: "sleep 60", pty, background: true, ...params });
      await end(bench.agent, id, details.pid ?? 0);
      const { last } = await pollToEnd(bench.agent, id);
      const listed = (await bench.agent.process({ action: "list" })).details;
      assert("sessions" in listed);
      for (const told of [last, await log(bench.agent, id), await poll(bench.agent, id), listed.sessions[0]]) {
        const { status, reason, signal, exitCode } = told ?? {};
        assertEquals({ status, reason, signal, exitCode }, expected);
      }
    });
  }
}

test("E27 an instance that closes names itself as the cause to whoever waits [51]", async () => {
  const bench = open();
  const call = bench.agent.exec({ command: "echo up; sleep 60", yieldMs: 60_000 }, {
    onUpdate: () => void bench.offstage.close(),
  });
  const { details, text } = await call;
  assert("durationMs" in details);
  assertEquals([details.status, details.reason, details.signal], ["failed", "shutdown", "SIGTERM"]);
  assertStringIncludes(text, "host shut down");
  const late = await bench.agent.exec({ command: "true" });
  assertEquals("reason" in late.details && late.details.reason, "shutdown");
});

test("E27 a program that kills itself while it is being killed with another signal keeps its own status [51]", async () => {
  await using bench = open();
  const { id } = await background(bench.agent, {
    command: "trap 'exit 4' TERM; echo up; while :; do sleep 0.05; done",
  });
  await pollUntil(bench.agent, id, "up");
  const { status, exitCode, reason, signal } = await kill(bench.agent, id);
  assertEquals([status, exitCode, reason, signal], ["completed", 4, "exit", null]);
});

// [53] [54] [56] the shell's place in the process table

for (const { how, pty } of CONNECTIONS) {
  test(
    `E1 pkill -f for a text of the command does not hit the command's own shell on ${how} [53]`,
    { skip: proc },
    async () => {
      await using bench = open();
      const { details } = await runToEnd(bench.agent, { command: `pkill -f '${uniqueSleep()}'; echo rc=$?`, pty });
      assertEquals([details.output.trim(), details.status], ["rc=1", "completed"]);
    },
  );
}

test("E1 pkill -f of one session does not hit another whose command holds that text [53]", { skip: proc }, async () => {
  await using bench = open();
  const word = `worker-${Math.random().toString().slice(2)}`;
  const { id } = await background(bench.agent, { command: `: ${word}; while :; do sleep 0.1; done` });
  const { details } = await runToEnd(bench.agent, { command: `pkill -f ${word}; echo rc=$?` });
  assertEquals(details.output, "rc=1\n");
  assertEquals((await poll(bench.agent, id)).status, "running");
});

for (const { how, pty } of CONNECTIONS) {
  test(`a command's parent on ${how} is the host itself, also after exec [54]`, { skip: proc }, async () => {
    await using bench = open();
    for (const command of ["echo $PPID", "exec sh -c 'echo $PPID'"]) {
      const { details } = await runToEnd(bench.agent, { command, pty });
      assertEquals(details.output.trim(), String(process.pid));
    }
  });
}

for (const shell of ["bash", "ksh"]) {
  const skip = skipUnless(hasProc && hasProgram(shell), `it needs /proc and ${shell}`);
  test(`E1 kill %1 ends the job it means in ${shell} [56]`, { skip }, async () => {
    await using bench = open({ shell });
    const marker = uniqueSleep();
    const { details } = await runToEnd(bench.agent, { command: `${marker} & kill %1; wait; echo rc=$?` });
    assertStringIncludes(details.output, "rc=0\n");
    assertEquals(details.survivors, []);
    assertEquals(processesWith(marker), []);
  });
}

const zsh = skipUnless(hasProc && hasProgram("zsh"), "it needs /proc and zsh");

// zsh counts the wrapper that holds the command as job 1, so that the command's own begin with 2.
test("E35 zsh, where %1 is another job, does not forget the one that was meant [56]", { skip: zsh }, async () => {
  await using bench = open({ shell: "zsh" });
  const marker = uniqueSleep();
  const { details, text } = await runToEnd(bench.agent, { command: `${marker} & kill %1; echo rc=$?` });
  assertEquals(details.survivors.map(({ name }) => name), ["sleep"]);
  assertStringIncludes(text, "1 process it started still runs: sleep");
  assertEquals((await kill(bench.agent, details.sessionId ?? "")).confirmed, true);
  assertEquals(processesWith(marker), []);
  await runToEnd(bench.agent, { command: `${marker} & kill %%; wait` });
  assertEquals(processesWith(marker), []);
});

test(
  "E34 sh, which has no jobs without a terminal, leaves no orphan for that either [56]",
  { skip: proc },
  async () => {
    await using bench = open({ shell: "sh" });
    const marker = uniqueSleep();
    await runToEnd(bench.agent, { command: `${marker} & kill %1; wait; echo rc=$?`, timeout: 0.5 });
    assertEquals(processesWith(marker), []);
  },
);

// [58] [59] [60]

test("R7 the host keeps no zombie of its own, whatever its commands leave behind [58]", { skip: proc }, async () => {
  await using bench = open();
  const { env, variable } = uniqueMark();
  const run = (): Promise<unknown> => bench.agent.exec({ command: "(sleep 0.2 &) ; exit 0", env });
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 10 }, run));
  await gone(variable);
  const { details } = await runToEnd(bench.agent, { command: `ps -o stat= --ppid ${process.pid}` });
  assert(!details.output.split("\n").some((state) => state.startsWith("Z")), details.output);
});

test("R2 the second start of a running command is told of its twin, another's is not [59]", async () => {
  await using bench = open();
  const first = await background(bench.agent, { command: "sleep 60" });
  assertEquals(first.details.twins, []);
  const second = await background(bench.agent, { command: "sleep 60", background: true });
  assertEquals(second.details.twins, [first.id]);
  assertStringIncludes(second.text, `already runs here as session ${first.id}`);
  const others = [
    await background(bench.agent, { command: "sleep 61" }),
    await background(bench.agent, { command: "sleep 60", workdir: tmpdir() }),
    await background(bench.offstage.agent("another"), { command: "sleep 60" }),
  ];
  for (const { details } of others) assertEquals(details.twins, []);
  await kill(bench.agent, first.id);
  await kill(bench.agent, second.id);
  assertEquals((await background(bench.agent, { command: "sleep 60" })).details.twins, []);
});

test("E30 a background command survives the call that started it and every reference to it [60]", async () => {
  await using bench = open();
  const start = async (): Promise<string> => {
    const agent = bench.offstage.agent("passing");
    const abort = new AbortController();
    const answer = await agent.exec({ command: "sleep 3; echo survived", background: true }, { signal: abort.signal });
    abort.abort("the request is over"); // after the yield that means nothing any more
    return "sessionId" in answer.details ? answer.details.sessionId ?? "" : "";
  };
  const id = await start();
  for (let round = 0; round < 5; round++) {
    (globalThis as { gc?: () => void }).gc?.();
    Array.from({ length: 100_000 }, (_, index) => ({ index })); // where gc() is not to be had
    await sleep(50);
  }
  const { output, last } = await pollToEnd(bench.offstage.agent("passing"), id);
  assertEquals([output, last.status, last.exitCode], ["survived\n", "completed", 0]);
});

test("P40 a kill of an ended session is a friendly no-op that states the exit [41]", async () => {
  await using bench = open();
  const { id } = await background(bench.agent, { command: "exit 7", background: true });
  await pollToEnd(bench.agent, id);
  const startedAt = performance.now();
  for (const options of [{ wait: 30_000 }, { signal: "SIGINT" }, {}] as const) {
    const { text, exitCode, confirmed } = await kill(bench.agent, id, options);
    assertEquals([exitCode, confirmed], [7, true]);
    assertMatch(text, /already ended.*7/);
  }
  assertLess(performance.now() - startedAt, 5_000);
});
