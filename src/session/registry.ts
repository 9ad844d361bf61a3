/**
 * All sessions of one instance: who may see which, and how long finished ones are kept.
 *
 * @module
 */
import type { Settings } from "../config.ts";
import type { OffstageError } from "../errors.ts";
import type { Clock, OrphanGuard } from "../runtime.ts";
import type { Keeping, KeepingOptions } from "./keeping.ts";
import { ALL_SCOPES, sees } from "./scope.ts";
import { createLive, type Live } from "./live.ts";
import type { Session, Survivor } from "./session.ts";
import { createStarts, type Starts } from "./starts.ts";
import { createStats, type Stats } from "./stats.ts";
import type { Departure, Tombstone } from "./tombstones.ts";

/** The sessions of one instance. */
export interface Registry extends Starts {
  /** A fresh id, never given out before. */
  newId(): string;
  /** Takes a started session in; from now on it can be found. */
  add(session: Session): void;
  /** Shows a session to its scope: it has gone to the background, or there is more of its output to read. */
  show(session: Session): void;
  /** To be called when a session has settled: starts its time to live, evicts older ones. */
  ended(session: Session): void;
  /** Takes a session out of sight that is yet to be ended and forgotten. */
  hide(session: Session): void;
  /** Forgets a session. With `why`, and if its scope knew it, a tombstone answers later calls. */
  drop(session: Session, why?: Departure): void;
  /** A session that this scope sees, or what is remembered of it; a foreign one is not known at all. */
  find(scope: string, id: string): { readonly session: Session } | { readonly tombstone: Tombstone } | undefined;
  /** The sessions that scope sees, newest start first. */
  visible(scope: string): readonly Session[];
  /** Calls `listener` after each change of those: one is new, has ended, or is gone. Returns a function that ends it. */
  watch(scope: string, listener: () => void): () => void;
  /** Every session held that this scope sees (default: of all scopes), foreground ones too. */
  all(scope?: string): readonly Session[];
  /** Live background sessions, those being removed too. */
  readonly live: Pick<Live, "of" | "count" | "twins">;
  /** Sessions with something to end, or that are being started: oldest first, foreground ones too. */
  active(): readonly Session[];
  /** Whether this is one of them. */
  isActive(session: Session): boolean;
  /** Looks who of an ended session's tree lives on, and puts right what is told of that. */
  lookAgain(session: Session): Promise<readonly Survivor[]>;
  /** What has been done so far. */
  stats(): Stats;
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
  /** Why nothing may start at present, if that is so. */
  readonly refusal: () => OffstageError | undefined;
  /** Looks after the sessions' processes in case the host dies. */
  readonly guard?: OrphanGuard | undefined;
  /** Makes what sessions are kept with; not called before there is one. */
  readonly keeping: (options: KeepingOptions) => Keeping;
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
  const { settings, clock, randomBytes, guard } = options;
  const sessions = new Map<string, Session>();
  const scopes = new Map<string, Set<Session>>();
  const live = createLive();
  const withProcesses = new Set<Session>();
  const used = new Set<string>();
  const lingering = new Set<Session>(); // forgotten, but somebody still holds their pipes
  const watchers = new Set<{ readonly scope: string; readonly listener: () => void }>();
  const starts = createStarts(options.refusal);
  const stats = createStats();

  let kept: Keeping | undefined; // there since the first command
  let nextId: string | undefined; // drawn while a command runs, so that the next one has it at once

  function keeping(): Keeping {
    return kept ??= options.keeping({ settings, clock, depart: drop, lookAgain });
  }

  function drawId(): string {
    const id = keeping().newSessionId(randomBytes, (candidate) => used.has(candidate));
    used.add(id);
    return id;
  }

  const ofScope = (scope: string): readonly Session[] => [...(scopes.get(scope) ?? [])];
  const seenBy = (scope: string): readonly Session[] => scope === ALL_SCOPES ? [...sessions.values()] : ofScope(scope);

