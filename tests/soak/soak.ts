/**
 * The soak itself: rounds of random operations in sixteen scopes, after each of which nothing may be left.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { endOf } from "../conformance/reader.ts";
import { createRandom } from "../random.ts";
import { beginFaults } from "./faults.ts";
import { INPUT_LIVES } from "./input_lives.ts";
import { findLeftovers, heapInUse, type Rest, takeStock } from "./leftovers.ts";
import { OUTPUT_LIVES } from "./output_lives.ts";
import { createStage, Refused } from "./stage.ts";
import { count, growthOf, type Loss, type Tally } from "./tally.ts";
import { TREE_LIVES } from "./tree_lives.ts";
import { createWorld, SCOPES, type World } from "./world.ts";

const LIVES = [...OUTPUT_LIVES, ...INPUT_LIVES, ...TREE_LIVES];

/** An operation that takes longer hangs, ms. */
const HANGS_MS = 240_000;

/** Operations are numbered from here in the lane of the faults, so that they choose otherwise. */
const FAULT_OPS = 1_000_000_000;

/** What a soak is to do. */
export interface SoakOptions {
  /** How long operations are begun, ms. */
  readonly forMs: number;
  /** How long a round is, ms. */
  readonly roundMs: number;
  /** Whole number that makes all choices. */
  readonly seed: number;
  /** An empty folder. */
  readonly folder: string;
  readonly tally: Tally;
  /** Only this operation, again and again. */
  readonly onlyOp?: number | undefined;
  /** Whether faults come from outside. Default: yes. */
  readonly faults?: boolean;
  /** Told of each loss as it is found. */
  readonly onLoss?: (loss: Loss) => void;
  /** Told when operations have begun, with the value of `OFFSTAGE_INSTANCE`. */
  readonly onBegun?: (instance: string) => void;
}

/** Soaks; what came of it is in the tally. */
export async function soak(options: SoakOptions): Promise<void> {
  const { seed, tally, folder, forMs, roundMs } = options;
  const world = await createWorld(folder, seed, tally);
  const until = performance.now() + forMs;
  let next = 0;
  let before: Rest | undefined;
  // What is loaded on first use is: Bun never again loads a module for which it once found no descriptor
  await loadAll(world);
  options.onBegun?.(world.instance);

  function lose(op: number | null, doing: string, error: unknown): void {
    const loss = { op, doing, what: error instanceof Error ? error.message : String(error) };
    tally.losses.push(loss);
    options.onLoss?.(loss);
  }

  async function liveOne(op: number): Promise<void> {
    const random = createRandom(seed, op);
    const life = random.weighted(LIVES);
    const stage = createStage(world, random, op);
    const hanging = new AbortController();
    try {
      const hangs = sleep(HANGS_MS, undefined, { signal: hanging.signal }).then(() => {
        throw new Error(`it has not ended after ${HANGS_MS} ms`);
      });
      await Promise.race([life.live(stage), hangs]);
      count(tally.lives, life.name);
    } catch (error) {
      const overHttp = stage.hands !== stage.agent;
      if (error instanceof Refused || (overHttp && world.wasExhausted(stage.startedAt))) return;
      lose(op, `${stage.agent.scope}${overHttp ? " over HTTP" : ""} ${life.name}`, error);
    } finally {
      hanging.abort();
    }
  }

  async function round(number: number): Promise<void> {
    await world.serve();
    const endFaults = options.faults === false ? undefined : beginFaults(world, createRandom(seed, FAULT_OPS + number));
    const roundEnd = Math.min(until, performance.now() + roundMs);
    await Promise.all(Array.from({ length: SCOPES }, async () => {
      while (performance.now() < roundEnd) await liveOne(options.onlyOp ?? next++);
    }));
    for (const error of await endFaults?.() ?? []) lose(null, "a fault", error);
    for (const agent of world.agents) {
      for (const { sessionId, outcome, survivors } of await agent.killAll()) {
        const left = world.left.get(sessionId);
        if (survivors.length > 0) lose(null, `killAll, ${sessionId}`, `survivors: ${JSON.stringify(survivors)}`);
        if (left === undefined) continue;
        if (outcome.status !== "killed") lose(null, `killAll, ${sessionId}`, `its end: ${JSON.stringify(outcome)}`);
        world.left.delete(sessionId);
        for (const viewer of left) {
          const seen = await viewer.catch((error) =>
            lose(null, `viewer of ${sessionId}, which was left running`, error)
          );
          if (seen === undefined || JSON.stringify(seen) === JSON.stringify(endOf(outcome))) continue;
          lose(null, `viewer of ${sessionId}`, `saw ${JSON.stringify(seen)}, not ${JSON.stringify(outcome)}`);
        }
      }
    }
    if (world.left.size > 0) lose(null, "killAll", `not ended: ${[...world.left.keys()]}`);
    world.left.clear();
    world.events.clear();
    await world.server().close();
    for (const leftover of await findLeftovers(world, before)) lose(null, `after round ${number}`, leftover);
    before ??= takeStock();
    tally.heap.push({ commands: tally.commands, bytes: await heapInUse() });
  }

  for (let number = 0; number === 0 || performance.now() < until; number++) await round(number);
  const growth = growthOf(tally.heap);
  if (growth !== undefined) lose(null, "the heap", growth);
  await world.offstage.close();
  for (const leftover of await findLeftovers(world, undefined)) lose(null, "after closing", leftover);
}

/** Uses each tool once. */
async function loadAll({ agents: [agent], terminals }: World): Promise<void> {
  await agent?.exec({ command: "true; sleep 0.1", yieldMs: 10, pty: terminals });
  for (const { sessionId } of agent?.sessions() ?? []) {
    await agent?.process({ action: terminals ? "screen" : "poll", sessionId, until: "exit", timeout: 30_000 });
  }
  await agent?.killAll();
}
