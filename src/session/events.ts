/**
 * Telling the host what has happened in the background: who is told, and that the end is news only once (spec S9, R9).
 *
 * @module
 */
import type { Settings } from "../config.ts";
import type { ExitEvent, SessionEvent } from "./event.ts";
import { createEventQueue, type EventQueue, EVENTS_KEPT, type QueueEntry } from "./event_queue.ts";
import type { MatchSink } from "./line_watch.ts";
import { isNews, isRequested } from "./news.ts";
import { ALL_SCOPES, sees } from "./scope.ts";
import type { Session } from "./session.ts";
import type { waitFor } from "./wait.ts";

/** An event that has not been acknowledged. */
export type QueuedEvent = SessionEvent & {
  /** Whether it was handed out before: to `onEvent`, to a subscriber, or by an earlier `list()`. */
  readonly delivered: boolean;
};

/** What `events.list()` answers. */
export interface EventList {
  /** Oldest first, at most 20. */
  readonly events: readonly QueuedEvent[];
  /** How many of the scope's events, ever, had to go unacknowledged because of newer ones. */
  readonly dropped: number;
}

/**
 * The events of one agent: what happened in the background that no answer has told.
 *
 * @example Hear of an end
 * ```ts
 * import type { SessionEvent } from "offstage";
 * import { createOffstage } from "offstage/node";
 *
 * await using offstage = createOffstage();
 * const agent = offstage.agent("agent-1");
 * const first = new Promise<SessionEvent>((resolve) => agent.events.subscribe(resolve));
 * await agent.exec({ command: "sleep 0.2; echo oh no; exit 3", background: true });
 * const event = await first;
 * if (event.type === "exit") {
 *   console.log(event.exitCode, event.snippet); // 3 oh no
 * }
 * agent.events.ack(event.id);
 * ```
 */
export interface AgentEvents {
  /** The events that have not been acknowledged. Whoever lists them has seen them: none of them is withdrawn later. */
  list(): EventList;
  /**
   * Takes events out of the list.
   *
   * @param ids their ids; unknown ones are ignored
   * @returns how many were there
   */
  ack(...ids: readonly string[]): number;
  /**
   * Calls `take` with each event from now on, until it is unsubscribed; {@linkcode AgentEvents.list} has those from
   * before. An event stays in the list until it is acknowledged. What `take` throws is its own affair.
   *
   * @returns a function that ends it; safe to call twice
   */
  subscribe(take: (event: SessionEvent) => void): () => void;
}

/** Of what an agent will be told by itself. */
export interface Notice {
  /** Of the session's end: always, if it is more than a success without output, or never. */
  readonly end: "always" | "unless-silent" | "never";
  /** Of lines that match. */
  readonly match: boolean;
}

/** All events of one instance. */
export interface Events {
  /** To be called when a session has settled, in the background or not. */
  ended(session: Session): void;
  /** Where the lines of a session go that match a pattern. */
  matchesOf(session: Session, pattern: string): MatchSink;
  /** What a session's owner will be told of, as far as anybody listens. */
  noticeOf(session: Session): Notice;
  /** The events that a scope sees. */
  of(scope: string): AgentEvents;
  /** Forgets everything; nothing is told any more. */
  close(): void;
}

/** What the events of an instance need. */
export interface EventsOptions {
  /** The settings in force. */
  readonly settings: Settings;
  /** Waits for something of a session; not called before there is one. */
  readonly waitFor: typeof waitFor;
  /** Given every event of every scope. */
  readonly onEvent?: (event: SessionEvent) => void;
  /** Asked to wake the agent of a scope. */
  readonly requestHeartbeat?: (scope: string) => void;
}

/** Characters of an event's snippet (spec S9). */
const SNIPPET_CHARS = 180;

/** Characters from which a snippet is taken: what is blank at the end is not worth one. */
const SNIPPET_FROM_CHARS = 2_000;

/** Scopes whose events are kept: a host that takes events by `onEvent` never acknowledges, and may have a scope a task. */
const SCOPES_KEPT = 1_000;

