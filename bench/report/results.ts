/**
 * The results that are kept: a JSON file for each part, in which what is measured anew replaces what it was.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, release } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
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
  /** Other processes that ran or could have, just before, on average: 0.1 is a quiet machine. Absent: nobody looked. */
  readonly load?: number;
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

/** Looks at what others do, and between two of them, ms: the kernel's mean would tell what was measured before. */
const LOOKS = 50;
const LOOK_MS = 20;

/** The state of the machine, before something is measured: this process does nothing meanwhile. */
export async function circumstances(): Promise<Pick<Result, "date" | "cpus" | "load">> {
  let sum = 0;
  for (let look = 0; look < LOOKS; look++) {
    await sleep(LOOK_MS);
    sum += runnable() - 1; // this one
  }
  const load = Math.round(100 * sum / LOOKS) / 100;
  return { date: new Date().toISOString(), cpus: cpus().length, load };
}

/** How many processes run or could, as Linux says in its fourth word; see proc_loadavg(5). */
function runnable(): number {
  return Number.parseInt(readFileSync("/proc/loadavg", "utf8").split(" ")[3] ?? "", 10);
}

/** Versions that every result has. */
export function baseVersions(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  return { offstage: version, linux: `${release()} ${arch()}` };
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "deno.json")) ? folder : findRoot(dirname(folder));
}
