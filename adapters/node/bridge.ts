/**
 * Passes this process's end signals on to a long-running child of `node:child_process`.
 *
 * @module
 */
import { type Bridge, type BridgedSignal, type BridgeOptions, forwardSignals } from "../signal_bridge.ts";

/** What is used of a `ChildProcess`. */
export interface BridgedChildProcess {
  /** Its exit code; `null` while it runs. */
  readonly exitCode: number | null;
  /** The signal that ended it; `null` while it runs. */
  readonly signalCode: string | null;
  /** Sends it a signal. */
  kill(signal: BridgedSignal): unknown;
  /** Calls `listener` once, at its exit or when it could not be started. */
  once(event: "exit" | "error", listener: () => void): unknown;
  /** Takes a listener off. */
  off(event: "exit" | "error", listener: () => void): unknown;
}

/**
 * Forwards signals to a child until it exits or fails.
 *
 * It forwards and nothing else: while the bridge is there, a forwarded signal does not end this process.
 *
 * @param child the process to forward to
 * @param options which signals, and who is to be told first
 * @returns the bridge, to take it down by hand
 */
export function bridgeChildProcess(child: BridgedChildProcess, options: BridgeOptions = {}): Bridge {
  const bridge = forwardSignals((signal) => child.kill(signal), options);
  const detach = (): void => {
    bridge.detach();
    child.off("exit", detach);
    child.off("error", detach);
  };
  child.once("exit", detach);
  child.once("error", detach);
  if (child.exitCode !== null || child.signalCode !== null) detach();
  return { detach };
}
