/**
 * `GET /v1/sessions/:id/output`: a session's output as it comes, as server-sent events.
 *
 * @module
 */
import type { SessionView } from "../../mod.ts";
import { base64Of } from "./base64.ts";
import type { App } from "./caller.ts";
import { unknownSession } from "./errors.ts";
import { createFrames, type Encode } from "./frames.ts";
import { checked, queryOf } from "./input.ts";
import type { LiveSessions } from "./live.ts";
import { OUTPUT_QUERY } from "./parameters.ts";
import { sseEvent, sseResponse, type SseSource } from "./sse.ts";
import type { Streams } from "./streams.ts";
import { createViewer, type Step, type Viewed } from "./viewer.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The events of a piece of output, its text decoded: whole characters, U+FFFD for what is none. */
const asText: Encode = ({ stream, at, bytes }) =>
  sseEvent("output", at + bytes.length, { offset: at, stream, text: decoder.decode(bytes) });

/** The same with the bytes as they came. */
const asBase64: Encode = ({ stream, at, bytes }) =>
  sseEvent("output", at + bytes.length, { offset: at, stream, base64: base64Of(bytes) });

/** Adds the route. */
export function outputRoutes(app: App, streams: Streams): void {
  app.get("/v1/sessions/:id/output", (c) => {
    const id = c.req.param("id");
    const view = c.get("caller").agent.session(id);
    if (view === undefined) throw unknownSession(id);
    const lastId = c.req.header("last-event-id"); // of a client that reconnects: newer than its query
    const given = { ...queryOf(c), ...(lastId && { since: lastId }) };
    const { since, follow, encoding } = checked(OUTPUT_QUERY.check, given);
    const encode = encoding === "base64" ? asBase64 : asText;
    return sseResponse(
      streams,
      "output",
      (wake) => follow ? followed(streams.sessions, view, encode, since, wake) : present(view, encode, since),
    );
  });
}

/** Everything up to the end, whenever that comes. */
function followed(
  sessions: LiveSessions,
  view: SessionView,
  encode: Encode,
  since: number,
  wake: () => void,
): SseSource {
  const seat = sessions.join(view);
  const viewer = createViewer(seat.viewed, seat.frames(encode), since);
  return {
    next: () => {
      const step = viewer.next();
      if (step === undefined && !viewer.done) seat.wait(wake);
      return step && eventOf(step);
    },
    get done() {
      return viewer.done;
    },
    close: seat.leave,
  };
}

/** What there is now; the end only if the session has ended. */
function present(view: SessionView, encode: Encode, since: number): SseSource {
  const { end, outcome, gone } = view;
  const viewed: Viewed = {
    get start() {
      return view.start;
    },
    end,
    over: true,
    outcome,
  };
  const viewer = createViewer(viewed, createFrames(view, encode), since);
  const isOver = outcome !== undefined || gone;
  return {
    next: () => {
      const step = viewer.next();
      return step === undefined || (step.kind === "end" && !isOver) ? undefined : eventOf(step);
    },
    get done() {
      return viewer.done;
    },
    close: () => {},
  };
}

function eventOf(step: Step): Uint8Array {
  switch (step.kind) {
    case "frame":
      return step.frame.bytes;
    case "gap":
      return sseEvent("gap", step.to, { from: step.from, to: step.to });
    case "end":
      return sseEvent("end", step.at, { exit: step.outcome ?? null });
  }
}
