/**
 * The results that are kept: a JSON file for each part, in which what is measured anew replaces what it was.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, release } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Row } from "./figures.ts";
import type { Point } from "./statistics.ts";

/** One scenario's results. */
export interface Result {
  /** When it was measured, ISO 8601. */
  readonly date: string;
  /** Of the package, the runtime, the peers and the kernel. */
  readonly versions: Readonly<Record<string, string>>;
  readonly cpus: number;
  /** Mean of runnable processes in the minute before: more than the CPUs is a busy machine. */
  readonly load: number;
  readonly rows: readonly Row[];
  /** What was measured of a growth, by name. */
  readonly curves?: Readonly<Record<string, readonly Point[]>>;
  /** Why there is nothing, if it could not be measured. */
  readonly leftOut?: string;
  /** What else is to be known. */
  readonly note?: string;
}

/** The results of one part, by scenario. */
export type Results = Readonly<Record<string, Result>>;

/** Root of the repository, also for what was compiled. */
export const root: string = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Where a part's results are. */
export function resultsPath(part: string): string {
  return `bench/results/${part}.json`;
}

/** The results of a part; none of one that was never measured. */
export function readResults(part: string): Results {
  const path = join(root, resultsPath(part));
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) as Results : {};
}

/** Puts results in their place among those of the part, which are in the order of `names`. */
export function mergeResults(before: Results, measured: Results, names: readonly string[]): Results {
  const all = { ...before, ...measured };
  return Object.fromEntries(names.flatMap((name) => all[name] === undefined ? [] : [[name, all[name]]]));
}

/** Writes a part's results. */
export function writeResults(part: string, results: Results): void {
  const path = join(root, resultsPath(part));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, toText(results));
}

/** JSON in which numbers and points stay on one line: a change of results can be read. */
export function toText(results: unknown): string {
  const text = JSON.stringify(results, null, 2);
  const numbers = /\[\n\s*(?:[-\d.e+]+,?\s+)+\]|\{\n\s*"x": [-\d.e+]+,\s+"y": [-\d.e+]+\s+\}/g;
  const short = text.replace(numbers, (match) => match.replace(/\s+/g, " ").replace("[ ", "[").replace(" ]", "]"));
  return `${short}\n`;
}

/** The state of the machine, before something is measured. */
export function circumstances(): Pick<Result, "date" | "cpus" | "load"> {
  return { date: new Date().toISOString(), cpus: cpus().length, load: Math.round((loadavg()[0] ?? 0) * 100) / 100 };
}

/** Versions that every result has. */
export function baseVersions(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  return { offstage: version, linux: `${release()} ${arch()}` };
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "deno.json")) ? folder : findRoot(dirname(folder));
}
