/**
 * What can be news of a session: plain JSON, the same for callbacks, queues and streams.
 *
 * @module
 */
import type { LimitEnd } from "../limits.ts";
import type { SignalName } from "../runtime.ts";
import type { EndReason, EndStatus } from "./outcome.ts";

/** A background session has ended, and no answer had told so (spec S9). */
export interface ExitEvent {
  /** Tells it from other events. */
  readonly type: "exit";
  /** Its own id, for `ack`; stable, and never given to another event. */
  readonly id: string;
  /** The session. */
  readonly sessionId: string;
  /** The agent that owns it. */
  readonly scope: string;
  /** Verb and target of its command, e.g. `npm test`. */
  readonly name: string;
  /** `completed` = ended by itself, whatever its code. */
  readonly status: EndStatus;
  /** Completed with code 0. */
  readonly ok: boolean;
  /** Why it ended. */
  readonly reason: EndReason;
  /** Exit code; `null` if a signal ended it or it is unknown. */
  readonly exitCode: number | null;
  /** The signal that ended it. */
  readonly signal: SignalName | null;
  /** The limit that ended it; `null` if none did, or nobody can tell. */
  readonly limit: LimitEnd | null;
  /** How long it ran, ms. */
  readonly durationMs: number;
  /** The end of its output, rendered, at most 180 characters. */
  readonly snippet: string;
}

/** A line of a background session's output has matched the `notifyOn` of its `exec`. */
export interface MatchEvent {
  /** Tells it from other events. */
  readonly type: "match";
  /** Its own id, for `ack`; stable, and never given to another event. */
  readonly id: string;
  /** The session. */
  readonly sessionId: string;
  /** The agent that owns it. */
  readonly scope: string;
  /** Verb and target of its command, e.g. `npm run`. */
  readonly name: string;
  /** The pattern, as it was given. */
  readonly pattern: string;
  /** The line, rendered; of one over 500 characters the beginning and its length. */
  readonly line: string;
  /** Its absolute 0-based number, as `log` counts: `offset` of `log` shows it. */
  readonly lineNumber: number;
  /** Lines that have matched so far, since the start. In `events.list()` it is kept up to date on the newest one. */
  readonly matched: number;
  /** Those of them that were only counted, because of `once`, `cooldownMs` or `max`. */
  readonly untold: number;
  /** Lines that came and were dropped (`maxOutputChars`) too fast to be looked at. */
  readonly skippedLines: number;
}

/** An event; `type` tells which. */
export type SessionEvent = ExitEvent | MatchEvent;
