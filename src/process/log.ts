/**
 * `log`: lines of a session's output, by their numbers; nothing is consumed.
 *
 * @module
 */
import { type LinePage, readLines } from "../output/lines.ts";
import { type InputEvidence, type InputWait, inputWait } from "../session/input_wait.ts";
import { wasNotified } from "../session/news.ts";
import type { Session } from "../session/session.ts";
import { seconds, statusText, toldBefore } from "../session/wording.ts";
import { inputHint, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import { compilePattern } from "../pattern.ts";
import type { ProcessContext } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";

/** One line of a log. */
export interface LogLine {
  /** Absolute 0-based number. */
  readonly number: number;
  /** Its text, rendered; clipped past 2000 characters, which it says. */
  readonly text: string;
}

/** `details` of a log (spec P20). */
export interface LogDetails extends StatusDetails {
  /** Whether an event has told of its end before. */
  readonly notified: boolean;
  /** The page. */
  readonly lines: readonly LogLine[];
  /** Lines ever, held or not. */
  readonly totalLines: number;
  /** First line that is still held. */
  readonly firstHeld: number;
  /** Offset to go on from; `null` at the end. */
  readonly nextOffset: number | null;
  /** Offset that shows older lines; `null` if there are none. */
  readonly olderOffset: number | null;
  /** Whether output was dropped because it was too much to hold, or lines are left out of this page. */
  readonly truncated: boolean;
  /** With `grep`: lines that match, on this page or not. */
  readonly matches: number | null;
  /** Whether it can be written to. */
  readonly stdin: "open" | "closed";
  /** Time since the last output or input, ms. */
  readonly idleMs: number;
  /** Whether the program waits for input. */
  readonly waitingForInput: boolean;
  /** How that is known. */
  readonly evidence: InputEvidence | null;
}

/** Kept free of an answer for what is said about the page and the session, characters. */
const STATE_CHARS = 400;

/** Reads a page of lines. */
export async function log(
  { settings }: ProcessContext,
  session: Session,
  { offset, limit, stream, grep }: SessionParams,
): Promise<ProcessAnswer<LogDetails>> {
  const query = {
    ...(offset !== undefined && { offset }),
    ...(limit !== undefined && { limit }),
    ...(stream !== undefined && { stream }),
    ...(grep !== undefined && { grep: compilePattern(grep) }),
  };
  // Asked before the lines are read: a page that tells the end is a page of all that was printed before it
  const wait = await inputWait(session, settings.inputWaitIdleMs);
  const page = readLines(session.log, query, settings.maxResultChars - STATE_CHARS);
  const details: LogDetails = {
    ...statusOf(session),
    notified: wasNotified(session),
    lines: page.lines,
    totalLines: page.total,
    firstHeld: page.firstHeld,
    nextOffset: page.next ?? null,
    olderOffset: page.olderFrom ?? null,
    truncated: page.firstHeld > 0 || page.next !== undefined || page.olderFrom !== undefined,
    matches: page.matched ?? null,
    stdin: session.input === "open" ? "open" : "closed",
    idleMs: Math.round(session.idleMs),
    waitingForInput: wait.waiting,
    evidence: wait.evidence ?? null,
  };
  return { text: pageText(session, page, details, wait), details, isError: false };
}

function pageText(session: Session, page: LinePage, details: LogDetails, wait: InputWait): string {
  const hint = inputHint(session, wait);
  const lines = [
    ...(page.firstHeld > 0 ? [`[lines 0 to ${page.firstHeld - 1} are not held any more]`] : []),
    ...(page.lines.length === 0 ? ["(no lines)"] : page.lines.map((line) => line.text)),
    `[${place(page, details)}; ${state(session, details)}]`,
    ...(hint === undefined ? [] : [`[${hint}]`]),
  ];
  return lines.join("\n");
}

function place(page: LinePage, { matches, nextOffset, olderOffset }: LogDetails): string {
  const first = page.lines[0]?.number;
  const last = page.lines.at(-1)?.number;
  const shown = first === undefined ? `no lines of ${page.total}` : `lines ${first} to ${last} of ${page.total}`;
  return [
    matches === null ? shown : `${shown}, ${matches} match`,
    ...(olderOffset === null ? [] : [`older ones: offset ${olderOffset}`]),
    ...(nextOffset === null ? [] : [`more: offset ${nextOffset}`]),
  ].join("; ");
}

function state(session: Session, { stdin, idleMs, notified }: LogDetails): string {
  if (session.state.kind === "ended") return statusText(session) + toldBefore(notified);
  return `running, stdin ${stdin}, idle ${seconds(idleMs)}`;
}
