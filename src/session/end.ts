/**
 * The end of a session (spec E35): the shell has exited and its output has been read, or enough silence has passed.
 *
 * @module
 */
import type { Exit } from "../runtime.ts";
import { outcomeOf } from "./outcome.ts";
import type { Session, Survivor } from "./session.ts";

/** Silence after the exit that counts as the end of the output when a left-behind child holds the pipe, ms. */
const DRAIN_SILENCE_MS = 500;

/** However much a left-behind child prints, the session ends this long after the exit, ms. */
const DRAIN_LIMIT_MS = 2_000;

/** Follows a started session to its end and settles it. */
export async function followToEnd(session: Session): Promise<void> {
  const exit = await session.child.exited;
  const exitedAt = session.clock.monotonic();
  session.exit = exit;
  session.touch();
  if (!session.outputEnded) await drained(session, exitedAt);
  while (session.stopping !== undefined) await session.stopping;
  await settleWith(session, exit, exitedAt, []);
}

/** Settles a session whose shell has ended, or (after the stop ladder) will not. */
export async function settleWith(
  session: Session,
  exit: Exit,
  exitedAt: number,
  notes: readonly string[],
): Promise<void> {
  const survivors = await survivorsOf(session);
  if (session.outputEnded === false) session.completeOutput();
  session.settle({
    kind: "ended",
    endedAt: session.clock.now(),
    durationMs: Math.round(exitedAt - session.startedMonotonic),
    outcome: outcomeOf(exit, session.stopCause),
    survivors,
    notes,
  });
}

/**
 * Live processes of a session's tree. The process table is read only if something hints at them (spec R7): the group
 * still answers, or somebody holds the pipes.
 */
export async function survivorsOf(session: Session): Promise<readonly Survivor[]> {
  const { child } = session;
  const answers = child.groupAnswers?.() ?? false;
  if (session.exit !== undefined && session.outputEnded && !answers && session.stopCause === undefined) return [];
  if (child.inspector !== undefined) {
    return (await child.inspector.tree()).map(({ pid, name }) => ({ pid, name }));
  }
  return answers && child.pid !== undefined ? [{ pid: child.pid, name: "process group" }] : [];
}

/** Resolves at the end of output, or once the silence since the exit is long enough. */
function drained(session: Session, exitedAt: number): Promise<void> {
  const { clock } = session;
  return new Promise((resolve) => {
    let cancel = (): void => {};
    const finish = (): void => {
      cancel();
      stopListening();
      resolve();
    };
    const stopListening = session.onChange(() => session.outputEnded && finish());
    const silentFor = (): number => clock.monotonic() - Math.max(exitedAt, session.lastOutputAt);
    const arm = (): void => {
      const limit = DRAIN_LIMIT_MS - (clock.monotonic() - exitedAt);
      const wait = Math.min(DRAIN_SILENCE_MS - silentFor(), limit);
      cancel = clock.timer(Math.max(0, wait), () => {
        // A busy host fires the timer before it has read what has been there all along: let it read once, then count.
        cancel = clock.timer(0, judge, true);
      }, true);
    };
    const judge = (): void => {
      const over = clock.monotonic() - exitedAt >= DRAIN_LIMIT_MS;
      if (over || silentFor() >= DRAIN_SILENCE_MS) finish();
      else arm();
    };
    arm();
  });
}
