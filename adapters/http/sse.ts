/**
 * Server-sent events: how they are written, and a response that is written only as fast as its client reads.
 *
 * @module
 */
import type { ViewerKind } from "./metrics.ts";
import type { Streams } from "./streams.ts";

/** Where the events of one response come from. */
export interface SseSource {
  /** The next piece to send; `undefined` if there is none now: then `wake`, given at the start, is called later. */
  next(): Uint8Array | undefined;
  /** Whether everything has been given out: the response ends. */
  readonly done: boolean;
  /** Lets go of everything; called once, however it ends. */
  close(): void;
}

const encoder = new TextEncoder();
const PING = encoder.encode(": ping\n\n");

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform", // compressed it would wait until a block is full
  "x-accel-buffering": "no", // nginx
} as const;

/** One event. */
export function sseEvent(event: string, id: string | number | undefined, data: unknown): Uint8Array {
  const line = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`event: ${event}\n${line}data: ${JSON.stringify(data)}\n\n`);
}

/**
 * A response of events. Nothing is asked of the source before the client's side has taken what there was, and nothing is
 * opened before it is read at all (a `HEAD` never is). Begins with a comment, so that the headers are on their way.
 *
 * @param open called at the start; `wake` is to be called when there is something to send again
 */
export function sseResponse(streams: Streams, kind: ViewerKind, open: (wake: () => void) => SseSource): Response {
  let source: SseSource | undefined;
  let leave: (() => void) | undefined;
  let isWanted = false;
  let isOver = false;

  function end(): void {
    isOver = true;
    leave?.();
    source?.close();
  }

  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const send = (bytes: Uint8Array): void => {
        isWanted = false;
        controller.enqueue(bytes);
      };
      const finish = (): void => {
        if (isOver) return;
        end();
        controller.close();
      };
      const proceed = (): void => {
        if (!isWanted || isOver) return;
        const bytes = source?.next();
        if (bytes !== undefined) send(bytes);
        else if (source?.done) finish();
      };
      isWanted = true;
      if (source !== undefined) return proceed();
      source = open(proceed);
      leave = streams.add(kind, { ping: () => isWanted && !isOver && send(PING), close: finish });
      if (!isOver) send(PING);
    },
    cancel: end,
  }, { highWaterMark: 0 });
  return new Response(body, { headers: HEADERS });
}
