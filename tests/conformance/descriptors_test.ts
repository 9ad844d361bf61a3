/**
 * Nothing a terminal was opened with is left open when its session has ended, however it ended: case 114.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import type { Agent } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import {
  background,
  type Bench,
  eventually,
  kill,
  open,
  openDescriptors,
  pollToEnd,
  pollUntil,
  processesWith,
  repeat,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";
import { proc, terminal } from "./machine.ts";
import { closing, test } from "../closing.ts";

const linux = proc || skipUnless(process.platform === "linux", "descriptors are counted in /proc");
const skip = linux || terminal;

/** What this process has open, once everything that is opened on first use has been. */
async function openAfterFirstUse({ agent }: Bench): Promise<readonly string[]> {
  for (let round = 0; round < 3; round++) await runToEnd(agent, { command: "true", pty: true });
  await runToEnd(agent, { command: "true" });
  const { id } = await background(agent, { command: "exec sleep 60", pty: true });
  await kill(agent, id);
  await agent.process({ action: "remove", sessionId: id });
  await eventually(() => terminals() === 0, "the first terminals are closed");
  return openDescriptors();
}

/** How many descriptors of terminals, of either side, this process has open. */
function terminals(): number {
  return openDescriptors().filter((name) => /^\/dev\/(ptmx|pts\/)/.test(name)).length - ownTerminals;
}

/** The test may itself run in a terminal. */
const ownTerminals = openDescriptors().filter((name) => name.startsWith("/dev/pts/")).length;

async function backTo(base: readonly string[]): Promise<void> {
  await eventually(() => terminals() === 0, "all terminals are closed");
  const more = (): readonly string[] => openDescriptors().filter((name) => !base.includes(name));
  await eventually(() => openDescriptors().length <= base.length, `closed are: ${more().join(", ")}`);
}

test("E38 three hundred terminals leave no descriptor [114]", { skip }, async () => {
  const bench = closing(open());
  const base = await openAfterFirstUse(bench);
  let most = 0;
  await repeat(300, async (round) => {
    const { details } = await runToEnd(bench.agent, { command: `exit ${round % 3}`, pty: true });
    assertEquals([details.status, details.exitCode], ["completed", round % 3]);
    most = Math.max(most, terminals());
  });
  assertLessOrEqual(most, 60); // two for each of four at once, and on a busy machine some that are still to be closed
  await backTo(base);
});

test("E38 a hundred killed terminals leave no descriptor [114]", { skip }, async () => {
  const bench = closing(open({ killGraceMs: 100 }));
  const { agent } = bench;
  const base = await openAfterFirstUse(bench);
  await repeat(100, async (round) => {
    const command = round % 4 === 0 ? "trap '' TERM HUP; echo up; while :; do sleep 1; done" : "echo up; exec sleep 60";
    const { id } = await background(agent, { command, pty: true, background: true });
    await pollUntil(agent, id, "up\n");
    if (round % 2 === 0) assert((await kill(agent, id)).confirmed);
    const { isError, text } = await agent.process({ action: "remove", sessionId: id });
    assert(!isError, text);
  });
  await backTo(base);
});

test("E38 terminals that are timed out or aborted leave no descriptor [114]", { skip }, async () => {
  const bench = closing(open({ killGraceMs: 100 }));
  const { agent } = bench;
  const base = await openAfterFirstUse(bench);
  await repeat(20, async (round) => {
    if (round % 2 === 0) {
      const { details } = await runToEnd(agent, { command: "exec sleep 60", pty: true, timeout: 0.2, yieldMs: 60_000 });
      assertEquals(details.reason, "timeout");
      return;
    }
    const controller = new AbortController();
    const run = agent.exec({ command: "echo up; exec sleep 60", pty: true }, {
      signal: controller.signal,
      onUpdate: () => controller.abort(),
    });
    assertEquals(await run.then(() => "ended", (error: Error) => error.name), "AbortError");
  });
  await backTo(base);
});

test("E29 a hundred terminals whose program cannot be started leave no descriptor and no session [114] [119]", {
  skip,
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const base = await openAfterFirstUse(bench);
  // More environment than execve(2) takes, in pieces that are each small enough
  const env = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`BIG_${index}`, "x".repeat(100_000)]));
  await repeat(100, async (round) => {
    const { details, isError, text } = await agent.exec({
      command: "true",
      pty: true,
      env,
      background: round % 2 === 0,
    });
    assert(isError && "reason" in details && details.reason === "spawn-error", text);
  });
  const { details } = await agent.process({ action: "list" });
  assert("sessions" in details);
  assertEquals(details.sessions, []);
  await backTo(base);
});

