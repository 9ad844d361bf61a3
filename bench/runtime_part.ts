/**
 * What is measured on one runtime, and what depends on none.
 *
 * @module
 */
import type { Part } from "./part.ts";
import { type Round, rowOf, RUNTIMELESS, type Scenario, SCENARIOS } from "./report/figures.ts";
import { baseVersions, circumstances, type Result } from "./report/results.ts";
import { measure, RUNTIMES, versionOf } from "./runtimes.ts";
import type { Numbers } from "./scenarios/turns.ts";
import { sizes } from "./sizes.ts";

const MAIN = "bench/scenarios/main.ts";

/** A part for each runtime. */
export function runtimeParts(): readonly Part[] {
  return Object.keys(RUNTIMES).map((runtime) => ({
    name: runtime,
    scenarios: Object.keys(SCENARIOS),
    measure: (name, quick) =>
      resultOf(
        runtime,
        SCENARIOS[name],
        quick,
        (scenario) => name === "import" ? importRound(runtime) : round(runtime, name, scenario),
      ),
  }));
}

/** The part of what depends on no runtime. */
export function corePart(): Part {
  const rounds: Readonly<Record<string, () => Promise<Numbers>>> = {
    size: () => Promise.resolve(sizes()),
    characters: async () => await measure("node20", "bench/characters.ts", ["--json"]) as Numbers,
  };
  return {
    name: "core",
    scenarios: Object.keys(RUNTIMELESS),
    measure: (name, quick) =>
      resultOf("-", RUNTIMELESS[name], quick, async () => ({ bare: {}, ours: await rounds[name]?.() ?? {} })),
  };
}

async function resultOf(
  runtime: string,
  scenario: Scenario | undefined,
  quick: boolean,
  once: (scenario: Scenario) => Promise<Round>,
): Promise<Result> {
  if (scenario === undefined) throw new Error("No such scenario");
  const versions = {
    ...baseVersions(),
    ...(runtime === "-" ? {} : { [runtime.replace(/\d+$/, "")]: versionOf(runtime) }),
  };
  const result = { ...await circumstances(), versions };
  const rounds: Round[] = [];
  try {
    while (rounds.length < (quick ? 1 : scenario.rounds)) rounds.push(await once(scenario));
  } catch (error) {
    return { ...result, rows: [], leftOut: (error as Error).message };
  }
  return { ...result, rows: scenario.figures.map((figure) => rowOf(figure, runtime, rounds)) };
}

async function round(runtime: string, name: string, { together, file }: Scenario): Promise<Round> {
  const run = (side: string): Promise<unknown> => measure(runtime, MAIN, [name, side]);
  if (file !== undefined) return { bare: {}, ours: await measure(runtime, file, []) as Numbers };
  if (together) return await run("both") as Round;
  return { bare: await run("bare") as Numbers, ours: await run("ours") as Numbers };
}

async function importRound(runtime: string): Promise<Round> {
  const run = async (what: string): Promise<{ readonly ms: number }> =>
    await measure(runtime, "bench/scenarios/import_time.mjs", [what]) as { readonly ms: number };
  const { ms: coreMs } = await run("core");
  return { bare: await run("bare"), ours: { ...await run("ours"), coreMs } };
}
