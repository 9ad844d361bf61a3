/**
 * Ends what a measured process left running: baselines and peers leave their children behind.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/** The environment variable that marks all that a measured process starts. */
export const MARK = "OFFSTAGE_BENCH_RUN";

/** Ends every process that has the mark in its environment. */
export function sweep(mark: string): void {
  const entry = `${MARK}=${mark}\0`;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, "latin1").includes(entry)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // Gone already, or another user's
    }
  }
}
