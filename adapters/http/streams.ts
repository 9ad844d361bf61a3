/**
 * All streams that are open: their keep-alive, their number, and their end when the server closes.
 *
 * @module
 */
import { createLiveSessions, type LiveSessions } from "./live.ts";
import type { ViewerKind } from "./metrics.ts";
import type { Service } from "./service.ts";

/** A stream to one client, as long as it is open. */
export interface OpenStream {
  /** Sends something that keeps the connection alive, unless other things wait to be sent. */
  ping(): void;
  /** Ends it: the server closes. */
  close(): void;
}

/** The streams of one app. */
export interface Streams {
  /** The sessions they show. */
  readonly sessions: LiveSessions;
  /**
   * Takes one in; closes it when the server closes, at once if it does so already.
   *
   * @returns a function to be called when it has ended; safe to call twice
   */
  add(kind: ViewerKind, stream: OpenStream): () => void;
}

/** Proxies cut what is silent for 10 s or more, so there are two pings in that time, ms. */
export const PING_MS = 5_000;

/** Makes the place for the streams of one app. There is one timer for all of them, and none while there are none. */
export function createStreams(
  { closing, metrics }: Pick<Service, "closing" | "metrics">,
  pingMs: number = PING_MS,
): Streams {
  const streams = new Set<OpenStream>();
  let pinging: ReturnType<typeof setInterval> | undefined;

  function rest(): void {
    clearInterval(pinging);
    pinging = undefined;
  }

  closing.addEventListener("abort", () => {
    rest();
    for (const stream of [...streams]) stream.close();
  }, { once: true });

  return {
    sessions: createLiveSessions(),
    add: (kind, stream) => {
      if (closing.aborted) {
        stream.close();
        return () => {};
      }
      const uncount = metrics.viewer(kind);
      streams.add(stream);
      pinging ??= setInterval(() => {
        for (const each of streams) each.ping();
      }, pingMs);
      return () => {
        uncount();
        if (streams.delete(stream) && streams.size === 0) rest();
      };
    },
  };
}
