/**
 * Runs every scenario bare and through Offstage, in turns, and prints the ratios: `npm run bench [-- runtime…] [scenario…]`.
 *
 * Runtimes are `node20` (the machine's own, compiled), `node24`, `deno` and `bun`; default: all. `--json` for the raw numbers.
 */
import { execFileSync } from "node:child_process";
import process from "node:process";

const ROUNDS = 3;
const OWN = ["node_modules/typescript/bin/tsc", "-p", "tests"];
const RUNTIMES = {
  node20: [process.execPath, "--expose-gc", ".build/bench/scenarios.js"],
  node24: [".ci/runtimes/node_modules/node24/bin/node", "--expose-gc", "bench/scenarios.ts"],
  deno: ["node_modules/.bin/deno", "run", "-A", "--v8-flags=--expose-gc", "--no-check", "bench/scenarios.ts"],
  bun: ["node_modules/.bin/bun", "bench/scenarios.ts"],
};

/** The bounds: how a figure follows from the numbers of both sides, and what is wanted of it. */
const FIGURES = [
  ["true", "200 × true, ms each, ratio", (bare, ours) => ours.ms / bare.ms, "≤ 1.15"],
  ["bulk", "256 MiB, MB/s, ratio", (bare, ours) => ours.mbPerS / bare.mbPerS, "≥ 0.9"],
  ["bulk", "256 MiB, peak memory on top, MiB", (bare, ours) => ours.peakMb - bare.peakMb, "≤ 30"],
  ["bulk", "256 MiB, longest stall, ms", (_, ours) => ours.stallMs, "≤ 30"],
  ["ptyTrue", "true in a terminal, ratio", (bare, ours) => ours.ms / bare.ms, "≤ 1.3"],
  ["ptyTrue", "true in a terminal, on top, ms", (bare, ours) => ours.ms - bare.ms, "≤ 30"],
  ["ptyBulk", "256 MiB through a terminal, ratio", (bare, ours) => ours.mbPerS / bare.mbPerS, "≥ 0.95"],
  ["ptyTail", "seq 1 20000 × 200, runs cut short", (_, ours) => ours.runs, "≤ 0"],
  ["wake", "output → poll, p50 on top, ms", (bare, ours) => ours.p50Ms - bare.p50Ms, "≤ 2"],
  ["paging", "log, ms", (_, ours) => ours.logMs, "≤ 2"],
  ["paging", "poll, ms", (_, ours) => ours.pollMs, "≤ 2"],
  ["paging", "log after 500 MB, ms", (_, ours) => ours.logAfter500MbMs, "≤ 2"],
  ["paging", "poll after 500 MB, ms", (_, ours) => ours.pollAfter500MbMs, "≤ 2"],
  ["idle", "idle session on top, KiB", (bare, ours) => ours.kibEach - bare.kibEach, "≤ 40"],
];

const words = process.argv.slice(2).filter((word) => word !== "--json");
const asJson = process.argv.includes("--json");
const chosenRuntimes = words.filter((word) => word in RUNTIMES);
const chosenScenarios = words.filter((word) => !(word in RUNTIMES));
const runtimes = chosenRuntimes.length > 0 ? chosenRuntimes : Object.keys(RUNTIMES);
const scenarios = [...new Set(FIGURES.map(([scenario]) => scenario))]
  .filter((scenario) => chosenScenarios.length === 0 || chosenScenarios.includes(scenario));

if (runtimes.includes("node20")) execFileSync(process.execPath, OWN, { stdio: "inherit" });
const results = [];
for (const runtime of runtimes) {
  for (const scenario of scenarios) {
    const sides = { bare: [], ours: [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of ["bare", "ours"]) sides[side].push(measure(runtime, scenario, side));
    }
    const [bare, ours] = [medians(sides.bare), medians(sides.ours)];
    for (const [, name, figure, bound] of FIGURES.filter(([of]) => of === scenario)) {
      const value = figure(bare, ours);
      const met = bound.startsWith("≤") ? value <= Number(bound.slice(2)) : value >= Number(bound.slice(2));
      results.push({ runtime, scenario, name, value, bound, met, bare, ours });
      if (!asJson) {
        console.log(
          `${runtime.padEnd(7)} ${name.padEnd(40)} ${value.toFixed(2).padStart(9)}  ${bound}  ${met ? "" : "MISSED"}`,
        );
      }
    }
  }
}
if (asJson) console.log(JSON.stringify(results, null, 2));

function measure(runtime, scenario, side) {
  const [program, ...args] = RUNTIMES[runtime];
  return JSON.parse(execFileSync(program, [...args, scenario, side], { encoding: "utf8", maxBuffer: 2 ** 26 }));
}

/** Of each number, the median over the rounds. */
function medians(rounds) {
  const names = Object.keys(rounds[0]);
  return Object.fromEntries(names.map((name) => {
    const sorted = rounds.map((numbers) => numbers[name]).sort((one, other) => one - other);
    return [name, sorted[Math.floor(sorted.length / 2)]];
  }));
}
