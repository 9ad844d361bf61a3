/**
 * The mutation check; see `run.mjs` for how to start it.
 *
 * @module
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { importsOf, listFiles, readText, root } from "../project.ts";
import { type Mutant, mutate } from "./mutants.ts";
import { withTrees } from "./parse.ts";
import { planFor } from "./plan.ts";
import { createSuite } from "./pool.ts";
import type { Verdict } from "./suite.ts";
import { keyOf, listedSurvivors } from "./survivors.ts";

/** What is mutated: the parts of the core that decide. */
const FOLDERS = ["src/output", "src/session", "src/terminal"];
/** Share of the mutants of each folder that the tests have to catch. */
const BOUND = 0.85;
/** Mutants that are tried after one another are as many apart. */
const STRIDE = 7;

interface Result extends Mutant {
  readonly verdict: Verdict;
  /** Tests that reach it. */
  readonly trials: number;
}

const { values, positionals: parts } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: "string", default: "3" },
    seed: { type: "string", default: "0" },
    budget: { type: "string", default: "1000" },
    jobs: { type: "string", default: "2" },
    json: { type: "string" },
    again: { type: "string" },
  },
});
const [every, seed] = [Number(values.every), Number(values.seed)];
const [jobs, budget] = [Number(values.jobs), Number(values.budget)];

setPriority(constants.priority.PRIORITY_LOW);
const startedAt = performance.now();
const scratch = mkdtempSync(join(tmpdir(), "offstage-mutants-"));
try {
  await main();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function main(): Promise<void> {
  const mutated = join(scratch, "sources.json");
  const mutants = writeMutants(mutated);
  const loads = fastTests();
  const suites = Array.from({ length: jobs }, () => createSuite(mutated));
  const [first] = suites;
  if (first === undefined) throw new RangeError("--jobs has to be 1 or more");
  console.log(`${mutants.length} mutants; measuring ${loads.size} test files …`);
  const measurement = await first.measure([...loads.keys()]);
  for (const failure of measurement.failed) console.log(`fails without a mutant: ${failure}`);
  const took = measurement.tests.reduce((sum, { ms }) => sum + ms, 0);
  console.log(`${measurement.tests.length} tests take ${seconds(took)}`);

  const plan = planFor(mutants, measurement, loads, budget);
  const reasons = new Map(listedSurvivors().map((survivor) => [keyOf(survivor), survivor.reason]));
  const results: Result[] = [];
  const queue = spread(mutants);
  process.once("SIGINT", () => queue.splice(0)); // what has been tried by then is reported
  await Promise.all(suites.map(async (suite) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const { first, rest, fromStart } = plan.trialsFor(mutant);
      let verdict = await suite.attempt(mutant.id, first, fromStart);
      const isListed = reasons.has(keyOf(mutant));
      if (verdict.outcome === "survived" && !isListed) verdict = await suite.attempt(mutant.id, rest, fromStart);
      results.push({ ...mutant, verdict, trials: first.length + rest.length });
      plan.learn(mutant.file, verdict.by);
      if (verdict.outcome === "survived" && !isListed) {
        console.log(`survived: ${describe(mutant, first.length + rest.length)}`);
      }
      if (results.length % 100 === 0) {
        console.log(`${results.length} tried in ${seconds(performance.now() - startedAt)}`);
      }
    }
    suite.stop();
  }));
  report(results);
}

/** Writes the sources with the chosen mutants in them. */
function writeMutants(target: string): readonly Mutant[] {
  const files = FOLDERS.flatMap((folder) => listFiles(folder, ".ts"));
  const mutants: Mutant[] = [];
  const sources = new Map<string, string>();
  withTrees(new Map(files.map((file) => [file, readText(file)])), (trees) => {
    const all = [...trees].reduce<Mutant[]>((found, [file, tree]) => {
      return [...found, ...mutate(file, tree, found.length).mutants];
    }, []);
    const chosen = new Set(all.filter(isChosen()).map(({ id }) => id));
    let id = 0;
    for (const [file, tree] of trees) {
      const made = mutate(file, tree, id, (each) => chosen.has(each));
      id += made.count;
      mutants.push(...made.mutants);
      if (made.mutants.length > 0) sources.set(pathToFileURL(join(root, file)).href, made.source);
    }
  });
  writeFileSync(target, JSON.stringify(Object.fromEntries(sources)));
  return mutants;
}

