/**
 * The end of a session as news: told once, by an answer or by an event (spec S9, R9).
 *
 * @module
 */
import type { StopCause } from "./outcome.ts";
import type { Session } from "./session.ts";

/** Whoever stops a session for one of these knows that it ends. */
const REQUESTED: readonly StopCause[] = ["killed", "aborted", "shutdown"];

/** Whether a session's end is worth an event: nobody has told it, and nobody asked for it. */
export function isNews({ state, facts, endTold, stopCause, leftoverCause }: Session): boolean {
  if (state.kind === "running" || endTold || !facts.notifyOnExit) return false;
  return !isRequested(stopCause ?? (state.outcome.reason === "killed" ? "killed" : leftoverCause));
}

/** Whether who stops a session for this, if anybody does, knows that it ends. */
export function isRequested(cause: StopCause | undefined): boolean {
  return cause !== undefined && REQUESTED.includes(cause);
}

/** An answer tells a session's end: an event of it that nobody has seen is withdrawn. */
export function tellEnd(session: Session): void {
  session.endTold = true;
  if (session.endEvent?.state === "queued") session.endEvent.state = "withdrawn";
}

/** Whether somebody has seen the event of a session's end. */
export function wasNotified({ endEvent }: Session): boolean {
  return endEvent?.state === "delivered";
}
