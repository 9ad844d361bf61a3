/**
 * Time that moves only when a test says so.
 *
 * @module
 */
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../mod.ts";

/** A clock for tests. */
export interface FakeClock extends Clock {
  /**
   * Lets time pass: fires each timer at its time, in order, and after each of them everything that follows from it.
   * `advance(0)` fires what is due by now.
   */
  advance(ms: number): Promise<void>;
  /** Lets time pass without firing anything, as on a host that is too busy to look at its timers. */
  stall(ms: number): void;
  /** Moves the wall clock alone, as a correction of the host's time does. */
  jump(ms: number): void;
  /** Timers that are set. */
  readonly pending: number;
  /** Those of them that keep the host alive. */
  readonly holding: number;
}

interface Timer {
  readonly at: number;
  readonly fire: () => void;
  readonly holding: boolean;
}

/** Wall clock at the start, ms: 2026-01-01. */
export const EPOCH: number = Date.UTC(2026, 0, 1);

/** Longest delay a platform's timer takes, ms; a longer one would fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** Lets everything happen that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  await turn();
}

/** Makes a clock that stands at {@linkcode EPOCH}. */
export function createFakeClock(): FakeClock {
  const timers = new Set<Timer>(); // in the order in which they were set
  let elapsed = 0;
  let jumped = 0;

  function nextDue(until: number): Timer | undefined {
    const due = [...timers].filter(({ at }) => at <= until);
    return due.reduce<Timer | undefined>((first, timer) => first && first.at <= timer.at ? first : timer, undefined);
  }

  return {
    now: () => EPOCH + elapsed + jumped,
    monotonic: () => elapsed,
    timer: (ms, fire, holding = false) => {
      const timer = { at: elapsed + (ms > LONGEST_DELAY_MS ? 0 : Math.max(0, ms)), fire, holding };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: async (ms) => {
      await settle();
      const until = elapsed + ms;
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        elapsed = Math.max(elapsed, timer.at);
        timers.delete(timer);
        timer.fire();
        await settle();
      }
      elapsed = until;
    },
    stall: (ms) => void (elapsed += ms),
    jump: (ms) => void (jumped += ms),
    get pending() {
      return timers.size;
    },
    get holding() {
      return [...timers].filter((timer) => timer.holding).length;
    },
  };
}
