/**
 * What a case is before it is tied to a spawner.
 *
 * @module
 */
import type { Bench, Way } from "./bench.ts";

/**
 * Parts of the contract that some hosts cannot keep.
 *
 * - `spawn-errors` – what cannot be started is told by `spawn`, not by an exit code
 * - `environment` – nothing is added to the environment
 * - `signal-names` – a death by signal is told as such
 * - `pid` – the process id is the one that the command itself knows
 * - `stdin-state` – it is known when a child has closed its stdin, so that a write to it is refused at once
 * - `early-close` – a child may let go of its output before it ends
 * - `left-behind` – what a command leaves behind outlives it
 * - `late-output` – what a left-behind process prints after the exit still arrives
 * - `tail` – the last output of a child is never lost
 * - `binary` – bytes that are no UTF-8 pass unchanged
 * - `unread-input` – a child that ends without having read all of its input is told of like any other
 * - `backpressure` – a write waits until it is taken, and fails when nobody is left to take it
 * - `release` – a release closes the child's streams at once
 * - `inspector` – children have an inspector
 * - `input-reader` – the inspector sees who waits for input
 */
export type Trait =
  | "spawn-errors"
  | "environment"
  | "signal-names"
  | "pid"
  | "stdin-state"
  | "early-close"
  | "left-behind"
  | "late-output"
  | "tail"
  | "binary"
  | "unread-input"
  | "backpressure"
  | "release"
  | "inspector"
  | "input-reader";

/** What a case needs: a capability of the spawner, a count of this process's descriptors, or a part of the contract. */
export type Need = "signals" | "groups" | "descriptors" | Trait;

/** A case of the contract. */
export interface CaseDefinition {
  /** A sentence that states the behaviour. */
  readonly name: string;
  /** How its commands are connected. */
  readonly way: Way;
  /** Without these it is left out. */
  readonly needs: readonly Need[];
  /** Rejects if the behaviour is not the one that the name states. */
  run(bench: Bench): Promise<void>;
}

/** A case on pipes. */
export function onPipes(name: string, needs: readonly Need[], run: CaseDefinition["run"]): CaseDefinition {
  return { name, way: "pipes", needs, run };
}

/** A case in a terminal. */
export function inTerminal(name: string, needs: readonly Need[], run: CaseDefinition["run"]): CaseDefinition {
  return { name, way: "terminal", needs, run };
}

/** The same case on pipes and in a terminal. */
export function eitherWay(
  name: string,
  needs: readonly Need[],
  run: CaseDefinition["run"],
): readonly CaseDefinition[] {
  return [onPipes(name, needs, run), inTerminal(name, needs, run)];
}
