/**
 * Runs every scenario bare and through Offstage and prints what follows from both, with the bounds that are to be met:
 * `npm run bench [-- runtime…] [scenario…] [--json]`.
 *
 * Runtimes are `node20` (the Node that runs this, compiled), `node24`, `deno` and `bun`; default: all. A figure is the
 * median of several rounds, in each of which both sides follow one another. Run it on a machine that does nothing else.
 *
 * @module
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PINNED = ".ci/runtimes";
const BUN = "node_modules/bun/bin/bun.exe";

/** Program and arguments of each runtime, and what the scenarios are for it: only the machine's own Node gets them compiled. */
const RUNTIMES = {
  node20: { argv: [process.execPath, "--expose-gc"], scenarios: ".build/bench/scenarios.js" },
  node24: { argv: [`${PINNED}/node_modules/node24/bin/node`, "--expose-gc"], scenarios: "bench/scenarios.ts" },
  deno: {
    argv: ["node_modules/deno/deno", "run", "-A", "--v8-flags=--expose-gc", "--no-check"],
    scenarios: "bench/scenarios.ts",
  },
  bun: { argv: [BUN], scenarios: "bench/scenarios.ts" },
};

/** How each scenario is run. `together`: both sides in one process, in turns; see scenarios.ts. */
const SCENARIOS = {
  true: { rounds: 5, together: true },
  http: { rounds: 5, together: true },
  bubblewrap: { rounds: 3, together: true },
  ssh: { rounds: 3, together: true },
  guard: { rounds: 3, together: true },
  bulk: { rounds: 3 },
  ptyTrue: { rounds: 3, together: true },
  ptyBulk: { rounds: 3 },
  ptyTail: { rounds: 1 },
  wake: { rounds: 3 },
  paging: { rounds: 3 },
  idle: { rounds: 3 },
  viewers: { rounds: 1 },
  attach: { rounds: 1 },
  idlePolls: { rounds: 1, together: true },
};

const ALL = Object.keys(RUNTIMES);
const NODE = ["node20", "node24"];

/**
 * @typedef {Readonly<Record<string, number>>} Numbers
 * @typedef {object} Figure what is wanted of the numbers of both sides
 * @property {string} of the scenario
 * @property {string} name
 * @property {(bare: Numbers, ours: Numbers) => number} value
 * @property {number} [atMost]
 * @property {number} [atLeast]
 * @property {readonly string[]} on the runtimes for which the bound is promised; for the others the figure is only shown
 */

