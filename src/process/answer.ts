/**
 * The parts that the answers of `process` have in common.
 *
 * @module
 */
import type { ToolAnswer } from "../exec/answer.ts";
import { clipped, fewProblems, listProblems, type Problem } from "../errors.ts";
import type { LimitEnd } from "../limits.ts";
import type { SignalName } from "../runtime.ts";
import type { EndReason, EndStatus, Outcome } from "../session/outcome.ts";
import type { Session, SessionState } from "../session/session.ts";
import type { Departure, Tombstone } from "../session/tombstones.ts";
import { span } from "../session/spans.ts";

/** State of a session, with the same names in every answer (spec R2). `null` where it has not ended. */
export interface StatusDetails {
  /** Its id. */
  readonly sessionId: string;
  /** `running`, or how it ended. */
  readonly status: "running" | EndStatus;
  /** Whether it completed with code 0; `null` while it runs. */
  readonly ok: boolean | null;
  /** Exit code; `null` while it runs, if a signal ended it, or if it is unknown. */
  readonly exitCode: number | null;
  /** The signal that ended it. */
  readonly signal: SignalName | null;
  /** Why it ended. */
  readonly reason: EndReason | null;
  /** The limit that ended it; `null` if none did, or nobody can tell. */
  readonly limit: LimitEnd | null;
}

/** `details` of a call that failed; nothing was done and nothing consumed, unless `taken` says so. */
export interface FailureDetails {
  /** It failed. */
  readonly status: "failed";
  /** `invalid` = the parameters; otherwise why the session could not do it. */
  readonly reason: "invalid" | "unknown-session" | "gone" | "not-possible";
  /** What happened and what to do next. */
  readonly message: string;
  /** Everything that is wrong with the parameters. */
  readonly problems: readonly Problem[];
  /** Ids of the scope's sessions, if the one given is not among them. */
  readonly known: readonly string[];
  /** What is remembered of the session, if it is `gone`. */
  readonly departed?: DepartedSession;
  /** Bytes that were handed over before the program closed its stdin, if it did so in the middle of a write. */
  readonly taken?: number;
}

/** How a session ended that is not kept any more, and how it went. */
export interface DepartedSession extends Outcome {
  /** Verb and target of its command. */
  readonly name: string;
  /** Wall clock of its end, ms since the epoch. */
  readonly endedAt: number;
  /** Wall clock of its departure, ms since the epoch. */
  readonly goneAt: number;
  /** Why it went: its time to live passed, newer ones took its place, or somebody asked for that. */
  readonly why: Departure;
}

/** An answer of `process`. */
export type ProcessAnswer<Details = object> = ToolAnswer<Details | FailureDetails>;

/** State of a session, for `details`: its present one, or the one an answer is about. */
export function statusOf(session: Session, state: SessionState = session.state): StatusDetails {
  const { id } = session;
  if (state.kind === "ended") return { sessionId: id, ...state.outcome };
  return { sessionId: id, status: "running", ok: null, exitCode: null, signal: null, reason: null, limit: null };
}

/** The answer to a call that cannot be done on this session. */
export function notPossible(message: string, more: Pick<FailureDetails, "taken"> = {}): ProcessAnswer<never> {
  return failure({ reason: "not-possible", message, ...more });
}

/** The answer to a call whose parameters are wrong. */
export function invalidCall(problems: readonly Problem[]): ProcessAnswer<never> {
  const few = fewProblems(problems);
  return failure({ reason: "invalid", message: `Nothing was done. ${listProblems(few)}`, problems: few });
}

/** What is repeated of an id that is none, UTF-16 units. */
const LONGEST_ID = 100;

/** The answer to an id that is not among the scope's. */
export function unknownSession(id: string, known: readonly string[]): ProcessAnswer<never> {
  const list = known.length === 0 ? "there are none" : `known are ${known.join(", ")}`;
  return failure({ reason: "unknown-session", message: `No session "${clipped(id, LONGEST_ID)}": ${list}`, known });
}

/** Why a session is not kept any more. */
const DEPARTURES: Readonly<Record<Departure, string>> = {
  expired: "its time to live passed",
  evicted: "newer ones took its place",
  cleared: "it was cleared",
  removed: "it was removed",
};

/** The answer to an id whose session is not kept any more, as of `now`. */
export function goneSession(stone: Tombstone, known: readonly string[], now: number): ProcessAnswer<never> {
  const { id, name, ending, endedAt, goneAt, why } = stone;
  const message = `Session "${id}" (${name}) is not kept any more: ${DEPARTURES[why]} ${ago(now - goneAt)}. ` +
    `It had ended ${ago(now - endedAt)}, ${ending}. Its output is gone`;
  return failure({ reason: "gone", message, known, departed: { ...stone.outcome, name, endedAt, goneAt, why } });
}

function ago(ms: number): string {
  const whole = Math.round(ms / 1_000) * 1_000;
  return whole < 1_000 ? "just now" : `${span(whole)} ago`;
}

function failure(
  parts: Pick<FailureDetails, "reason" | "message"> & Partial<FailureDetails>,
): ProcessAnswer<never> {
  return { text: parts.message, details: { status: "failed", problems: [], known: [], ...parts }, isError: true };
}
