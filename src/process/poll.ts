/**
 * `poll`: what is new since the last poll, waiting for it if asked to.
 *
 * @module
 */
import { BINARY_CHARS, fitHeadAndTail } from "../output/budget.ts";
import { createCursor, type Cursor, type Delivery } from "../output/cursor.ts";
import { foldRepeats } from "../output/repeats.ts";
import type { StreamBytes } from "../output/log.ts";
import { type InputEvidence, type InputWait, inputWait } from "../session/input_wait.ts";
import { wasNotified } from "../session/news.ts";
import type { Session, SessionState, Survivor } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import { waitFor } from "../session/wait.ts";
import {
  bufferLoss,
  fullScreenHint,
  inputHint,
  statusText,
  survivorsSentence,
  toldBefore,
} from "../session/wording.ts";
import { type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";
import { parseCondition, waitMs, waitSentence, waitUntil, type WokenBy } from "./until.ts";

/** `details` of a poll (spec P10). Offsets are bytes of the session's raw output. */
export interface PollDetails extends StatusDetails {
  /** Whether an event has told of its end before. */
  readonly notified: boolean;
  /** What is new, rendered. */
  readonly output: string;
  /** Where it begins. */
  readonly from: number;
  /** Where it ends: the next poll begins here. */
  readonly to: number;
  /** Bytes between the two that are not in `output`: there were too many. */
  readonly dropped: number;
  /** The same by stream. */
  readonly droppedByStream: StreamBytes;
  /** Whether anything was dropped. */
  readonly truncated: boolean;
  /** Line from which `log` has what was dropped, as far as it is still held; `null` if nothing was dropped. */
  readonly logOffset: number | null;
  /** What ended the wait. */
  readonly wokenBy: WokenBy;
  /** Whether the program waits for input. */
  readonly waitingForInput: boolean;
  /** How that is known. */
  readonly evidence: InputEvidence | null;
  /** When another poll is worth while, ms, after one that brought neither output nor what `until` asked for; else `null`. */
  readonly retryInMs: number | null;
  /** Processes it started that lived on at its end. */
  readonly survivors: readonly Survivor[];
}

/** Advice after the first, second … empty poll, ms (spec P14). */
const RETRY_MS: readonly number[] = [5_000, 10_000, 30_000, 60_000];

/** A program that has printed a whole line just now is not asked about input yet: it had no time to get there, ms. */
const JUST_PRINTED_MS = 20;

/** Delivers new output, waiting for it up to `timeout`. */
export async function poll(
  context: ProcessContext,
  session: Session,
  params: SessionParams,
  options: ProcessOptions,
): Promise<ProcessAnswer<PollDetails>> {
  const cursor = params.since === undefined ? session.cursor : createCursor(session.log, params.since);
  const wokenBy = await waitToRead(context, session, cursor, params, options);
  const read = cursor.read(context.settings.pendingMaxOutputChars);
  const delivery = context.settings.foldRepeats ? { ...read, text: foldRepeats(read.text) } : read;
  const { state } = session; // as it is now: an end that comes while the platform is asked has output of its own to tell
  if (params.since === undefined) countEmpty(session, delivery);
  const wait = await askInput(context, session, delivery, wokenBy);
  return answer(session, state, params, delivery, wokenBy, wait, context.settings.maxResultChars);
}

async function waitToRead(
  { runtime, settings }: ProcessContext,
  session: Session,
  cursor: Cursor,
  params: SessionParams,
  { signal }: ProcessOptions,
): Promise<WokenBy> {
  const timeoutMs = waitMs(params);
  // The host reads only between two turns: a caller that polls in a loop would keep it from ever seeing the end
  if (timeoutMs === 0 && cursor.pending === 0 && session.state.kind === "running") {
    await pause(session.clock, 0, signal);
  }
  if (params.until !== undefined) {
    const { inputWaitIdleMs } = settings;
    const condition = parseCondition(params.until);
    return await waitUntil(session, condition, cursor.position, { runtime, inputWaitIdleMs, timeoutMs, signal });
  }
  const deadline = session.clock.monotonic() + timeoutMs;
  const met = (): boolean => cursor.pending > 0 || session.state.kind === "ended";
  for (;;) {
    const left = deadline - session.clock.monotonic();
    const woken = await waitFor(session, met, { timeoutMs: left, signal });
    if (cursor.pending > 0) return "output";
    if (session.state.kind === "ended") return "exit";
    if (woken === "timeout") return "timeout";
    // another poller of the scope was quicker: the output has gone to it, wait for more
  }
}

function countEmpty(session: Session, { text }: Delivery): void {
  session.emptyPolls = text === "" && session.state.kind === "running" ? session.emptyPolls + 1 : 0;
}

async function askInput(
  { settings }: ProcessContext,
  session: Session,
  { text }: Delivery,
  wokenBy: WokenBy,
): Promise<InputWait> {
  const justPrinted = text.endsWith("\n") && session.idleMs < JUST_PRINTED_MS && wokenBy !== "input";
  return justPrinted ? { waiting: false } : await inputWait(session, settings.inputWaitIdleMs);
}

function answer(
  session: Session,
  state: SessionState,
  params: SessionParams,
  delivery: Delivery,
  wokenBy: WokenBy,
  wait: InputWait,
  maxResultChars: number,
): ProcessAnswer<PollDetails> {
  const { text, from, to, dropped, droppedByStream, binary } = delivery;
  const { log } = session;
  const isRunning = state.kind === "running";
  const isMet = params.until !== undefined && wokenBy !== "timeout";
  const retryInMs = isRunning && text === "" && !isMet
    ? RETRY_MS[Math.min(Math.max(session.emptyPolls, 1), RETRY_MS.length) - 1] ?? null
    : null;
  const survivors = state.kind === "ended" ? state.survivors : [];
  const details: PollDetails = {
    ...statusOf(session, state),
    notified: isRunning ? false : wasNotified(session),
    output: text,
    from,
    to,
    dropped,
    droppedByStream,
    truncated: dropped > 0,
    logOffset: dropped > 0 ? log.lineAt(from) : null,
    wokenBy,
    waitingForInput: wait.waiting,
    evidence: wait.evidence ?? null,
    retryInMs,
    survivors,
  };
  const hint = inputHint(session, wait);
  const waited = params.until === undefined ? undefined : waitSentence(params.until, wokenBy, waitMs(params));
  const fullScreen = fullScreenHint(session);
  const maxChars = binary ? Math.min(BINARY_CHARS, maxResultChars) : maxResultChars;
  const lines = [
    ...(dropped > 0 ? [droppedLine(session, details)] : []),
    text === "" ? "(no new output)" : fitHeadAndTail(text.replace(/\n$/, ""), maxChars).text,
    `[${statusText(session, state)}${toldBefore(details.notified)}${
      retryInMs === null ? "" : `; nothing new, poll again in ${retryInMs / 1_000} s`
    }]`,
    ...(waited === undefined ? [] : [`[${waited}]`]),
    ...(hint === undefined ? [] : [`[${hint}]`]),
    ...(fullScreen === undefined ? [] : [`[${fullScreen}]`]),
    ...(binary ? ["[the output is mostly binary]"] : []),
    ...(isMet ? [] : bufferingHint(session, delivery, wait)),
    ...(survivors.length === 0 ? [] : [`[${survivorsSentence(session.id, survivors)}]`]),
    ...(state.kind === "ended"
      ? [...state.notes, ...bufferLoss(session, state.outcome)].map((note) => `[${note}]`)
      : []),
  ];
  return { text: lines.join("\n"), details, isError: false };
}

function droppedLine(session: Session, { dropped, droppedByStream, logOffset }: PollDetails): string {
  const byStream = Object.entries(droppedByStream).filter(([, bytes]) => bytes > 0)
    .map(([stream, bytes]) => `${stream} ${bytes}`).join(", ");
  const { firstLine } = session.log;
  const where = firstLine > (logOffset ?? 0) ? `what is still held of it begins at` : "it begins at";
  return `[${dropped} older bytes are left out here (${byStream}); ${where} process log offset ` +
    `${Math.max(firstLine, logOffset ?? 0)}]`;
}

/** Silent on pipes may mean block-buffered (spec P14, said once a session). */
function bufferingHint(session: Session, { text }: Delivery, wait: InputWait): readonly string[] {
  const silent = text === "" && session.state.kind === "running" && !session.facts.pty && !wait.waiting;
  if (!silent || session.bufferingHintGiven) return [];
  session.bufferingHintGiven = true;
  return [
    "[silent may mean that the program buffers its output because it is on a pipe: pty: true, stdbuf -oL or " +
    "python -u show it at once]",
  ];
}
