/**
 * What a registry does with sessions once there are any. It is loaded with the first command, and no part of the import.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import type { Clock } from "../runtime.ts";
import { survivorsOf } from "./end.ts";
import { newSessionId } from "./ids.ts";
import { createIdleEnd, type IdleEnd } from "./idle_end.ts";
import { createRetention, type Retention } from "./retention.ts";
import type { Session, Survivor } from "./session.ts";
import { createTombstones, type Tombstones } from "./tombstones.ts";
import { statusText } from "./wording.ts";

/** How the sessions of one instance are kept, watched and spoken of. */
export interface Keeping {
  /** How long finished ones are kept. */
  readonly retention: Retention;
  /** Ends those that nobody has asked for in a long time. */
  readonly idleEnd: IdleEnd;
  /** What is remembered of those that are not kept any more. */
  readonly tombstones: Tombstones;
  /** Makes an id, see `ids.ts`. */
  readonly newSessionId: typeof newSessionId;
  /** Live processes of a session's tree. */
  readonly survivorsOf: (session: Session) => Promise<readonly Survivor[]>;
  /** A session's state in a few words. */
  readonly statusText: (session: Session) => string;
}

/** What keeping sessions needs. */
export interface KeepingOptions {
  /** The settings in force. */
  readonly settings: Settings;
  /** Time. */
  readonly clock: Clock;
  /** Lets a session go. */
  readonly depart: (session: Session, why: "expired" | "evicted") => void;
  /** Looks who of an ended session's tree lives on. */
  readonly lookAgain: (session: Session) => Promise<readonly Survivor[]>;
}

/** Keeps nothing yet. */
export function createKeeping({ settings, clock, depart, lookAgain }: KeepingOptions): Keeping {
  return {
    retention: createRetention({ settings, clock, depart }),
    idleEnd: createIdleEnd({ killGraceMs: settings.killGraceMs, lookAgain }),
    tombstones: createTombstones(),
    newSessionId,
    survivorsOf,
    statusText,
  };
}
