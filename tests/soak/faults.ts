/**
 * Faults that come upon a soak from outside, whatever it is doing.
 *
 * @module
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "@std/assert";
import { processesWith } from "../conformance/agent.ts";
import type { Random } from "../random.ts";
import { count } from "./tally.ts";
import type { World } from "./world.ts";

interface Fault {
  readonly name: string;
  readonly weight: number;
  strike(world: World, random: Random): Promise<void>;
}

/** Longest jump of the wall clock, ms: half a day. */
const JUMP_MS = 43_200_000;

const FAULTS: readonly Fault[] = [
  {
    name: "clock jump",
    weight: 4,
    strike: (world, random) => {
      world.setClock(random.below(2 * JUMP_MS) - JUMP_MS);
      return Promise.resolve();
    },
  },
  {
    name: "EMFILE",
    weight: 3,
    strike: async (world, random) => {
      const recovered = world.exhaust();
      const held: number[] = [];
      try {
        const until = performance.now() + 20 + random.below(300);
        while (performance.now() < until) {
          holdAll(held);
          await sleep(5);
        }
      } finally {
        for (const descriptor of held) closeSync(descriptor);
        await sleep(500); // what was under way meanwhile comes to its end
        recovered();
      }
    },
  },
  {
    name: "orphan guard killed",
    weight: 3,
    strike: async (world) => {
      const guards = (): readonly number[] => processesWith(`offstage-guard ${world.instance}`);
      const [guard] = guards();
      if (guard === undefined) return;
      process.kill(guard, "SIGKILL");
      const deadline = performance.now() + 60_000;
      // Another one is there, or it is told why not, or it is not needed any more
      while (world.offstage.guardStatus() === "on" && !guards().some((pid) => pid !== guard)) {
        assert(
          performance.now() < deadline,
          `the guard was killed and did not come back: ${world.offstage.guardStatus()}`,
        );
        await sleep(50);
      }
    },
  },
  {
    name: "SIGSTOP of a child from outside",
    weight: 4,
    strike: async (_, random) => {
      const children = ownChildren();
      const child = children[random.below(children.length)];
      if (child === undefined) return;
      try {
        process.kill(child, "SIGSTOP");
        await sleep(random.below(300));
        process.kill(child, "SIGCONT");
      } catch {
        // It has ended meanwhile
      }
    },
  },
];

/** Lets faults come until the answer is called; that resolves when the last one is over, to what went wrong. */
export function beginFaults(world: World, random: Random): () => Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const ending = new AbortController();
  const lane = (async () => {
    while (!ending.signal.aborted) {
      await sleep(100 + random.below(1_500), undefined, { signal: ending.signal }).catch(() => {});
      if (ending.signal.aborted) break;
      const fault = random.weighted(FAULTS);
      try {
        await fault.strike(world, random);
        count(world.tally.faults, fault.name);
      } catch (error) {
        errors.push(error);
      }
    }
    world.setClock(0);
  })();
  return async () => {
    ending.abort();
    await lane;
    return errors;
  };
}

function holdAll(held: number[]): void {
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch {
    // That was the last one
  }
}

function ownChildren(): readonly number[] {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // the kernel does not tell
  }
}
