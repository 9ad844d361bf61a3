/**
 * The process that tries mutants: it loads the tests once and runs, for each mutant it is sent, those that reach it,
 * until one fails.
 *
 * A failure counts only if the test passes again without the mutant: else an earlier mutant has left something behind,
 * and the process says that it is spoilt.
 *
 * @module
 */

import process from "node:process";
import { pathToFileURL } from "node:url";
import { activate, askedSoFar, takeDown } from "./active.ts";
import { collect, type Collected } from "./collected.ts";
import { type Cost, type Failure, runMutated, runTest } from "./trial.ts";

/** A test, what it takes, and the places it reaches. */
export interface Measured extends Cost {
  readonly file: string;
  readonly name: string;
  readonly reached: readonly number[];
}

/** What the tests are like without a mutant. */
export interface Measurement {
  readonly tests: readonly Measured[];
  /** Places that are reached while the files are loaded. */
  readonly atLoad: readonly number[];
  /** Tests that fail without any mutant, and why. */
  readonly failed: readonly string[];
}

/** What became of a mutant. */
export interface Verdict {
  readonly outcome: "caught" | "hung" | "survived" | "spoilt";
  /** The test that failed. */
  readonly by?: string;
  readonly error?: string;
}

/** A test to run, by where it stands. */
export type Trial = Pick<Measured, "file" | "name" | "ms" | "asks">;

/** What this process can be asked. */
export type Question =
  | { readonly measure: readonly string[] }
  /** `fromStart`: it is active while the files are loaded; for a process that was started for it. */
  | { readonly mutant: number; readonly trials: readonly Trial[]; readonly fromStart: boolean };

/** Places that may ask while one file and all it imports is loaded. */
const LOAD_ASKS = 1_000_000;
/** A test that takes longer, ms, takes about as long the second time. */
const SHORT_MS = 200;
/** For a test without any limit. */
const UNKNOWN: Cost = { ms: 60_000, asks: Infinity };

const loaded = new Map<string, ReadonlyMap<string, Collected>>();

process.on("message", async (question: Question) => {
  process.send?.(await answer(question));
});

process.on("disconnect", () => process.exit());

function answer(question: Question): Promise<Measurement | Verdict> {
  if ("measure" in question) return measure(question.measure);
  const { mutant, trials, fromStart } = question;
  return fromStart ? tryFromStart(mutant, trials) : tryMutant(mutant, trials);
}

/** Runs every test; a short one twice: what is loaded on its first use is there in the second run, which counts. */
async function measure(files: readonly string[]): Promise<Measurement> {
  const atLoad = takeDown();
  for (const file of files) await load(file);
  const tests: Measured[] = [];
  const failed: string[] = [];
  for (const file of files) {
    for (const [name, test] of await load(file)) {
      const reached = takeDown();
      let measured = await measureTest(test);
      if (measured.cost.ms < SHORT_MS && measured.failure === undefined) measured = await measureTest(test);
      const { cost, failure } = measured;
      if (failure === undefined) tests.push({ file, name, ...cost, reached: [...reached] });
      else failed.push(`${file}: ${name}: ${failure.error}`);
    }
  }
  return { tests, atLoad: [...atLoad], failed };
}

async function measureTest(test: Collected): Promise<{ readonly cost: Cost; readonly failure: Failure | undefined }> {
  const [asked, used] = [askedSoFar(), process.cpuUsage()];
  const failure = await runTest(test, UNKNOWN);
  const { user, system } = process.cpuUsage(used);
  return { cost: { ms: (user + system) / 1_000, asks: askedSoFar() - asked }, failure };
}

/** Loads a test file, by its path from the root, which is where this runs. */
async function load(file: string): Promise<ReadonlyMap<string, Collected>> {
  const known = loaded.get(file);
  if (known !== undefined) return known;
  await import(pathToFileURL(file).href);
  const tests = new Map(collect().map((test) => [test.name, test]));
  loaded.set(file, tests);
  return tests;
}

async function tryMutant(mutant: number, trials: readonly Trial[]): Promise<Verdict> {
  for (const trial of trials) {
    const test = (await load(trial.file)).get(trial.name);
    const failure = test && await runMutated(mutant, test, trial);
    if (test === undefined || failure === undefined) continue;
    if (await runTest(test, trial) !== undefined) return { outcome: "spoilt" };
    if ((failure.isStray || failure.isHang) && await runMutated(mutant, test, trial) === undefined) {
      return { outcome: "spoilt" };
    }
    return verdict(failure, trial);
  }
  return { outcome: "survived" };
}

async function tryFromStart(mutant: number, trials: readonly Trial[]): Promise<Verdict> {
  for (const trial of trials) {
    let test: Collected | undefined;
    activate(mutant, LOAD_ASKS);
    try {
      test = (await load(trial.file)).get(trial.name);
    } catch (error) {
      return { outcome: "caught", by: trial.file, error: String(error) };
    }
    if (test === undefined) return { outcome: "caught", by: trial.file, error: `There is no test "${trial.name}"` };
    const failure = await runMutated(mutant, test, trial);
    if (failure !== undefined) return verdict(failure, trial);
  }
  return { outcome: "survived" };
}

function verdict({ error, isHang }: Failure, { file, name }: Trial): Verdict {
  return { outcome: isHang ? "hung" : "caught", by: `${file}: ${name}`, error };
}
