/**
 * Which tests a mutant is tried with, and in which order.
 *
 * @module
 */

import type { Mutant } from "./mutants.ts";
import type { Measured, Measurement, Trial } from "./suite.ts";

/** A test file that loads no more files than that is about some of them, not about the whole. */
const NARROW = 30;

/** The tests for one mutant. */
export interface Trials {
  /** Those that fit the budget: what caught its neighbours, then what is named after its file, the cheapest first. */
  readonly first: readonly Trial[];
  /** The others that reach it: for one that survives so far. */
  readonly rest: readonly Trial[];
  /** It is reached while files are loaded. */
  readonly fromStart: boolean;
}

/** The tests for any mutant. */
export interface Plan {
  /** The tests to try a mutant with; none if no test reaches it. */
  trialsFor(mutant: Mutant): Trials;
  /** Takes down which test has caught a mutant of a file. */
  learn(file: string, by: string | undefined): void;
}

/**
 * Makes the plan from what each test reaches.
 *
 * @param loads all the files that each test file loads
 * @param budget time of the first tests for a mutant, ms
 */
export function planFor(
  mutants: readonly Mutant[],
  { tests, atLoad }: Measurement,
  loads: ReadonlyMap<string, ReadonlySet<string>>,
  budget: number,
): Plan {
  const cheapest = tests.map((test) => ({ test, reached: new Set(test.reached) }))
    .sort((one, other) => one.test.ms - other.test.ms);
  const loadedAt = new Set(atLoad);
  const catchers = new Map<string, Set<string>>();

  return {
    trialsFor({ id, file }) {
      const fromStart = loadedAt.has(id);
      // What runs while a file is loaded is there for whatever uses the file; who loads little is likely to be about it
      const ids = fromStart ? mutants.filter((each) => each.file === file).map((each) => each.id) : [id];
      const own = file.slice(file.lastIndexOf("/") + 1, -3);
      const rank = (test: Measured): number => {
        if (catchers.get(file)?.has(`${test.file}: ${test.name}`)) return 0;
        if (test.file.includes(own)) return 1;
        return fromStart ? loads.get(test.file)?.size ?? Infinity : 2;
      };
      const isNear = ({ file: from }: Measured): boolean =>
        (loads.get(from)?.size ?? Infinity) <= NARROW && loads.get(from)?.has(file) === true;
      const reaching = cheapest
        .filter(({ test, reached }) => ids.some((each) => reached.has(each)) || fromStart && isNear(test))
        .map(({ test }) => test)
        .sort((one, other) => rank(one) - rank(other));
      const first: Trial[] = [];
      const rest: Trial[] = [];
      let left = budget;
      for (const { reached: _, ...trial } of reaching) {
        if (trial.ms <= left || first.length === 0) {
          first.push(trial);
          left -= trial.ms;
        } else rest.push(trial);
      }
      return { first, rest, fromStart };
    },
    learn(file, by) {
      if (by !== undefined) catchers.set(file, (catchers.get(file) ?? new Set()).add(by));
    },
  };
}
