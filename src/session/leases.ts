/**
 * Suspend leases (spec S8): while one is held nothing new is started, so that what was idle stays idle.
 *
 * @module
 */
import { OffstageError } from "../errors.ts";
import type { Clock } from "../runtime.ts";
import { seconds } from "./spans.ts";

/** How long a lease lasts unless it is renewed or lifted, ms (spec S8). */
const LEASE_MS = 120_000;

/** The suspend leases of one instance, by the ids of whoever asked for them. */
export interface Leases {
  /**
   * Takes a lease, or renews it.
   *
   * @returns wall clock of its end, ms
   */
  take(requestId: string): number;
  /** Lifts a lease; says whether it was held. */
  lift(requestId: string): boolean;
  /** What a start is refused with while a lease is held. */
  refusal(): OffstageError | undefined;
}

/** Nobody holds a lease yet. */
export function createLeases(clock: Clock): Leases {
  const ends = new Map<string, { readonly wall: number; readonly monotonic: number }>();

  /** Asked when it matters, so no timer is needed. Either clock ends a lease: one may have stood still in the suspension. */
  function dropEnded(): void {
    for (const [id, end] of ends) {
      if (clock.monotonic() >= end.monotonic || clock.now() >= end.wall) ends.delete(id);
    }
  }

  return {
    take: (requestId) => {
      const wall = clock.now() + LEASE_MS;
      ends.delete(requestId); // the one that ends last is the last one
      ends.set(requestId, { wall, monotonic: clock.monotonic() + LEASE_MS });
      return wall;
    },
    lift: (requestId) => {
      dropEnded();
      return ends.delete(requestId);
    },
    refusal: () => {
      if (ends.size === 0) return undefined; // at every start
      dropEnded();
      const [id, end] = [...ends].at(-1) ?? [];
      if (id === undefined || end === undefined) return undefined;
      const others = ends.size === 1 ? "" : `, the last of ${ends.size}`;
      return new OffstageError(
        "refused",
        `Cannot start a command: this host is about to be suspended (lease "${id}"${others}, ends in ` +
          `${
            seconds(end.monotonic - clock.monotonic())
          } unless it is renewed or lifted before). Nothing was started; ` +
          "try again after that. What runs already can still be polled and ended",
      );
    },
  };
}
