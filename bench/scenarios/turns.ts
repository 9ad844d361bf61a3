/**
 * Measuring two ways to do the same thing in turns, so that what else the machine does slows both.
 *
 * @module
 */
import { median } from "../report/statistics.ts";

/** Measured numbers, each named with its unit. */
export type Numbers = Readonly<Record<string, number>>;

/** Numbers of both sides. */
export interface Both {
  readonly bare: Numbers;
  readonly ours: Numbers;
}

/** One of the two ways. */
export type Run = () => Promise<unknown>;

const TURN = 20;

/**
 * Times one run of each, ms: the median of `count` runs that alternate in turns of up to {@linkcode TURN}, after as many
 * that are not counted. In those the runtime compiles what it runs, on both sides.
 */
export async function inTurns(bare: Run, ours: Run, count = 200): Promise<Both> {
  const length = Math.min(TURN, count);
  const turn = async (run: Run): Promise<readonly number[]> => {
    const times: number[] = [];
    for (let index = 0; index < length; index++) times.push(await timed(run));
    return times;
  };
  const times = { bare: [] as number[], ours: [] as number[] };
  while (times.ours.length < 2 * count) {
    times.bare.push(...await turn(bare));
    times.ours.push(...await turn(ours));
  }
  const numbers = (all: readonly number[]): Numbers => ({
    ms: median(all.slice(count)),
    coldMs: median(all.slice(0, count)),
  });
  return { bare: numbers(times.bare), ours: numbers(times.ours) };
}

/** How long something takes, ms. */
export async function timed(run: Run): Promise<number> {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}
