/**
 * The end of sessions that nobody has asked for in a long time (setting `idleEndMs`).
 *
 * @module
 */
import type { Session, Survivor } from "./session.ts";
import { stop } from "./stop.ts";
import { longTimer } from "./timing.ts";
import { unusedMs } from "./usage.ts";
import { leftoverNotes } from "./wording.ts";

/** Watches over sessions that may be forgotten. */
export interface IdleEnd {
  /** Watches a session from now on: one timer, which does not keep the host alive. */
  watch(session: Session): void;
  /** Watches it no more. */
  forget(session: Session): void;
}

/** What ending a forgotten session needs. */
export interface IdleEndOptions {
  /** Time between SIGTERM and SIGKILL, ms. */
  readonly killGraceMs: number;
  /** Looks who of an ended session's tree lives on. */
  readonly lookAgain: (session: Session) => Promise<readonly Survivor[]>;
}

/** Watches nothing yet. */
export function createIdleEnd({ killGraceMs, lookAgain }: IdleEndOptions): IdleEnd {
  const timers = new Map<Session, () => void>();

  function arm(session: Session, ms: number): void {
    timers.set(session, longTimer(session.clock, ms, () => due(session)));
  }

  function due(session: Session): void {
    const left = session.facts.idleEndMs - unusedMs(session);
    if (left > 0) return arm(session, left);
    void (session.state.kind === "running" ? stop(session, "idle", killGraceMs) : endLeftovers(session));
  }

  async function endLeftovers(session: Session): Promise<void> {
    if ((await lookAgain(session)).length === 0) return;
    await stop(session, "idle", killGraceMs);
    const survivors = await lookAgain(session);
    if (survivors.length > 0 || session.state.kind !== "ended") return;
    session.leftoverCause ??= "idle";
    session.amend({ notes: [...session.state.notes, ...leftoverNotes(session, survivors)] });
  }

  return {
    watch: (session) => {
      if (session.facts.idleEndMs > 0 && !timers.has(session)) arm(session, session.facts.idleEndMs);
    },
    forget: (session) => {
      timers.get(session)?.();
      timers.delete(session);
    },
  };
}
