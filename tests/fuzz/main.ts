/**
 * One fuzz run on one runtime: `main.ts seconds seed part…`. Prints a line for each target and what was found.
 *
 * @module
 */
import process from "node:process";
import { PARTS } from "./parts.ts";
import type { Fault, Part } from "./target.ts";

const [seconds = "60", seed = "1", ...names] = process.argv.slice(2);
const parts = PARTS.filter(({ name }) => names.includes(name));
/** What took longer is worth a look, ms. On a busy machine it may have had to wait. */
const SLOW_MS = 3_000;

let faults = 0;
for (const part of parts) await fuzz(part, Number(seconds) * 1_000 / parts.length, Number(seed));
process.exit(faults === 0 ? 0 : 1);

async function fuzz(part: Part, ms: number, seed: number): Promise<void> {
  const opened = await part.open();
  try {
    const weights = opened.targets.reduce((sum, { weight }) => sum + weight, 0);
    const until = performance.now() + ms;
    let weightsLeft = weights;
    for (const { name, weight, fuzz } of opened.targets) {
      const runs = Math.ceil(part.runs * weight / weights);
      const outcome = await fuzz({ seed, runs, ms: (until - performance.now()) * weight / weightsLeft });
      weightsLeft -= weight;
      const { tried, slowest } = outcome;
      const rate = `${Math.round(tried / outcome.ms * 1_000)}/s`;
      const columns = [part.name.padEnd(11), name.padEnd(12), String(tried).padStart(8), "inputs", rate.padStart(9)];
      console.log(`${columns.join(" ")}, slowest ${Math.round(slowest.ms)} ms`);
      if (slowest.ms > SLOW_MS) console.log(`  slow: ${slowest.input}`);
      if (outcome.fault !== undefined) tell(part.name, name, seed, outcome.fault);
    }
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

function tell(part: string, name: string, seed: number, { input, message, path }: Fault): void {
  faults += 1;
  console.log(`FOUND in ${part} ${name}, seed ${seed}${path === undefined ? "" : `, path ${path}`}: ${message}`);
  console.log(
    `A line for tests/fuzz/found.ts:\n  [${JSON.stringify(part)}, ${JSON.stringify(name)}, () => (${input})],`,
  );
}
