/**
 * Ends what must not outlive the host, when the host itself is about to end.
 *
 * @module
 */

import process from "node:process";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import type { Runtime } from "../../mod.ts";
import { makeRoom } from "../listener_room.ts";

const END_SIGNALS: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP"];
const LEAVE_AFTER_MS = 100; // some fifty of the quickest commands in a row
const MAX_WAIT_MS = 15_000; // the kill ladder takes 9 s by default; what hosts are run by kills them after 10 to 90 s

// Marks our listeners, so that several instances (and copies of this package) do not take each other for the host's.
const OURS: unique symbol = Symbol.for("offstage.shutdown");

type End = () => Promise<void>;

interface Listener {
  (...args: readonly unknown[]): void;
  [OURS]?: true;
}

/**
 * Makes the `onShutdown` of a runtime object: what is registered runs when the host is about to end.
 *
 * - SIGTERM, SIGINT, SIGHUP: awaited (at most 15 s; a second signal cuts it short), then the signal is raised again and
 *   the host dies of it as it would have; unless the host listens to that signal itself, then that is for it to decide.
 *   What is registered with `signals: false` leaves such a signal to the host altogether.
 * - an uncaught error, or rejection: awaited likewise, then thrown again. Nothing happens if the host handles it itself.
 * - the event loop runs empty: awaited.
 * - `process.exit()`: begun, but nothing can be awaited; what is left to do is the orphan guard's.
 * - SIGKILL, or a crash of the runtime: nothing can be done from inside.
 *
 * Listeners are there only while something is registered, and for a moment longer: when one command follows another, it
 * is registered again by then, and taking down and putting up a signal's listener is slow.
 *
 * @param errorEvents the events of `process` that tell an error which nobody handles
 * @returns registers an `end`, and returns the function that unregisters it
 */
export function createShutdown(errorEvents: readonly string[] = ["uncaughtException"]): Runtime["onShutdown"] {
  const ends = new Map<End, boolean>(); // whether it is left to the host if that listens to a signal
  let ending: Promise<void> | undefined;

  const endAll = (some: Iterable<End> = ends.keys()): Promise<void> =>
    ending ??= withinBound([...some].map((end) => end())).finally(() => {
      ending = undefined;
    });

  /** Ends everything, then lets the host go the way it was going, unless it has plans of its own for that event. */
  const endBefore = async (event: string, goOn: () => void, some?: Iterable<End>): Promise<void> => {
    const isFirst = ending === undefined;
    if (isFirst) await endAll(some);
    if (hasForeignListener(event)) return;
    unlisten();
    if (process.listenerCount(event) === 0) goOn(); // else another instance is still at it, and goes on in its turn
  };

  const onSignal = (signal: NodeJS.Signals): void => {
    const isHosts = hasForeignListener(signal);
    const some = [...ends].filter(([, isLeft]) => !(isLeft && isHosts)).map(([end]) => end);
    void endBefore(signal, () => process.kill(process.pid, signal), some);
  };

  const listeners: readonly (readonly [event: string, listener: Listener])[] = [
    ...END_SIGNALS.map((signal) => [signal, ours(() => onSignal(signal))] as const),
    ...errorEvents.map((event) =>
      [
        event,
        ours((error) => {
          if (!hasForeignListener(event)) void endBefore(event, () => throwUncaught(error));
        }),
      ] as const
    ),
    ["beforeExit", ours(() => void endAll().then(unlisten))], // it comes again after whatever is done in it
    ["exit", ours(() => void endAll())],
  ];
  let giveBack: (() => void) | undefined; // there while we listen
  let leaving: NodeJS.Timeout | undefined;
  const listen = (): void => {
    if (giveBack !== undefined) return;
    giveBack = makeRoom();
    for (const [event, listener] of listeners) process.on(event, listener);
  };
  const unlisten = (): void => {
    for (const [event, listener] of listeners) process.off(event, listener);
    giveBack?.();
    giveBack = undefined;
  };
  /** Not called off when something is registered meanwhile: in a row of commands that would be a timer for each. */
  const leaveSoon = (): void => {
    leaving ??= setTimeout(() => {
      leaving = undefined;
      if (ends.size === 0) unlisten();
    }, LEAVE_AFTER_MS).unref();
  };

  return (end, { signals = true } = {}) => {
    ends.set(end, !signals);
    listen();
    return () => {
      if (ends.delete(end) && ends.size === 0) leaveSoon();
    };
  };
}

function ours(listener: Listener): Listener {
  listener[OURS] = true;
  return listener;
}

function hasForeignListener(event: string): boolean {
  return process.listeners(event as "exit").some((listener) => !(listener as Listener)[OURS]);
}

function throwUncaught(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

/** Waits until all have settled, at most {@linkcode MAX_WAIT_MS}; their failures have nobody left to be told to. */
async function withinBound(promises: readonly Promise<void>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_WAIT_MS);
  });
  await Promise.race([Promise.allSettled(promises), bound]);
  clearTimeout(timer);
}
