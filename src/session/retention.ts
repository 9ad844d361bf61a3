/**
 * How long finished sessions are kept (spec S7): a time to live, a number per scope, and a size for all together.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import type { Clock } from "../runtime.ts";
import { survivorsOf } from "./end.ts";
import { fullest } from "./fair.ts";
import type { Session } from "./session.ts";
import { longTimer } from "./timing.ts";

/** How soon a session whose tree outlives it is looked at again, ms. */
const LIVING_TREE_RECHECK_MS = 60_000;

/** The finished sessions of one instance. */
export interface Retention {
  /** Keeps a session that has just ended: its time to live begins, and older ones may have to go. */
  keep(session: Session): void;
  /** Whether it is kept here. */
  keeps(session: Session): boolean;
  /** Is done with a session, and cancels its timer. */
  release(session: Session): void;
}

/** What retention needs. */
export interface RetentionOptions {
  /** The settings in force. */
  readonly settings: Settings;
  /** Time. */
  readonly clock: Clock;
  /** Lets a session go; calls {@linkcode Retention.release}. */
  readonly depart: (session: Session, why: "expired" | "evicted") => void;
}

/** What one scope holds. */
interface Holding {
  /** Each with the characters of its output, in the order of their ends. */
  readonly sessions: Map<Session, number>;
  /** The sum of these. */
  chars: number;
}

/** Keeps nothing yet. */
export function createRetention({ settings, clock, depart }: RetentionOptions): Retention {
  const expiries = new Map<Session, () => void>();
  const holdings = new Map<string, Holding>();
  let totalChars = 0;

  function enter(session: Session): void {
    const { scope } = session.facts;
    const holding = holdings.get(scope) ?? { sessions: new Map(), chars: 0 };
    const chars = session.log.totalChars - session.log.droppedChars;
    holdings.set(scope, holding);
    holding.sessions.set(session, chars);
    holding.chars += chars;
    totalChars += chars;
  }

  function strike(session: Session): void {
    const { scope } = session.facts;
    const holding = holdings.get(scope);
    const chars = holding?.sessions.get(session);
    if (holding === undefined || chars === undefined) return;
    holding.sessions.delete(session);
    holding.chars -= chars;
    totalChars -= chars;
    if (holding.sessions.size === 0) holdings.delete(scope);
  }

  function expireIn(session: Session, ms: number): void {
    expiries.get(session)?.();
    expiries.set(session, longTimer(clock, ms, () => void leave(session, "expired")));
  }

  /**
   * Lets a session go, unless its tree lives on: such a one can still be killed (spec R6). It counts no more, or it
   * would push out others for as long as its tree lives.
   */
  async function leave(session: Session, why: "expired" | "evicted"): Promise<void> {
    strike(session);
    const lives = treeMayLive(session) && (await survivorsOf(session)).length > 0;
    if (!expiries.has(session)) return; // it went another way meanwhile
    if (lives) expireIn(session, LIVING_TREE_RECHECK_MS);
    else depart(session, why);
  }

  /** The oldest of a scope go first; when all have too much, those of the scope that has the most. `newest` stays. */
  function evict(newest: Session): void {
    const own = [...holdings.get(newest.facts.scope)?.sessions.keys() ?? []];
    for (const session of own.slice(0, Math.max(0, own.length - settings.maxFinished))) void leave(session, "evicted");
    const oldest = ({ sessions }: Holding): Session | undefined => {
      for (const [session, chars] of sessions) if (session !== newest && chars > 0) return session;
      return undefined;
    };
    while (totalChars > settings.maxFinishedChars) {
      const holding = fullest(holdings.values(), (one) => oldest(one) === undefined ? 0 : one.chars);
      const session = holding && oldest(holding);
      if (session === undefined) return;
      void leave(session, "evicted");
    }
  }

  return {
    keep: (session) => {
      enter(session);
      expireIn(session, settings.cleanupMs);
      evict(session);
    },
    keeps: (session) => expiries.has(session),
    release: (session) => {
      expiries.get(session)?.();
      expiries.delete(session);
      strike(session);
    },
  };
}

/** A cheap first look before the process table is read. */
function treeMayLive(session: Session): boolean {
  return session.state.kind === "ended" && session.state.survivors.length > 0;
}
