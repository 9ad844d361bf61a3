/**
 * Typing into a session: what every writing action checks first and says afterwards.
 *
 * @module
 */
import type { WriteResult } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import { statusText } from "../session/wording.ts";
import { pauseBetween } from "../terminal/pacing.ts";
import { notPossible, type ProcessAnswer, type StatusDetails, statusOf } from "./answer.ts";

/** `details` of everything that writes. */
export interface WriteDetails extends StatusDetails {
  /** Bytes written or queued; go on from here if some were refused. */
  readonly accepted: number;
  /** Bytes of these that the program has not taken yet. */
  readonly queued: number;
  /** Bytes that were not sent: they found no place, since it does not read, or its terminal would cut them off. */
  readonly refused: number;
  /** Whether its input is at its end now. */
  readonly eof: boolean;
  /** `paste`: whether it was marked as a paste. */
  readonly bracketed?: boolean;
  /** `send-keys` on a terminal: how many keys were sent; `literal` and `hex` count as one each. */
  readonly sent?: number;
  /** What the caller ought to know. */
  readonly warnings: readonly string[];
}

/** What an answer may say beside what became of the bytes. */
export interface WriteExtra {
  /** Whether the input was ended. */
  readonly eof?: boolean;
  /** Whether it was marked as a paste. */
  readonly bracketed?: boolean;
  /** How many keys of how many were sent. */
  readonly keys?: { readonly sent: number; readonly of: number };
  /** What the caller ought to know. */
  readonly warnings?: readonly string[];
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

/** How long to wait until bytes typed into a terminal are not taken together with what was typed before, ms. */
export function pauseLeft(session: Session, bytes: Uint8Array): number {
  if (!session.facts.pty) return 0;
  const since = session.clock.monotonic() - session.lastInputAt;
  return Math.max(0, pauseBetween(session.stdin.lastByte, bytes) - since);
}

/** The answer to a write. */
export function written(
  session: Session,
  result: WriteResult,
  extra: WriteExtra = {},
): ProcessAnswer<WriteDetails> {
  const { accepted, taken, queued, refused, broken } = result;
  const { eof = false, bracketed, keys, warnings = [] } = extra;
  const isCutShort = keys !== undefined && keys.sent < keys.of;
  const sent = keys === undefined ? "" : `; ${keys.sent} of ${keys.of} keys were sent`;
  if (broken) {
    const handed = `after ${taken} of ${counted(accepted + refused)} were handed over${sent}`;
    return notPossible(`Cannot write all to session "${session.id}": stdin closed by the process ${handed}`, { taken });
  }
  const lines = [
    `Wrote ${counted(accepted)}${eof ? " and ended the input" : ""}${isCutShort ? sent : ""}.`,
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
    ...(keys !== undefined && { sent: keys.sent }),
    warnings,
  };
  return { text: lines.join("\n"), details, isError: refused > 0 || isCutShort };
}

/** The answer to a write of which nothing was sent, with the reason as its warning. */
export function notSent(session: Session, bytes: Uint8Array, why: string): ProcessAnswer<WriteDetails> {
  const details: WriteDetails = {
    ...statusOf(session),
    accepted: 0,
    queued: 0,
    refused: bytes.length,
    eof: false,
    warnings: [why],
  };
  return { text: `Nothing was sent. ${why}`, details, isError: true };
}

function counted(bytes: number): string {
  return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
}
