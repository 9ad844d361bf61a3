/**
 * What is left of a soak when everything in it has ended.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually, openDescriptors, processesCarrying } from "../conformance/agent.ts";
import { runtimeName } from "../skip.ts";
import type { World } from "./world.ts";

/** What there is when nothing runs. */
export interface Rest {
  readonly descriptors: number;
  readonly listeners: number;
}

/** Sessions that may still be in memory after a collection: a few of the last are on some stack or in some cache. */
const LINGERING = 25;

/** Descriptors that a runtime may open later than in the first round, for its own ends. */
const SPARE_DESCRIPTORS = 4;

/**
 * Descriptors that Node (20 to 26) never closes when a start fails because only a few were left: those of the streams,
 * which it has made by then and tells nobody of.
 */
const LOST_BY_NODE = 3;

/** What there is now. */
export function takeStock(): Rest {
  return {
    descriptors: openDescriptors().length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  };
}

/** Everything that is left although nothing runs, in words; of `before`, none is told. */
export async function findLeftovers(
  { instance, ledger, tally }: World,
  before: Rest | undefined,
): Promise<readonly string[]> {
  const found: string[] = [];
  const check = async (isFine: () => boolean, tell: () => string): Promise<void> => {
    await eventually(isFine, "").catch(() => found.push(tell()));
  };
  const variable = `OFFSTAGE_INSTANCE=${instance}`;
  await check(
    () => processesCarrying(variable).length === 0,
    () => `processes: ${processesCarrying(variable).map(describe)}`,
  );
  await check(
    () => Object.keys(ledger.outstanding()).length === 0,
    () => `not given back: ${JSON.stringify(ledger.outstanding())}`,
  );
  await check(() => zombies() === 0, () => `${zombies()} zombies`);
  if (before !== undefined) {
    const most = before.descriptors + SPARE_DESCRIPTORS + (runtimeName === "node" ? LOST_BY_NODE * tally.refused : 0);
    await check(
      () => takeStock().descriptors <= most,
      () => `${takeStock().descriptors} descriptors, not ${before.descriptors}: ${openDescriptors().join(" ")}`,
    );
    await check(
      () => takeStock().listeners <= before.listeners,
      () => `listeners: ${process.eventNames().map(String)}`,
    );
  }
  await heapInUse();
  if (ledger.inMemory() > LINGERING) found.push(`${ledger.inMemory()} sessions in memory`);
  return [...found, ...ledger.faults];
}

/** The heap after a collection, bytes. */
export async function heapInUse(): Promise<number> {
  await sleep(50); // what has settled is let go of in later turns
  collectGarbage();
  await sleep(0);
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const collectGarbage = garbageCollector();

function garbageCollector(): () => void {
  if (runtimeName === "bun") {
    const { Bun } = globalThis as unknown as { readonly Bun: { gc(force: boolean): void } };
    return () => Bun.gc(true);
  }
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

function describe(pid: number): string {
  try {
    return `${pid} (${readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim()})`;
  } catch {
    return String(pid);
  }
}

function zombies(): number {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && parent === String(process.pid);
    } catch {
      return false; // it has ended since
    }
  }).length;
}
