/**
 * Commands that end at the very moment of a yield, a poll's end, a kill or a timeout: every byte once, and one end.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import type { Agent } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { background, kill, open, poll, repeat } from "./agent.ts";
import { posix } from "./machine.ts";
import { createReader, type End, endOf } from "./reader.ts";

const ROUNDS = 200;
const WHOLE = "1\n2\n3\n4\n";
const COMPLETED: End = { status: "completed", reason: "exit", exitCode: 7, signal: null };

/** How long the commands are at first, and the longest step from one to the next, ms. */
const FIRST_MS = 20;
const STEP_MS = 4;

/**
 * The length of commands that keeps their ends at the moment, on any machine: shorter after one that ended too late,
 * longer after one that ended too early, each time by another part of a millisecond.
 */
interface Aim {
  /** A command that prints half of its output, sleeps, prints the rest and ends with code 7. */
  command(): string;
  /** Takes note of whether a command had ended at the moment. */
  note(hadEnded: boolean): void;
  /** Fails unless the moment has been met from both sides. */
  assertMet(): void;
}

function createAim(): Aim {
  let lengthMs = FIRST_MS;
  let [early, late] = [0, 0];
  return {
    command: () => `printf '1\\n2\\n'; sleep ${(lengthMs / 1_000).toFixed(6)}; printf '3\\n4\\n'; exit 7`,
    note: (hadEnded) => {
      if (hadEnded) early += 1;
      else late += 1;
      const step = STEP_MS * ((early + late) * 0.618_034 % 1); // the golden ratio spreads them evenly
      lengthMs = Math.max(0, lengthMs + (hadEnded ? step : -step));
    },
    assertMet: () => assert(early > 0 && late > 0, `${early} had ended, ${late} had not: the moment was missed`),
  };
}

/** What is read of a session from the beginning to its end, and how it ended. */
async function readWhole(agent: Agent, sessionId: string): Promise<{ readonly output: string; readonly end: End }> {
  const reader = createReader(agent, sessionId);
  const end = await reader.readToEnd();
  return { output: reader.output(), end };
}

/** By itself with everything printed, or stopped with some of its lines, which a shell writes one by one: nothing else. */
function assertOneEnd(output: string, end: End, stopped: Pick<End, "status" | "reason">): void {
  if (end.exitCode === 7) {
    assertEquals(output, WHOLE);
    // A timeout that strikes while the command ends by itself is a timeout still
    const { status, reason } = end;
    assert([COMPLETED, stopped].some((one) => one.status === status && one.reason === reason), JSON.stringify(end));
    return;
  }
  assert(
    WHOLE.startsWith(output) && (output === "" || output.endsWith("\n")),
    `not what was printed by then: ${JSON.stringify(output)}`,
  );
  assertEquals(end, { ...stopped, exitCode: null, signal: "SIGTERM" });
}

test("E30 two hundred commands that end as exec yields: all that was printed comes once, with one end", {
  skip: posix,
}, async () => {
  const { agent } = closing(open());
  const aim = createAim();
  await repeat(ROUNDS, async () => {
    const { details, text } = await agent.exec({ command: aim.command(), yieldMs: 30 });
    aim.note(details.status !== "running");
    if (details.status === "running") {
      assertEquals(await readWhole(agent, details.sessionId), { output: WHOLE, end: COMPLETED });
      return;
    }
    assert("output" in details, text);
    assertEquals([details.output, endOf(details), details.sessionId], [WHOLE, COMPLETED, undefined]);
  });
  aim.assertMet();
});

test("P10 P11 two hundred commands that end as a poll does: all that was printed comes once, with one end", {
  skip: posix,
}, async () => {
  const { agent } = closing(open());
  const aim = createAim();
  await repeat(ROUNDS, async () => {
    const { id } = await background(agent, { command: aim.command(), background: true });
    const reader = createReader(agent, id);
    const first = await reader.read({ timeout: 30, until: "exit" });
    aim.note(first.status !== "running");
    assertEquals([await reader.readToEnd(), reader.output()], [COMPLETED, WHOLE]);
    if (first.status !== "running") assertEquals([endOf(first), first.output], [COMPLETED, WHOLE]);
  });
  aim.assertMet();
});

test("P10 two hundred commands that end as two poll: each byte comes to one of them, the end to both", {
  skip: posix,
}, async () => {
  const { agent } = closing(open());
  const aim = createAim();
  await repeat(ROUNDS, async () => {
    const { id } = await background(agent, { command: aim.command(), background: true });
    const wait = { timeout: 30, until: "exit" };
    const both = await Promise.all([poll(agent, id, wait), poll(agent, id, wait)]);
    aim.note(both[0].status !== "running");
    const last = await poll(agent, id, { timeout: 30_000, until: "exit" });
    const polls = [...both, last].sort((a, b) => a.from - b.from || a.to - b.to);
    assertEquals([polls.map(({ output }) => output).join(""), endOf(last)], [WHOLE, COMPLETED]);
    for (const one of both) if (one.status !== "running") assertEquals(endOf(one), COMPLETED);
  });
  aim.assertMet();
});

test("E27 two hundred commands that end as they are killed: they have been killed or have completed", {
  skip: posix,
}, async () => {
  const { agent } = closing(open());
  const aim = createAim();
  await repeat(ROUNDS, async () => {
    const { id } = await background(agent, { command: aim.command(), background: true });
    await sleep(30);
    const answer = await kill(agent, id);
    assert(answer.confirmed, answer.text);
    const { output, end } = await readWhole(agent, id);
    aim.note(end.exitCode === 7);
    assertEquals(endOf(answer), end);
    assertOneEnd(output, end, { status: "killed", reason: "killed" });
  });
  aim.assertMet();
});

for (const how of ["foreground", "background"] as const) {
  test(`E5 E27 two hundred commands in the ${how} that end as their time is up: they have failed or completed`, {
    skip: posix,
  }, async () => {
    const { agent } = closing(open());
    const aim = createAim();
    const isBackground = how === "background";
    await repeat(ROUNDS, async () => {
      const { details, text } = await agent.exec({ command: aim.command(), timeout: 0.03, background: isBackground });
      const isRunning = details.status === "running";
      assertEquals(isRunning, isBackground, text);
      const ended = "output" in details ? details : undefined;
      const { output, end } = isRunning
        ? await readWhole(agent, details.sessionId)
        : { output: ended?.output ?? "", end: endOf(details) };
      aim.note(end.exitCode === 7);
      assertOneEnd(output, end, { status: "failed", reason: "timeout" });
    });
    aim.assertMet();
  });
}
