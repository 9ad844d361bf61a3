/**
 * Ending many sessions at once: all of a scope, or all there are.
 *
 * @module
 */
import type { Outcome, StopCause } from "./outcome.ts";
import { survivorsOf } from "./end.ts";
import { tellEnd } from "./news.ts";
import type { Registry } from "./registry.ts";
import { ALL_SCOPES, sees } from "./scope.ts";
import type { Session, Survivor } from "./session.ts";
import { stop } from "./stop.ts";
import { waitFor } from "./wait.ts";

/** How one of many sessions ended. */
export interface SessionEnd {
  /** The session. */
  readonly sessionId: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** How it ended. */
  readonly outcome: Outcome;
  /** Processes of it that could not be ended. */
  readonly survivors: readonly Survivor[];
}

/**
 * Ends every session of a scope (or of all) with its tree, and forgets it (spec P43, R6); one that is being started too.
 *
 * @returns each end, once it is confirmed or given up
 */
export async function endAll(
  registry: Registry,
  scope: string | undefined,
  cause: StopCause,
  graceMs: number,
): Promise<readonly SessionEnd[]> {
  const starting = registry.underWay().filter(({ facts }) => sees(scope ?? ALL_SCOPES, facts.scope));
  const started = registry.all(scope).filter((session) => !starting.includes(session));
  const ends = await Promise.all([
    ...started.map((session) => endOne(registry, session, cause, graceMs)),
    ...starting.map((session) => endStarting(registry, session, cause, graceMs)), // the others do not wait for it
  ]);
  return ends.filter((end) => end !== undefined);
}

/** Ends what is being started as soon as it has started, if it does. */
async function endStarting(
  registry: Registry,
  session: Session,
  cause: StopCause,
  graceMs: number,
): Promise<SessionEnd | undefined> {
  await waitFor(session, () => !registry.isStarting(session), { timeoutMs: Infinity });
  return session.child === undefined ? undefined : await endOne(registry, session, cause, graceMs);
}

async function endOne(
  registry: Registry,
  session: Session,
  cause: StopCause,
  graceMs: number,
): Promise<SessionEnd> {
  if (session.state.kind === "running" || session.state.survivors.length > 0) await stop(session, cause, graceMs);
  await waitFor(session, () => session.state.kind === "ended", { timeoutMs: Infinity });
  const survivors = await survivorsOf(session);
  if (session.state.kind !== "ended") throw new TypeError("Cannot report the end of a running session");
  const { outcome } = session.state;
  tellEnd(session);
  registry.drop(session, "removed");
  return { sessionId: session.id, name: session.name, outcome, survivors };
}
