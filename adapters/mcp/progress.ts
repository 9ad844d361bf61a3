/**
 * Progress of a call while it waits, for the client that asked for it.
 *
 * @module
 */
import { clearInterval, setInterval } from "node:timers";
import type { Agent } from "../../mod.ts";
import { paced } from "./paced.ts";

/** What a notification of progress says. */
export interface Progress {
  /** Seconds since the call; more with each notification. */
  readonly progress: number;
  /** The last line of output, or that there is none. */
  readonly message: string;
}

/** Progress that is being told. */
export interface ProgressTeller {
  /** There is new output; `tail` is its end. */
  readonly update: (tail: string) => void;
  /** The call has been answered: nothing is told after that. */
  readonly stop: () => void;
}

/** Least time between two notifications, ms. */
const EVERY_MS = 500;

/** Silence after which a client is told that the call still waits, ms: clients give up on one they hear nothing of for 60 s. */
const SILENCE_MS = 5_000;

/** Characters of output that are looked at for a last line, and those of it that are told. */
const TAIL_CHARS = 2_000;
const LINE_CHARS = 200;

/** Tells progress by `send`, at most twice a second, and every five seconds if there is no output. */
export function tellProgress(send: (progress: Progress) => Promise<void>): ProgressTeller {
  const startedAt = performance.now();
  let last = 0;
  let tail = "";
  let isStopped = false;
  const pace = paced(EVERY_MS, async () => {
    if (isStopped) return;
    last = Math.max(last + 0.001, Math.round(performance.now() - startedAt) / 1_000);
    await send({ progress: last, message: lastLine(tail) });
  });
  const alive = setInterval(pace.poke, SILENCE_MS).unref();
  return {
    update: (newest) => {
      tail = newest;
      pace.poke();
    },
    stop: () => {
      isStopped = true;
      clearInterval(alive);
      pace.stop();
    },
  };
}

/** Follows the session that a call of `process` is about, if there is one. @returns a function that ends it */
export function followSession(agent: Agent, input: unknown, { update }: ProgressTeller): () => void {
  const id = (input as { readonly sessionId?: unknown } | null | undefined)?.sessionId;
  const view = typeof id === "string" ? agent.session(id) : undefined;
  if (view === undefined) return () => {};
  const look = paced(EVERY_MS, () => update(view.tail(TAIL_CHARS)));
  const stopWatching = view.watch(look.poke);
  return () => {
    stopWatching();
    look.stop();
  };
}

function lastLine(tail: string): string {
  const line = tail.trimEnd().split("\n").at(-1) ?? "";
  if (line === "") return "no output yet";
  const chars = [...line];
  return chars.length <= LINE_CHARS ? line : `${chars.slice(0, LINE_CHARS).join("")}…`;
}
