/**
 * `log`: lines of a session's output, by their numbers; nothing is consumed.
 *
 * @module
 */
import { type BytePage, readBytes } from "../output/byte_page.ts";
import { isBinary } from "../output/budget.ts";
import { type LinePage, type NumberedLine, readLines } from "../output/lines.ts";
import { type Run, runsOf } from "../output/repeats.ts";
import { type InputEvidence, type InputWait, inputWait } from "../session/input_wait.ts";
import { wasNotified } from "../session/news.ts";
import type { Session } from "../session/session.ts";
import { seconds } from "../session/spans.ts";
import { fullScreenHint, inputHint, statusText, toldBefore } from "../session/wording.ts";
import { type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import { compilePattern } from "../pattern.ts";
import type { ProcessContext } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";

/** One line of a log. */
export interface LogLine {
  /** Absolute 0-based number. */
  readonly number: number;
  /** Its text, rendered unless `raw`; clipped past 2000 characters, which it says. */
  readonly text: string;
}

/** `details` of a log (spec P20). */
export interface LogDetails extends StatusDetails {
  /** Whether an event has told of its end before. */
  readonly notified: boolean;
  /** The page; empty if bytes were asked for. */
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
  /** With `bytes`: those instead of lines. */
  readonly bytes: BytePage | null;
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

/** Newest bytes looked at to tell binary output from text. */
const BINARY_LOOK_BYTES = 8_192;

/** Reads a page of lines, or bytes. */
export async function log(
  { settings }: ProcessContext,
  session: Session,
  params: SessionParams,
): Promise<ProcessAnswer<LogDetails>> {
  const { offset, limit, stream, grep, raw, bytes, since = 0 } = params;
  const query = {
    ...(offset !== undefined && { offset }),
    ...(bytes === true ? { limit: 0 } : limit !== undefined && { limit }),
    ...(stream !== undefined && { stream }),
    ...(grep !== undefined && { grep: compilePattern(grep) }),
    ...(raw !== undefined && { raw }),
  };
  // Asked before the lines are read: a page that tells the end is a page of all that was printed before it
  const wait = await inputWait(session, settings.inputWaitIdleMs);
  const maxChars = settings.maxResultChars - STATE_CHARS;
  const page = readLines(session.log, query, maxChars);
  const details: LogDetails = {
    ...statusOf(session),
    notified: wasNotified(session),
    lines: page.lines,
    totalLines: page.total,
    firstHeld: page.firstHeld,
    nextOffset: bytes === true ? null : page.next ?? null,
    olderOffset: bytes === true ? null : page.olderFrom ?? null,
    truncated: page.firstHeld > 0 || page.next !== undefined || page.olderFrom !== undefined,
    matches: page.matched ?? null,
    bytes: bytes === true ? readBytes(session.log, since, stream, maxChars) : null,
    stdin: session.input === "open" ? "open" : "closed",
    idleMs: Math.round(session.idleMs),
    waitingForInput: wait.waiting,
    evidence: wait.evidence ?? null,
  };
  const folded = settings.foldRepeats && raw !== true;
  return { text: pageText(session, page, details, wait, folded), details, isError: false };
}

function pageText(session: Session, page: LinePage, details: LogDetails, wait: InputWait, folded: boolean): string {
  const hint = inputHint(session, wait);
  const fullScreen = fullScreenHint(session);
  const lines = [
    ...(page.firstHeld > 0 ? [`[lines 0 to ${page.firstHeld - 1} are not held any more]`] : []),
    ...(details.bytes === null ? lineTexts(page, folded) : [details.bytes.base64]),
    `[${details.bytes === null ? place(page, details) : bytePlace(details.bytes)}; ${state(session, details)}]`,
    ...(hint === undefined ? [] : [`[${hint}]`]),
    ...(fullScreen === undefined ? [] : [`[${fullScreen}]`]),
    ...(isBinary(session.log.read(session.log.end - BINARY_LOOK_BYTES)) ? ["[the output is mostly binary]"] : []),
  ];
  return lines.join("\n");
}

function lineTexts({ lines }: LinePage, folded: boolean): readonly string[] {
  if (lines.length === 0) return ["(no lines)"];
  return folded ? runsOf(lines, isRepeated).map(runText) : lines.map(({ text }) => text);
}

function bytePlace({ from, to, total }: BytePage): string {
  return `bytes ${from} to ${to} of ${total}, base64${to < total ? `; more: since ${to}` : ""}`;
}

function isRepeated(one: NumberedLine, other: NumberedLine): boolean {
  return one.text === other.text && one.text !== "";
}

function runText({ first, last, count }: Run<NumberedLine>): string {
  return count === 1 ? first.text : `${first.text} × ${count} [lines ${first.number} to ${last.number}]`;
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
