/**
 * `list`: the sessions of the scope.
 *
 * @module
 */
import { tailOfLog } from "../output/budget.ts";
import { type InputEvidence, type InputWait, inputWait } from "../session/input_wait.ts";
import { tellEnd } from "../session/news.ts";
import type { Session, Survivor } from "../session/session.ts";
import { seconds } from "../session/spans.ts";
import { inputHint, livingOn, statusText } from "../session/wording.ts";
import { type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";

/** One session of a list (spec P1). */
export interface ListEntry extends StatusDetails {
  /** The agent that owns it. */
  readonly scope: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** How long it has run, or ran, ms. */
  readonly runtimeMs: number;
  /** Wall clock of its start, ms since the epoch. */
  readonly startedAt: number;
  /** Process id of its shell. */
  readonly pid: number | null;
  /** Where it runs. */
  readonly cwd: string;
  /** `gateway`, `sandbox` or the node's name. */
  readonly host: string;
  /** The node it runs on; absent if it runs on none. */
  readonly node?: string;
  /** Whether it has a terminal. */
  readonly pty: boolean;
  /** Whether it can be written to. */
  readonly stdin: "open" | "closed";
  /** Whether its program waits for input. */
  readonly waitingForInput: boolean;
  /** How that is known. */
  readonly evidence: InputEvidence | null;
  /** Time since its last output or input, ms. */
  readonly idleMs: number;
  /** Whether older output is not held any more. */
  readonly truncated: boolean;
  /** Processes it started that still live, once it has ended. */
  readonly survivors: readonly Survivor[];
  /** Its last line. */
  readonly tail: string;
}

/** `details` of a list. */
export interface ListDetails {
  /** Newest start first. */
  readonly sessions: readonly ListEntry[];
}

/** Characters of the last line that are shown. */
const TAIL_LINE_CHARS = 120;

/** Lists the scope's sessions, newest start first. */
export async function list(
  { scope, registry, settings }: ProcessContext,
  { onlooker, only }: ProcessOptions,
): Promise<ProcessAnswer<ListDetails>> {
  const visible = registry.visible(scope).filter(({ id }) => only === undefined || id === only);
  const waits = await Promise.all(visible.map((session) => inputWait(session, settings.inputWaitIdleMs)));
  const left = visible.filter(({ state }) => state.kind === "ended" && state.survivors.length > 0);
  await Promise.all(left.map((session) => registry.lookAgain(session)));
  const sessions = visible.map((session, index) => entry(session, waits[index] ?? { waiting: false }));
  if (onlooker !== true) visible.filter(({ state }) => state.kind === "ended").forEach(tellEnd);
  const lines = visible.map((session, index) => line(session, sessions[index] as ListEntry, waits[index], scope));
  const text = lines.length === 0 ? "No sessions." : lines.join("\n");
  return { text, details: { sessions }, isError: false };
}

function entry(session: Session, wait: InputWait): ListEntry {
  const { facts, log, state } = session;
  return {
    ...statusOf(session),
    scope: facts.scope,
    name: session.name,
    runtimeMs: Math.round(session.durationMs),
    startedAt: session.startedAt,
    pid: session.pid ?? null,
    cwd: facts.cwd,
    host: facts.host,
    ...(facts.node !== undefined && { node: facts.node }),
    pty: facts.pty,
    stdin: session.input === "open" ? "open" : "closed",
    waitingForInput: wait.waiting,
    evidence: wait.evidence ?? null,
    idleMs: Math.round(session.idleMs),
    truncated: log.start > 0,
    survivors: state.kind === "ended" ? state.survivors : [],
    tail: lastLine(tailOfLog(log, TAIL_LINE_CHARS)),
  };
}

function line(session: Session, details: ListEntry, wait: InputWait | undefined, scope: string): string {
  const hint = wait === undefined ? undefined : inputHint(session, wait);
  const parts = [
    `${details.sessionId}  ${details.name}`,
    ...(details.scope === scope ? [] : [`of ${details.scope}`]),
    `${statusText(session)}, ${seconds(details.runtimeMs)}`,
    ...(details.pid === null ? [] : [`pid ${details.pid}`]),
    ...(details.pty ? ["pty"] : []),
    ...(details.host === "gateway" ? [] : [`on ${details.host}`]),
    ...(hint === undefined ? [] : [hint]),
    ...(details.truncated ? ["older output dropped"] : []),
    ...(details.survivors.length === 0 ? [] : [livingOn(details.survivors)]),
    ...(details.tail === "" ? [] : [`last line: ${details.tail}`]),
  ];
  return parts.join(" | ");
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? "";
}
