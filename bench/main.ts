/**
 * Measures what is asked for, prints it with the bounds that are to be met, and keeps it:
 * `npm run bench [-- word…] [--quick] [--json FILE]`.
 *
 * Words are parts — the runtimes (`node20`, the Node that runs this, `node24`, `deno`, `bun`) and `core`, all of which are
 * measured by default, `peers` and `growth`, which are not — and scenarios of them (by default all). A figure is the
 * median of several rounds, in each of which both sides follow one another. Run it on a machine that does nothing else.
 *
 * What is measured takes the place of what it was in `results/`; plots and the README's figures are made of that, and by
 * the word `report` alone. `--quick` measures one round each and keeps nothing. `--json` writes what was measured to a
 * file. The exit code is 1 if a bound was missed.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { growthPart } from "./growth/part.ts";
import type { Part } from "./part.ts";
import { peersPart } from "./peers/part.ts";
import { writeReport } from "./report/document.ts";
import { linesOf } from "./report/lines.ts";
import { mergeResults, readResults, type Results, toText, writeResults } from "./report/results.ts";
import { installPinned } from "./runtimes.ts";
import { corePart, runtimeParts } from "./runtime_part.ts";

/** What of a part is measured. */
interface Chosen {
  readonly part: Part;
  readonly scenarios: readonly string[];
}

/** Runs the bench with the words of its command line. */
export async function main(argv: readonly string[]): Promise<void> {
  const { values: { quick, json }, positionals } = parseArgs({
    args: [...argv],
    options: { quick: { type: "boolean", default: false }, json: { type: "string" } },
    allowPositionals: true,
  });
  if (positionals.join() === "report") return writeReport();
  const parts = [corePart(), ...runtimeParts(), growthPart(), peersPart()];
  const chosen = choose(parts, positionals);
  installPinned();
  const all: Record<string, Results> = {};
  for (const { part, scenarios } of chosen) {
    for (const scenario of scenarios) {
      const measured = { [scenario]: await part.measure(scenario, quick) };
      all[part.name] = { ...all[part.name], ...measured };
      console.log(linesOf(part.name, scenario, measured[scenario] as Results[string]).join("\n"));
      // At once: what is interrupted goes on where it was
      if (!quick) writeResults(part.name, mergeResults(readResults(part.name), measured, part.scenarios));
    }
  }
  if (!quick) writeReport();
  if (json !== undefined) writeFileSync(json, toText(all));
  const rows = Object.values(all).flatMap((results) => Object.values(results)).flatMap(({ rows }) => rows);
  const bounds = rows.filter(({ bound }) => bound !== "");
  const missed = bounds.filter(({ met }) => !met).length;
  console.log(`${bounds.length - missed} of ${bounds.length} bounds met`);
  if (missed > 0) process.exitCode = 1;
}

/** The parts that are named, and those of scenarios that no named part has; of each the named scenarios, or all. */
function choose(parts: readonly Part[], words: readonly string[]): readonly Chosen[] {
  const partWords = new Set(parts.map(({ name }) => name).filter((name) => words.includes(name)));
  const names = words.filter((word) => !partWords.has(word));
  const unknown = names.filter((word) => !parts.some(({ scenarios }) => scenarios.includes(word)));
  if (unknown.length > 0) throw new Error(`Neither a part nor a scenario: ${unknown.join(", ")}`);
  const others = names.filter((word) =>
    !parts.some((part) => partWords.has(part.name) && part.scenarios.includes(word))
  );
  return parts.flatMap((part) => {
    const isNamed = partWords.has(part.name) || (words.length === 0 && !part.onRequest);
    const wanted = part.scenarios.filter((name) => (isNamed ? names : others).includes(name));
    if (isNamed && wanted.length === 0) return [{ part, scenarios: part.scenarios }];
    return wanted.length === 0 ? [] : [{ part, scenarios: wanted }];
  });
}
