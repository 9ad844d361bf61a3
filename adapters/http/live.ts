/**
 * Sessions that are watched: each by one listener, however many viewers there are, and at a pace they can be served at.
 *
 * @module
 */
import type { SessionView } from "../../mod.ts";
import { createFrames, type Encode, type Frames } from "./frames.ts";
import { createRestoring, type Restoring } from "./restore.ts";
import type { Viewed } from "./viewer.ts";

/** One viewer's place at a session. */
export interface Seat {
  /** What may be shown of the session: its end moves at the same moments for all, so that they can share frames. */
  readonly viewed: Viewed;
  /** The frames that all viewers share which have them encoded in that way. */
  frames(encode: Encode): Frames;
  /** What a terminal is sent before it goes on from an offset that does not follow from what it has seen. */
  readonly restoring: Restoring;
  /** Calls `wake` once, after the next change. A later call replaces the one before. */
  wait(wake: () => void): void;
  /** Leaves; no call comes any more. Safe to call twice. */
  leave(): void;
}

/** The sessions of one instance that are viewed. */
export interface LiveSessions {
  /** Takes a seat; the last one to leave takes the listener along. */
  join(view: SessionView): Seat;
}

/** Time between two wakings: a session that prints line by line is not sent line by line. */
const PACE_MS = 1;

/** So many viewers more make that time a millisecond longer: each waking costs a write for each of them. */
const VIEWERS_PER_MS = 8;

/** With that many bytes waiting they are shown at once: a fast program would have them dropped from its log. */
const ENOUGH_BYTES = 65_536;

/** Makes the place for the sessions of one instance. */
export function createLiveSessions(): LiveSessions {
  const shared = new Map<string, Shared>();
  return {
    join: (view) => {
      const { sessionId } = view;
      const session = shared.get(sessionId) ?? share(view, () => shared.delete(sessionId));
      shared.set(sessionId, session);
      return session.join();
    },
  };
}

interface Shared {
  join(): Seat;
}

/** @param onEmpty called when the last viewer has left */
function share(view: SessionView, onEmpty: () => void): Shared {
  const seats = new Set<Seat>();
  const waiting = new Map<Seat, () => void>();
  const frames = new Map<Encode, Frames>();
  const restoring = createRestoring(view);
  let end = view.end;
  let over = isOver(view);
  let shownAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isDue = false; // a waking is scheduled, by a timer or at once
  const viewed: Viewed = {
    get start() {
      return view.start;
    },
    get end() {
      return end;
    },
    get over() {
      return over;
    },
    get outcome() {
      return view.outcome;
    },
  };

  function show(): void {
    clearTimeout(timer);
    isDue = false;
    if (seats.size === 0) return;
    shownAt = performance.now();
    if (!over) { // what a child that it left behind prints later is not shown: the end comes once
      end = view.end;
      over = isOver(view);
    }
    const woken = [...waiting.values()];
    waiting.clear();
    for (const wake of woken) wake();
  }

  function changed(): void {
    if (over) return;
    const isEnough = view.end - end >= ENOUGH_BYTES;
    if (isDue && (timer === undefined || !isEnough)) return;
    const left = shownAt + PACE_MS + seats.size / VIEWERS_PER_MS - performance.now();
    clearTimeout(timer);
    timer = undefined;
    isDue = true;
    if (isEnough || left <= 0) queueMicrotask(show); // not within the reader's call: it waits for us
    else timer = setTimeout(show, left);
  }

  const stop = view.watch(changed);

  return {
    join: () => {
      const seat: Seat = {
        viewed,
        frames: (encode) => {
          const known = frames.get(encode) ?? createFrames(view, encode);
          frames.set(encode, known);
          return known;
        },
        restoring,
        wait: (wake) => waiting.set(seat, wake),
        leave: () => {
          waiting.delete(seat);
          if (!seats.delete(seat) || seats.size > 0) return;
          stop();
          clearTimeout(timer);
          onEmpty();
        },
      };
      seats.add(seat);
      return seat;
    },
  };
}

function isOver({ outcome, gone }: SessionView): boolean {
  return outcome !== undefined || gone;
}
