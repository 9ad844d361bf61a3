/**
 * Running one test under a mutant.
 *
 * @module
 */

import process from "node:process";
import { setImmediate as turn } from "node:timers/promises";
import { activate, deactivate, ENDLESS } from "./active.ts";
import type { Collected } from "./collected.ts";

/** Why a test failed. */
export interface Failure {
  readonly error: string;
  /** It did not end. */
  readonly isHang: boolean;
  /** Nobody awaited it: it may come from an earlier test. */
  readonly isStray: boolean;
}

/** What a test takes without a mutant. */
export interface Cost {
  readonly ms: number;
  /** Places that ask. */
  readonly asks: number;
}

/** A test that has not ended after so many turns of the event loop, and ms, with nothing to wait for never will. */
const IDLE_TURNS = 200;
const IDLE_MS = 200;
/** Turns in which what a test has left behind may still fail. */
const LATE_TURNS = 3;
/** What a test may take: so many times what it takes without a mutant, and this. */
const TIMES = 20;
const SLACK: Cost = { ms: 5_000, asks: 200_000 };

const HANG = "it does not end";

let stray: unknown;
process.on("unhandledRejection", (error) => stray ??= error ?? "a rejection");
process.on("uncaughtException", (error) => stray ??= error ?? "an error");

/** Runs a test with a mutant. */
export async function runMutated(mutant: number, test: Collected, cost: Cost): Promise<Failure | undefined> {
  activate(mutant, cost.asks * TIMES + SLACK.asks);
  const failure = await runTest(test, cost);
  deactivate();
  return failure;
}

/** Runs a test and says why it failed, if it did. */
export async function runTest(test: Collected, cost: Cost): Promise<Failure | undefined> {
  stray = undefined;
  const atRest = resources();
  const deadline = performance.now() + cost.ms * TIMES + SLACK.ms;
  let ended = false;
  let error: string | undefined;
  let idle = 0;
  let busyAt = performance.now();
  void Promise.resolve().then(test.run).catch((thrown) => error = inWords(thrown)).finally(() => ended = true);
  while (!ended && stray === undefined) {
    await turn();
    const now = performance.now();
    if (resources() === atRest) idle++;
    else [idle, busyAt] = [0, now];
    const isIdle = idle > IDLE_TURNS && now - busyAt > IDLE_MS && cost.asks !== Infinity;
    if (isIdle || now > deadline) return { error: HANG, isHang: true, isStray: false };
  }
  for (let late = 0; late < LATE_TURNS; late++) await turn();
  const isStray = error === undefined;
  if (isStray && stray !== undefined) error = inWords(stray);
  return error === undefined ? undefined : { error, isHang: error.includes(ENDLESS), isStray };
}

/** What keeps this process alive. */
function resources(): string {
  return process.getActiveResourcesInfo().join();
}

function inWords(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
