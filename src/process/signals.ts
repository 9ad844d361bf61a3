/**
 * The signals that `kill` may send alone, and what callers call them.
 *
 * @module
 */
import * as v from "valibot";
import type { SignalName } from "../runtime.ts";

/** Signals `kill` may send alone. */
export const SENDABLE_SIGNALS: readonly SignalName[] = [
  "SIGTERM",
  "SIGINT",
  "SIGHUP",
  "SIGQUIT",
  "SIGKILL",
  "SIGSTOP",
  "SIGTSTP",
  "SIGCONT",
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
  "SIGALRM",
  "SIGABRT",
];

/** Those that have one number everywhere (POSIX kill(1)). */
const NUMBERED_SIGNALS: ReadonlyMap<string, SignalName> = new Map([
  ["1", "SIGHUP"],
  ["2", "SIGINT"],
  ["3", "SIGQUIT"],
  ["6", "SIGABRT"],
  ["9", "SIGKILL"],
  ["14", "SIGALRM"],
  ["15", "SIGTERM"],
]);

/** A signal by any of its names, or by its number where that is the same on every system. */
export const sendableSignal: v.GenericSchema<string | number, SignalName> = v.pipe(
  v.union([v.string(), v.number()], "expected the name of a signal"),
  v.transform(signalName),
  v.picklist(SENDABLE_SIGNALS),
);

/** `term`, `TERM`, `SIGTERM` and 15 are the same signal. */
function signalName(given: string | number): string {
  const name = String(given).trim().toUpperCase();
  return NUMBERED_SIGNALS.get(name) ?? (/^(?:SIG|\d)/.test(name) ? name : `SIG${name}`);
}
