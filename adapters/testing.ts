/**
 * For authors of a {@linkcode Spawner}: the contract that Offstage relies on, as a list of cases for any test runner.
 *
 * @module
 */
import type { Spawner, SpawnerCapabilities } from "../mod.ts";
import { openBench, type Way } from "./testing/bench.ts";
import type { CaseDefinition, Need, Trait } from "./testing/case.ts";
import { exitCases } from "./testing/exit_cases.ts";
import { inputCases } from "./testing/input_cases.ts";
import { inspectorCases } from "./testing/inspector_cases.ts";
import { lifecycleCases } from "./testing/lifecycle_cases.ts";
import { outputCases } from "./testing/output_cases.ts";
import { signalCases } from "./testing/signal_cases.ts";
import { startCases } from "./testing/start_cases.ts";
import { terminalCases } from "./testing/terminal_cases.ts";

export type { Trait } from "./testing/case.ts";
export type { Spawner } from "../mod.ts";

/** A part of the contract that a host does not keep; with `terminal-` in front, only in terminals. */
export type GapName = Trait | `terminal-${Trait}`;

/** What {@linkcode spawnerCases} needs to know. */
export interface SpawnerCasesOptions {
  /** Makes the spawner; called for each case anew, and once to ask for its capabilities. */
  create(): Spawner | Promise<Spawner>;
  /** A directory, as the commands see it, that they can be started in. Nothing is written there. */
  readonly cwd: string;
  /**
   * What the host cannot do and why: the cases about it are left out for that reason. What the capabilities rule out is
   * left out anyway.
   *
   * @default {{}}
   */
  readonly gaps?: Readonly<Partial<Record<GapName, string>>>;
  /**
   * `PATH` of the commands: where the host has `sh` and the usual tools (`cat`, `seq`, `stty`, `od`, `setsid` …).
   *
   * @default {"/usr/local/bin:/usr/bin:/bin"}
   */
  readonly path?: string;
  /**
   * Counts the descriptors this process has open, e.g. the entries of `/proc/self/fd`. Without it, the cases about
   * forgotten descriptors are left out.
   */
  readonly descriptors?: () => number;
  /**
   * How many commands a case starts where a fault may show among many only. Fewer are for hosts where a start takes long;
   * below 10, a descriptor that is forgotten with each of them goes unseen.
   *
   * @default {200}
   */
  readonly starts?: number;
  /**
   * How long a case waits for what must come, in milliseconds. Only a failure takes that long.
   *
   * @default {30000}
   */
  readonly limitMs?: number;
}

/** One case of the contract, ready to be run. */
export interface SpawnerCase {
  /** A sentence that states the behaviour. */
  readonly name: string;
  /** Why it is left out; `undefined` to run it. */
  readonly skip: string | undefined;
  /** Runs it; rejects with an error that says what was expected and what came. */
  run(): Promise<void>;
}

const DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";
const DEFAULT_STARTS = 200;
const DEFAULT_LIMIT_MS = 30_000; // a busy machine may take seconds to start a program

const CASES: readonly CaseDefinition[] = [
  ...startCases,
  ...exitCases,
  ...outputCases,
  ...inputCases,
  ...signalCases,
  ...lifecycleCases,
  ...terminalCases,
  ...inspectorCases,
];

/**
 * The cases that a {@linkcode Spawner} for POSIX hosts has to pass.
 *
 * They run real commands, on pipes and in terminals, check what the documentation of `Spawner`, `Child` and
 * `OutputSink` promises, and end whatever they started. No case depends on another, and they can run at the same time.
 *
 * @param options how to make the spawner, and what it is known not to do
 * @returns the cases, in a stable order; names are unique
 *
 * @example Test a spawner with `node:test`, on Node, Deno or Bun
 * ```ts
 * import { test } from "node:test";
 * import { nodeRuntime } from "offstage/node";
 * import { type Spawner, spawnerCases } from "offstage/testing";
 *
 * const create = (): Spawner => nodeRuntime().spawner; // yours
 *
 * for (const c of await spawnerCases({ create, cwd: "/tmp" })) test(c.name, { skip: c.skip ?? false }, c.run);
 * ```
 */
export async function spawnerCases(options: SpawnerCasesOptions): Promise<readonly SpawnerCase[]> {
  const capabilities = await (await options.create()).capabilities();
  return CASES.map((definition) => ({
    name: `${definition.way}: ${definition.name}`,
    skip: reasonToSkip(definition, capabilities, options),
    run: () => runCase(definition, options),
  }));
}

async function runCase(definition: CaseDefinition, options: SpawnerCasesOptions): Promise<void> {
  const bench = openBench({
    spawner: await options.create(),
    way: definition.way,
    cwd: options.cwd,
    path: options.path ?? DEFAULT_PATH,
    starts: options.starts ?? DEFAULT_STARTS,
    limitMs: options.limitMs ?? DEFAULT_LIMIT_MS,
    descriptors: options.descriptors,
  });
  try {
    await definition.run(bench);
  } catch (error) {
    await bench.close().catch(() => {}); // what came first is what is to be told
    throw error;
  }
  await bench.close();
}

function reasonToSkip(
  { way, needs }: CaseDefinition,
  capabilities: SpawnerCapabilities,
  options: SpawnerCasesOptions,
): string | undefined {
  if (way === "terminal" && capabilities.pty !== true) return capabilities.pty;
  return needs.map((need) => reasonAgainst(need, way, capabilities, options)).find((reason) => reason !== undefined);
}

function reasonAgainst(
  need: Need,
  way: Way,
  { signals, groups }: SpawnerCapabilities,
  { descriptors, gaps = {} }: SpawnerCasesOptions,
): string | undefined {
  switch (need) {
    case "signals":
      return signals ? undefined : "this host has no signals";
    case "groups":
      return groups ? undefined : "this host has no process groups";
    case "descriptors":
      return descriptors === undefined ? "nothing counts the descriptors of this process" : undefined;
    default:
      return gaps[need] ?? (way === "terminal" ? gaps[`terminal-${need}`] : undefined);
  }
}
