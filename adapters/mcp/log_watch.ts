/**
 * Who wants to hear of which log, and telling him.
 *
 * @module
 */
import type { Agent } from "../../mod.ts";
import { sessionAt } from "./log_resources.ts";
import { type Paced, paced } from "./paced.ts";

/** What a client is told. */
export interface Listener {
  /** The log at that address has changed: there is more output, or the command has ended. */
  readonly updated: (uri: string) => Promise<void> | void;
  /** There are other sessions than before, or one has ended. */
  readonly listChanged: () => Promise<void> | void;
}

/** The subscriptions of one connection. */
export interface LogWatch {
  /** Takes one out, for these addresses. Those that are no log of the agent's are ignored. */
  open(key: unknown, uris: readonly string[]): void;
  /** Gives one back, if it is there. */
  close(key: unknown): void;
  /** Gives all back; nothing is told any more. */
  stop(): void;
}

/** Least time between two notifications of one log, and between two of the list, ms. */
const UPDATED_EVERY_MS = 1_000;
const LIST_EVERY_MS = 500;

/** Subscriptions a connection may have, and addresses in each: more logs than a scope usually has. */
const MOST_SUBSCRIPTIONS = 256;
const MOST_URIS = 256;

/** Watches an agent's sessions for one connection. The list is watched from the beginning, logs as they are asked for. */
export function watchLogs(agent: Agent, listener: Listener): LogWatch {
  const subscriptions = new Map<unknown, readonly string[]>();
  const followed = new Map<string, { readonly stop: () => void; readers: number }>();
  const list = paced(LIST_EVERY_MS, listener.listChanged);
  const stopWatching = agent.watchSessions(list.poke);

  function follow(uri: string): void {
    const known = followed.get(uri);
    const view = known === undefined ? sessionAt(agent, uri) : undefined;
    if (known !== undefined) known.readers += 1;
    if (view === undefined) return;
    const updates: Paced = paced(UPDATED_EVERY_MS, () => listener.updated(uri));
    const stopFollowing = view.watch(updates.poke);
    followed.set(uri, {
      readers: 1,
      stop: () => {
        stopFollowing();
        updates.stop();
      },
    });
  }

  function leave(uri: string): void {
    const known = followed.get(uri);
    if (known === undefined || --known.readers > 0) return;
    followed.delete(uri);
    known.stop();
  }

  function close(key: unknown): void {
    const uris = subscriptions.get(key) ?? [];
    subscriptions.delete(key);
    uris.forEach(leave);
  }

  function isKept(uri: string): boolean {
    return sessionAt(agent, uri) !== undefined;
  }

  /** Clients seldom give back subscriptions to logs that there are no more. */
  function closeForgotten(): void {
    for (const [key, uris] of subscriptions) if (!uris.some(isKept)) close(key);
  }

  return {
    open: (key, uris) => {
      close(key);
      const wanted = [...new Set(uris.slice(0, MOST_URIS))].filter(isKept);
      if (wanted.length === 0) return;
      if (subscriptions.size >= MOST_SUBSCRIPTIONS) closeForgotten();
      if (subscriptions.size >= MOST_SUBSCRIPTIONS) return;
      subscriptions.set(key, wanted);
      wanted.forEach(follow);
    },
    close,
    stop: () => {
      stopWatching();
      list.stop();
      for (const key of [...subscriptions.keys()]) close(key);
    },
  };
}
