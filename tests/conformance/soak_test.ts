/**
 * Five thousand sessions of every kind, after which nothing is left of them.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert, assertEquals, assertLess } from "@std/assert";
import { type Agent, createOffstage } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { createRandom, givenSeed } from "../random.ts";
import { runtimeName, skipUnless } from "../skip.ts";
import { eventually, openDescriptors, processesCarrying, repeat, uniqueMark } from "./agent.ts";
import { openLedger } from "./ledger.ts";
import { LIVES } from "./lives.ts";
import { posix, proc, terminal } from "./machine.ts";

const skip = posix || proc || skipUnless(process.platform === "linux", "descriptors are counted in /proc");

const SESSIONS = 5_000;
const SCOPES = 8;
const AT_ONCE = 16;
/** Between two of them everything is ended and counted. */
const PARTS = 10;

/** Sessions that may still be in memory after a collection: a few of the last are on some stack or in some cache. */
const LINGERING = 25;
/** A heap that has grown by less than a tenth, or by less than that, has not grown: caches fill up for a while. */
const HEAP_NOISE_BYTES = 2_000_000;

const collectGarbage = garbageCollector();

test("E38 S3 five thousand sessions of eight scopes leave nothing behind: every byte came once, and every end", {
  skip,
}, async () => {
  const seed = givenSeed ?? 1;
  console.log(`soak: OFFSTAGE_SEED=${seed}`);
  const ledger = await openLedger();
  const config = { killGraceMs: 50, pendingMaxOutputChars: 200_000, backgroundMs: 120_000 };
  const offstage = closing(createOffstage({ runtime: ledger.runtime, tools: { exec: config } }));
  const agents = Array.from({ length: SCOPES }, (_, index) => offstage.agent(`scope ${index}`));
  const { env, variable } = uniqueMark();
  const left = new Map<string, string>(); // sessions that run, each with its scope

  async function liveOne(index: number): Promise<void> {
    const random = createRandom(seed, index);
    const agent = agents[index % SCOPES] as Agent;
    const life = random.weighted(LIVES);
    const leave = (id: string): void => void left.set(id, agent.scope);
    try {
      await life.live({ agent, random, env, signal: ledger.signal, terminals: terminal === false, leave });
    } catch (cause) {
      throw new Error(`Session ${index} of OFFSTAGE_SEED=${seed}, one that ${life.name}: ${String(cause)}`, { cause });
    }
  }

  /** Ends what still runs, and waits until everything has been given back. */
  async function endAll(): Promise<void> {
    for (const agent of agents) {
      const ends = new Map((await agent.killAll()).map((end) => [end.sessionId, end]));
      for (const [id, scope] of left) {
        if (scope !== agent.scope) continue;
        assertEquals([ends.get(id)?.outcome.status, ends.get(id)?.survivors], ["killed", []], `the end of ${id}`);
        left.delete(id);
      }
    }
    await eventually(() => Object.keys(ledger.outstanding()).length === 0, "everything is given back")
      .catch((cause) => assertEquals(ledger.outstanding(), {}, String(cause)));
    assertEquals(ledger.faults, []);
    assertEquals(processesCarrying(variable), []);
  }

  await repeat(200, (round) => liveOne(SESSIONS + round), AT_ONCE); // what is opened or cached on first use
  await endAll();
  await eventually(() => children().length === 0, "the guard has ended");
  const descriptors = openDescriptors().length;
  const listeners = processListeners();

  const heaps: number[] = [];
  const each = SESSIONS / PARTS;
  for (let part = 0; part < PARTS; part++) {
    await repeat(each, (round) => liveOne(part * each + round), AT_ONCE);
    await endAll();
    heaps.push(await heapInUse());
  }
  console.log(`soak: heap after each tenth, MB: ${heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join(" ")}`);
  await eventually(() => children().length === 0, "no process of ours is left, zombies neither");
  await eventually(() => openDescriptors().length <= descriptors, "no descriptor is left");
  assertEquals(processListeners(), listeners);
  assert(ledger.started() >= SESSIONS, "each of them was a session");
  assertLess(ledger.inMemory(), LINGERING);
  // The least of the last three against the most of the first after the warm-up: a leak grows with every tenth
  const before = Math.max(...heaps.slice(1, 3));
  assertLess(Math.min(...heaps.slice(-3)), Math.max(before * 1.1, before + HEAP_NOISE_BYTES));
});

/** Children of this process, zombies too. */
function children(): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] === String(process.pid);
    } catch {
      return false; // it has ended since
    }
  });
}

function processListeners(): Readonly<Record<string, number>> {
  return Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
}

async function heapInUse(): Promise<number> {
  await sleep(50); // what has settled is let go of in later turns
  collectGarbage();
  await sleep(0);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function garbageCollector(): () => void {
  if (runtimeName === "bun") {
    const { Bun } = globalThis as unknown as { readonly Bun: { gc(force: boolean): void } };
    return () => Bun.gc(true);
  }
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
