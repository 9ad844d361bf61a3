/**
 * Progress of a command in the foreground, for the caller's `onUpdate`.
 *
 * @module
 */
import type { Session } from "../session/session.ts";
import { tailOfLog } from "../output/budget.ts";

/** What `onUpdate` is given. */
export interface ExecUpdate {
  /** The newest output, rendered, at most 2000 characters. */
  readonly tail: string;
  /** Bytes printed so far. */
  readonly bytes: number;
}

/** Characters of a tail (spec E28). */
export const TAIL_CHARS = 2_000;

/** Least time between two updates, ms: ten a second (spec E33). */
const UPDATE_EVERY_MS = 100;

/**
 * Calls `onUpdate` as output comes, at most ten times a second. What it throws is its own affair.
 *
 * @returns a function after which it is never called again
 */
export function followUpdates(session: Session, onUpdate: (update: ExecUpdate) => void): () => void {
  const { clock, log } = session;
  let cancel: (() => void) | undefined;
  let told = 0;
  let toldAt = -Infinity;
  const tell = (): void => {
    cancel = undefined;
    if (log.end === told) return;
    told = log.end;
    toldAt = clock.monotonic();
    try {
      onUpdate({ tail: tailOfLog(log, TAIL_CHARS), bytes: log.end });
    } catch {
      // a broken progress display must not break the command
    }
  };
  const schedule = (): void => {
    cancel ??= clock.timer(Math.max(0, UPDATE_EVERY_MS - (clock.monotonic() - toldAt)), tell);
  };
  const stopListening = session.onChange(schedule);
  if (log.end > 0) schedule(); // printed before anybody listened: a spawner need not be slower than the command
  return () => {
    stopListening();
    cancel?.();
  };
}
