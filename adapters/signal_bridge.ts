/**
 * Forwarding this process's end signals to a child that was started elsewhere: what is the same on every runtime.
 *
 * @module
 */
import process from "node:process";
import type { SignalName } from "../mod.ts";
import { makeRoom } from "./listener_room.ts";

/** A signal that can be forwarded; `SIGBREAK` is Windows's. */
export type BridgedSignal = SignalName | "SIGBREAK";

/** Options of `bridgeChildProcess`. */
export interface BridgeOptions {
  /**
   * Signals to forward.
   *
   * @default {["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"], on Windows ["SIGTERM", "SIGINT", "SIGBREAK"]}
   */
  readonly signals?: readonly BridgedSignal[];
  /** Called before the child gets the signal. What it throws is ignored. */
  readonly onSignal?: (signal: BridgedSignal) => void;
}

/** A bridge between this process and a child. */
export interface Bridge {
  /** Stops forwarding. Idempotent. */
  detach(): void;
}

const DEFAULT_SIGNALS: readonly BridgedSignal[] = process.platform === "win32"
  ? ["SIGTERM", "SIGINT", "SIGBREAK"]
  : ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

/**
 * Forwards signals until the bridge is detached. While it is there, a forwarded signal does not end this process.
 *
 * @param send sends one signal to the child; what it throws is ignored
 */
export function forwardSignals(send: (signal: BridgedSignal) => void, options: BridgeOptions): Bridge {
  const { signals = DEFAULT_SIGNALS, onSignal } = options;
  const forward = (signal: BridgedSignal): void => {
    attempt(() => onSignal?.(signal));
    attempt(() => send(signal));
  };
  const giveBack = makeRoom();
  for (const signal of signals) process.on(signal as NodeJS.Signals, forward as NodeJS.SignalsListener);
  return {
    detach: () => {
      for (const signal of signals) process.off(signal as NodeJS.Signals, forward as NodeJS.SignalsListener);
      giveBack();
    },
  };
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The child is gone, or the caller's hook failed: the next signal is forwarded all the same
  }
}
