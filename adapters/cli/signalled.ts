/**
 * The signals that ask a program of ours to end.
 *
 * @module
 */
import process from "node:process";
import { launcherGone } from "./launcher.ts";

const END_SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP"];

/** Signals that come sooner than that after the first are the same one: npm and bun pass on what the terminal sends, ms. */
const SAME_SIGNAL_MS = 500;

/** Resolves at the first signal to end, be it one that npm keeps to itself. The second one ends this program; what it leaves, the orphan guard ends. */
export function signalled(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = (): void => {
      first ??= performance.now();
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
      resolve();
    };
    for (const signal of END_SIGNALS) process.on(signal, onSignal);
    void launcherGone().then(resolve);
  });
}