/** @type {readonly Figure[]} */
const FIGURES = [
  { of: "true", name: "true, ratio", value: (bare, ours) => ours.ms / bare.ms, atMost: 1.15, on: ALL },
  {
    of: "http",
    name: "true by HTTP, ratio to the library",
    value: (bare, ours) => ours.ms / bare.ms,
    atMost: 1.3,
    on: ALL,
  },
  {
    of: "bubblewrap",
    name: "true in a sandbox, ratio",
    value: (bare, ours) => ours.ms / bare.ms,
    atMost: 1.15,
    on: ALL,
  },
  {
    of: "ssh",
    name: "true over ssh, ratio",
    value: (bare, ours) => ours.ms / bare.ms,
    atMost: 1.25,
    on: [...NODE, "deno"],
  },
  { of: "guard", name: "30 ms, ratio with the guard", value: (bare, ours) => ours.ms / bare.ms, atMost: 1.05, on: ALL },
  { of: "guard", name: "the guard's memory, KiB", value: (_, ours) => ours.heldKib, atMost: 500, on: ALL },
  {
    of: "bulk",
    name: "256 MiB, ratio of rates",
    value: (bare, ours) => ours.mbPerS / bare.mbPerS,
    atLeast: 0.9,
    on: ALL,
  },
  {
    of: "bulk",
    name: "256 MiB, peak memory on top, MiB",
    value: (bare, ours) => ours.peakMb - bare.peakMb,
    atMost: 30,
    on: NODE,
  },
  { of: "bulk", name: "256 MiB, longest stall, ms", value: (_, ours) => ours.stallMs, atMost: 30, on: NODE },
  {
    of: "ptyTrue",
    name: "true in a terminal, ratio",
    value: (bare, ours) => ours.ms / bare.ms,
    atMost: 1.3,
    on: ["node24"],
  },
  {
    of: "ptyTrue",
    name: "true in a terminal, on top, ms",
    value: (bare, ours) => ours.ms - bare.ms,
    atMost: 30,
    on: ["node20"],
  },
  {
    of: "ptyBulk",
    name: "256 MiB in a terminal, ratio of rates",
    value: (bare, ours) => ours.mbPerS / bare.mbPerS,
    atLeast: 0.95,
    on: NODE,
  },
  { of: "ptyTail", name: "seq 1 20000 × 200, runs cut short", value: (_, ours) => ours.runs, atMost: 0, on: ALL },
  {
    of: "wake",
    name: "output → poll, p50 on top, ms",
    value: (bare, ours) => ours.p50Ms - bare.p50Ms,
    atMost: 2,
    on: NODE,
  },
  { of: "paging", name: "log, ms", value: (_, ours) => ours.logMs, atMost: 2, on: NODE },
  { of: "paging", name: "poll, ms", value: (_, ours) => ours.pollMs, atMost: 2, on: NODE },
  { of: "paging", name: "log after 500 MB, ms", value: (_, ours) => ours.logAfter500MbMs, atMost: 2, on: NODE },
  { of: "paging", name: "poll after 500 MB, ms", value: (_, ours) => ours.pollAfter500MbMs, atMost: 2, on: NODE },
  {
    of: "idle",
    name: "idle session, held on top, KiB",
    value: (bare, ours) => ours.heldKib - bare.heldKib,
    atMost: 40,
    on: NODE,
  },
  // Mostly the room that V8 leaves for what is new, up to 32 MiB for the whole process
  {
    of: "idle",
    name: "idle session, resident on top, KiB",
    value: (bare, ours) => ours.residentKib - bare.residentKib,
    on: [],
  },
  {
    of: "viewers",
    name: "500 viewers, bytes neither sent nor told",
    value: (_, { wrong }) => wrong,
    atMost: 0,
    on: ALL,
  },
  { of: "viewers", name: "500 viewers, skipped, %", value: (_, ours) => ours.skippedPercent, on: [] },
  { of: "viewers", name: "500 viewers, lag p99, ms", value: (_, ours) => ours.p99Ms, on: [] },
  {
    of: "viewers",
    name: "held for one that does not read, KiB",
    value: (_, ours) => ours.stalledKib,
    atMost: 64,
    on: ALL,
  },
  {
    of: "attach",
    name: "key → echo over a WebSocket, on top, ms",
    value: (bare, ours) => ours.p50Ms - bare.p50Ms,
    on: [],
  },
  {
    of: "idlePolls",
    name: "100 waiting polls, CPU on top, ms in 5 s",
    value: (bare, ours) => ours.cpuMs - bare.cpuMs,
    atMost: 100,
    on: ALL,
  },
  { of: "import", name: 'import "offstage", ms', value: (_, { coreMs }) => coreMs, atMost: 15, on: ALL },
  // An import that leaves to the first command what the command needs would show here
  { of: "import", name: "import and first command, on top, ms", value: (bare, ours) => ours.ms - bare.ms, on: [] },
];

/** What is wanted of the text that a model is given, over the recordings of `corpus/`; see characters.ts. */
const CHARACTERS = [
  { name: "characters given, with redraws, %", value: ({ redrawn }) => 100 * redrawn, atMost: 35, on: ["-"] },
  { name: "lines seen, but not given", value: ({ missing }) => missing, atMost: 0, on: ["-"] },
];

/** Rounds of the import, each in processes that do nothing else. */
const IMPORTS = 9;

/** Most of the core that its import may load, minified and compressed, without its dependency, KiB. */
const SIZE_KIB = 25;

main(process.argv.slice(2));

