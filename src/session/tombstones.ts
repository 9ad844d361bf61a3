/**
 * What is remembered of sessions that are not kept any more (spec S7).
 *
 * @module
 */
import { fullest } from "./fair.ts";
import type { Outcome } from "./outcome.ts";
import { ALL_SCOPES } from "./scope.ts";

/** Why a finished session is not kept any more. */
export type Departure = "expired" | "evicted" | "cleared" | "removed";

/** What is remembered of one session. */
export interface Tombstone {
  /** The session's id. */
  readonly id: string;
  /** The agent that owned it. */
  readonly scope: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** How it ended. */
  readonly outcome: Outcome;
  /** The same in words. */
  readonly ending: string;
  /** Wall clock of its end, ms. */
  readonly endedAt: number;
  /** Wall clock of its departure, ms. */
  readonly goneAt: number;
  /** Why it went. */
  readonly why: Departure;
}

/** How many departed sessions are remembered per instance: an answer for late calls, not an archive. */
const TOMBSTONES_KEPT = 1_000;

/** The departed sessions of one instance. */
export interface Tombstones {
  /** Remembers one; with too many, the scope that has the most forgets its oldest. */
  bury(stone: Tombstone): void;
  /** What is remembered of a session that this scope sees. */
  find(scope: string, id: string): Tombstone | undefined;
  /** Forgets all. */
  clear(): void;
}

/** Makes an empty place for them. */
export function createTombstones(): Tombstones {
  const scopes = new Map<string, Map<string, Tombstone>>(); // each in the order of their departures
  let count = 0;

  function forgetOne(): void {
    const stones = fullest(scopes.values(), ({ size }) => size);
    const [oldest] = stones?.values() ?? [];
    if (stones === undefined || oldest === undefined) return;
    stones.delete(oldest.id);
    if (stones.size === 0) scopes.delete(oldest.scope);
    count -= 1;
  }

  return {
    bury: (stone) => {
      const own = scopes.get(stone.scope) ?? new Map<string, Tombstone>();
      scopes.set(stone.scope, own.set(stone.id, stone)); // an id is never given twice
      count += 1;
      if (count > TOMBSTONES_KEPT) forgetOne();
    },
    find: (scope, id) => {
      if (scope !== ALL_SCOPES) return scopes.get(scope)?.get(id);
      for (const stones of scopes.values()) if (stones.has(id)) return stones.get(id);
      return undefined;
    },
    clear: () => {
      scopes.clear();
      count = 0;
    },
  };
}
