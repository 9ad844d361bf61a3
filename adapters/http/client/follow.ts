/**
 * A stream of events that outlives its connections: it reconnects and goes on where it was.
 *
 * @module
 */
import { broken, type Call, type Connection } from "./connection.ts";
import { aborted, ClientError } from "./error.ts";
import { createEventParser, type StreamMessage } from "./event_parser.ts";

/** First pause before a new connection, ms; it doubles with each that fails. */
const FIRST_PAUSE_MS = 250;

/** Longest pause, ms. */
const LONGEST_PAUSE_MS = 10_000;

/** Connections in a row that may fail before it is given up: about a minute. */
const MAX_FAILURES = 10;

/** A connection that has lived so long has not failed, though it may have had nothing to tell, ms. */
const GOOD_AFTER_MS = 10_000;

/** Waits; rejects when the signal fires. */
export type Pause = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

/** What to follow. */
export interface Followed {
  /** Path of the stream. */
  readonly path: string;
  /** Its query. */
  readonly query?: object;
  /** Whether the stream has an end of its own, after which nothing is missing. Otherwise an end is a loss. */
  readonly finite?: boolean;
  /** Ends it with a rejection. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the messages of a stream until whoever takes them has had enough.
 *
 * The first connection must succeed. Later ones are tried again with growing pauses; a refusal (status 4xx) ends it.
 *
 * @throws {ClientError} why it could not go on
 */
export async function* follow(
  connection: Connection,
  { path, query, finite = false, signal }: Followed,
  pause: Pause = pauseFor,
): AsyncGenerator<StreamMessage, void> {
  let lastId: string | undefined;
  let failures = 0;
  let connectedAt: number | undefined;
  for (;;) {
    let loss: ClientError | undefined;
    try {
      const response = await connection.open(path, streamCall(query, lastId, signal));
      connectedAt = performance.now();
      for await (const message of messagesOf(response, connection.url, signal)) {
        failures = 0;
        lastId = message.id ?? lastId;
        yield message;
      }
      if (finite) return;
    } catch (error) {
      if (!(error instanceof ClientError) || connectedAt === undefined || isFinal(error)) throw error;
      loss = error;
    }
    if (performance.now() - connectedAt > GOOD_AFTER_MS) failures = 0;
    if (failures === MAX_FAILURES) throw loss ?? broken(connection.url, "the stream ends again and again", signal);
    await pause(pauseMs(failures), signal);
    failures += 1;
  }
}

function streamCall(query: object = {}, lastId: string | undefined, signal: AbortSignal | undefined): Call {
  const headers = { accept: "text/event-stream", ...(lastId !== undefined && { "last-event-id": lastId }) };
  return { query, headers, signal };
}

/** What another attempt would not change. */
function isFinal({ code, status }: ClientError): boolean {
  return code === "aborted" || (status > 0 && status < 500);
}

/** Up to a quarter more or less, so that the clients of a server that restarts do not come all at once. */
function pauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (0.75 + Math.random() / 2);
}

async function* messagesOf(
  response: Response,
  url: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamMessage, void> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream") || response.body === null) {
    await response.body?.cancel();
    throw new ClientError({ code: "bad-answer", message: `${url} answered with no stream of events`, status: 200 });
  }
  const parse = createEventParser();
  const decoder = new TextDecoder();
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw broken(url, error, signal);
      });
      if (done) return;
      yield* parse(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {}); // it may be broken already
  }
}

/** Waits with the platform's timer. */
function pauseFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(aborted(signal as AbortSignal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
