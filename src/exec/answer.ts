/**
 * What `exec` answers: `details` for programs, `text` for the model.
 *
 * @module
 */
import { fewProblems, listProblems, type OffstageError, type Problem } from "../errors.ts";
import { type LimitEnd, type Limits, limitsText } from "../limits.ts";
import { type BoundedOutput, tailOfLog } from "../output/budget.ts";
import type { SignalName } from "../runtime.ts";
import type { InputEvidence, InputWait } from "../session/input_wait.ts";
import type { EndReason, EndStatus } from "../session/outcome.ts";
import type { Session, Survivor } from "../session/session.ts";
import type { Notice } from "../session/events.ts";
import type { Match } from "../session/line_watch.ts";
import {
  afterwards,
  bufferLoss,
  endSentence,
  followUp,
  fullScreenHint,
  inputHint,
  isFullScreen,
  matchSentence,
  survivorsSentence,
  twinSentences,
} from "../session/wording.ts";
import { TAIL_CHARS } from "./updates.ts";

/** What both tools answer. */
export interface ToolAnswer<Details> {
  /** For the model: the output, then what there is to know and what to do next, in lines in square brackets. */
  readonly text: string;
  /** For programs: plain JSON. */
  readonly details: Details;
  /** Whether the call failed. A command that exits with another code than 0 has not failed: it has completed. */
  readonly isError: boolean;
}

/** `details` of a command that runs on in the background (spec E28). */
export interface RunningDetails {
  /** It runs. */
  readonly status: "running";
  /** The id by which `process` knows it. */
  readonly sessionId: string;
  /** Process id of the shell, where there is one. */
  readonly pid: number | null;
  /** Wall clock of the start, ms since the epoch. */
  readonly startedAt: number;
  /** Where it runs. */
  readonly cwd: string;
  /** Its command's verb and target, e.g. `npm run`. */
  readonly name: string;
  /** `gateway`, `sandbox` or the node's name. */
  readonly host: string;
  /** The node it runs on; absent if it runs on none. */
  readonly node?: string;
  /** The shell's kind: `bash`, `zsh`, `sh` … */
  readonly shell: string;
  /** Whether it has a terminal. */
  readonly pty: boolean;
  /** Whether it can be written to. */
  readonly stdin: "open" | "closed";
  /** Whether its program waits for input, which is why the answer came before `yieldMs`. */
  readonly waitingForInput: boolean;
  /** How that is known: never by a guess. */
  readonly evidence: InputEvidence | null;
  /** The program that waits for input. */
  readonly reader: string | null;
  /** Its newest output, at most 2000 characters. */
  readonly tail: string;
  /** Wall clock of its timeout, ms since the epoch; `null` if it has none. */
  readonly timeoutAt: number | null;
  /** What it is held to; absent if nothing. */
  readonly limits?: Limits;
  /** Sessions of this scope that run the same command in the same directory: the newest three. */
  readonly twins: readonly string[];
  /** How many more of them there are; absent if none. */
  readonly moreTwins?: number;
  /** The first line that matched `notifyOn` while the call waited; no event tells it. Absent if there was none. */
  readonly match?: Match;
  /** What the caller ought to know. */
  readonly warnings: readonly string[];
}

/** `details` of a command that has ended (spec R2). */
export interface EndedDetails {
  /** `completed` = ended by itself, whatever its code. */
  readonly status: EndStatus;
  /** Completed with code 0. */
  readonly ok: boolean;
  /** Exit code; `null` if a signal ended it or it is unknown. */
  readonly exitCode: number | null;
  /** The signal that ended it. */
  readonly signal: SignalName | null;
  /** Why it ended. */
  readonly reason: EndReason;
  /** The limit that ended it; `null` if none did, or nobody can tell. */
  readonly limit: LimitEnd | null;
  /** Its output, rendered, stdout and stderr as they came. */
  readonly output: string;
  /** Whether some of the output is left out. */
  readonly truncated: boolean;
  /** Characters left out. */
  readonly omittedChars: number;
  /** Lines left out. */
  readonly omittedLines: number;
  /** How long it ran, ms. */
  readonly durationMs: number;
  /** Wall clock of the start, ms since the epoch. */
  readonly startedAt: number;
  /** Where it ran. */
  readonly cwd: string;
  /** `gateway`, `sandbox` or the node's name. */
  readonly host: string;
  /** The node it runs on; absent if it runs on none. */
  readonly node?: string;
  /** The shell's kind: `bash`, `zsh`, `sh` … */
  readonly shell: string;
  /** Whether it had a terminal. */
  readonly pty: boolean;
  /** Processes it started that still live. */
  readonly survivors: readonly Survivor[];
  /** What the caller ought to know. */
  readonly warnings: readonly string[];
  /** Present if the session was kept: its output or its tree is still there for `process`. */
  readonly sessionId?: string;
}

/** `details` of a call that started nothing (spec E29, R1). */
export interface NotStartedDetails {
  /** It failed. */
  readonly status: "failed";
  /** Why nothing was started. */
  readonly reason: "invalid" | "refused" | "spawn-error" | "shutdown";
  /** Never. */
  readonly ok: false;
  /** None. */
  readonly exitCode: null;
  /** None. */
  readonly signal: null;
  /** What happened. */
  readonly message: string;
  /** Everything that is wrong with the parameters. */
  readonly problems: readonly Problem[];
}

/** `details` of an answer of `exec`; `status` and `reason` tell which. */
export type ExecDetails = RunningDetails | EndedDetails | NotStartedDetails;

/** What `exec` answers. */
export type ExecAnswer = ToolAnswer<ExecDetails>;