/** Which mutants are asked for: those that survived before, or a part of all. */
function isChosen(): (mutant: Mutant) => boolean {
  if (values.again !== undefined) {
    const results = JSON.parse(readFileSync(values.again, "utf8")) as readonly Result[];
    const survived = new Set(results.filter(({ verdict }) => verdict.outcome === "survived").map(keyOf));
    return (mutant) => survived.has(keyOf(mutant));
  }
  return ({ id, file }) =>
    (id + seed) % every === 0 && (parts.length === 0 || parts.some((part) => file.includes(part)));
}

/** The fast tests and all the files each of them loads: nothing there starts a process or belongs to a runtime. */
function fastTests(): ReadonlyMap<string, ReadonlySet<string>> {
  const files = listFiles("tests", "_test.ts").filter((file) => /^tests\/[^/]+$/.test(file));
  return new Map(files.flatMap((file): [string, ReadonlySet<string>][] => {
    const loads = new Set<string>();
    const isFast = (each: string): boolean => {
      if (loads.has(each)) return true;
      loads.add(each);
      return !each.startsWith("adapters/") &&
        importsOf(readText(each)).every((specifier) =>
          specifier !== "node:child_process" && (!specifier.startsWith(".") || isFast(join(each, "..", specifier)))
        );
    };
    return isFast(file) && [...loads].some((each) => each.startsWith("src/")) ? [[file, loads]] : [];
  }));
}

/** In an order in which whatever has been tried is a fair sample of all. */
function spread(mutants: readonly Mutant[]): Mutant[] {
  return Array.from({ length: STRIDE }, (_, first) => mutants.filter((_, index) => index % STRIDE === first)).flat();
}

function describe({ file, row, within, change }: Mutant, trials: number): string {
  const place = `${file}:${row}${within === "" ? "" : ` (${within})`}`;
  return `${place} ${change}${trials === 0 ? "; no test reaches it" : ""}`;
}

function report(results: readonly Result[]): void {
  const reasons = new Map(listedSurvivors().map((survivor) => [keyOf(survivor), survivor.reason]));
  const survived = results.filter(({ verdict }) => verdict.outcome === "survived");
  const unlisted = survived.filter((mutant) => !reasons.has(keyOf(mutant))).sort((one, other) => one.id - other.id);
  for (const mutant of unlisted) console.log(`survived: ${describe(mutant, mutant.trials)}`);
  const escaped = results.filter((mutant) => mutant.verdict.outcome !== "survived" && reasons.has(keyOf(mutant)));
  for (const { file, row, change } of escaped) console.log(`listed, but caught: ${file}:${row} ${change}`);

  const rows = [...FOLDERS, "all"].flatMap((folder) => {
    const own = folder === "all" ? results : results.filter(({ file }) => file.startsWith(`${folder}/`));
    if (own.length === 0) return [];
    const count = (...outcomes: readonly string[]): number =>
      own.filter(({ verdict }) => outcomes.includes(verdict.outcome)).length;
    const caught = count("caught", "hung");
    const listed = own.filter((mutant) => mutant.verdict.outcome === "survived" && reasons.has(keyOf(mutant))).length;
    return {
      folder,
      mutants: own.length,
      caught,
      "of them hung": count("hung"),
      survived: count("survived"),
      "of them listed": listed,
      "caught %": Number((100 * caught / own.length).toFixed(1)),
    };
  });
  console.table(Object.fromEntries(rows.map(({ folder, ...row }) => [folder, row])));
  console.log(`${results.length} mutants in ${seconds(performance.now() - startedAt)}`);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results, undefined, 1));
  const isEnough = rows.every((row) => row.caught / row.mutants >= BOUND);
  process.exitCode = isEnough && unlisted.length === 0 ? 0 : 1;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(0)} s`;
}
