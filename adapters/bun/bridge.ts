/**
 * Passes this process's end signals on to a long-running child of `Bun.spawn`.
 *
 * @module
 */
import { type Bridge, type BridgedSignal, type BridgeOptions, forwardSignals } from "../signal_bridge.ts";

/** What is used of a Bun `Subprocess`. */
export interface BridgedSubprocess {
  /** Settles when the process has ended. */
  readonly exited: Promise<unknown>;
  /** Its exit code; `null` while it runs. */
  readonly exitCode: number | null;
  /** The signal that ended it; `null` while it runs. */
  readonly signalCode: string | number | null;
  /** Sends it a signal. */
  kill(signal: BridgedSignal): void;
}

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
  const bridge = forwardSignals((signal) => child.kill(signal), options);
  if (child.exitCode !== null || child.signalCode !== null) bridge.detach();
  child.exited.then(bridge.detach, bridge.detach);
  return bridge;
}