const REASONS: Readonly<Partial<Record<OffstageError["code"], NotStartedDetails["reason"]>>> = {
  "invalid": "invalid",
  "refused": "refused",
  "closed": "shutdown",
};

/** The answer when nothing was started. */
export function notStarted(error: OffstageError): ExecAnswer {
  const { message } = error;
  const problems = fewProblems(error.problems);
  const text = problems.length === 0 ? message : `${message}. ${listProblems(problems)}`;
  const reason = REASONS[error.code] ?? "spawn-error";
  return {
    text,
    details: { status: "failed", reason, ok: false, exitCode: null, signal: null, message, problems },
    isError: true,
  };
}

/** What there is to say about a command that runs on, beside its session. */
export interface RunningNews extends Pick<RunningDetails, "warnings" | "twins" | "moreTwins"> {
  /** Of what the agent will be told by itself. */
  readonly notice: Notice;
  /** What matched `notifyOn` meanwhile. */
  readonly match: Match | undefined;
  /** Whether its program waits for input. */
  readonly input: InputWait;
}

/** The answer when the command runs on. */
export function running(
  session: Session,
  { warnings, twins, moreTwins, notice, match, input }: RunningNews,
): ExecAnswer {
  const { name } = session;
  const { id, cwd, host, node, shell, pty, timeoutMs, limits } = session.facts;
  const tail = tailOfLog(session.log, TAIL_CHARS);
  const pid = session.pid ?? null;
  const timeoutAt = timeoutMs === Infinity ? null : session.startedAt + timeoutMs;
  const details: RunningDetails = {
    status: "running",
    sessionId: id,
    pid,
    startedAt: session.startedAt,
    cwd,
    name,
    host,
    ...(node !== undefined && { node }),
    shell,
    pty,
    stdin: session.input === "open" ? "open" : "closed",
    waitingForInput: input.waiting,
    evidence: input.evidence ?? null,
    reader: input.process ?? null,
    tail,
    timeoutAt,
    ...(limits !== undefined && { limits }),
    twins,
    ...(moreTwins !== undefined && { moreTwins }),
    ...(match !== undefined && { match }),
    warnings,
  };
  const fullScreen = fullScreenHint(session);
  const lines = [
    ...(tail === "" ? [] : [tail.replace(/\n$/, "")]),
    `[running in the background: session ${id}${pid === null ? "" : `, pid ${pid}`}${afterwards(session.facts)}]`,
    ...(match === undefined ? [] : [`[${matchSentence(match)}]`]),
    ...inputLines(session, input),
    `[${followUp(id, notice)}]`,
    ...(fullScreen === undefined ? [] : [`[${fullScreen}]`]),
    ...(limits === undefined ? [] : [`[limits: ${limitsText(limits)}]`]),
    ...twinSentences(twins, moreTwins).map((sentence) => `[${sentence}]`),
    ...notes(session, warnings),
  ];
  return { text: lines.join("\n"), details, isError: false };
}

function inputLines(session: Session, input: InputWait): readonly string[] {
  const hint = inputHint(session, input);
  if (hint === undefined) return [];
  const { id, pty } = session.facts;
  if (isFullScreen(session)) {
    return [`[${hint}]`, `[process { action: "send-keys", sessionId: "${id}", keys: ["…"] } answers it]`];
  }
  const answer = pty
    ? `process { action: "write", sessionId: "${id}", data: "…" }, then { action: "submit", sessionId: "${id}" },`
    : `process { action: "write", sessionId: "${id}", data: "…\\n" }`;
  return [`[${hint}]`, `[${answer} answers it]`];
}

/**
 * The answer when the command has ended.
 *
 * @param kept whether the agent can still ask for the session by its id
 */
export function ended(session: Session, output: BoundedOutput, warnings: readonly string[], kept: boolean): ExecAnswer {
  const { state, facts } = session;
  if (state.kind !== "ended") throw new TypeError("Cannot describe the end of a running session");
  const { outcome, survivors } = state;
  const { status, ok, exitCode, signal, reason, limit } = outcome;
  const allWarnings = [
    ...warnings,
    ...state.notes,
    ...bufferLoss(session, outcome),
    ...(output.binary ? ["the output is mostly binary"] : []),
  ];
  const details: EndedDetails = {
    status,
    ok,
    exitCode,
    signal,
    reason,
    limit,
    output: output.text,
    truncated: output.truncated,
    omittedChars: output.omittedChars,
    omittedLines: output.omittedLines,
    durationMs: state.durationMs,
    startedAt: session.startedAt,
    cwd: facts.cwd,
    host: facts.host,
    ...(facts.node !== undefined && { node: facts.node }),
    shell: facts.shell,
    pty: facts.pty,
    survivors,
    warnings: allWarnings,
    ...(kept && { sessionId: facts.id }),
  };
  const sentence = endSentence(session, outcome);
  const lines = [
    output.text === "" ? "(no output)" : output.text.replace(/\n$/, ""),
    ...(sentence === undefined ? [] : [`[${sentence}]`]),
    ...(output.truncated && kept
      ? [`[all output that is held: process { action: "log", sessionId: "${facts.id}" }]`]
      : []),
    ...(survivors.length === 0 ? [] : [`[${survivorsSentence(facts.id, survivors, kept)}]`]),
    ...notes(session, allWarnings),
  ];
  return { text: lines.join("\n"), details, isError: outcome.status === "failed" };
}

function notes({ facts: { node, shell } }: Session, warnings: readonly string[]): readonly string[] {
  return [
    ...(node === undefined ? [] : [`[on node ${node}]`]), // it may have been any
    ...(shell === "bash" ? [] : [`[ran in ${shell}]`]),
    ...warnings.map((warning) => `[${warning}]`),
  ];
}
