/**
 * What this program exits with.
 *
 * @module
 */
import os from "node:os";
import type { Outcome } from "../../mod.ts";

/** For a command that ran out of time, as of `timeout(1)`. */
export const EXIT_TIMEOUT = 124;

/** For what is this program's own failure, as of `timeout(1)`. */
export const EXIT_OWN_FAILURE = 125;

/** A command ended by signal n exits 128 + n, as in shells. */
const EXIT_SIGNAL_BASE = 128;

/** Help about them. */
export const EXIT_CODES_HELP = `Exit codes
  the command's own; 124 if it timed out; 125 if offstage failed; 126 and 127 as in shells; 128 + n if signal n ended it
`;

/** The exit code that says how a command ended. */
export function exitCodeOf(
  { reason, exitCode, signal }: Pick<Outcome, "exitCode" | "signal"> & { readonly reason: string | null },
): number {
  if (reason === "timeout") return EXIT_TIMEOUT;
  if (signal !== null) return exitCodeOfSignal(signal);
  return exitCode ?? EXIT_OWN_FAILURE;
}

/** The exit code for a signal. */
export function exitCodeOfSignal(signal: string): number {
  return EXIT_SIGNAL_BASE + (os.constants.signals[signal as NodeJS.Signals] ?? 0);
}

/** How a command ended, in a few words. */
export function endWords(
  { reason, exitCode, signal }: Pick<Outcome, "exitCode" | "signal"> & { readonly reason: string | null },
): string {
  const how = signal ?? (exitCode === null ? "ended" : `exit code ${exitCode}`);
  return reason === "timeout" ? `timed out, ${how}` : how;
}
