/**
 * Sentences about a session for the model: how it ended, what lives on, when its time is up.
 *
 * @module
 */
import { LIMIT_NAMES, type LimitName } from "../limits.ts";
import type { InputWait } from "./input_wait.ts";
import { AS_ROOT } from "./limit_words.ts";
import type { Notice } from "./events.ts";
import type { Match } from "./line_watch.ts";
import type { Outcome, StopCause } from "./outcome.ts";
import type { Session, SessionState, Survivor } from "./session.ts";
import { seconds, span } from "./spans.ts";

/** What the shells' own codes mean (spec E26). */
const CODE_HINTS: Readonly<Record<number, string>> = {
  126: "found but not executable",
  127: "command not found",
};

/** How many survivors are named before the rest is counted. */
const NAMED_SURVIVORS = 8;

/** A session's state in a few words: its present one, or the one an answer is about. */
export function statusText(session: Session, state: SessionState = session.state): string {
  const cut = session.outputCut ? `, ${pastLimit(session)}` : "";
  if (state.kind === "running") return `running${cut}`;
  const { status, limit } = state.outcome;
  const sentence = endSentence(session, state.outcome) ?? "exit code 0";
  const text = sentence.startsWith(status) ? sentence : `${status}: ${sentence}`;
  return limit?.evidence === "counted" ? text : text + cut;
}

/** How a session ended, or `undefined` for a plain success, which needs no words. */
export function endSentence(session: Session, outcome: Outcome): string | undefined {
  const sentence = reasonSentence(session, outcome);
  const limit = limitClause(session, outcome);
  return limit === undefined ? sentence : `${sentence}; ${limit}`;
}

function reasonSentence(session: Session, outcome: Outcome): string | undefined {
  const { exitCode, signal, reason, limit } = outcome;
  switch (reason) {
    case "exit":
      if (session.stopCause !== undefined) {
        const why = session.stopCause === "idle" ? ` because ${forgotten(session)}` : "";
        return `exited with code ${exitCode} while it was being killed${why}`;
      }
      if (exitCode === null) return "ended; its exit code is unknown";
      return exitCode === 0 ? undefined : `exit code ${exitCode}${hint(exitCode)}`;
    case "signal":
      return `ended by signal ${signal}${limit?.evidence === "signal" ? "" : ", which was not sent on request"}`;
    case "timeout":
      return `timed out after ${seconds(session.facts.timeoutMs)}, ${byWhat(outcome)}`;
    case "killed":
      if (session.stopCause === "idle") return `${forgotten(session)}, ${byWhat(outcome)}`;
      return limit === null ? `killed on request, ${byWhat(outcome)}` : `killed, ${byWhat(outcome)}`;
    case "aborted":
      return `aborted by the caller, ${byWhat(outcome)}`;
    case "shutdown":
      return `ended because its host shut down, ${byWhat(outcome)}`;
    case "spawn-error":
      return "could not be started";
    case "host-lost":
      return `its host was lost (${session.exit?.lost ?? "why is unknown"}): how it ended there is unknown`;
  }
}

/** What lives on after the shell, and how to end it, unless the agent cannot. */
export function survivorsSentence(id: string, survivors: readonly Survivor[], canEnd: boolean = true): string {
  const left = `the shell has exited, ${livingOn(survivors)}`;
  return canEnd ? `${left}; process { action: "kill", sessionId: "${id}" } ends them` : left;
}

/** How many live on, and who. */
export function livingOn(survivors: readonly Survivor[]): string {
  const named = survivors.slice(0, NAMED_SURVIVORS).map(({ pid, name }) => `${name} ${pid}`).join(", ");
  const more = survivors.length > NAMED_SURVIVORS ? ` and ${survivors.length - NAMED_SURVIVORS} more` : "";
  const verb = survivors.length === 1 ? "process it started still runs" : "processes it started still run";
  return `${survivors.length} ${verb}: ${named}${more}`;
}

/** What became of processes that the shell had left behind, if they were stopped while they still held its output. */
export function leftoverNotes(session: Session, survivors: readonly Survivor[]): readonly string[] {
  const { leftoverCause, facts } = session;
  if (leftoverCause === undefined) return [];
  const why: Readonly<Record<StopCause, string>> = {
    timeout: `timed out after ${seconds(facts.timeoutMs)}`,
    killed: "killed on request",
    aborted: "aborted by the caller",
    shutdown: "its host shut down",
    limit: "they printed more than limits.outputBytes",
    idle: forgotten(session),
  };
  const result = survivors.length === 0 ? "were ended" : "were stopped, but not all have ended";
  return [`the processes that the shell had left behind ${result}: ${why[leftoverCause]}`];
}

/** Whether a full-screen program is up: it takes single keys, and what it draws has to be asked for. */
export function isFullScreen({ watch, state }: Session): boolean {
  return state.kind === "running" && watch?.modes.alternateScreen === true;
}

/** Says that what a program draws has to be asked for; `undefined` if no full-screen program is up. */
export function fullScreenHint(session: Session): string | undefined {
  if (!isFullScreen(session)) return undefined;
  return `a full-screen program is up: process { action: "screen", sessionId: "${session.id}" } shows what it draws`;
}

