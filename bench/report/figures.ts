/**
 * What is shown of measured numbers, and the bounds it is held to.
 *
 * @module
 */
import type { Numbers } from "../scenarios/turns.ts";
import { median, rounded } from "./statistics.ts";

/** What one process measured: numbers of both sides. */
export interface Round {
  readonly bare: Numbers;
  readonly ours: Numbers;
}

/** What is wanted of a scenario's numbers. */
export interface Figure {
  /** What it is, with its unit; a ratio says of what. */
  readonly name: string;
  readonly value: (bare: Numbers, ours: Numbers) => number;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** Runtimes for which the bound is promised, all by default; for the others the figure is only shown. */
  readonly on?: readonly string[];
  /** The README shows it too, beside the first of its scenario. */
  readonly inReadme?: true;
}

/** A figure as it came out. */
export interface Row {
  readonly name: string;
  /** The median of its runs. */
  readonly value: number;
  /** In words; empty if nothing is promised. */
  readonly bound: string;
  readonly met: boolean;
  /** Each run's, in their order. */
  readonly runs: readonly number[];
}

/** A scenario: how often it is measured, and what is shown of it. */
export interface Scenario {
  readonly rounds: number;
  /** Both sides take turns in one process. */
  readonly together?: true;
  /** A program of its own that measures it, both sides at once, instead of `scenarios/main.ts`. */
  readonly file?: string;
  readonly figures: readonly Figure[];
}

const NODE = ["node20", "node24"];
const JAVASCRIPT = [...NODE, "deno", "bun"];

const of = (numbers: Numbers, key: string): number => numbers[key] ?? NaN;
const ratio = (key: string) => (bare: Numbers, ours: Numbers): number => of(ours, key) / of(bare, key);
const onTop = (key: string) => (bare: Numbers, ours: Numbers): number => of(ours, key) - of(bare, key);
const plain = (key: string) => (_: Numbers, ours: Numbers): number => of(ours, key);

/** Output of so many sessions at once. */
function bulk(sessions: number): Scenario {
  // Several share two processors with what they read: their log, of which each keeps its own, is more of the work
  const shownOnly = sessions === 1 ? {} : { on: [] };
  const name = sessions === 1 ? "256 MiB of lines" : `256 MiB of lines from ${sessions} sessions`;
  return {
    rounds: 5,
    figures: [
      { name: `${name}: rate / bare`, value: ratio("mbPerS"), atLeast: 0.9, ...shownOnly },
      { name: `${name}: peak memory on top, MiB`, value: onTop("peakMib"), atMost: 30, on: NODE, ...shownOnly },
      { name: `${name}: longest stall, ms`, value: plain("stallMs"), atMost: 30, on: NODE, ...shownOnly },
    ],
  };
}

function idle(sessions: number, rounds: number): Scenario {
  const name = `${sessions.toLocaleString("en").replace(",", " ")} idle sessions`;
  return {
    rounds,
    figures: [
      { name: `${name}: held on top of bare, KiB each`, value: onTop("heldKib"), atMost: 40, on: NODE },
      // Mostly the room that V8 leaves for what is new, up to 32 MiB for the whole process
      { name: `${name}: resident on top of bare, KiB each`, value: onTop("residentKib"), on: [] },
    ],
  };
}

