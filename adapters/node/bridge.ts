/**
 * Passes this process's end signals on to a long-running child of `node:child_process`.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { type Bridge, type BridgeOptions, forwardSignals } from "../signal_bridge.ts";

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
  const bridge = forwardSignals((signal) => child.kill(signal as NodeJS.Signals), options);
  const detach = (): void => {
    bridge.detach();
    child.off("exit", detach).off("error", detach);
  };
  child.once("exit", detach).once("error", detach);
  if (child.exitCode !== null || child.signalCode !== null) detach();
  return { detach };
}
