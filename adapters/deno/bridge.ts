/**
 * Passes this process's end signals on to a long-running child of `Deno.Command`.
 *
 * @module
 */

import process from "node:process";
import type { SignalName } from "../../mod.ts";
import type { Bridge } from "../node/bridge.ts";

export type { Bridge } from "../node/bridge.ts";

/** A signal that can be forwarded; `SIGBREAK` is Windows's. */
export type BridgedSignal = SignalName | "SIGBREAK";

/** Options of {@linkcode bridgeChildProcess}. */
export interface DenoBridgeOptions {
  /**
   * Signals to forward.
   *
   * @default {["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"], on Windows ["SIGTERM", "SIGINT", "SIGBREAK"]}
   */
  readonly signals?: readonly BridgedSignal[];
  /** Called before the child gets the signal. What it throws is ignored. */
  readonly onSignal?: (signal: BridgedSignal) => void;
}

/** What is used of a `Deno.ChildProcess`. */
export interface BridgedDenoProcess {
  /** Settles when the process has ended. */
  readonly status: Promise<unknown>;
  /** Sends it a signal. */
  kill(signal: BridgedSignal): void;
}

const DEFAULT_SIGNALS: readonly BridgedSignal[] = process.platform === "win32"
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
export function bridgeChildProcess(child: BridgedDenoProcess, options: DenoBridgeOptions = {}): Bridge {
  const { signals = DEFAULT_SIGNALS, onSignal } = options;
  const forward = (signal: BridgedSignal): void => {
    attempt(() => onSignal?.(signal));
    attempt(() => child.kill(signal));
  };
  const detach = (): void => {
    for (const signal of signals) process.off(signal, forward);
  };
  for (const signal of signals) process.on(signal, forward);
  child.status.then(detach, detach);
  return { detach };
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The child is gone, or the caller's hook failed: the next signal is forwarded all the same
  }
}
