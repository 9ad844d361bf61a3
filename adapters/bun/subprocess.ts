/**
 * What every child of `Bun.spawn` has, however its input and output are connected.
 *
 * @module
 */

import { controlOf, type ProcessControl } from "../node/control.ts";
import { spawnFailure } from "../node/failures.ts";
import { nodeKill } from "../node/kill.ts";
import type { BunGlobal, BunSpawnOptions, BunSubprocess } from "./types.ts";
import type { Child, Exit, SignalName, SpawnSpec } from "../../mod.ts";

/** A started process that is being watched. */
export interface Supervised {
  /** Whether the end of the process has been reported. */
  hasExited(): boolean;
  /** The members of a {@linkcode Child} that do not depend on its input and output. */
  readonly common: Pick<Child, "pid" | "exited"> & ProcessControl;
}

/**
 * Starts a process.
 *
 * @param options how it is connected
 * @throws {OffstageError} `spawn-failed` when nothing was started
 */
export function startSubprocess(
  bun: BunGlobal,
  spec: SpawnSpec,
  options: Omit<BunSpawnOptions, "cwd" | "env">,
): BunSubprocess {
  try {
    return bun.spawn(spec.argv, { ...options, cwd: spec.cwd, env: spec.env });
  } catch (cause) {
    throw spawnFailure(cause, spec);
  }
}

/**
 * Watches a process.
 *
 * @param subprocess the process
 * @param sessionId the session it belongs to
 * @param stdin what its descriptor 0 points at; `undefined` when nobody can write to it
 */
export function supervise(subprocess: BunSubprocess, sessionId: string, stdin: string | undefined): Supervised {
  const { pid } = subprocess;
  let exitedAt: number | undefined;
  const exited = subprocess.exited.then(() => {
    exitedAt = performance.now();
    return exitOf(subprocess);
  });
  const control = controlOf({ pid, sessionId, kill: nodeKill, exitedAt: () => exitedAt }, stdin);
  return { hasExited: () => exitedAt !== undefined, common: { pid, exited, ...control } };
}

function exitOf({ exitCode, signalCode }: BunSubprocess): Exit {
  if (signalCode === null) return { code: exitCode };
  // Bun's names are those of the system, hence ours; a real-time signal is a bare number
  return typeof signalCode === "string" ? { signal: signalCode as SignalName } : { code: null };
}
