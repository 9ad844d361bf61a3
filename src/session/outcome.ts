/**
 * What an end means: the wait status and the reason for which the session was stopped, if it was, become a status.
 *
 * @module
 */
import type { LimitEnd } from "../limits.ts";
import type { Exit, SignalName } from "../runtime.ts";

/**
 * Why a session was stopped by us; the first cause wins. `limit` is that of its output, `idle` that nobody had asked for
 * it for `idleEndMs`.
 */
export type StopCause = "timeout" | "killed" | "aborted" | "shutdown" | "limit" | "idle";

/** How a session's command ended. */
export type EndStatus = "completed" | "failed" | "killed";

/**
 * Why it ended. `exit` is by itself, `signal` is one that we did not send, `killed` is on request, by `idleEndMs`, or for
 * its output. `host-lost`: the machine it ran on cannot be reached any more.
 */
export type EndReason = "exit" | "signal" | Exclude<StopCause, "limit" | "idle"> | "spawn-error" | "host-lost";

/** The end of a session in the words that every answer uses (spec R2). */
export interface Outcome {
  /** `completed` = ended by itself, whatever its code. */
  readonly status: EndStatus;
  /** Whether it completed with code 0. */
  readonly ok: boolean;
  /** Its exit code; `null` when a signal ended it or the back-end cannot tell. */
  readonly exitCode: number | null;
  /** The signal that ended it. */
  readonly signal: SignalName | null;
  /** Why it ended. */
  readonly reason: EndReason;
  /** The limit that ended it; `null` if none did, or nobody can tell. */
  readonly limit: LimitEnd | null;
}

/**
 * Puts wait status and cause together (spec E26, E27). The wait status wins: a command that exits by itself while it
 * is being killed has completed. One that was cut short by its timeout, an abort or the host's end has failed even
 * if it tidied up and exited 0, for it did not do what was asked; so has one that printed too much, which was killed.
 * Nothing is known of one whose host was lost.
 *
 * @param limit the limit that ended it
 */
export function outcomeOf(exit: Exit, cause: StopCause | undefined, limit: LimitEnd | null = null): Outcome {
  const exitCode = exit.code ?? null;
  const signal = exit.signal ?? null;
  if (exit.lost !== undefined) return { status: "failed", ok: false, exitCode, signal, reason: "host-lost", limit };
  if (cause === undefined) {
    return signal === null
      ? { status: "completed", ok: exitCode === 0, exitCode, signal, reason: "exit", limit }
      : { status: "failed", ok: false, exitCode, signal, reason: "signal", limit };
  }
  if (cause === "limit") return { status: "killed", ok: false, exitCode, signal, reason: "killed", limit };
  if (cause !== "killed" && cause !== "idle") {
    return { status: "failed", ok: false, exitCode, signal, reason: cause, limit };
  }
  return exitCode === null
    ? { status: "killed", ok: false, exitCode, signal, reason: "killed", limit }
    : { status: "completed", ok: exitCode === 0, exitCode, signal, reason: "exit", limit };
}
