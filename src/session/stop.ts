/**
 * Stopping a session's whole tree (spec E34): SIGTERM, time to tidy up, SIGKILL, and the truth about what is left.
 *
 * @module
 */
import type { SignalName, SignalOutcome } from "../runtime.ts";
import { settleWith } from "./end.ts";
import type { StopCause } from "./outcome.ts";
import type { Session } from "./session.ts";
import { pause, within } from "./timing.ts";

/** Time a tree has to go after SIGKILL before the session is settled without it, ms (spec E34). */
const KILLED_LIMIT_MS = 4_000;

/** First and longest pause between two looks at a dying tree, ms. */
const FIRST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 100;

/**
 * Ends a session's tree: the process group and every process that left it but carries the session's id. Calling it
 * again while it runs joins the first call; nobody gets a second SIGTERM.
 *
 * @param cause why; the first cause of a session stands
 * @param graceMs time between SIGTERM and SIGKILL
 * @returns a promise that resolves when the tree has ended, or cannot be ended
 */
export function stop(session: Session, cause: StopCause, graceMs: number): Promise<void> {
  if (session.state.kind === "running") {
    if (session.exit === undefined) session.stopCause ??= cause;
    else if (session.stopCause === undefined) session.leftoverCause ??= cause;
  }
  session.stopping ??= ladder(session, graceMs).finally(() => {
    session.stopping = undefined;
    session.stopped = true;
    session.touch();
  });
  return session.stopping;
}

/**
 * Sends one signal: as a terminal would to the group, and, when the shell that could pass it on has ended, to those
 * outside the group as well.
 */
export async function signalTree(session: Session, name: SignalName): Promise<SignalOutcome> {
  const outcome = session.signal(name);
  if (session.exit === undefined) return outcome;
  const strays = (await session.child.inspector?.tree() ?? []).filter((member) => !member.inGroup);
  const outcomes = [outcome, ...strays.map((stray) => stray.signal(name))];
  return outcomes.find((each) => each === "sent") ?? outcomes.find((each) => each === "refused") ?? "gone";
}

async function ladder(session: Session, graceMs: number): Promise<void> {
  const { child, clock } = session;
  await child.inspector?.tree(); // who left the group without the session's mark is known only while its parent lives
  child.signal("SIGTERM", "group");
  child.signal("SIGCONT", "group"); // a stopped process acts on SIGTERM only once it runs again
  if (await treeEnds(session, "SIGTERM", graceMs)) return;
  child.signal("SIGKILL", "group");
  if (await treeEnds(session, "SIGKILL", KILLED_LIMIT_MS)) return;
  if (session.exit !== undefined) return; // the shell has ended: what survives is named where the session settles
  await settleWith(session, { code: null }, clock.monotonic(), [
    `it did not end within ${KILLED_LIMIT_MS / 1000} s of SIGKILL and is given up`,
  ]);
}

/** Waits for shell and tree to end; processes outside the group get `signal` too, each of them once. */
async function treeEnds(session: Session, signal: SignalName, limitMs: number): Promise<boolean> {
  const { child, clock } = session;
  const deadline = clock.monotonic() + limitMs;
  const told = new Set<number>();
  for (let look = FIRST_LOOK_MS;; look = Math.min(look * 2, LONGEST_LOOK_MS)) {
    const tree = await child.inspector?.tree();
    const strays = (tree ?? []).filter((member) => !member.inGroup && !told.has(member.pid));
    for (const stray of strays) {
      told.add(stray.pid);
      stray.signal(signal);
      if (signal === "SIGTERM") stray.signal("SIGCONT");
    }
    const left = deadline - clock.monotonic();
    if (session.exit !== undefined) {
      if (tree === undefined ? !(child.groupAnswers?.() ?? false) : tree.length === 0) return true;
      if (left <= 0) return false;
      await pause(clock, Math.min(look, left));
    } else {
      if (left <= 0) return false;
      await within(clock, Math.min(look, left), child.exited);
    }
    if (signal === "SIGKILL") child.signal(signal, "group"); // also what was forked in between
  }
}
