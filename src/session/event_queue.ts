/**
 * The events of one scope that nobody has acknowledged: bounded, the oldest go first and are counted (spec S10).
 *
 * @module
 */
import type { SessionEvent } from "./event.ts";

/** Unacknowledged events kept per scope (spec S10). */
export const EVENTS_KEPT = 20;

/** One event and what has become of it. */
export interface QueueEntry {
  /** The event; a match is replaced by itself with newer counts. */
  event: SessionEvent;
  /** Not seen by anybody, handed to somebody, or taken back because an answer has told it. */
  state: "queued" | "delivered" | "withdrawn";
}

/** Events in the order in which they happened. */
export interface EventQueue {
  /** Adds an event behind. */
  push(event: SessionEvent): QueueEntry;
  /** What is there, oldest first, without what was withdrawn. */
  entries(): readonly QueueEntry[];
  /** Takes events out; they count as delivered. Says how many of these ids were there. */
  ack(ids: readonly string[]): number;
  /** How many had to go because of newer ones, ever. */
  readonly dropped: number;
}

/** Creates an empty queue of at most `limit` events. */
export function createEventQueue(limit: number): EventQueue {
  let queue: readonly QueueEntry[] = [];
  let dropped = 0;

  function entries(): readonly QueueEntry[] {
    return (queue = queue.filter(({ state }) => state !== "withdrawn"));
  }

  return {
    push(event) {
      const entry: QueueEntry = { event, state: "queued" };
      const all = [...entries(), entry];
      queue = all.slice(-limit);
      dropped += all.length - queue.length;
      return entry;
    },
    entries,
    ack(ids) {
      const acked = entries().filter(({ event }) => ids.includes(event.id));
      for (const entry of acked) entry.state = "delivered";
      queue = queue.filter((entry) => !acked.includes(entry));
      return acked.length;
    },
    get dropped() {
      return dropped;
    },
  };
}
