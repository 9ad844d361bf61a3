/**
 * How time and memory grow with output, sessions, viewers and lines held, on Node.js 24.
 *
 * @module
 */
import type { Part } from "../part.ts";
import type { Row } from "../report/figures.ts";
import { baseVersions, circumstances, type Result } from "../report/results.ts";
import { exponent, type Point, rounded } from "../report/statistics.ts";
import { measure, versionOf } from "../runtimes.ts";
import { type Growth, GROWTHS } from "./growths.ts";
import type { Numbers } from "../scenarios/turns.ts";

const RUNTIME = "node24";

/** Each point is the least of so many, which is the least disturbed; what has taken so long by then is not repeated, ms. */
const ROUNDS = 3;
const ENOUGH_MS = 10_000;

/** No worse than linear, but for what a machine's caches and its measuring add. */
const LINEAR = 1.05;
/** Over the 4096-fold this is half as much again. */
const FLAT = 0.05;

/** The part of growths. */
export function growthPart(): Part {
  return { name: "growth", scenarios: Object.keys(GROWTHS), onRequest: true, measure: grow };
}

async function grow(name: string, quick: boolean): Promise<Result> {
  const growth = GROWTHS[name] as Growth;
  const { most, by } = growth.room?.() ?? { most: Infinity, by: "" };
  const wanted = growth.sizes.slice(0, quick ? -1 : undefined);
  const sizes = [...new Set(wanted.map((size) => Math.min(size, most)))];
  const before = { ...await circumstances(), versions: { ...baseVersions(), node: versionOf(RUNTIME) } };
  const points = new Map<string, Point[]>(Object.keys(growth.curves).map((key) => [key, []]));
  try {
    for (const size of sizes) {
      const rounds: Numbers[] = [];
      const end = performance.now() + ENOUGH_MS;
      do {
        rounds.push(await measure(RUNTIME, "bench/growth/main.ts", [name, `${size}`]) as Numbers);
      } while (!quick && rounds.length < ROUNDS && performance.now() < end);
      for (const [key, list] of points) {
        list.push({
          x: size,
          y: Math.min(...rounds.map((round) => round[key] ?? NaN)),
        });
      }
    }
  } catch (error) {
    return { ...before, rows: [], leftOut: (error as Error).message };
  }
  const rows = Object.entries(growth.curves).map(([key, { name, flat }]) => {
    return rowOf(`${growth.of} → ${name}: exponent`, points.get(key) ?? [], flat ? FLAT : LINEAR);
  });
  const curves = Object.fromEntries(
    [...points].map(([key, list]) => [key, list.map(({ x, y }) => ({ x, y: rounded(y) }))]),
  );
  const note = sizes.length < wanted.length || wanted.some((size) => size > most)
    ? { note: `at most ${most} for ${by}, where ${wanted.at(-1)} were wanted` }
    : {};
  return { ...before, rows, curves, ...note };
}

function rowOf(name: string, points: readonly Point[], most: number): Row {
  const value = exponent(points);
  return {
    name,
    value: rounded(value),
    bound: `≤ ${most}`,
    met: value <= most,
    runs: points.map(({ y }) => rounded(y)),
  };
}
