/**
 * The wait of `exec` itself: for the end, the time to yield, a program that waits for input, or an abort.
 *
 * @module
 */
import { type InputWait, inputWait } from "../session/input_wait.ts";
import type { Session } from "../session/session.ts";
import { pause } from "../session/timing.ts";
import { waitFor } from "../session/wait.ts";

/** What ends the wait before its time. */
export interface WaitSignals {
  /** Rejects it. */
  readonly signal?: AbortSignal | undefined;
  /** Ends it as the time to yield would. */
  readonly yieldSignal?: AbortSignal | undefined;
}

/** How the wait came out: the command has ended, or the caller has waited long enough, because of `input` or not. */
export type Due = "ended" | { readonly input: InputWait };

/**
 * Silence after which it is asked whether the program waits for input, ms, and the longest pause between two such
 * questions: who waits is known within half a second (spec P30), and a quick command is never asked about.
 */
const FIRST_ASK_MS = 100;
const LONGEST_ASK_MS = 400;

/**
 * Waits in the foreground.
 *
 * A program that the platform says to be waiting for input would only wait on until `yieldMs` has passed, so the wait
 * ends with it; a guess from silence never ends it, nor a relay such as `ssh`, which waits for input whatever happens.
 *
 * @param yieldMs longest wait; 0 = answer at once, `Infinity` = to the end, whatever the program waits for (spec E31)
 * @throws an AbortError when `signal` fires
 */
export async function foreground(session: Session, yieldMs: number, signals: WaitSignals): Promise<Due> {
  const { yieldSignal } = signals;
  if (yieldSignal === undefined) return await due(session, yieldMs, signals);
  const onYield = (): void => session.touch();
  yieldSignal.addEventListener("abort", onYield, { once: true });
  try {
    return await due(session, yieldMs, signals);
  } finally {
    yieldSignal.removeEventListener("abort", onYield);
  }
}

async function due(session: Session, yieldMs: number, { signal, yieldSignal }: WaitSignals): Promise<Due> {
  const hasEnded = (): boolean => session.state.kind === "ended";
  const isOver = (): boolean => hasEnded() || yieldSignal?.aborted === true;
  const asks = session.input === "open" && session.child.inspector !== undefined && yieldMs > 0 && yieldMs !== Infinity;
  let input = NO_INPUT;
  if (asks) input = await waitForInputOr(isOver, session, yieldMs, signal);
  else await waitFor(session, isOver, { timeoutMs: yieldMs, signal });
  if (hasEnded()) return "ended";
  if (yieldMs === 0) return { input }; // asked for at once: the answer is a session, however quick the command is
  await pause(session.clock, 0); // an end that has happened but has not been read yet counts as an end (spec E30)
  const hasExited = (): boolean => session.exit !== undefined || hasEnded();
  if (await waitFor(session, hasExited, { timeoutMs: 0, signal }) === "timeout") return { input };
  await waitFor(session, hasEnded, { timeoutMs: Infinity, signal });
  return "ended";
}

const NO_INPUT: InputWait = { waiting: false };

/** Looks only while the program is silent, and less often the longer it is. */
async function waitForInputOr(
  isOver: () => boolean,
  session: Session,
  yieldMs: number,
  signal: AbortSignal | undefined,
): Promise<InputWait> {
  const { clock } = session;
  const deadline = clock.monotonic() + yieldMs;
  for (let askMs = FIRST_ASK_MS, asked = session.lastOutputAt;;) {
    const due = asked + askMs;
    const left = Math.min(due, deadline) - clock.monotonic();
    if (await waitFor(session, isOver, { timeoutMs: left, signal }) === "met") return NO_INPUT;
    if (clock.monotonic() >= deadline) return NO_INPUT;
    if (session.lastOutputAt > asked) { // it has printed since: its silence begins anew
      askMs = FIRST_ASK_MS;
      asked = session.lastOutputAt;
      continue;
    }
    askMs = Math.min(askMs * 2, LONGEST_ASK_MS);
    asked = clock.monotonic();
    // A look that takes long holds up neither the yield nor the end
    let wait: InputWait | undefined;
    void inputWait(session, Infinity).catch(() => NO_INPUT).then((seen) => {
      wait = seen;
      session.touch();
    });
    const isAnswered = (): boolean => isOver() || wait !== undefined;
    await waitFor(session, isAnswered, { timeoutMs: deadline - asked, signal });
    if (isOver() || wait === undefined) return NO_INPUT;
    if (wait.waiting && wait.relays !== true) return wait;
  }
}
