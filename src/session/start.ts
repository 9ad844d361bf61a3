/**
 * The beginning of a session: spawned, findable, timed and followed to its end.
 *
 * @module
 */
import type { Spawner, SpawnSpec } from "../runtime.ts";
import { followToEnd } from "./end.ts";
import type { Registry } from "./registry.ts";
import type { Session } from "./session.ts";
import { stop } from "./stop.ts";
import { longTimer } from "./timing.ts";

/**
 * Starts a session's command. It can be found in the registry before this resolves, so an interrupted caller never
 * loses a process.
 *
 * @returns what the caller ought to know about the start
 * @throws {OffstageError} `spawn-failed` or `closed` when nothing was started; then there is no session either
 */
export async function startSession(
  session: Session,
  spawner: Spawner,
  spec: SpawnSpec,
  registry: Registry,
  killGraceMs: number,
): Promise<readonly string[]> {
  await registry.starting(async () => {
    session.child = await spawner.spawn(spec, session.sink);
    registry.add(session);
  });
  follow(session, registry, killGraceMs);
  return session.child.warnings ?? [];
}

/** Sets the timeout and awaits the end. Apart from the start, so that what lives as long as the session holds no spec. */
function follow(session: Session, registry: Registry, killGraceMs: number): void {
  const { clock, facts } = session;
  const cancelTimeout = longTimer(clock, facts.timeoutMs, () => void stop(session, "timeout", killGraceMs));
  void followToEnd(session).then(() => {
    cancelTimeout();
    registry.ended(session);
  });
}
