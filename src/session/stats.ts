/**
 * What an instance has done so far, in numbers: for those who watch over it.
 *
 * @module
 */
import type { EndReason, EndStatus } from "./outcome.ts";
import type { Session } from "./session.ts";

/** Numbers of one instance. What is a total only grows. */
export interface Stats {
  /** Sessions there are now. */
  readonly sessions: {
    /** In the foreground of a call. */
    readonly foreground: number;
    /** In the background, running. */
    readonly background: number;
    /** Ended, but processes that they started run on. */
    readonly leftBehind: number;
    /** Ended and kept. */
    readonly finished: number;
  };
  /** Commands that have ended, by how and why. */
  readonly ends: readonly { readonly status: EndStatus; readonly reason: EndReason; readonly count: number }[];
  /** How long these took. */
  readonly durations: {
    /** For each of {@linkcode DURATION_BOUNDS_MS}: how many took at most that long and longer than the bound before. */
    readonly counts: readonly number[];
    /** How many took longer than all of these. */
    readonly over: number;
    /** Of all together, ms. */
    readonly totalMs: number;
  };
  /** Bytes that all commands have printed. */
  readonly outputBytes: number;
  /** Those among them that were dropped because they were too many to hold. */
  readonly droppedBytes: number;
}

/** Bounds by which durations are counted, ms: from the quickest of commands to the default life span. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  10,
  25,
  100,
  250,
  1_000,
  2_500,
  10_000,
  60_000,
  300_000,
  1_800_000,
];

/** Counts. */
export interface StatsCounter {
  /** A session has settled. */
  ended(session: Session): void;
  /** A session is not held any more. */
  dropped(session: Session): void;
  /** The numbers, given the sessions that are held. */
  read(held: Iterable<Session>): Stats;
}

/** Makes a counter that has counted nothing. */
export function createStats(): StatsCounter {
  const ends = new Map<EndReason, Map<EndStatus, number>>();
  const counts = DURATION_BOUNDS_MS.map(() => 0);
  let over = 0;
  let totalMs = 0;
  let outputBytes = 0;
  let droppedBytes = 0;

  return {
    ended: ({ state }) => {
      if (state.kind !== "ended") return;
      const { durationMs, outcome: { status, reason } } = state;
      const ofReason = ends.get(reason) ?? new Map<EndStatus, number>();
      ends.set(reason, ofReason.set(status, (ofReason.get(status) ?? 0) + 1));
      const index = DURATION_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
      if (index < 0) over += 1;
      else counts[index] = (counts[index] ?? 0) + 1;
      totalMs += durationMs;
    },
    dropped: ({ log }) => {
      if (log.end === 0) return;
      outputBytes += log.end;
      droppedBytes += log.start;
    },
    read: (held) => {
      const sessions = { foreground: 0, background: 0, leftBehind: 0, finished: 0 };
      let heldBytes = 0;
      let heldDropped = 0;
      for (const session of held) {
        sessions[placeOf(session)] += 1;
        heldBytes += session.log.end;
        heldDropped += session.log.start;
      }
      return {
        sessions,
        ends: [...ends].flatMap(([reason, ofReason]) =>
          [...ofReason].map(([status, count]) => ({ status, reason, count }))
        ),
        durations: { counts: [...counts], over, totalMs },
        outputBytes: outputBytes + heldBytes,
        droppedBytes: droppedBytes + heldDropped,
      };
    },
  };
}

function placeOf({ state, listed }: Session): keyof Stats["sessions"] {
  if (state.kind === "running") return listed ? "background" : "foreground";
  return state.survivors.length > 0 ? "leftBehind" : "finished";
}
