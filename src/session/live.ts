/**
 * Live background sessions, by scope and by what they run: every start asks how many there are and whether one runs the
 * same, and with thousands of them neither may be looked for among all.
 *
 * @module
 */
import type { Session } from "./session.ts";

/** Live background sessions. */
export interface Live {
  /** Takes one in that has gone to the background. */
  enter(session: Session): void;
  /** It is being removed: it still is one, but nobody is told that it runs. */
  hide(session: Session): void;
  /** It has ended or is forgotten; of one that never entered nothing happens. */
  leave(session: Session): void;
  /** Those of a scope, oldest first. */
  of(scope: string): readonly Session[];
  /** How many those are. */
  count(scope: string): number;
  /** Those that run the same command as this one, in the same place and for the same scope, oldest first. */
  twins(session: Session): readonly Session[];
}

/** Makes it empty. */
export function createLive(): Live {
  const scopes = new Map<string, Set<Session>>();
  const places = new Map<string, Set<Session>>();
  return {
    enter: (session) => {
      put(scopes, session.facts.scope, session);
      put(places, placeOf(session), session);
    },
    hide: (session) => take(places, placeOf(session), session),
    leave: (session) => {
      take(scopes, session.facts.scope, session);
      take(places, placeOf(session), session);
    },
    of: (scope) => [...(scopes.get(scope) ?? [])],
    count: (scope) => scopes.get(scope)?.size ?? 0,
    twins: (session) => [...(places.get(placeOf(session)) ?? [])],
  };
}

/** None of the parts can hold a NUL. */
function placeOf({ facts: { scope, host, cwd, command } }: Session): string {
  return [scope, host, cwd, command].join("\0");
}

function put(sets: Map<string, Set<Session>>, key: string, session: Session): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([session]));
  else set.add(session);
}

function take(sets: Map<string, Set<Session>>, key: string, session: Session): void {
  const set = sets.get(key);
  if (set?.delete(session) && set.size === 0) sets.delete(key);
}
