/**
 * Memory of commands that do nothing.
 *
 * @module
 */
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { withAgent } from "./agents.ts";
import { bareSpawn, SHELL } from "./bare.ts";
import { bareTrue } from "./starts.ts";
import type { Numbers } from "./turns.ts";

/** One process a command: memory for thousands must be there. */
export const IDLE = "exec sleep 1000";

/** Most starts before, which give the heap the size that starts need. */
const WARM_UP = 500;

/** What the baseline's child handles hold. */
export async function bareIdle(count: number): Promise<Numbers> {
  const start = (): Promise<{ kill(): void }> => bareSpawn([...SHELL, IDLE], () => {});
  const { started, ...numbers } = await memoryOf(count, bareTrue, start);
  started.forEach((child) => child.kill());
  return numbers;
}

/** What sessions in the background hold. */
export function idle(count: number): Promise<Numbers> {
  return withAgent(async (agent) => {
    const once = (): Promise<unknown> => agent.exec({ command: "true" });
    const start = (): Promise<unknown> => agent.exec({ command: IDLE, background: true, stdin: "closed" });
    const { started: _, ...numbers } = await memoryOf(count, once, start);
    return numbers;
  });
}

interface Measured<T> {
  readonly started: readonly T[];
  readonly heldKib: number;
  readonly residentKib: number;
}

async function memoryOf<T>(
  count: number,
  once: () => Promise<unknown>,
  start: () => Promise<T>,
): Promise<Measured<T>> {
  for (let time = 0; time < Math.min(count, WARM_UP); time++) await once();
  const before = await settledMemory();
  const started: T[] = [];
  for (let index = 0; index < count; index++) started.push(await start());
  const after = await settledMemory();
  const kibEach = (bytes: (usage: NodeJS.MemoryUsage) => number): number =>
    (bytes(after) - bytes(before)) / 1024 / count;
  return { started, heldKib: kibEach(heldBytes), residentKib: kibEach(({ rss }) => rss) };
}

/** Memory in use after a collection. */
export async function settledMemory(): Promise<NodeJS.MemoryUsage> {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  for (let times = 0; times < 3; times++) { // pages are given back after a collection, not in it
    await sleep(400);
    gc?.();
    Bun?.gc(true);
  }
  return process.memoryUsage();
}

/** What of the memory objects hold. */
export function heldBytes({ heapUsed, external }: NodeJS.MemoryUsage): number {
  return heapUsed + external;
}