/** By name, in the order they are run and shown. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  true: {
    rounds: 5,
    together: true,
    figures: [
      { name: "`true`: time / bare", value: ratio("ms"), atMost: 1.15 },
      { name: "`true`, the first 200 of a process: time / bare", value: ratio("coldMs"), on: [], inReadme: true },
    ],
  },
  guard: {
    rounds: 3,
    together: true,
    figures: [
      { name: "30 ms with the orphan guard: time / without", value: ratio("ms"), atMost: 1.05 },
      { name: "the orphan guard, KiB", value: plain("heldKib"), atMost: 500 },
    ],
  },
  ptyTrue: {
    rounds: 3,
    together: true,
    figures: [
      { name: "`true` in a terminal: time / bare", value: ratio("ms"), atMost: 1.3, on: ["node24"] },
      { name: "`true` in a terminal: on top of bare, ms", value: onTop("ms"), atMost: 30, on: ["node20"] },
    ],
  },
  http: {
    rounds: 5,
    together: true,
    figures: [{ name: "`true` by HTTP: time / library", value: ratio("ms"), atMost: 1.3 }],
  },
  bubblewrap: {
    rounds: 3,
    together: true,
    figures: [{ name: "`true` in bubblewrap: time / by hand", value: ratio("ms"), atMost: 1.15 }],
  },
  ssh: {
    rounds: 3,
    together: true,
    figures: [{ name: "`true` over ssh: time / by hand", value: ratio("ms"), atMost: 1.25 }],
  },
  nats: {
    rounds: 1,
    file: "bench/nats.ts",
    figures: [
      { name: "256 MiB over NATS, MB/s", value: plain("megabytesPerSecond"), atLeast: 60 },
      {
        name: "256 MiB over NATS: rate / plain pipe",
        value: (_, ours) => of(ours, "megabytesPerSecond") / of(ours, "pipeMegabytesPerSecond"),
        on: [],
      },
      { name: "key → echo over NATS: p99, ms", value: plain("keystrokeP99Ms"), atMost: 10 },
      {
        name: "20 nodes × 50 sessions over NATS: not right to the byte",
        value: (_, ours) => of(ours, "sessions") - of(ours, "sessionsRight"),
        atMost: 0,
      },
    ],
  },
  bulk1: bulk(1),
  bulk4: bulk(4),
  bulk16: bulk(16),
  ptyBulk: {
    rounds: 4,
    figures: [{ name: "256 MiB in a terminal: rate / bare", value: ratio("mbPerS"), atLeast: 0.95, on: NODE }],
  },
  ptyTail: {
    rounds: 1,
    figures: [
      { name: "`seq 1 20000` in a terminal × 200: cut short", value: plain("runs"), atMost: 0 },
      { name: "`seq 1 20000` in a terminal × 200: cut short, bare", value: (bare) => of(bare, "runs"), on: [] },
    ],
  },
  ptyEcho: {
    rounds: 3,
    figures: [
      { name: "key → echo in a terminal: p50 on top of bare, ms", value: onTop("p50Ms"), on: [] },
      { name: "key → echo in a terminal: p99, ms", value: plain("p99Ms"), atMost: 10 },
    ],
  },
  attach: {
    rounds: 3,
    figures: [{ name: "key → echo over a WebSocket: p50 on top of the library, ms", value: onTop("p50Ms"), on: [] }],
  },
  wake: {
    rounds: 3,
    figures: [{ name: "output → waiting poll: p50 on top of bare, ms", value: onTop("p50Ms"), atMost: 2 }],
  },
  paging: {
    rounds: 3,
    figures: [
      { name: "`log` of 200 000 characters, ms", value: plain("logMs"), atMost: 2 },
      { name: "`poll` of 200 000 characters, ms", value: plain("pollMs"), atMost: 2 },
      { name: "`log` after 500 MB were dropped, ms", value: plain("logAfterMs"), atMost: 2 },
      { name: "`poll` after 500 MB were dropped, ms", value: plain("pollAfterMs"), atMost: 2 },
    ],
  },
  idle100: idle(100, 3),
  idle1000: idle(1_000, 2),
  idle5000: idle(5_000, 1),
  viewers: {
    rounds: 1,
    figures: [
      { name: "500 SSE viewers, 1 MB/s: bytes neither sent nor told", value: plain("wrong"), atMost: 0 },
      { name: "500 SSE viewers, 1 MB/s: lag p99, ms", value: plain("p99Ms"), atMost: 250 },
      { name: "500 SSE viewers, 1 MB/s: skipped and told, %", value: plain("skippedPercent"), on: [] },
      { name: "SSE viewer that does not read, KiB", value: plain("stalledKib"), atMost: 64 },
    ],
  },
  idlePolls: {
    rounds: 1,
    together: true,
    figures: [{ name: "100 waiting polls by HTTP: CPU on top, ms in 5 s", value: onTop("cpuMs"), atMost: 100 }],
  },
  import: {
    rounds: 9,
    figures: [
      { name: '`import "offstage"`, ms', value: plain("coreMs"), atMost: 15 },
      // An import that leaves to the first command what the command needs would show here
      { name: "import and first command: on top of bare, ms", value: onTop("ms"), on: [] },
    ],
  },
};

/** What does not depend on the runtime. */
export const RUNTIMELESS: Readonly<Record<string, Scenario>> = {
  size: {
    rounds: 1,
    figures: [
      // Minified and compressed, without its dependency
      { name: "the core's import loads, KiB", value: plain("importedKib"), atMost: 25 },
      { name: "the core with what it loads on use, KiB", value: plain("allKib"), on: [] },
    ],
  },
  characters: {
    rounds: 1,
    figures: [
      { name: "recordings with redraws: characters to the model / raw", value: plain("redrawn"), atMost: 0.35 },
      { name: "recordings with redraws: tokens to the model / raw", value: plain("redrawnTokens"), on: [] },
      { name: "recordings: lines a person sees, but the model does not", value: plain("missing"), atMost: 0 },
    ],
  },
};

/** The row of a figure. `runtime`: whether the bound is promised there. */
export function rowOf(figure: Figure, runtime: string, rounds: readonly Round[]): Row {
  const { name, value: from, atMost, atLeast, on = [...JAVASCRIPT, "-"] } = figure;
  const runs = rounds.map(({ bare, ours }) => from(bare, ours));
  const value = median(runs);
  const shown = { name, value: rounded(value), runs: runs.map(rounded) };
  if (!on.includes(runtime)) return { ...shown, bound: "", met: true };
  if (atMost !== undefined) return { ...shown, bound: `≤ ${atMost}`, met: value <= atMost };
  if (atLeast !== undefined) return { ...shown, bound: `≥ ${atLeast}`, met: value >= atLeast };
  return { ...shown, bound: "", met: true };
}
