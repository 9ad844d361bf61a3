/**
 * Whether anybody still cares about a session: when it was last asked for. What it prints is no sign of that, a forgotten
 * server prints for ever.
 *
 * @module
 */
import type { Session } from "./session.ts";

/** Marks a session as in use. @returns a function to call when that is over */
export function use(session: Session): () => void {
  session.users += 1;
  return () => {
    session.users -= 1;
    session.lastUsedAt = session.clock.monotonic();
  };
}

/** How long nobody has asked for a session, ms; 0 while somebody does. */
export function unusedMs({ users, lastUsedAt, clock }: Session): number {
  return users > 0 ? 0 : clock.monotonic() - lastUsedAt;
}
