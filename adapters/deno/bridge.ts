/**
 * Passes this process's end signals on to a long-running child of `Deno.Command`.
 *
 * @module
 */
import { type Bridge, type BridgedSignal, type BridgeOptions, forwardSignals } from "../signal_bridge.ts";

/** What is used of a `Deno.ChildProcess`. */
export interface BridgedDenoProcess {
  /** Settles when the process has ended. */
  readonly status: Promise<unknown>;
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
export function bridgeChildProcess(child: BridgedDenoProcess, options: BridgeOptions = {}): Bridge {
  const bridge = forwardSignals((signal) => child.kill(signal), options);
  child.status.then(bridge.detach, bridge.detach);
  return bridge;
}
