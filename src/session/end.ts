/**
 * The end of a session (spec E35): the shell has exited and its output has been read, or enough silence has passed.
 *
 * @module
 */
import type { Exit } from "../runtime.ts";
import { limitThatEnded } from "./limit_end.ts";
import { outcomeOf, type StopCause } from "./outcome.ts";
import type { Session, Survivor } from "./session.ts";
import { pause } from "./timing.ts";
import { leftoverNotes, limitNotes } from "./wording.ts";

/** Silence after the exit that counts as the end of the output when a left-behind child holds the pipe, ms. */
const DRAIN_SILENCE_MS = 500;

/** However much a left-behind child prints, the session ends this long after the exit, ms. */
const DRAIN_LIMIT_MS = 2_000;

/**
 * Pauses between looks at the tree of a session whose streams have ended, ms. A process closes its streams a moment
 * before it is dead, longer on a busy host: who is seen at the first look need not be left.
 */
const DYING_PAUSES_MS: readonly number[] = [5, 15, 40];

/**
 * Follows a started session to its end and settles it.
 *
 * @returns whether it had been settled before its shell ended, because that would not
 */
export async function followToEnd(session: Session): Promise<boolean> {
  const exit = await session.child.exited;
  const hadBeenGivenUp = session.state.kind === "ended";
  const exitedAt = session.clock.monotonic();
  session.exit = exit;
  session.touch();
  if (!session.outputEnded) await drained(session, exitedAt);
  // Silent, but nobody is left who could hold the streams: on a busy host their last bytes and their end are on the way.
  if (!session.outputEnded && await treeIsGone(session)) await drained(session, session.clock.monotonic());
  while (session.stopping !== undefined) await session.stopping;
  await settleWith(session, exit, exitedAt, []);
  return hadBeenGivenUp;
}

/** Settles a session whose shell has ended, or (after the stop ladder) will not. */
export async function settleWith(
  session: Session,
  exit: Exit,
  exitedAt: number,
  notes: readonly string[],
): Promise<void> {
  const survivors = await survivorsAtEnd(session);
  if (session.outputEnded === false) session.completeOutput();
  const cause = session.stopCause ?? causeOf(session, exit);
  session.settle({
    kind: "ended",
    endedAt: session.clock.now(),
    durationMs: Math.round(exitedAt - session.startedMonotonic),
    outcome: outcomeOf(exit, cause, limitThatEnded(session, exit, cause)),
    survivors,
    notes: [...notes, ...leftoverNotes(session, survivors), ...limitNotes(session)],
  });
}

/**
 * Live processes of a session's tree. The process table is read only if something hints at them (spec R7): the group
 * still answers, or somebody holds the pipes.
 */
export async function survivorsOf(session: Session): Promise<readonly Survivor[]> {
  const { child } = session;
  const answers = session.exit === undefined || (child.groupAnswers?.() ?? false); // given up is not gone
  if (session.outputEnded && !answers && session.stopCause === undefined) return [];
  if (child.inspector !== undefined) {
    return (await child.inspector.tree()).map(({ pid, name }) => ({ pid, name }));
  }
  return answers && child.pid !== undefined ? [{ pid: child.pid, name: "process group" }] : [];
}

/** A signal that was sent on request ended it on request. */
function causeOf({ requested }: Session, { signal }: Exit): StopCause | undefined {
  return signal !== undefined && requested.has(signal) ? "killed" : undefined;
}

async function treeIsGone({ child }: Session): Promise<boolean> {
  return child.inspector !== undefined && (await child.inspector.tree()).length === 0;
}

/** The same for a session that ends now, without those who are merely on their way out. */
async function survivorsAtEnd(session: Session): Promise<readonly Survivor[]> {
  let survivors = await survivorsOf(session);
  for (const ms of DYING_PAUSES_MS) {
    if (survivors.length === 0 || !session.outputEnded) break;
    await pause(session.clock, ms);
    survivors = await survivorsOf(session);
  }
  return survivors;
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
