/**
 * Whether a session waits for input (spec P30), and how we know.
 *
 * @module
 */
import type { InputReader } from "../runtime.ts";
import type { Session } from "./session.ts";

/**
 * How it is known that a program waits for input. `blocked-in-read`: the platform says so. `idle`: a guess, it has been
 * silent for long with its stdin open.
 */
export type InputEvidence = "blocked-in-read" | "idle";

/** Whether a session waits for input. */
export interface InputWait {
  /** Whether its program waits for what we write. */
  readonly waiting: boolean;
  /** How that is known. */
  readonly evidence?: InputEvidence;
  /** The program that waits, where the platform says so. */
  readonly process?: string;
  /** Whether that program passes on what it gets from elsewhere too, so that it always waits for input. */
  readonly relays?: boolean;
  /** When it is worth asking again because something has just been typed, ms. */
  readonly againMs?: number;
}

/** A sleep of the program that reads a session's input. */
export interface SeenSleep {
  /** Which one, see {@linkcode InputReader}. */
  readonly sleep: string;
  /** Monotonic time when it was first seen, ms. */
  readonly at: number;
}

/**
 * A terminal hands over what was typed, and what was printed, a moment later, ms: on Linux a thread of the kernel does,
 * when it gets its turn. Until then the reader looks as if it waited for more.
 */
export const HANDED_OVER_MS = 30;

/**
 * The same for a reader that slept before the typing and sleeps that very sleep still: on a busy machine it is the last
 * to notice. Longer than that, and what was typed is but the beginning of a line, which a terminal keeps to itself, ms.
 */
const WOKEN_MS = 250;

/**
 * Asks the platform, or where it cannot tell, the clock.
 *
 * @param idleMs silence that counts as waiting where the platform cannot tell
 */
export async function inputWait(session: Session, idleMs: number): Promise<InputWait> {
  if (session.state.kind === "ended" || session.exit !== undefined || session.input !== "open") {
    return { waiting: false };
  }
  const askedAt = session.clock.monotonic();
  const reader = await session.child.inspector?.reader();
  if (typeof reader === "object") {
    const againMs = untilTaken(session, reader, askedAt);
    if (againMs > 0) return { waiting: false, againMs };
    return { waiting: true, evidence: "blocked-in-read", process: reader.name, relays: reader.relays ?? false };
  }
  if (reader === undefined && session.child.inspector !== undefined) return { waiting: false };
  return session.idleMs >= idleMs ? { waiting: true, evidence: "idle" } : { waiting: false };
}

/** How long a reader may still be about to take what has been typed, ms; 0 if it has had the time. */
function untilTaken(session: Session, { sleep }: InputReader, seenAt: number): number {
  const { facts, lastInputAt, seenAsleep } = session;
  const isSame = sleep !== undefined && seenAsleep?.sleep === sleep;
  if (!isSame) session.seenAsleep = sleep === undefined ? undefined : { sleep, at: seenAt };
  if (!facts.pty) return 0; // a pipe wakes its reader at once
  const hasSlept = isSame && seenAsleep.at <= lastInputAt;
  const left = lastInputAt + (hasSlept ? WOKEN_MS : HANDED_OVER_MS) - seenAt;
  return Math.min(HANDED_OVER_MS, Math.max(0, left));
}
