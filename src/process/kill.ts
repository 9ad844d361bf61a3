/**
 * `kill`: ends a session's whole tree, or sends one signal.
 *
 * @module
 */
import { wasNotified } from "../session/news.ts";
import type { Registry } from "../session/registry.ts";
import type { Session, Survivor } from "../session/session.ts";
import { signalTree, stop } from "../session/stop.ts";
import { waitFor } from "../session/wait.ts";
import { seconds } from "../session/spans.ts";
import { livingOn, statusText, toldBefore } from "../session/wording.ts";
import { notPossible, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";
import { LONGEST_WAIT_MS } from "./until.ts";

/** `details` of a kill. */
export interface KillDetails extends StatusDetails {
  /** Whether the end is certain by now: the shell has ended and so has its tree. */
  readonly confirmed: boolean;
  /** Processes of an ended session that still live. */
  readonly survivors: readonly Survivor[];
  /** Whether an event has told of its end before. */
  readonly notified: boolean;
}

/** Starts the stop ladder (or sends `signal`), waits for the end up to `wait`, and says how far it has come. */
export async function kill(
  { registry, settings }: ProcessContext,
  session: Session,
  params: SessionParams,
  { signal: abort }: ProcessOptions,
): Promise<ProcessAnswer<KillDetails>> {
  const timeoutMs = Math.min(LONGEST_WAIT_MS, params.wait ?? 0);
  const treeLeft = session.state.kind === "ended" ? await registry.lookAgain(session) : [];
  if (session.state.kind === "ended" && treeLeft.length === 0) {
    return answer(session, [], `It has already ended. [${endText(session)}]`);
  }
  if (params.signal !== undefined) return await one(registry, session, params, timeoutMs, abort);
  const stopped = stop(session, "killed", settings.killGraceMs);
  if (treeLeft.length > 0) void stopped.then(() => registry.lookAgain(session)); // whoever asks later is told the truth
  await waitFor(session, () => isOver(session), { timeoutMs, signal: abort });
  const survivors = isOver(session) ? await registry.lookAgain(session) : treeLeft;
  return answer(session, survivors, undefined, settings.killGraceMs);
}

/** One signal alone: what it does is the program's affair. */
async function one(
  registry: Registry,
  session: Session,
  { signal = "SIGTERM" }: SessionParams,
  timeoutMs: number,
  abort: AbortSignal | undefined,
): Promise<ProcessAnswer<KillDetails>> {
  const outcome = await signalTree(session, signal);
  if (outcome === "refused") {
    return notPossible(`Cannot send ${signal} to session "${session.id}": the system does not permit it`);
  }
  await waitFor(session, () => session.state.kind === "ended", { timeoutMs, signal: abort });
  const survivors = session.state.kind === "ended" ? await registry.lookAgain(session) : [];
  const left = survivors.length === 0 ? "" : ` [${livingOn(survivors)}]`;
  return answer(
    session,
    survivors,
    `${signal} ${outcome === "sent" ? "sent" : "not sent: nobody is there"}. [${endText(session)}]${left}`,
  );
}

function isOver(session: Session): boolean {
  return session.state.kind === "ended" && session.stopping === undefined;
}

function answer(
  session: Session,
  survivors: readonly Survivor[],
  text: string | undefined,
  graceMs = 0,
): ProcessAnswer<KillDetails> {
  const confirmed = isOver(session) && survivors.length === 0;
  const details: KillDetails = { ...statusOf(session), confirmed, survivors, notified: wasNotified(session) };
  return { text: text ?? sentence(session, confirmed, survivors, graceMs), details, isError: false };
}

/** An event may have told the end before: of a shell whose processes are ended now, or between the signal and the end. */
function endText(session: Session): string {
  return statusText(session) + toldBefore(wasNotified(session));
}

function sentence(session: Session, confirmed: boolean, survivors: readonly Survivor[], graceMs: number): string {
  if (statusOf(session).reason === "host-lost") return `Nobody can reach it any more. [${endText(session)}]`;
  if (confirmed) return `Ended, with all its processes. [${endText(session)}]`;
  if (isOver(session)) {
    return `It could not be ended completely: ${livingOn(survivors)}. [${endText(session)}]`;
  }
  return `SIGTERM sent to all its processes; what is left after ${seconds(graceMs)} gets SIGKILL. ` +
    `poll with until: "exit" tells the end.`;
}
