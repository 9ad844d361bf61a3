/**
 * `resize`: another size for the terminal.
 *
 * @module
 */
import type { TerminalSize } from "../runtime.ts";
import type { Session } from "../session/session.ts";
import { statusText } from "../session/wording.ts";
import { notPossible, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";
import type { ProcessContext } from "./dispatch.ts";
import type { SessionParams } from "./schema.ts";

/** `details` of a resize. */
export interface ResizeDetails extends StatusDetails {
  /** The size asked for. */
  readonly size: TerminalSize;
  /** Whether it is in force: not after the end. */
  readonly resized: boolean;
}

/** Changes the terminal's size; after the end there is nothing to change. */
export function resize(
  _context: ProcessContext,
  session: Session,
  params: SessionParams,
): ProcessAnswer<ResizeDetails> {
  if (!session.facts.pty) {
    return notPossible(`Cannot resize session "${session.id}": it has no terminal. Start it with pty: true`);
  }
  const size: TerminalSize = { cols: params.cols ?? 0, rows: params.rows ?? 0 };
  const resized = session.resize(size);
  const text = resized
    ? `The terminal has ${size.cols} columns and ${size.rows} rows.`
    : `Nothing to resize: the session has ended. [${statusText(session)}]`;
  return { text, details: { ...statusOf(session), size, resized }, isError: false };
}