/** @param {readonly string[]} words */
function main(words) {
  process.chdir(root);
  const named = words.filter((word) => word !== "--json");
  const unknown = named.filter((word) =>
    !(word in RUNTIMES) && !FIGURES.some(({ of }) => of === word) && word !== "size" && word !== "characters"
  );
  if (unknown.length > 0) throw new Error(`Neither a runtime nor a scenario: ${unknown.join(", ")}`);
  const runtimes = ALL.filter((runtime) => named.includes(runtime) || !named.some((word) => word in RUNTIMES));
  const isWanted = (scenario) => named.includes(scenario) || named.every((word) => word in RUNTIMES);
  prepare(runtimes);

  const rows = [];
  const tell = (row) => {
    rows.push(row);
    if (!words.includes("--json")) console.log(lineOf(row));
  };
  if (isWanted("size")) {
    const { imported, all } = sizesKib();
    tell(row("-", { name: "the core's import loads, KiB", atMost: SIZE_KIB, on: ["-"] }, imported));
    tell(row("-", { name: "the core with what it loads on use, KiB", on: [] }, all));
  }
  if (isWanted("characters")) {
    const numbers = measure([process.execPath, ".build/bench/characters.js", "--json"]);
    for (const figure of CHARACTERS) tell(row("-", figure, figure.value(numbers)));
  }
  for (const runtime of runtimes) {
    for (const scenario of [...Object.keys(SCENARIOS), "import"].filter(isWanted)) {
      const rounds = scenario === "import" ? importRounds(runtime) : scenarioRounds(runtime, scenario);
      for (const figure of FIGURES.filter(({ of }) => of === scenario)) {
        const value = median(rounds.map(({ bare, ours }) => figure.value(bare, ours)));
        tell({ ...row(runtime, figure, value), rounds });
      }
    }
  }
  if (words.includes("--json")) console.log(JSON.stringify({ load: loadavg(), rows }, null, 2));
}

/** Compiles for the machine's own Node and installs the other one, where that has not been done. */
function prepare(runtimes) {
  // A type error in a test is printed and changes no figure
  const compiler = ["node_modules/typescript/bin/tsc", "-p", "tests", "--noEmitOnError", "false"];
  spawnSync(process.execPath, compiler, { stdio: ["ignore", 2, 2] });
  if (!runtimes.includes("node24") || existsSync(`${PINNED}/node_modules`)) return;
  execFileSync("npm", ["ci", "--prefix", PINNED, "--no-audit", "--no-fund"], { stdio: "inherit" });
}

function scenarioRounds(runtime, scenario) {
  const { argv, scenarios } = RUNTIMES[runtime];
  const run = (side) => measure([...argv, scenarios, scenario, side]);
  const { rounds, together } = SCENARIOS[scenario];
  return Array.from({ length: rounds }, () => together ? run("both") : { bare: run("bare"), ours: run("ours") });
}

function importRounds(runtime) {
  const run = (what) => measure([...RUNTIMES[runtime].argv, "bench/import_time.mjs", what]);
  return Array.from({ length: IMPORTS }, () => {
    const { ms: coreMs } = run("core");
    return { bare: run("bare"), ours: { ...run("ours"), coreMs } };
  });
}

function measure([program, ...args]) {
  return JSON.parse(execFileSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 26 }));
}

/** What the import of the core loads, and what there is: a bundler splits the one from the other as the engines do. */
function sizesKib() {
  const folder = mkdtempSync(join(tmpdir(), "offstage-size-"));
  const options = ["--minify", "--splitting", "--target=node", "--format=esm", "--external", "valibot"];
  execFileSync(BUN, ["build", "mod.ts", ...options, "--outdir", folder]);
  const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  rmSync(folder, { recursive: true });
  const imported = new Set(["mod.js"]);
  for (const name of imported) { // visits what is added meanwhile
    for (const [, file] of texts.get(name).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) imported.add(file);
  }
  const kib = (names) => gzipSync([...names].map((name) => texts.get(name)).join("\n"), { level: 9 }).length / 1024;
  return { imported: kib(imported), all: kib(texts.keys()) };
}

function row(runtime, { name, atMost, atLeast, on }, value) {
  const bound = !on.includes(runtime) ? "" : atMost === undefined ? `≥ ${atLeast}` : `≤ ${atMost}`;
  const met = bound === "" || (atMost === undefined ? value >= atLeast : value <= atMost);
  return { runtime, name, value, bound, met };
}

function lineOf({ runtime, name, value, bound, met }) {
  return `${runtime.padEnd(7)} ${name.padEnd(38)} ${value.toFixed(2).padStart(8)}  ${bound}${met ? "" : "  MISSED"}`;
}

function median(numbers) {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
