/**
 * The orphan guard from the host's side (spec E39): when it runs, and that it cannot fail unnoticed.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { createOrphanGuard, type OrphanGuardOptions } from "../adapters/linux/orphan_guard.ts";
import type { OrphanGuard } from "../mod.ts";
import { eventually, processesWith } from "./conformance/agent.ts";
import { proc } from "./conformance/machine.ts";
import { closing, test } from "./closing.ts";
import { open } from "./fakes/bench.ts";

function make(options: OrphanGuardOptions = {}): OrphanGuard {
  const guard = createOrphanGuard(options);
  closing({ [Symbol.asyncDispose]: () => Promise.resolve(guard.close()) });
  return guard;
}

/** The guard's shell, by the instance's mark in its arguments. */
const shells = (guard: OrphanGuard): readonly number[] => processesWith(`offstage-guard ${guard.instance}`);

/** The guard's shell, once it is what was started: Bun does not wait for that. */
async function shellOf(guard: OrphanGuard): Promise<number> {
  await eventually(() => shells(guard).length === 1, "the guard is started");
  return shells(guard)[0] ?? 0;
}

/** A process to guard. */
function child(): number {
  const started = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  const { pid = 0 } = started;
  const ended = new Promise<void>((resolve) => started.once("exit", () => resolve()));
  closing({
    [Symbol.asyncDispose]: async () => {
      started.kill("SIGKILL");
      await ended;
    },
  });
  return pid;
}

test("E39 many quick commands start no guard, one that lasts does, and closing ends it", { skip: proc }, async () => {
  const guard = make();
  for (let round = 0; round < 1_000; round++) {
    guard.watch(1, `quick-${round}`);
    guard.release(`quick-${round}`);
  }
  assertEquals([guard.status(), shells(guard)], ["idle", []]);
  guard.watch(child(), "lasting");
  await eventually(() => shells(guard).length === 1, "the guard is started");
  assertEquals(guard.status(), "on");
  guard.release("lasting");
  assertEquals(guard.status(), "on"); // for the next ones
  guard.close();
  guard.close();
  await eventually(() => shells(guard).length === 0, "the guard has ended");
  assertEquals(guard.status(), "idle");
});

test("E39 a command that goes to the background is guarded at once", { skip: proc }, async () => {
  const guard = make();
  guard.watch(child(), "amber");
  guard.tell("amber");
  assertEquals(guard.status(), "on");
  await shellOf(guard);
});

test("E39 the guard has neither the host's environment nor its group", { skip: proc }, async () => {
  const guard = make();
  guard.watch(child(), "amber");
  guard.tell("amber");
  const pid = await shellOf(guard);
  assertEquals(readFileSync(`/proc/${pid}/environ`, "utf8"), "PATH=/usr/local/bin:/usr/bin:/bin\0");
  const group = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[2];
  assertEquals(group, `${pid}`);
});

test("E39 a guard that was killed is replaced; one that is killed again and again is off, and says so", {
  skip: proc,
}, async () => {
  const guard = make();
  guard.watch(child(), "amber");
  guard.tell("amber");
  const first = await shellOf(guard);
  process.kill(first, "SIGKILL");
  await eventually(() => shells(guard).some((pid) => pid !== first), "it is replaced");
  assertNotEquals(shells(guard)[0], first);
  assertEquals(guard.status(), "on");
  await eventually(() => {
    for (const pid of shells(guard)) process.kill(pid, "SIGKILL");
    return guard.status() !== "on";
  }, "it is given up");
  assertMatch(guard.status(), /^off: sh keeps ending, the last time by SIGKILL$/);
});

test("E39 a guard that may not be started is off, and says why", () => {
  const guard = make({ forbidden: () => "there is no --allow-run=sh" });
  guard.watch(1, "amber");
  guard.tell("amber");
  guard.release("amber");
  assertEquals(guard.status(), "off: there is no --allow-run=sh");
});

test("E39 what the host's exit finds untold is told before it goes", { skip: proc }, () => {
  let exit = (): void => {};
  let listening = 0;
  const guard = make({
    atExit: (act) => {
      listening += 1;
      exit = act;
      return () => void (listening -= 1);
    },
  });
  for (const id of ["amber", "birch"]) guard.watch(child(), id);
  assertEquals([listening, guard.status()], [1, "idle"]);
  exit();
  assertEquals(guard.status(), "on");
  guard.close();
  assertEquals(listening, 0);
});

test("E39 an instance says whether its commands are guarded", () => {
  assertEquals(open({ orphanGuard: false }).offstage.guardStatus(), "off: the setting orphanGuard is false");
  assert(open().offstage.guardStatus().startsWith("off: fake 1.0.0 has none"));
});
