/**
 * Waiting for something to become true of a session: event-driven, abortable, leaving nothing behind.
 *
 * @module
 */
import { AbortError } from "../errors.ts";
import type { Session } from "./session.ts";
import { longTimer } from "./timing.ts";

/** What ended a wait. */
export type WaitEnd = "met" | "timeout";

/** What a wait may be given. */
export interface WaitOptions {
  /** Longest wait, ms. */
  readonly timeoutMs: number;
  /** Ends the wait with a rejection; the session is not touched. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until `met()` is true; it is asked at once and after each change of the session.
 *
 * @returns what ended the wait
 * @throws an AbortError, whose cause is the signal's reason
 */
export function waitFor(session: Session, met: () => boolean, options: WaitOptions): Promise<WaitEnd> {
  const { timeoutMs, signal } = options;
  if (signal?.aborted) return Promise.reject(new AbortError("The wait was aborted", signal.reason));
  if (met()) return Promise.resolve("met");
  if (timeoutMs <= 0) return Promise.resolve("timeout");
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      stopListening();
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
    };
    const end = (how: WaitEnd): void => {
      leave();
      resolve(how);
    };
    const onAbort = (): void => {
      leave();
      reject(new AbortError("The wait was aborted", signal?.reason));
    };
    const stopListening = session.onChange(() => met() && end("met"));
    const cancelTimer = longTimer(session.clock, timeoutMs, () => end("timeout"), true);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
