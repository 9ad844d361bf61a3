/**
 * What is fuzzed: a kind of input and what has to hold for each, whatever it is.
 *
 * @module
 */
import fc from "fast-check";

/** How much to try. */
export interface Effort {
  /** The same seed tries the same inputs. */
  readonly seed: number;
  /** Most inputs. */
  readonly runs: number;
  /** Longest time, ms; it may be over before all inputs are tried. */
  readonly ms: number;
}

/** What was tried, and what was found. */
export interface Outcome {
  readonly tried: number;
  readonly ms: number;
  /** The input that took longest. */
  readonly slowest: { readonly ms: number; readonly input: string };
  /** The smallest input that breaks it, and how. */
  readonly fault?: Fault;
}

/** An input that breaks something. */
export interface Fault {
  /** The input, as an expression. */
  readonly input: string;
  /** What it broke. */
  readonly message: string;
  /** Leads straight back to it, beside the seed. */
  readonly path: string | undefined;
}

/** One kind of input. */
export interface Target {
  readonly name: string;
  /** Its share of the inputs of its part. */
  readonly weight: number;
  /** Tries inputs until one breaks something. */
  fuzz(effort: Effort): Promise<Outcome>;
  /** Tries one input; rejects if it breaks something. */
  again(input: unknown): Promise<void>;
}

/** Targets that share what they need. */
export interface OpenPart extends AsyncDisposable {
  readonly targets: readonly Target[];
}

/** A part of the fuzz run. */
export interface Part {
  readonly name: string;
  /** Inputs of a whole run. */
  readonly runs: number;
  open(): Promise<OpenPart> | OpenPart;
}

/** One input that takes longer hangs, ms. */
const HANGS_MS = 30_000;

/**
 * Makes a target.
 *
 * @param check throws or rejects if the input breaks something
 */
export function target<T>(
  name: string,
  weight: number,
  inputs: fc.Arbitrary<T>,
  check: (input: T) => void | Promise<void>,
): Target {
  return {
    name,
    weight,
    again: async (input) => await check(input as T),
    fuzz: async ({ seed, runs, ms }) => {
      const started = performance.now();
      let underWay: Promise<void> | undefined;
      let slowest: { readonly ms: number; readonly input: T } | undefined;
      const property = fc.asyncProperty(inputs, async (input) => {
        const begun = performance.now();
        const checked = check(input);
        if (checked !== undefined) await inTime(underWay = checked);
        const ms = performance.now() - begun;
        if (ms > (slowest?.ms ?? 0)) slowest = { ms, input };
      });
      const details = await fc.check(property, {
        seed,
        numRuns: runs,
        interruptAfterTimeLimit: ms,
        includeErrorInReport: true,
      });
      await underWay?.catch(() => {}); // when its time is over fast-check leaves it to itself
      const { counterexample, counterexamplePath, errorInstance, numRuns } = details;
      const tried = {
        tried: numRuns,
        ms: performance.now() - started,
        slowest: { ms: slowest?.ms ?? 0, input: fc.stringify(slowest?.input) },
      };
      if (counterexample === null) return tried;
      const message = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
      const fault = { input: fc.stringify(counterexample[0]), message, path: counterexamplePath ?? undefined };
      return { ...tried, fault };
    },
  };
}

async function inTime(checked: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It hangs: no answer in ${HANGS_MS / 1_000} s`)), HANGS_MS);
  });
  try {
    await Promise.race([checked, late]);
  } finally {
    clearTimeout(timer);
  }
}
