/**
 * Passes this process's end signals on to a long-running child of `Bun.spawn`.
 *
 * @module
 */

import process from "node:process";
import type { Bridge, BridgeOptions } from "../node/bridge.ts";

export type { Bridge, BridgeOptions } from "../node/bridge.ts";

/** What is used of a Bun `Subprocess`. */
export interface BridgedSubprocess {
  /** Settles when the process has ended. */
  readonly exited: Promise<unknown>;
  /** Its exit code; `null` while it runs. */
  readonly exitCode: number | null;
  /** The signal that ended it; `null` while it runs. */
  readonly signalCode: string | number | null;
  /** Sends it a signal. */
  kill(signal: NodeJS.Signals): void;
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = process.platform === "win32"
  ? ["SIGTERM", "SIGINT", "SIGBREAK"]
  : ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/**
 * Forwards signals to a child until it ends.
 *
 * It forwards and nothing else: while the bridge is there, a forwarded signal does not end this process.
 *
 * @param child the process to forward to
 * @param options which signals, and who is to be told first
 * @returns the bridge, to take it down by hand
 */
export function bridgeChildProcess(child: BridgedSubprocess, options: BridgeOptions = {}): Bridge {
  const { signals = DEFAULT_SIGNALS, onSignal } = options;
  const forward = (signal: NodeJS.Signals): void => {
    attempt(() => onSignal?.(signal));
    attempt(() => child.kill(signal));
  };
  const detach = (): void => {
    for (const signal of signals) process.off(signal, forward);
  };
  if (child.exitCode !== null || child.signalCode !== null) return { detach };
  for (const signal of signals) process.on(signal, forward);
  child.exited.then(detach, detach);
  return { detach };
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The child is gone, or the caller's hook failed: the next signal is forwarded all the same
  }
}
