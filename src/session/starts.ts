/**
 * Starts that are under way, and what may keep them from beginning.
 *
 * @module
 */
import { OffstageError } from "../errors.ts";
import type { Session } from "./session.ts";

/** The starts of one instance. */
export interface Starts {
  /** @throws {OffstageError} `closed` once sealed, `refused` while the host is about to be suspended */
  checkMayStart(): void;
  /**
   * Starts a session; closing waits for it, and a suspension does.
   *
   * @throws {OffstageError} as {@linkcode Starts.checkMayStart}: nothing was started
   */
  starting(session: Session, start: () => Promise<void>): Promise<void>;
  /** The sessions that are being started. */
  underWay(): readonly Session[];
  /** Whether this one is. */
  isStarting(session: Session): boolean;
  /** Lets nothing start any more; what is being started goes on. */
  seal(): void;
  /**
   * Keeps a place among a scope's live background sessions for one that is about to start, so that calls at the same
   * time do not all take the last one.
   *
   * @returns a function to call once the session is shown, or has not come to be
   */
  keepSeat(scope: string): () => void;
  /** How many such places are kept. */
  seatsKept(scope: string): number;
}

/**
 * Nothing is being started yet.
 *
 * @param refusal why nothing may start at present, if that is so
 */
export function createStarts(refusal: () => OffstageError | undefined): Starts {
  const starts = new Set<Session>();
  const seats = new Set<{ readonly scope: string }>();
  let sealed = false;

  function checkMayStart(): void {
    if (sealed) throw new OffstageError("closed", "Cannot start a command: this Offstage has been closed");
    const refused = refusal();
    if (refused !== undefined) throw refused;
  }

  return {
    checkMayStart,
    starting: async (session, start) => {
      checkMayStart();
      starts.add(session);
      try {
        await start();
      } finally {
        starts.delete(session);
        session.touch();
      }
    },
    underWay: () => [...starts],
    isStarting: (session) => starts.has(session),
    seal: () => void (sealed = true),
    keepSeat: (scope) => {
      const seat = { scope };
      seats.add(seat);
      return () => void seats.delete(seat);
    },
    seatsKept: (scope) => [...seats].filter((seat) => seat.scope === scope).length,
  };
}
