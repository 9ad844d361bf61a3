/**
 * Randomness that can be repeated.
 *
 * @module
 */
import process from "node:process";

/**
 * `OFFSTAGE_SEED`, a whole number: makes random tests choose what they chose in an earlier run. CI sets it, so that a
 * failure there is about the change and not about luck; elsewhere each run tries something else.
 */
export const givenSeed: number | undefined = /^-?\d+$/.test(process.env["OFFSTAGE_SEED"] ?? "")
  ? Number(process.env["OFFSTAGE_SEED"])
  : undefined;

/** A source of random choices. */
export interface Random {
  /** A whole number from 0 to `count - 1`. */
  below(count: number): number;
  /** Whether something of that probability happens. */
  chance(probability: number): boolean;
  /** One of the values, each as likely as its weight. */
  weighted<T extends { readonly weight: number }>(values: readonly T[]): T;
}

/**
 * Makes the choices of the `index`th of many things that happen at the same time: what one of them chooses does not
 * depend on when the others do.
 */
export function createRandom(seed: number, index: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b);
  /** mulberry32, by Tommy Ettinger: 0 to 1. */
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (count) => Math.floor(next() * count),
    chance: (probability) => next() < probability,
    weighted: (values) => {
      let place = next() * values.reduce((sum, { weight }) => sum + weight, 0);
      const found = values.find(({ weight }) => (place -= weight) < 0) ?? values.at(-1);
      if (found === undefined) throw new TypeError("Cannot choose from nothing");
      return found;
    },
  };
}
