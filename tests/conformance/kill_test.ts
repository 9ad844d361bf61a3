/**
 * A stop ends the whole tree, politely first, and says how it went: cases 36 to 47.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertLess, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { groupSignal, readStat } from "../../adapters/linux/proc.ts";
import { nodeKill } from "../../adapters/node/kill.ts";
import { AbortError } from "../../mod.ts";
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
  uniqueMark,
  uniqueSleep,
} from "./agent.ts";
import { CONNECTIONS, freshFolder, needs, openWith, posix, proc } from "./machine.ts";
import { closing, test } from "../closing.ts";

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
  for (const { how, pty, skip } of CONNECTIONS) {
    test(`E34 a timeout ends the whole tree on ${how}, ${what} included [36]`, { skip }, async () => {
      const bench = closing(open());
      const { env, variable } = uniqueMark();
      const { details, text } = await runToEnd(bench.agent, { command, env, pty, timeout: 0.5 });
      assertEquals([details.status, details.reason, details.signal], ["failed", "timeout", "SIGTERM"]);
      assertEquals(details.survivors, []);
      assertStringIncludes(text, "timed out after 0.5 s");
      assertEquals(processesCarrying(variable), []);
    });
  }
}

test("E5 a timeout that ends what an ended shell left behind says so [36] [51]", { skip: proc }, async () => {
  const bench = closing(open());
  const { env, variable } = uniqueMark();
  const command = "(while :; do echo tick; sleep 0.1; done) & exit 0";
  const { details, text } = await runToEnd(bench.agent, { command, env, timeout: 1.5 });
  assertEquals([details.status, details.exitCode, details.survivors], ["completed", 0, []]);
  assertStringIncludes(text, "left behind were ended: timed out after 1.5 s");
  assertEquals(processesCarrying(variable), []);
});

test("P41 R6 a kill ends the tree of a shell that has long ended [36] [15]", { skip: proc }, async () => {
  const bench = closing(open());
  const marker = uniqueSleep();
  const { details } = await runToEnd(bench.agent, { command: `nohup ${marker} >/dev/null 2>&1 & ${marker} & exit 3` });
  assertEquals([details.status, details.exitCode, details.survivors.length], ["completed", 3, 2]);
  const killed = await kill(bench.agent, details.sessionId ?? "");
  assertEquals([killed.confirmed, killed.exitCode, killed.reason], [true, 3, "exit"]);
  assertEquals(processesWith(marker), []);
});

test("E32 an abort in the foreground ends the whole tree", { skip: proc }, async () => {
  const bench = closing(open({ killGraceMs: 500 }));
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

test(
  "E34 a kill ends a server's children and frees their ports [37]",
  { skip: proc || await needs("python3") },
  async () => {
    const bench = closing(open());
    const ports = [await freePort(), await freePort()] as const;
    const serve = (port: number): string => `python3 -m http.server --bind 127.0.0.1 ${port}`;
    const { id } = await background(bench.agent, {
      command: `sh -c '${serve(ports[0])} & ${serve(ports[1])}; wait'`,
    });
    for (const port of ports) await eventually(() => answers(port), "the servers come up");
    const { confirmed, status, signal } = await kill(bench.agent, id);
    assertEquals([confirmed, status, signal], [true, "killed", "SIGTERM"]);
    for (const port of ports) assertEquals(await answers(port), false);
  },
);

test("E34 a kill ends every member of a pipeline [37]", { skip: proc }, async () => {
  const bench = closing(open());
  const { env, variable } = uniqueMark();
  const { id } = await background(bench.agent, { command: "sleep 999 | cat | cat", env });
  await eventually(() => processesCarrying(variable).length === 4, "shell and pipeline are up");
  assertEquals((await kill(bench.agent, id)).confirmed, true);
  assertEquals(processesCarrying(variable), []);
});

// [38] the group is the child's own

for (const { how, pty, skip } of CONNECTIONS) {
  test(
    `E21 a command on ${how} leads its own group and session, which are not the host's [38]`,
    { skip },
    async () => {
      const bench = closing(open());
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

test("E34 a killed program cleans up first, and its own exit stands [39]", { skip: posix }, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  const { id } = await background(bench.agent, { command: TIDY, workdir: folder.path });
  await pollUntil(bench.agent, id, "up");
  const { status, exitCode, reason, text } = await kill(bench.agent, id);
  assertEquals([status, exitCode, reason], ["completed", 0, "exit"]);
  assertStringIncludes(text, "while it was being killed");
  assertEquals((await log(bench.agent, id)).text.includes("bye"), true);
  assertEquals(existsSync(join(folder.path, "lock")), false);
});

test("E34 so does one whose time is up, and it has failed all the same [39]", { skip: posix }, async () => {
  const bench = closing(open());
  const folder = closing(await freshFolder());
  const { details } = await runToEnd(bench.agent, { command: TIDY, workdir: folder.path, timeout: 1 });
  assertEquals([details.status, details.reason, details.exitCode], ["failed", "timeout", 0]);
  assertMatch(details.output, /^up\n(Terminated\n)?bye\n$/); // bash says that its sleep was terminated too
  assertEquals(existsSync(join(folder.path, "lock")), false);
});

test("E34 so does one whose instance is closed [39]", { skip: posix }, async () => {
  const folder = closing(await freshFolder());
  const bench = open();
  const { id } = await background(bench.agent, { command: TIDY, workdir: folder.path });
  await pollUntil(bench.agent, id, "up");
  await bench.offstage.close();
  assertEquals(existsSync(join(folder.path, "lock")), false);
});

test("R7 an EXIT trap runs to its end: nobody gets a second SIGTERM [39]", { skip: posix }, async () => {
  const bench = closing(open());
  const command = "trap 'sleep 1; echo tidied' EXIT; trap 'exit 4' TERM; echo up; while :; do sleep 0.05; done";
  const { id } = await background(bench.agent, { command });
  await pollUntil(bench.agent, id, "up");
  await kill(bench.agent, id, { wait: 0 });
  const { status, exitCode } = await kill(bench.agent, id);
  assertEquals([status, exitCode], ["completed", 4]);
  assertStringIncludes((await log(bench.agent, id)).text, "tidied");
});

// [41] [47] escalation

for (const { how, pty, skip } of CONNECTIONS) {
  test(`E34 what ignores SIGTERM on ${how} gets SIGKILL after the grace, however often it is killed [41] [47]`, {
    skip,
  }, async () => {
    const bench = closing(open({ killGraceMs: 500 }));
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

  test(`P40 signals sent alone arrive on ${how}, the second and the third too [47]`, { skip }, async () => {
    const bench = closing(open());
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

  test(`E34 a stopped program on ${how} is woken to act on its SIGTERM [47]`, { skip }, async () => {
    const bench = closing(open());
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
  const bench = closing(open());
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

test("P42 a removed session counts as active until its end is confirmed [42]", { skip: posix }, async () => {
  const bench = closing(open({ maxSessions: 1, killGraceMs: 1_000 }));
  const { id } = await background(bench.agent, { command: "trap '' TERM; echo up; while :; do sleep 0.2; done" });
  await pollUntil(bench.agent, id, "up");
  await bench.agent.process({ action: "remove", sessionId: id });
  const refused = await bench.agent.exec({ command: "true" });
  assertEquals([refused.isError, "reason" in refused.details && refused.details.reason], [true, "refused"]);
  await eventually(async () => !(await bench.agent.exec({ command: "true" })).isError, "the place becomes free");
});

test("R6 clear refuses a session whose tree lives on, remove ends that tree [42]", { skip: proc }, async () => {
  const bench = closing(open());
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
  for (const { how, pty, skip } of CONNECTIONS) {
    test(`E34 a kill on ${how} finds what left the group: ${what} [43]`, { skip }, async () => {
      const bench = closing(open({ killGraceMs: 1_000 }));
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
  const bench = closing(open({ killGraceMs: 1_000 }));
  const marker = uniqueSleep();
  const { details } = await runToEnd(bench.agent, { command: `setsid ${marker} & ${marker}`, timeout: 0.5 });
  assertEquals([details.reason, details.survivors], ["timeout", []]);
  assertEquals(processesWith(marker), []);
});

test("E34 what left the group and took another environment is found while it has a parent in the tree [43]", {
  skip: proc,
}, async () => {
  const bench = closing(open({ killGraceMs: 1_000 }));
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

test(
  "P40 a refused signal loses nothing: the session stays, and a later kill works [45]",
  { skip: posix },
  async () => {
    let refusing = true;
    const bench = closing(
      await openWith(async (spawner, spec, sink) => {
        const child = await spawner.spawn(spec, sink);
        return { ...child, signal: (name, target) => refusing ? "refused" : child.signal(name, target) };
      }),
    );
    const { id } = await background(bench.agent, { command: "sleep 99" });
    const refused = await bench.agent.process({ action: "kill", sessionId: id, signal: "SIGINT" });
    assertEquals(refused.isError, true);
    assertStringIncludes(refused.text, "does not permit");
    assertEquals((await poll(bench.agent, id)).status, "running");
    refusing = false;
    assertEquals((await kill(bench.agent, id)).status, "killed");
  },
);

test("P40 a kill of an ended session is a friendly no-op that states the exit [41]", { skip: posix }, async () => {
  const bench = closing(open());
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