/** Starts a command that leaves a process behind that holds the terminal; gives the kept session's id. */
async function leaveBehind(agent: Agent, nap: string): Promise<string> {
  // Ignoring the hang-up that the end of the terminal's leader is
  const { details } = await runToEnd(agent, {
    command: `trap '' HUP; setsid ${nap} & exit 0`,
    pty: true,
    yieldMs: 60_000,
  });
  assert(details.sessionId !== undefined, "the session is kept, its tree lives");
  assertEquals(details.survivors.length, 1);
  return details.sessionId;
}

test("E35 P41 twenty terminals held by a left-behind process are closed by a kill [114]", { skip }, async () => {
  const bench = closing(open({ killGraceMs: 100 }));
  const { agent } = bench;
  const base = await openAfterFirstUse(bench);
  const nap = uniqueSleep();
  await repeat(20, async (round) => {
    const id = await leaveBehind(agent, `${nap}${round}`);
    if (round % 2 === 0) await kill(agent, id);
    await agent.process({ action: "remove", sessionId: id });
    await eventually(() => processesWith(`${nap}${round} `.trim()).length === 0, "the left-behind process has ended");
  });
  assertEquals(processesWith(nap), []);
  await backTo(base);
});

test("E35 a terminal held by a left-behind process is closed when that ends by itself [114]", { skip }, async () => {
  const bench = closing(open({ killGraceMs: 100 }));
  const { agent } = bench;
  const base = await openAfterFirstUse(bench);
  const nap = uniqueSleep();
  await leaveBehind(agent, nap);
  for (const pid of processesWith(nap)) process.kill(pid, "SIGKILL");
  await eventually(() => terminals() === 0, "the terminal is closed");
  await backTo(base);
});

test("E36 a command gets no descriptor of another's terminal [114]", { skip }, async () => {
  const bench = closing(open());
  await assertNotInherited(bench, /ptmx|pts/);
});

test("E36 a command gets neither another's pipes nor the inner side of its terminal [114]", { skip }, async () => {
  const bench = closing(open());
  await assertNotInherited(bench, /pts|socket/);
});

/** Looks at what a command has open beside its own streams while others run. */
async function assertNotInherited({ agent }: Bench, forbidden: RegExp): Promise<void> {
  for (const pty of [true, true, false, false]) await background(agent, { command: "cat", pty, background: true });
  for (const pty of [true, false]) {
    const { details } = await runToEnd(agent, { command: "exec ls -l /proc/self/fd", pty });
    const links = [...details.output.matchAll(/ (\d+) -> (.*)$/gm)].filter(([, fd]) => Number(fd) > 2);
    assertEquals(links.filter(([, , target = ""]) => forbidden.test(target)).map(([link]) => link), []);
  }
}

test(
  "S7 a session on pipes that has ended holds no descriptor for as long as it is kept",
  { skip: linux },
  async () => {
    const bench = closing(open());
    await runToEnd(bench.agent, { command: "true" });
    const base = openDescriptors();
    for (let round = 0; round < 10; round++) {
      const { id } = await background(bench.agent, { command: "true", background: true });
      await pollToEnd(bench.agent, id);
    }
    // The guard of what lives long may have been started meanwhile, with a pipe and a handle of its own
    await eventually(() => openDescriptors().length < base.length + 5, "the pipes are closed");
  },
);

test("E38 closing an instance closes every terminal [114]", { skip }, async () => {
  const bench = open({ killGraceMs: 100 });
  const base = await openAfterFirstUse(bench);
  const ids: string[] = [];
  for (let round = 0; round < 8; round++) {
    const { id } = await background(bench.agent, { command: "echo up; exec sleep 60", pty: true, background: true });
    await pollUntil(bench.agent, id, "up\n");
    ids.push(id);
  }
  assert(terminals() >= 8);
  const ends = Promise.all(ids.map((id) => pollToEnd(bench.agent, id)));
  await bench[Symbol.asyncDispose]();
  for (const { last } of await ends) assertEquals(last.reason, "shutdown");
  await backTo(base);
});

test("E39 nothing of an instance that has been closed goes on running, its guard either [114]", { skip }, async () => {
  const own = `${process.pid}`;
  const guards = (): readonly number[] => processesWith("offstage-guard").filter((pid) => parentOf(pid) === own);
  await eventually(() => guards().length === 0, "the guards of the tests before have ended");
  for (let round = 0; round < 3; round++) {
    const bench = open();
    await background(bench.agent, { command: "exec sleep 60" });
    assertEquals([guards().length, bench.offstage.guardStatus()], [1, "on"]);
    await bench.offstage.close();
    await eventually(() => guards().length === 0, "the guard has ended");
  }
});

function parentOf(pid: number): string | undefined {
  try {
    return /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  } catch {
    return undefined; // it has ended since
  }
}
