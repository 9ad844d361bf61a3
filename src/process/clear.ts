/**
 * `clear`: forgets a session that has ended.
 *
 * @module
 */
import { survivorsOf } from "../session/end.ts";
import type { Session } from "../session/session.ts";
import { statusText, survivorsSentence } from "../session/wording.ts";
import { notPossible, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext } from "./dispatch.ts";

/** Forgets an ended session; one that runs, or whose tree does, is refused (spec P42, R6). */
export async function clear(
  { registry }: ProcessContext,
  session: Session,
): Promise<ProcessAnswer<StatusDetails>> {
  if (session.state.kind === "running") {
    return notPossible(
      `Cannot clear session "${session.id}": it is running. Use kill, or remove to kill and forget it`,
    );
  }
  const survivors = await survivorsOf(session);
  if (survivors.length > 0) {
    return notPossible(`Cannot clear session "${session.id}": ${survivorsSentence(session.id, survivors)}`);
  }
  const text = `Cleared ${session.id}. [${statusText(session)}]`;
  const details = statusOf(session);
  registry.drop(session, "cleared");
  return { text, details, isError: false };
}