  function occupy(session: Session): void {
    if (withProcesses.size === 0) options.onOccupied();
    withProcesses.add(session);
    if (session.pid !== undefined && session.child.isElsewhere !== true) guard?.watch(session.pid, session.id);
  }

  function vacate(session: Session): void {
    if (!withProcesses.delete(session)) return;
    kept?.idleEnd.forget(session);
    guard?.release(session.id);
    if (withProcesses.size === 0) options.onVacant();
  }

  function changed({ listed, facts }: Session): void {
    if (!listed) return;
    for (const { scope, listener } of watchers) if (sees(scope, facts.scope)) listener();
  }

  function drop(session: Session, why?: Departure): void {
    if (!sessions.delete(session.id)) return;
    session.hidden = true;
    if (session.listed) live.leave(session);
    stats.dropped(session);
    const { id, scope } = session.facts;
    const own = scopes.get(scope);
    own?.delete(session);
    if (own?.size === 0) scopes.delete(scope);
    kept?.retention.release(session);
    vacate(session);
    session.screen?.close();
    letGo(session);
    session.touch();
    const { state } = session;
    if (why !== undefined && session.listed && state.kind === "ended") {
      const { outcome, endedAt } = state;
      const { name } = session;
      keeping().tombstones.bury({
        id,
        scope,
        name,
        outcome,
        ending: keeping().statusText(session),
        endedAt,
        goneAt: clock.now(),
        why,
      });
    }
    changed(session);
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

  function ended(session: Session): void {
    const { state, hidden, listed } = session;
    if (state.kind === "ended" && state.survivors.length > 0) guard?.tell(session.id);
    else vacate(session);
    if (!listed || !sessions.has(session.id) || keeping().retention.keeps(session)) return;
    if (hidden) return drop(session, "removed");
    keeping().retention.keep(session);
  }

  async function lookAgain(session: Session): Promise<readonly Survivor[]> {
    const survivors = await keeping().survivorsOf(session);
    session.amend({ survivors });
    if (survivors.length === 0) vacate(session);
    return survivors;
  }

  return {
    ...starts,
    newId: () => {
      const id = nextId ?? drawId();
      nextId = undefined;
      return id;
    },
    add: (session) => {
      const { id, scope } = session.facts;
      sessions.set(id, session);
      scopes.set(scope, (scopes.get(scope) ?? new Set()).add(session));
      occupy(session);
      nextId ??= drawId();
    },
    show: (session) => {
      session.listed = true;
      options.onShown();
      session.lastUsedAt = clock.monotonic();
      if (session.state.kind === "ended") {
        ended(session);
      } else {
        live.enter(session);
        guard?.tell(session.id);
      }
      if (withProcesses.has(session)) keeping().idleEnd.watch(session);
      changed(session);
    },
    ended: (session) => {
      if (session.listed) live.leave(session);
      stats.ended(session);
      ended(session);
      changed(session);
      options.onEnded(session);
    },
    hide: (session) => {
      session.hidden = true;
      live.hide(session);
      session.touch();
      changed(session);
    },
    drop,
    find: (scope, id) => {
      const session = sessions.get(id);
      if (session !== undefined && sees(scope, session.facts.scope) && session.listed && !session.hidden) {
        return { session };
      }
      const tombstone = kept?.tombstones.find(scope, id);
      return tombstone && { tombstone };
    },
    visible: (scope) => seenBy(scope).filter((session) => session.listed && !session.hidden).reverse(),
    watch: (scope, listener) => {
      const watcher = { scope, listener };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    all: (scope) => seenBy(scope ?? ALL_SCOPES),
    live,
    active: () => [...withProcesses.keys(), ...starts.underWay()],
    isActive: (session) => withProcesses.has(session) || starts.isStarting(session),
    lookAgain,
    stats: () => stats.read(sessions.values()),
    close: () => {
      for (const session of [...sessions.values()]) drop(session);
      for (const session of lingering) session.child.release(); // or their readers would keep the host alive
      lingering.clear();
      kept?.tombstones.clear();
      guard?.close();
    },
  };
}
