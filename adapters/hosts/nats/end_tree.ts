/**
 * Ending a command that nobody wants any more, with all of its processes.
 *
 * @module
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Child, SignalName } from "../../../mod.ts";

/** First and longest pause between two looks at a dying tree, ms. */
const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 100;

/** What does not end within that time of its SIGKILL will not, ms. */
const KILLED_LIMIT_MS = 4_000;

/** SIGTERM, time to tidy up, SIGKILL. */
export async function endTree(child: Child, graceMs: number): Promise<void> {
  let hasExited = false;
  void child.exited.then(() => hasExited = true);

  /** Signals it and whoever left its group; resolves with whether all of them have ended within that time. */
  async function endsBy(name: SignalName, limitMs: number): Promise<boolean> {
    const until = performance.now() + limitMs;
    const told = new Set<number>();
    child.signal(name, "group");
    if (name === "SIGTERM") child.signal("SIGCONT", "group");
    for (let look = FIRST_LOOK_MS;; look = Math.min(look * 2, LONGEST_LOOK_MS)) {
      const tree = await child.inspector?.tree();
      for (const stray of (tree ?? []).filter(({ inGroup, pid }) => !inGroup && !told.has(pid))) {
        told.add(stray.pid);
        stray.signal(name);
        if (name === "SIGTERM") stray.signal("SIGCONT");
      }
      const isLeft = tree === undefined ? child.groupAnswers?.() ?? false : tree.length > 0;
      if (hasExited && !isLeft) return true;
      const left = until - performance.now();
      if (left <= 0) return false;
      await delay(Math.min(look, left));
      if (name === "SIGKILL") child.signal(name, "group"); // also what was forked in between
    }
  }

  await child.inspector?.tree(); // who left the group without the session's mark is known only while its parent lives
  if (!await endsBy("SIGTERM", graceMs)) await endsBy("SIGKILL", KILLED_LIMIT_MS);
  child.release();
}
