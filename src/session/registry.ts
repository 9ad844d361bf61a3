/**
 * All sessions of one instance: who may see which, and how long finished ones are kept.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import { OffstageError } from "../errors.ts";
import type { Clock } from "../runtime.ts";
import { survivorsOf } from "./end.ts";
import { newSessionId } from "./ids.ts";
import type { Outcome } from "./outcome.ts";
import type { Session } from "./session.ts";
import { longTimer } from "./timing.ts";

/** Why a finished session is not kept any more. */
export type Departure = "expired" | "evicted" | "cleared" | "removed";

/** What is remembered of a session that is not kept any more (spec S7). */
export interface Tombstone {
  /** The session's id. */
  readonly id: string;
  /** The agent that owned it. */
  readonly scope: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** How it ended. */
  readonly outcome: Outcome;
  /** Wall clock of its end, ms. */
  readonly endedAt: number;
  /** Wall clock of its departure, ms. */
  readonly goneAt: number;
  /** Why it went. */
  readonly why: Departure;
}

/** How many departed sessions are remembered per instance: an answer for late calls, not an archive. */
const TOMBSTONES_KEPT = 1_000;

/** How soon a session whose tree outlives it is looked at again, ms. */
const LIVING_TREE_RECHECK_MS = 60_000;

/** The sessions of one instance. */
export interface Registry {
  /** A fresh id, never given out before. */
  newId(): string;
  /**
   * Starts something that ends with {@linkcode Registry.add}; closing waits for it.
   *
   * @throws {OffstageError} `closed` once the registry is sealed: nothing was started
   */
  starting(start: () => Promise<void>): Promise<void>;
  /** @throws {OffstageError} `closed` once the registry is sealed */
  refuseIfSealed(): void;
  /** Lets nothing start any more; resolves when the starts that were under way have come to something. */
  seal(): Promise<void>;
  /**
   * Keeps a place among a scope's live background sessions for one that is about to start, so that calls at the same
   * time do not all take the last one.
   *
   * @returns a function to call once the session is shown, or has not come to be
   */
  keepSeat(scope: string): () => void;
  /** How many such places are kept. */
  seatsKept(scope: string): number;
  /** Takes a started session in; from now on it can be found. */
  add(session: Session): void;
  /** Shows a session to its scope: it has gone to the background, or there is more of its output to read. */
  show(session: Session): void;
  /** To be called when a session has settled: starts its time to live, evicts older ones. */
  ended(session: Session): void;
  /** Forgets a session. With `why`, and if its scope knew it, a tombstone answers later calls. */
  drop(session: Session, why?: Departure): void;
  /** A session of that scope, or what is remembered of it; a foreign one is not known at all. */
  find(scope: string, id: string): { readonly session: Session } | { readonly tombstone: Tombstone } | undefined;
  /** The sessions that scope can see, newest start first. */
  visible(scope: string): readonly Session[];
  /** Every session held, of that scope or of all, foreground ones too. */
  all(scope?: string): readonly Session[];
  /** Live background sessions of a scope, those being removed too. */
  live(scope: string): readonly Session[];
  /** Forgets everything, cancels every timer and lets go of every pipe. */
  close(): void;
}

/** What a registry needs. */
export interface RegistryOptions {
  /** The settings in force. */
  readonly settings: Settings;
  /** Time. */
  readonly clock: Clock;
  /** Randomness, for ids. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Looks after a session's processes in case the host dies; returns how to end that. */
  readonly guard?: (session: Session) => () => void;
  /** Called when a session has settled. */
  readonly onEnded: (session: Session) => void;
  /** Called when there is a process to look after, and there was none. */
  readonly onOccupied: () => void;
  /** Called when there is none any more. */
  readonly onVacant: () => void;
  /** Called when a session is shown to its scope: there will be calls of `process`. */
  readonly onShown: () => void;
}

