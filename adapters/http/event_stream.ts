/**
 * `GET /v1/events`: what happens in the background, as server-sent events; `POST /v1/events/ack`.
 *
 * @module
 */
import type { AgentEvents, SessionEvent } from "../../mod.ts";
import type { App } from "./caller.ts";
import { checked, objectOf, queryOf } from "./input.ts";
import { ACK_BODY, NOTHING } from "./parameters.ts";
import { sseEvent, sseResponse, type SseSource } from "./sse.ts";
import type { Streams } from "./streams.ts";

/** New events that wait for a client that does not read; at most 2 KB each. */
const MOST_WAITING = 32;

/** Adds the routes. */
export function eventRoutes(app: App, streams: Streams): void {
  app.get("/v1/events", (c) => {
    checked(NOTHING.check, queryOf(c));
    const { events } = c.get("caller").agent;
    const after = c.req.header("last-event-id");
    return sseResponse(streams, "events", (wake) => eventSource(events, after, wake));
  });
  app.post("/v1/events/ack", async (c) => {
    checked(NOTHING.check, queryOf(c));
    const { ids } = checked(ACK_BODY.check, await objectOf(c));
    return c.json({ acked: c.get("caller").agent.events.ack(...ids) });
  });
}

/**
 * The events that wait to be acknowledged, then those that come.
 *
 * @param after id of the last one that the client has seen
 */
function eventSource(events: AgentEvents, after: string | undefined, wake: () => void): SseSource {
  const known = events.list().events;
  const seen = known.findIndex(({ id }) => id === after); // -1: it has been acknowledged, or there is none
  const waiting: SessionEvent[] = known.slice(seen + 1).map(({ delivered: _, ...event }) => event);
  const room = waiting.length + MOST_WAITING;
  let missed = 0;
  const unsubscribe = events.subscribe((event) => {
    waiting.push(event);
    if (waiting.length > room) {
      waiting.shift();
      missed += 1;
    }
    wake();
  });
  return {
    next: () => {
      if (missed > 0) {
        const gap = sseEvent("gap", undefined, { missed });
        missed = 0;
        return gap;
      }
      const event = waiting.shift();
      return event && sseEvent(event.type, event.id, event);
    },
    done: false,
    close: unsubscribe,
  };
}
