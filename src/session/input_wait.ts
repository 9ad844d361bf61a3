/**
 * Whether a session waits for input (spec P30), and how we know.
 *
 * @module
 */
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
}

/**
 * Asks the platform, or where it cannot tell, the clock.
 *
 * @param idleMs silence that counts as waiting where the platform cannot tell
 */
export async function inputWait(session: Session, idleMs: number): Promise<InputWait> {
  if (session.state.kind === "ended" || session.exit !== undefined || session.input !== "open") {
    return { waiting: false };
  }
  const reader = await session.child.inspector?.reader();
  if (typeof reader === "object") {
    return { waiting: true, evidence: "blocked-in-read", process: reader.name, relays: reader.relays ?? false };
  }
  if (reader === undefined && session.child.inspector !== undefined) return { waiting: false };
  return session.idleMs >= idleMs ? { waiting: true, evidence: "idle" } : { waiting: false };
}