/** Makes an empty registry. */
export function createRegistry(options: RegistryOptions): Registry {
  const { settings, clock, randomBytes } = options;
  const sessions = new Map<string, Session>();
  const scopes = new Map<string, Set<Session>>();
  const withProcesses = new Map<Session, () => void>(); // each with how to end its guard
  const finished = new Map<Session, number>(); // in the order of their ends, each with the characters it holds
  let finishedChars = 0;
  const expiries = new Map<Session, () => void>();
  const tombstones = new Map<string, Tombstone>();
  const used = new Set<string>();
  const lingering = new Set<Session>(); // forgotten, but somebody still holds their pipes
  const starts = new Set<Promise<void>>();
  const seats = new Set<{ readonly scope: string }>();
  let sealed = false;

  const ofScope = (scope: string): readonly Session[] => [...(scopes.get(scope) ?? [])];

  function refuseIfSealed(): void {
    if (sealed) throw new OffstageError("closed", "Cannot start a command: this Offstage has been closed");
  }

  async function starting(start: () => Promise<void>): Promise<void> {
    refuseIfSealed();
    const started = start();
    starts.add(started);
    try {
      await started;
    } finally {
      starts.delete(started);
    }
  }

  function occupy(session: Session): void {
    if (withProcesses.size === 0) options.onOccupied();
    withProcesses.set(session, options.guard?.(session) ?? (() => {}));
  }

  function vacate(session: Session): void {
    withProcesses.get(session)?.();
    if (withProcesses.delete(session) && withProcesses.size === 0) options.onVacant();
  }

  function drop(session: Session, why?: Departure): void {
    if (!sessions.delete(session.id)) return;
    session.hidden = true;
    const { id, scope } = session.facts;
    const own = scopes.get(scope);
    own?.delete(session);
    if (own?.size === 0) scopes.delete(scope);
    finishedChars -= finished.get(session) ?? 0;
    finished.delete(session);
    expiries.get(session)?.();
    expiries.delete(session);
    vacate(session);
    session.screen?.close();
    letGo(session);
    const { state } = session;
    if (why !== undefined && session.listed && state.kind === "ended") {
      const { outcome, endedAt } = state;
      bury({ id, scope, name: session.name, outcome, endedAt, goneAt: clock.now(), why });
    }
  }

  /** A process that is not ours may still hold the pipes: it must not die of SIGPIPE, so they are read until it ends. */
  function letGo(session: Session): void {
    if (session.outputEnded) return session.child.release();
    lingering.add(session);
    const stopListening = session.onChange(() => {
      if (!session.outputEnded) return;
      stopListening();
      lingering.delete(session);
      session.child.release();
    });
  }

  function bury(stone: Tombstone): void {
    tombstones.set(stone.id, stone);
    const [oldest] = tombstones.keys();
    if (tombstones.size > TOMBSTONES_KEPT && oldest !== undefined) tombstones.delete(oldest);
  }

  /** Lets a finished session go, unless its tree lives on: such a one can still be killed (spec R6). */
  async function leave(session: Session, why: Departure): Promise<void> {
    if (treeMayLive(session) && (await survivorsOf(session)).length > 0) expireIn(session, LIVING_TREE_RECHECK_MS);
    else drop(session, why);
  }

  function expireIn(session: Session, ms: number): void {
    if (!sessions.has(session.id)) return;
    expiries.get(session)?.();
    expiries.set(session, longTimer(clock, ms, () => void leave(session, "expired")));
  }

  /** The oldest ended go first, of the same scope if that has too many, else of all; the newest always stays. */
  function evict(scope: string): void {
    const own = ofScope(scope).filter((session) => finished.has(session)).length;
    let surplus = own - settings.maxFinished;
    let chars = finishedChars;
    const newest = [...finished.keys()].at(-1);
    for (const [session, size] of finished) {
      const isSurplus = session.facts.scope === scope && surplus > 0;
      if (session === newest || (!isSurplus && chars <= settings.maxFinishedChars)) continue;
      if (session.facts.scope === scope) surplus -= 1;
      chars -= size;
      void leave(session, "evicted");
    }
  }

  function ended(session: Session): void {
    if (!treeMayLive(session)) vacate(session);
    if (!session.listed || !sessions.has(session.id) || finished.has(session)) return;
    if (session.hidden) return drop(session, "removed");
    const chars = session.log.totalChars - session.log.droppedChars;
    finished.set(session, chars);
    finishedChars += chars;
    expireIn(session, settings.cleanupMs);
    evict(session.facts.scope);
  }

  return {
    newId: () => {
      const id = newSessionId(randomBytes, (candidate) => used.has(candidate));
      used.add(id);
      return id;
    },
    starting,
    refuseIfSealed,
    seal: async () => {
      sealed = true;
      await Promise.allSettled(starts);
    },
    keepSeat: (scope) => {
      const seat = { scope };
      seats.add(seat);
      return () => void seats.delete(seat);
    },
    seatsKept: (scope) => [...seats].filter((seat) => seat.scope === scope).length,
    add: (session) => {
      const { id, scope } = session.facts;
      sessions.set(id, session);
      scopes.set(scope, (scopes.get(scope) ?? new Set()).add(session));
      occupy(session);
    },
    show: (session) => {
      session.listed = true;
      options.onShown();
      if (session.state.kind === "ended") ended(session);
    },
    ended: (session) => {
      ended(session);
      options.onEnded(session);
    },
    drop,
    find: (scope, id) => {
      const session = sessions.get(id);
      if (session?.facts.scope === scope && session.listed && !session.hidden) return { session };
      const tombstone = tombstones.get(id);
      return tombstone?.scope === scope ? { tombstone } : undefined;
    },
    visible: (scope) => ofScope(scope).filter((session) => session.listed && !session.hidden).reverse(),
    all: (scope) => scope === undefined ? [...sessions.values()] : ofScope(scope),
    live: (scope) => ofScope(scope).filter((session) => session.listed && session.state.kind === "running"),
    close: () => {
      for (const session of [...sessions.values()]) drop(session);
      for (const session of lingering) session.child.release(); // or their readers would keep the host alive
      lingering.clear();
      tombstones.clear();
    },
  };
}

/** A cheap first look before the process table is read. */
function treeMayLive(session: Session): boolean {
  return session.state.kind === "ended" && session.state.survivors.length > 0;
}
