/**
 * Telling somebody of changes no faster than is good for him.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";

/** Something that is done after changes, paced. */
export interface Paced {
  /** There has been a change: it is done soon, and once for all changes until then. */
  poke(): void;
  /** It is not done any more. */
  stop(): void;
}

/**
 * Paces something: the first change is told at once, later ones together, and never while the one before is still on its
 * way. Its timers do not keep the host alive.
 *
 * @param everyMs least time between two
 * @param run what is done; its failures are its own affair
 */
export function paced(everyMs: number, run: () => Promise<void> | void): Paced {
  let timer: NodeJS.Timeout | undefined;
  let lastAt = -Infinity;
  let isRunning = false;
  let isDue = false;
  let isStopped = false;

  async function fire(): Promise<void> {
    timer = undefined;
    isDue = false;
    isRunning = true;
    try {
      await run();
    } catch {
      // whoever is told has gone
    }
    isRunning = false;
    lastAt = performance.now();
    if (isDue) poke();
  }

  function poke(): void {
    isDue = true;
    if (isStopped || isRunning) return;
    timer ??= setTimeout(() => void fire(), Math.max(0, lastAt + everyMs - performance.now())).unref();
  }

  return {
    poke,
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
