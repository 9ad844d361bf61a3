/**
 * The log of a session's output.
 *
 * @module
 */
import { createOutputLog, type OutputLog } from "../output/log.ts";
import type { Session } from "./session.ts";

/** How much of its output a session holds, code points. */
export interface Held {
  /** The newest of it. */
  readonly chars: number;
  /** The first of it, until it is released: what comes then has the head of an answer. */
  readonly head: number;
}

/**
 * Makes the log of a session.
 *
 * @param held how much it keeps
 */
export function createSessionLog(session: Session, { chars, head }: Held): OutputLog {
  const { terminal: size } = session.facts;
  const terminal = size && { size, fullScreen: () => session.watch?.modes.alternateScreen ?? false };
  const log = createOutputLog({ maxChars: chars, terminal });
  log.keepHead(head);
  return log;
}
