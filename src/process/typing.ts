/**
 * Typing into a session: what every writing action checks first and says afterwards.
 *
 * @module
 */
import type { WriteResult } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import { statusText } from "../session/wording.ts";
import { COOKED_LINE_BYTES, typeOn } from "../terminal/typed_line.ts";
import { notPossible, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";

/** `details` of everything that writes. */
export interface WriteDetails extends StatusDetails {
  /** Bytes written or queued; go on from here if some were refused. */
  readonly accepted: number;
  /** Bytes of these that the program has not taken yet. */
  readonly queued: number;
  /** Bytes that found no place: it does not read. */
  readonly refused: number;
  /** Whether its input is at its end now. */
  readonly eof: boolean;
  /** `paste`: whether it was marked as a paste. */
  readonly bracketed?: boolean;
  /** What the caller ought to know. */
  readonly warnings: readonly string[];
}

/** The failure to answer with if nothing can be written to a session; `undefined` if something can. */
export function cannotType(session: Session): ProcessAnswer<never> | undefined {
  const { id, input, state, exit } = session;
  if (state.kind === "ended" || exit !== undefined) {
    const how = state.kind === "ended" ? statusText(session) : "its shell has exited";
    return notPossible(`Cannot write to session "${id}": it has ended (${how})`);
  }
  switch (input) {
    case "open":
      return undefined;
    case "closed":
      return notPossible(
        `Cannot write to session "${id}": it was started with its stdin closed. Start it again with stdin: "open"`,
      );
    case "ended":
      return notPossible(`Cannot write to session "${id}": its stdin has been ended by eof: true`);
    case "broken":
      return notPossible(`Cannot write to session "${id}": stdin closed by the process`);
  }
}

/** The answer to a write. */
export function written(
  session: Session,
  result: WriteResult,
  extra: { readonly eof?: boolean; readonly bracketed?: boolean; readonly warnings?: readonly string[] } = {},
): ProcessAnswer<WriteDetails> {
  const { accepted, queued, refused, broken } = result;
  if (broken) {
    return notPossible(`Cannot write all to session "${session.id}": stdin closed by the process`);
  }
  const { eof = false, bracketed, warnings = [] } = extra;
  const lines = [
    `Wrote ${accepted} ${accepted === 1 ? "byte" : "bytes"}${eof ? " and ended the input" : ""}.`,
    ...(bracketed === undefined ? [] : [bracketed ? "Marked as a paste." : "Not marked as a paste."]),
    ...(queued > 0 ? [`${queued} of them wait: the program does not read at the moment.`] : []),
    ...(refused > 0
      ? [`${refused} more were refused, the queue is full: poll, then go on from byte ${accepted}.`]
      : []),
    ...warnings,
  ];
  const details: WriteDetails = {
    ...statusOf(session),
    accepted,
    queued,
    refused,
    eof,
    ...(bracketed !== undefined && { bracketed }),
    warnings,
  };
  return { text: lines.join("\n"), details, isError: refused > 0 };
}

/** Warns of lines that a terminal cuts, before they are sent (spec P31). */
export function longLineWarnings(session: Session, bytes: Uint8Array): readonly string[] {
  if (!session.facts.pty) return [];
  const { longest } = typeOn(session.typedLine, bytes);
  if (longest <= COOKED_LINE_BYTES) return [];
  return [
    `A line of ${longest} bytes went to a terminal: in its normal mode it keeps ${COOKED_LINE_BYTES} and drops the ` +
    `rest, only programs in raw mode get all of it. Use shorter lines, a file, or pipes (pty: false).`,
  ];
}
