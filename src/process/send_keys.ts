/**
 * `send-keys`: keys by their names, as a person presses them.
 *
 * @module
 */
import { AbortError, type Problem } from "../errors.ts";
import type { WriteResult } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import { seconds } from "../session/spans.ts";
import { statusText } from "../session/wording.ts";
import { encodeKeys, pipeActions, type Stroke } from "../terminal/keys.ts";
import { pauseBetween } from "../terminal/pacing.ts";
import { invalidCall, type ProcessAnswer, statusOf } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import { sendWhole } from "./long_line.ts";
import type { SessionParams } from "./schema.ts";
import { keepSecret } from "./secret.ts";
import { cannotType, pauseLeft, type WriteDetails, written } from "./typing.ts";

const ESC = 0x1b;

/** Longest that the pauses of one call may take: a tool call that runs longer is given up by common hosts, ms. */
const LONGEST_TYPING_MS = 30_000;

/** Without a shell that could resume it, a process group is not stopped by SIGTSTP (POSIX: an orphaned group). */
const STOPS_NOBODY = "SIGTSTP reaches programs that handle it, but by itself it stops none that was started here: " +
  "kill with signal SIGSTOP does, and SIGCONT resumes.";

/** Sends keys to a terminal; on pipes the control keys mean signals and the end of input. */
export async function sendKeys(
  _context: ProcessContext,
  session: Session,
  params: SessionParams,
  { signal }: ProcessOptions,
): Promise<ProcessAnswer<WriteDetails>> {
  if (!session.facts.pty) return pipeKeys(session, params);
  const { delayMs = 0, sensitive = false } = params;
  const encoded = encodeKeys(params, session.watch?.modes ?? { applicationCursor: false });
  if (!encoded.ok) return invalidCall(shown(encoded.problems, sensitive));
  const { strokes } = encoded;
  const pauses = sum(strokes.map((stroke, index) => pauseAfter(strokes[index - 1], stroke, delayMs)));
  if (pauses > LONGEST_TYPING_MS) return invalidCall([tooSlow(strokes.length, pauses)]);
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  return await sendWhole(session, joined(strokes.map(({ bytes }) => bytes)), (warnings) => {
    if (sensitive) keepSecret(session, joined(strokes.map(echoOf)));
    return type(session, strokes, delayMs, warnings, signal);
  });
}

/** Types until something is in the way; the answer, or the error of an abort, says how far that was. */
async function type(
  session: Session,
  strokes: readonly Stroke[],
  delayMs: number,
  warnings: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ProcessAnswer<WriteDetails>> {
  let total: WriteResult = { accepted: 0, taken: 0, queued: 0, refused: 0, broken: false };
  let sent = 0;
  try {
    for (const [index, stroke] of strokes.entries()) {
      const wait = index === 0 ? pauseLeft(session, stroke.bytes) : pauseAfter(strokes[index - 1], stroke, delayMs);
      if (wait > 0) await pause(session.clock, wait, signal);
      signal?.throwIfAborted();
      const writing = session.stdin.write(stroke.bytes, signal);
      sent += 1; // an abort of the wait does not take it back
      const { accepted, taken, queued, refused, broken } = await writing;
      total = {
        accepted: total.accepted + accepted,
        taken: total.taken + taken,
        queued,
        refused: total.refused + refused,
        broken,
      };
      if (refused > 0 || broken) sent -= 1;
      if (broken || refused > 0 || queued > 0) break; // whoever does not read need not be typed at
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error;
    throw new AbortError(`Typing was aborted: ${sent} of ${strokes.length} keys were sent`, signal.reason);
  }
  return written(session, total, { keys: { sent, of: strokes.length }, warnings });
}

function pauseAfter(before: Stroke | undefined, stroke: Stroke, delayMs: number): number {
  return before === undefined ? 0 : Math.max(delayMs, pauseBetween(before.bytes.at(-1), stroke.bytes));
}

function tooSlow(count: number, pauses: number): Problem {
  const most = `at most ${seconds(LONGEST_TYPING_MS)} in one call`;
  return {
    key: "delayMs",
    message: `the pauses between ${count} keys take ${seconds(pauses)}, ${most}: send fewer, or with a shorter delay`,
  };
}

/** What is wrong, without what was given where that was to be kept secret. */
function shown(problems: readonly Problem[], isSecret: boolean): readonly Problem[] {
  if (!isSecret) return problems;
  return problems.map(({ key, message }) => ({ key, message: message.replace(QUOTED, "What was given (sensitive)") }));
}

/** A JSON string at the start. */
const QUOTED = /^"(?:[^"\\]|\\.)*"/;

/** What of a stroke can come back as text: of a sequence such as an arrow's nothing does. */
function echoOf({ bytes }: Stroke): Uint8Array {
  return bytes.length > 1 && bytes[0] === ESC ? bytes.subarray(0, 1) : bytes;
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(sum(pieces.map(({ length }) => length)));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Ctrl-C and its like have a meaning without a terminal too: the signal a terminal would make of them. */
function pipeKeys(session: Session, params: SessionParams): ProcessAnswer<WriteDetails> {
  const parsed = pipeActions(params);
  if (!parsed.ok) {
    return (session.state.kind === "ended" && cannotType(session)) ||
      invalidCall(shown(parsed.problems, params.sensitive === true));
  }
  const done: string[] = [];
  const warnings = new Set<string>();
  for (const action of parsed.actions) {
    if (action.kind === "signal") {
      const outcome = session.signal(action.signal);
      if (action.signal === "SIGTSTP" && outcome === "sent") warnings.add(STOPS_NOBODY);
      const became = { sent: "sent", refused: "not permitted", gone: "not sent, it has ended" } as const;
      done.push(`${action.name}: ${action.signal} ${became[outcome]}`);
    } else {
      const failure = cannotType(session);
      if (failure !== undefined) return failure;
      session.stdin.end();
      done.push(`${action.name}: input ended`);
    }
  }
  const text = [`${done.join("; ")}. [${statusText(session)}]`, ...warnings].join("\n");
  const eof = parsed.actions.some((action) => action.kind === "eof");
  const details: WriteDetails = {
    ...statusOf(session),
    accepted: 0,
    queued: 0,
    refused: 0,
    eof,
    warnings: [...warnings],
  };
  return { text, details, isError: false };
}