/** That a session waits for input; `undefined` if it does not. */
export function inputHint(session: Session, wait: InputWait): string | undefined {
  if (!wait.waiting) return undefined;
  const keys = isFullScreen(session) ? "send-keys" : "write or send-keys, then submit";
  const how = session.facts.pty ? keys : "write or submit; eof: true ends its input";
  if (wait.evidence === "blocked-in-read") return `waiting for input: ${wait.process} is reading it (${how})`;
  return `maybe waiting for input: silent for ${Math.round(session.idleMs / 1_000)} s with its stdin open (${how})`;
}

/** When a running session's time is up. */
export function afterwards({ timeoutMs, idleEndMs }: Session["facts"]): string {
  const timeout = timeoutMs === Infinity
    ? ", no timeout"
    : `, stopped after ${seconds(timeoutMs)} (timeout) if still running`;
  return idleEndMs > 0 ? `${timeout}, ended if nobody asks for it for ${span(idleEndMs)}` : timeout;
}

/** Why an idle end came. */
function forgotten({ facts }: Session): string {
  return `nobody had asked for it for ${span(facts.idleEndMs)} (idleEndMs)`;
}

/** How to follow up a session that runs on (spec E28). */
export function followUp(id: string, { end, match }: Notice): string {
  const poll = `process { action: "poll", sessionId: "${id}", timeout: 30000 } waits for more output`;
  const news = [
    ...(match ? ["when a line matches notifyOn"] : []),
    ...(end === "never" ? [] : [`when it ends${end === "always" ? "" : ", unless it succeeds without output"}`]),
  ];
  return news.length === 0 ? `${poll} or the end` : `you will be told ${news.join(" and ")}; ${poll}`;
}

/** What has matched `notifyOn` while `exec` waited. */
export function matchSentence({ line, lineNumber, matched, skippedLines }: Match): string {
  const more = matched === 1 ? "" : `; ${matched - 1} more ${matched === 2 ? "line matches" : "lines match"}`;
  const skipped = skippedLines === 0 ? "" : `; ${skippedLines} lines came too fast to be looked at`;
  return `notifyOn has matched line ${lineNumber}: ${line}${more}${skipped}`;
}

/** Put behind an end of which an event has told before (spec R9). */
export function toldBefore(notified: boolean): string {
  return notified ? " (an event has told so before)" : "";
}

function hint(code: number): string {
  const meaning = CODE_HINTS[code];
  return meaning === undefined ? "" : `: ${meaning}`;
}

function byWhat({ exitCode, signal }: Outcome): string {
  if (signal !== null) return `ended by ${signal}`;
  return exitCode === null ? "how it ended is unknown" : `exited with code ${exitCode}`;
}

/** A program on pipes buffers what it prints in blocks; a signal throws the unprinted block away. */
export function bufferLoss(session: Session, { signal }: Outcome): readonly string[] {
  const { stopCause } = session;
  const lost = signal !== null && stopCause !== undefined && stopCause !== "limit" && !session.facts.pty;
  return lost ? ["output that the program had buffered and not written yet may be lost"] : [];
}

/** That limits are not in force, because the shell cannot set them. */
export function limitWarnings(names: readonly string[], shell: string): readonly string[] {
  return LIMIT_NAMES.filter((name) => names.includes(name))
    .map((name) => `limits.${name} is not in force: ${shell} could not set it`);
}

/** The same as far as a session's shell has reported it by now. */
export function reportWarnings({ facts, limitReport = [] }: Session): readonly string[] {
  const asRoot = "limits.processes may not hold: the kernel holds no command of root to it";
  return [...limitWarnings(limitReport, facts.shell), ...(limitReport.includes(AS_ROOT) ? [asRoot] : [])];
}

/** What is left to say about limits at a session's end. */
export function limitNotes(session: Session): readonly string[] {
  const { facts, limitReport, limitsTold, outputCut, stopCause } = session;
  if (facts.limits === undefined) return [];
  const isUnknown = facts.reportsLimits === true && limitReport === undefined;
  return [
    ...(isUnknown ? [`its limits may not have been in force: ${facts.shell} did not report on them`] : []),
    ...(limitsTold ? [] : reportWarnings(session)),
    ...(outputCut && stopCause !== "limit" ? [pastLimit(session)] : []),
  ];
}

/** That a command runs already: the sessions that are named, and how many more there are. */
export function twinSentences(ids: readonly string[], more = 0): readonly string[] {
  const named = ids.map((id) => `the same command already runs here as session ${id}`);
  if (more === 0) return named;
  return [...named, `and as ${more} more ${more === 1 ? "session" : "sessions"}: process { action: "list" }`];
}

function limitClause(session: Session, { limit }: Outcome): string | undefined {
  if (limit === null) return undefined;
  const named = limitWithValue(session, limit.name);
  switch (limit.evidence) {
    case "counted":
      return pastLimit(session);
    case "signal":
      return `its CPU time was used up: ${named}`;
    case "output":
      return `probably because of ${named}, its output says so`;
  }
}

function pastLimit(session: Session): string {
  return `it printed more than ${limitWithValue(session, "outputBytes")}, what came after that is dropped`;
}

function limitWithValue({ facts }: Session, name: LimitName): string {
  return `limits.${name} ${facts.limits?.[name]}`;
}
