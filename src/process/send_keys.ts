/**
 * `send-keys`: keys by their names, as a person presses them.
 *
 * @module
 */
import { AbortError } from "../errors.ts";
import type { WriteResult } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import { statusText } from "../session/wording.ts";
import { pause } from "../session/timing.ts";
import { encodeKeys, pipeActions, type Stroke } from "../terminal/keys.ts";
import { invalidCall, type ProcessAnswer, statusOf } from "./answer.ts";
import type { ProcessContext, ProcessOptions } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";
import { cannotType, type WriteDetails, written } from "./typing.ts";

/** Pause after Escape so that the next key is not read as Alt; above vim's and tmux's usual escape times, ms. */
const AFTER_ESCAPE_MS = 150;

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
  const encoded = encodeKeys(params, session.watch?.modes ?? { applicationCursor: false });
  if (!encoded.ok) return invalidCall(encoded.problems);
  const failure = cannotType(session);
  if (failure !== undefined) return failure;
  const result = await type(session, encoded.strokes, params.delayMs ?? 0, signal);
  return written(session, result);
}

async function type(
  session: Session,
  strokes: readonly Stroke[],
  delayMs: number,
  signal: AbortSignal | undefined,
): Promise<WriteResult> {
  let total: WriteResult = { accepted: 0, queued: 0, refused: 0, broken: false };
  for (const [index, stroke] of strokes.entries()) {
    const wait = index === 0 ? 0 : Math.max(delayMs, stroke.paceBefore ? AFTER_ESCAPE_MS : 0);
    if (wait > 0) await pause(session.clock, wait, signal);
    if (signal?.aborted) throw new AbortError(`Typing was aborted after ${index} keys`, signal.reason);
    const { accepted, queued, refused, broken } = await session.stdin.write(stroke.bytes, signal);
    total = { accepted: total.accepted + accepted, queued, refused: total.refused + refused, broken };
    if (broken || refused > 0) break;
  }
  return total;
}

/** Ctrl-C and its like have a meaning without a terminal too: the signal a terminal would make of them. */
function pipeKeys(session: Session, params: SessionParams): ProcessAnswer<WriteDetails> {
  const parsed = pipeActions(params);
  if (!parsed.ok) return (session.state.kind === "ended" && cannotType(session)) || invalidCall(parsed.problems);
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
