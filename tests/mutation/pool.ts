/**
 * Processes that try mutants, and what a mutant is worth trying with.
 *
 * @module
 */

import { type ChildProcess, fork } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { root } from "../project.ts";
import type { Measurement, Question, Trial, Verdict } from "./suite.ts";

/** A process may say nothing for so long, ms, beside so many times what its tests take: then a loop in it does not end. */
const SILENCE_MS = 20_000;
const SILENCE_TIMES = 25;
/** Measuring may take this long, ms. */
const MEASURE_MS = 600_000;

/** A process with the tests in it, which is started when it is needed. */
export interface Suite {
  /** Runs every test without a mutant. */
  measure(files: readonly string[]): Promise<Measurement>;
  /** Tries a mutant. `fromStart`: one of what runs while the tests are loaded. */
  attempt(mutant: number, trials: readonly Trial[], fromStart: boolean): Promise<Verdict>;
  /** Ends the process. */
  stop(): void;
}

/** Makes a suite. `mutated`: a JSON file with the sources, by URL. */
export function createSuite(mutated: string): Suite {
  let child: ChildProcess | undefined;

  function ask<T>(question: Question, limitMs: number): Promise<T | undefined> {
    const asked = child ??= start(mutated);
    return new Promise((resolve) => {
      const limit = setTimeout(() => settle(undefined), limitMs);
      const gone = (): void => settle(undefined);
      function settle(answer: T | undefined): void {
        clearTimeout(limit);
        asked.off("exit", gone);
        asked.removeAllListeners("message");
        if (answer === undefined) stop();
        resolve(answer);
      }
      asked.once("exit", gone);
      asked.once("message", (answer) => settle(answer as T));
      asked.send(question);
    });
  }

  async function attempt(mutant: number, trials: readonly Trial[], fromStart: boolean): Promise<Verdict> {
    if (trials.length === 0) return { outcome: "survived" };
    if (fromStart) stop();
    const takes = trials.reduce((sum, { ms }) => sum + ms, 0);
    const verdict = await ask<Verdict>({ mutant, trials, fromStart }, SILENCE_MS + SILENCE_TIMES * takes);
    if (fromStart) stop();
    if (verdict?.outcome !== "spoilt") return verdict ?? { outcome: "hung" };
    stop();
    return attempt(mutant, trials, fromStart);
  }

  function stop(): void {
    child?.kill("SIGKILL");
    child = undefined;
  }

  return {
    async measure(files) {
      const measurement = await ask<Measurement>({ measure: files }, MEASURE_MS);
      if (measurement === undefined) throw new Error("The tests do not end without a mutant");
      return measurement;
    },
    attempt,
    stop,
  };
}

function start(mutated: string): ChildProcess {
  const [hooks, suite] = ["./hooks.mjs", "./suite.ts"].map((file) => fileURLToPath(new URL(file, import.meta.url)));
  return fork(suite ?? "", {
    cwd: root,
    execArgv: ["--disable-warning=ExperimentalWarning", "--import", hooks ?? ""],
    env: { ...process.env, OFFSTAGE_MUTATED: mutated, OFFSTAGE_SEED: "1", NODE_COMPILE_CACHE: `${mutated}.cache` },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}
