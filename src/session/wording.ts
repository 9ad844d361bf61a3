/**
 * Sentences about a session for the model: how it ended, what lives on, when its time is up.
 *
 * @module
 */
import type { Outcome, StopCause } from "./outcome.ts";
import type { Session, SessionState, Survivor } from "./session.ts";

/** What the shells' own codes mean (spec E26). */
const CODE_HINTS: Readonly<Record<number, string>> = {
  126: "found but not executable",
  127: "command not found",
};

/** How many survivors are named before the rest is counted. */
const NAMED_SURVIVORS = 8;

/** A session's state in a few words: its present one, or the one an answer is about. */
export function statusText(session: Session, state: SessionState = session.state): string {
  if (state.kind === "running") return "running";
  const sentence = endSentence(session, state.outcome) ?? "exit code 0";
  return sentence.startsWith(state.outcome.status) ? sentence : `${state.outcome.status}: ${sentence}`;
}

/** How a session ended, or `undefined` for a plain success, which needs no words. */
export function endSentence(session: Session, outcome: Outcome): string | undefined {
  const { exitCode, signal, reason } = outcome;
  switch (reason) {
    case "exit":
      if (session.stopCause !== undefined) return `exited with code ${exitCode} while it was being killed`;
      if (exitCode === null) return "ended; its exit code is unknown";
      return exitCode === 0 ? undefined : `exit code ${exitCode}${hint(exitCode)}`;
    case "signal":
      return `ended by signal ${signal}, which was not sent on request`;
    case "timeout":
      return `timed out after ${seconds(session.facts.timeoutMs)}, ${byWhat(outcome)}`;
    case "killed":
      return `killed on request, ${byWhat(outcome)}`;
    case "aborted":
      return `aborted by the caller, ${byWhat(outcome)}`;
    case "shutdown":
      return `ended because its host shut down, ${byWhat(outcome)}`;
    case "spawn-error":
      return "could not be started";
  }
}

/** What lives on after the shell, and how to end it. */
export function survivorsSentence(id: string, survivors: readonly Survivor[]): string {
  const named = survivors.slice(0, NAMED_SURVIVORS).map(({ pid, name }) => `${name} ${pid}`).join(", ");
  const more = survivors.length > NAMED_SURVIVORS ? ` and ${survivors.length - NAMED_SURVIVORS} more` : "";
  const verb = survivors.length === 1 ? "process it started still runs" : "processes it started still run";
  return `the shell has exited, ${survivors.length} ${verb}: ${named}${more}; ` +
    `process { action: "kill", sessionId: "${id}" } ends them`;
}

/** What became of processes that the shell had left behind, if they were stopped while they still held its output. */
export function leftoverNotes({ leftoverCause, facts }: Session): readonly string[] {
  if (leftoverCause === undefined) return [];
  const why: Readonly<Record<StopCause, string>> = {
    timeout: `timed out after ${seconds(facts.timeoutMs)}`,
    killed: "killed on request",
    aborted: "aborted by the caller",
    shutdown: "its host shut down",
  };
  return [`the processes that the shell had left behind were ended: ${why[leftoverCause]}`];
}

/** When a running session's time is up. */
export function afterwards(timeoutMs: number): string {
  return timeoutMs === Infinity ? ", no timeout" : `, stopped after ${seconds(timeoutMs)} (timeout) if still running`;
}

/** A length of time in seconds, as short as it is exact. */
export function seconds(ms: number): string {
  return `${Number((ms / 1_000).toFixed(ms < 10_000 ? 2 : 0))} s`;
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
  const lost = signal !== null && session.stopCause !== undefined && !session.facts.pty;
  return lost ? ["output that the program had buffered and not written yet may be lost"] : [];
}
