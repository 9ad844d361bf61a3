/**
 * Calls of `exec` whose signal fires before anything has started.
 *
 * @module
 */
import { AbortError } from "../errors.ts";

/**
 * Waits for what has to be known before a start, which may take as long as a person who is asked; what it comes to after
 * the signal is nobody's.
 *
 * @throws an AbortError when the signal fires
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  let abort = (): void => {};
  const aborted = new Promise<void>((resolve) => abort = resolve);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    await Promise.race([work, aborted]);
    refuseIfAborted(signal);
    return await work;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** @throws an AbortError if the signal has fired */
export function refuseIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError("The command was not started: the call was aborted", signal.reason);
}