/** Makes the events of an instance. */
export function createEvents({ settings, waitFor, onEvent, requestHeartbeat }: EventsOptions): Events {
  const queues = new Map<string, EventQueue>(); // the scope with the newest event is the last one
  const subscribers = new Map<string, Set<{ readonly take: (event: SessionEvent) => void }>>();
  let closed = false;

  function queueFor(scope: string): EventQueue {
    const queue = queues.get(scope) ?? createEventQueue(EVENTS_KEPT);
    queues.delete(scope);
    queues.set(scope, queue);
    const [oldest] = queues.keys();
    if (queues.size > SCOPES_KEPT && oldest !== undefined) queues.delete(oldest);
    return queue;
  }

  function queuesOf(scope: string): readonly EventQueue[] {
    return [...queues].filter(([owner]) => sees(scope, owner)).map(([, queue]) => queue);
  }

  /** Queues an event, hands it out and wakes the agent. */
  function publish(event: SessionEvent): QueueEntry {
    const { scope } = event;
    const entry = queueFor(scope).push(event);
    const takers = [...new Set([scope, ALL_SCOPES])].flatMap((reader) => [...(subscribers.get(reader) ?? [])]);
    for (const { take } of onEvent === undefined ? takers : [{ take: onEvent }, ...takers]) {
      if (contained(() => take(event))) entry.state = "delivered";
    }
    contained(() => requestHeartbeat?.(scope));
    return entry;
  }

  /** An answer that is under way may tell the end itself, so the event comes after all of them, if at all. */
  async function tellOfEnd(session: Session): Promise<void> {
    await session.lineWatch?.finish();
    const isAnswered = (): boolean => session.asking === 0;
    while (!isAnswered()) await waitFor(session, isAnswered, { timeoutMs: Infinity });
    if (closed || !isNews(session)) return;
    const event = exitEvent(session);
    const isSilent = event.reason === "exit" && event.exitCode === 0 && event.snippet === "";
    if (!isSilent || settings.notifyOnExitEmptySuccess) session.endEvent = publish(event);
  }

  function matchesOf(session: Session, pattern: string): MatchSink {
    const { id: sessionId, name, facts: { scope } } = session;
    let told = 0;
    let newest: QueueEntry | undefined;
    return {
      tell: (match) => {
        if (closed) return;
        const id = `${sessionId}.match-${++told}`;
        newest = publish({ type: "match", id, sessionId, scope, name, pattern, ...match });
      },
      recount: (counts) => {
        if (newest?.event.type === "match") newest.event = { ...newest.event, ...counts };
      },
    };
  }

  return {
    ended: (session) => {
      if (session.listed && !session.hidden) void tellOfEnd(session);
    },
    matchesOf,
    noticeOf: (session) => {
      const { scope, notifyOnExit } = session.facts;
      const isHeard = onEvent !== undefined || requestHeartbeat !== undefined || subscribers.has(scope);
      const match = isHeard && session.lineWatch?.isSpent === false;
      if (!isHeard || !notifyOnExit || isRequested(session.stopCause)) return { end: "never", match };
      const isLoud = settings.notifyOnExitEmptySuccess || snippetOf(session) !== "";
      return { end: isLoud ? "always" : "unless-silent", match };
    },
    of: (scope) => ({
      list: () => {
        const entries = queuesOf(scope).flatMap((queue) => queue.entries());
        const events = entries.map(({ event, state }) => ({ ...event, delivered: state === "delivered" }));
        for (const entry of entries) entry.state = "delivered";
        return { events, dropped: queuesOf(scope).reduce((sum, queue) => sum + queue.dropped, 0) };
      },
      ack: (...ids) => queuesOf(scope).reduce((sum, queue) => sum + queue.ack(ids), 0),
      subscribe: (take) => {
        const subscriber = { take };
        const all = subscribers.get(scope) ?? new Set();
        subscribers.set(scope, all.add(subscriber));
        return () => {
          all.delete(subscriber);
          if (all.size === 0 && subscribers.get(scope) === all) subscribers.delete(scope);
        };
      },
    }),
    close: () => {
      closed = true;
      queues.clear();
      subscribers.clear();
    },
  };
}

function exitEvent(session: Session): ExitEvent {
  const { id: sessionId, name, state, facts: { scope } } = session;
  if (state.kind === "running") throw new TypeError("Cannot tell the end of a running session");
  const { outcome, durationMs } = state;
  const id = `${sessionId}.exit`;
  return { type: "exit", id, sessionId, scope, name, ...outcome, durationMs, snippet: snippetOf(session) };
}

function snippetOf(session: Session): string {
  return [...session.tail(SNIPPET_FROM_CHARS).trimEnd()].slice(-SNIPPET_CHARS).join("");
}

/**
 * Calls what the host has given us; says whether it took it. What it throws, or rejects with, is its own affair: a
 * broken receiver must not break the session.
 */
function contained(call: () => unknown): boolean {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(() => {});
    return true;
  } catch {
    return false;
  }
}
