/**
 * `remove`: ends a session if need be, and forgets it.
 *
 * @module
 */
import { survivorsOf } from "../session/end.ts";
import type { Session } from "../session/session.ts";
import { statusText } from "../session/wording.ts";
import { stop } from "../session/stop.ts";
import { type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext } from "./dispatch.ts";

/** Hides a session at once; it counts as active until its end is confirmed (spec P42, R6). */
export async function remove(
  { registry, settings }: ProcessContext,
  session: Session,
): Promise<ProcessAnswer<StatusDetails>> {
  const details = statusOf(session);
  if (session.state.kind === "running") {
    registry.hide(session);
    void stop(session, "killed", settings.killGraceMs);
    return { text: `Removed ${session.id}; its processes are being ended.`, details, isError: false };
  }
  if ((await survivorsOf(session)).length > 0) {
    registry.hide(session);
    void stop(session, "killed", settings.killGraceMs).then(() => registry.drop(session, "removed"));
    return { text: `Removed ${session.id}; the processes it left are being ended.`, details, isError: false };
  }
  registry.drop(session, "removed");
  return { text: `Removed ${session.id}. [${statusText(session)}]`, details, isError: false };
}
