/**
 * Calls of `exec` whose signal fires before anything has started.
 *
 * @module
 */
import { AbortError } from "../errors.ts";

/** @throws an AbortError if the signal has fired */
export function refuseIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError("The command was not started: the call was aborted", signal.reason);
}
