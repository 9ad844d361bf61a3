/**
 * The results that are kept: a JSON file for each part, in which what is measured anew replaces what it was.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, release } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
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
  /** Processors that other processes used in the second before: 0.05 is a quiet machine. Absent: nobody looked. */
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

/** How long others are looked at, ms: the kernel's mean would tell what was measured before. */
const LOOK_MS = 1_000;

/** A tick of the times that processes have used, ms; see proc_pid_stat(5). */
const TICK_MS = 10;

/** The state of the machine, before something is measured: this process does nothing meanwhile. */
export async function circumstances(): Promise<Pick<Result, "date" | "cpus" | "load">> {
  const [before, begin] = [usedTicks(), performance.now()];
  await sleep(LOOK_MS);
  const passedMs = performance.now() - begin;
  let ticks = 0;
  for (const [process, used] of usedTicks()) ticks += used - (before.get(process) ?? 0);
  const load = Math.round((100 * ticks * TICK_MS) / passedMs) / 100;
  return { date: new Date().toISOString(), cpus: cpus().length, load };
}

/**
 * What other processes have used of processors so far, ticks: that of each, since what all have used, and how many could
 * run, is not told right by every virtual machine. By process id and start.
 */
function usedTicks(): ReadonlyMap<string, number> {
  const used = new Map<string, number>();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    try {
      const [, stat = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/^.*\) /s);
      const fields = stat.split(" "); // from the third on
      used.set(`${pid} ${fields[19]}`, Number(fields[11]) + Number(fields[12]));
    } catch {
      // It has ended
    }
  }
  return used;
}

/** Versions that every result has. */
export function baseVersions(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
  return { offstage: version, linux: `${release()} ${arch()}` };
}

function findRoot(folder: string): string {
  return existsSync(join(folder, "deno.json")) ? folder : findRoot(dirname(folder));
}
