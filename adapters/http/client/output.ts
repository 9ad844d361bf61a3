/**
 * A session's output as the client gives it: typed events.
 *
 * @module
 */
import type { Outcome, StreamName } from "../../../mod.ts";
import type { Connection } from "./connection.ts";
import { follow } from "./follow.ts";

/** Some output, as text. */
export interface OutputText {
  /** Tells it from other events. */
  readonly type: "output";
  /** Offset of its first byte in the session's raw output. */
  readonly offset: number;
  /** Offset after it: `since` of a later call that goes on from here. */
  readonly next: number;
  /** Where it came from. */
  readonly stream: StreamName;
  /** The text as it came, escape codes included, whole characters only; what is no UTF-8 is U+FFFD. */
  readonly text: string;
}

/** Some output, byte for byte. */
export interface OutputBytes extends Omit<OutputText, "text"> {
  /** The bytes. */
  readonly bytes: Uint8Array;
}

/** Output that you did not get: it is not held any more, or you were too slow. `log` has what is still held. */
export interface OutputGap {
  /** Tells it from other events. */
  readonly type: "gap";
  /** Offset of the first byte that is missing. */
  readonly from: number;
  /** Offset of the first byte that is not. */
  readonly to: number;
}

/** The session has ended: the last event. */
export interface OutputEnd {
  /** Tells it from other events. */
  readonly type: "end";
  /** How it ended; `null` if that is not known any more. */
  readonly exit: Outcome | null;
}

/** What {@linkcode Client.output} gives. */
export type OutputEvent = OutputText | OutputGap | OutputEnd;

/** What {@linkcode Client.output} gives with `bytes: true`. */
export type OutputBytesEvent = OutputBytes | OutputGap | OutputEnd;

/** What to follow of a session's output. */
export interface OutputOptions {
  /** Offset to begin at. @default {0} */
  readonly since?: number;
  /** `false`: only what there is by now. @default {true} */
  readonly follow?: boolean;
  /** Bytes instead of text. @default {false} */
  readonly bytes?: boolean;
  /** Ends it: the loop over it rejects. `break` ends it too. */
  readonly signal?: AbortSignal | undefined;
}

/** The data of the events, as they are on the wire. */
interface Wire {
  readonly offset: number;
  readonly stream: StreamName;
  readonly text?: string;
  readonly base64?: string;
  readonly from: number;
  readonly to: number;
  readonly exit: Outcome | null;
}

/** Follows a session's output over all its connections. */
export async function* followOutput(
  connection: Connection,
  sessionId: string,
  { since, follow: isFollowed = true, bytes = false, signal }: OutputOptions,
): AsyncGenerator<OutputEvent | OutputBytesEvent, void> {
  const messages = follow(connection, {
    path: `/v1/sessions/${encodeURIComponent(sessionId)}/output`,
    query: { since, follow: isFollowed ? undefined : false, encoding: bytes ? "base64" : undefined },
    finite: !isFollowed,
    signal,
  });
  for await (const { event, data, id } of messages) {
    const { offset, stream, text = "", base64 = "", from, to, exit } = JSON.parse(data) as Wire;
    if (event === "gap") yield { type: "gap", from, to };
    if (event === "output") {
      const place = { type: event, offset, next: Number(id), stream } as const;
      yield bytes ? { ...place, bytes: bytesOf(base64) } : { ...place, text };
    }
    if (event === "end") {
      yield { type: "end", exit };
      return;
    }
  }
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
