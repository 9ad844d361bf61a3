/**
 * Waiting, made of a {@linkcode Clock}: timers longer than the platform's, and pauses that can be aborted.
 *
 * @module
 */
import type { Clock } from "../runtime.ts";

/** Longest delay one platform timer takes, ms: past 2^31 - 1 they fire at once (spec E5). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Like {@linkcode Clock.timer} for any length; `Infinity` never fires.
 *
 * @returns a function that cancels it
 */
export function longTimer(clock: Clock, ms: number, fire: () => void, holding = false): () => void {
  if (ms === Infinity) return () => {};
  let cancel = (): void => {};
  const arm = (left: number): void => {
    const step = Math.min(left, LONGEST_TIMER_MS);
    cancel = clock.timer(step, () => (left > step ? arm(left - step) : fire()), holding);
  };
  arm(ms);
  return () => cancel();
}

/** Resolves after `ms`, or as soon as `signal` fires; keeps the host alive until then. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.timer(ms, end, true);
    signal?.addEventListener("abort", end, { once: true });
  });
}

/** Resolves once `event` does, at the latest after `ms`; says which it was. */
export async function within<T>(
  clock: Clock,
  ms: number,
  event: Promise<T>,
): Promise<{ readonly value: T } | "late"> {
  let cancel = (): void => {};
  const late = new Promise<"late">((resolve) => (cancel = longTimer(clock, ms, () => resolve("late"), true)));
  try {
    return await Promise.race([event.then((value) => ({ value })), late]);
  } finally {
    cancel();
  }
}
