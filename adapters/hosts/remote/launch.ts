/**
 * A client that is about to run a command: started, with its script waiting to be told which.
 *
 * @module
 */
import type { Child, OutputSink, Spawner, SpawnSpec } from "../../../mod.ts";
import { createMarkReader, type Mark } from "./marks.ts";
import type { Overseer } from "./overseer.ts";
import { wrapperArguments } from "./wrapper.ts";

/** What became of a start; `over` if the client's streams ended before. */
export type Outcome = (Mark & { readonly kind: "start" | "fail" }) | { readonly kind: "over" };

/** The end of a command, as its script has told it. */
export type EndMark = Mark & { readonly kind: "end" };

/** A client whose script waits. */
export interface Launch {
  /** The client. */
  readonly client: Child;
  /** Tells what the script says from what the command prints. */
  readonly tag: string;
  /** Whether its streams are at their end. */
  isOver(): boolean;
  /** Resolves when the script may be told what to run. */
  readonly ready: Promise<unknown>;
  /** What became of the start. */
  readonly begun: Promise<Outcome>;
  /** Its end; `undefined` if its streams ended without one. */
  readonly ended: Promise<EndMark | undefined>;
  /** What the client has complained of. */
  complaints(): string;
}

/** Passes on to a sink that may come later than the client, but not later than the command. */
export interface LateSink extends OutputSink {
  /** Where everything goes from now on. */
  to(sink: OutputSink): void;
}

/** Makes a sink for a command that is not known yet. */
export function lateSink(): LateSink {
  let target: OutputSink = { chunk: () => {}, end: () => {} };
  return {
    to: (sink) => void (target = sink),
    chunk: (stream, bytes) => target.chunk(stream, bytes),
    end: () => target.end(),
  };
}

/**
 * Starts a client.
 *
 * @param inner starts it here
 * @param overseer has the connection
 * @param sink takes what the command prints
 * @param spec the session it is for, and the size of its terminal
 * @throws {OffstageError} `spawn-failed` if there is no such client
 */
export async function launch(
  inner: Spawner,
  { connection }: Overseer,
  sink: OutputSink,
  spec: Pick<SpawnSpec, "sessionId" | "scope" | "terminal">,
): Promise<Launch> {
  const { terminal, sessionId, scope } = spec;
  const way = terminal === undefined ? "pipes" : "terminal";
  const tag = crypto.randomUUID().slice(0, 8);
  const [begun, begin] = settled<Outcome>();
  const [ready, beReady] = settled<void>();
  const [ended, end] = settled<EndMark | undefined>();
  let isOver = false;
  const reader = createMarkReader(tag, sink, (mark) => {
    if (mark.kind === "ready") beReady();
    else if (mark.kind === "end") end(mark);
    else begin(mark);
  }, () => {
    isOver = true;
    begin({ kind: "over" });
    end(undefined);
  });
  const argv = connection.command(wrapperArguments(way), way);
  const client = await inner.spawn({
    argv: way === "pipes" ? argv : withRawTerminal(argv),
    cwd: "/",
    env: connection.env,
    stdin: "open",
    sessionId,
    scope,
    ...(terminal !== undefined && { terminal }),
  }, reader.sink);
  return {
    client,
    tag,
    isOver: () => isOver,
    ready: way === "pipes" ? Promise.resolve() : Promise.race([ready, begun]),
    begun,
    ended,
    complaints: reader.complaints,
  };
}

/** The terminal passes on what it gets, both ways, from the start: the client sees to that itself, but late. */
function withRawTerminal(argv: SpawnSpec["argv"]): SpawnSpec["argv"] {
  return ["/bin/sh", "-c", 'stty raw -echo && exec "$@"', "sh", ...argv];
}

function settled<T>(): readonly [promise: Promise<T>, settle: (value: T) => void] {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => settle = resolve);
  return [promise, settle];
}
