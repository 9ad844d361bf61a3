/**
 * Passes this process's end signals on to a long-running child that was started elsewhere.
 *
 * @module
 */

import type { ChildProcess } from "node:child_process";
import process from "node:process";

/** Options of {@linkcode bridgeChildProcess}. */
export interface BridgeOptions {
  /**
   * Signals to forward.
   *
   * @default {["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"], on Windows ["SIGTERM", "SIGINT", "SIGBREAK"]}
   */
  readonly signals?: readonly NodeJS.Signals[];
  /** Called before the child gets the signal. What it throws is ignored. */
  readonly onSignal?: (signal: NodeJS.Signals) => void;
}

/** A bridge between this process and a child. */
export interface Bridge {
  /** Stops forwarding. Idempotent. */
  detach(): void;
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = process.platform === "win32"
  ? ["SIGTERM", "SIGINT", "SIGBREAK"]
  : ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/**
 * Forwards signals to a child until it exits or fails.
 *
 * It forwards and nothing else: while the bridge is there, a forwarded signal does not end this process.
 *
 * @param child the process to forward to
 * @param options which signals, and who is to be told first
 * @returns the bridge, to take it down by hand
 */
export function bridgeChildProcess(child: ChildProcess, options: BridgeOptions = {}): Bridge {
  const { signals = DEFAULT_SIGNALS, onSignal } = options;
  const forward = (signal: NodeJS.Signals): void => {
    attempt(() => onSignal?.(signal));
    attempt(() => child.kill(signal));
  };
  const detach = (): void => {
    for (const signal of signals) process.off(signal, forward);
    child.off("exit", detach).off("error", detach);
  };
  if (child.exitCode !== null || child.signalCode !== null) return { detach };
  for (const signal of signals) process.on(signal, forward);
  child.once("exit", detach).once("error", detach);
  return { detach };
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The child is gone, or the caller's hook failed: the next signal is forwarded all the same
  }
}
