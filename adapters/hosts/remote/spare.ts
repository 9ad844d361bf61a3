/**
 * The next client, started before it is needed: most of the time that a short command takes over there is that of the
 * client, the server and the shells around it, which then run while the command before it does.
 *
 * @module
 */
import { setImmediate } from "node:timers/promises";
import type { OutputSink, Spawner, SpawnSpec } from "../../../mod.ts";
import { spawnOnPipes } from "../../node/pipes.ts";
import { type LateSink, lateSink, type Launch, launch } from "./launch.ts";
import type { Overseer } from "./overseer.ts";

/** Gives a client for the command of a session on pipes that prints to that sink. */
export type TakeClient = (sink: OutputSink, spec: Pick<SpawnSpec, "sessionId" | "scope">) => Promise<Launch>;

/** A client that waits. */
interface Waiting {
  readonly launch: Launch;
  readonly sink: LateSink;
}

/**
 * Keeps one client ready for as long as its connection lives. It does not keep this process alive; where that cannot be
 * had, every command starts its own.
 */
export function keepSpare(spawner: Spawner, overseer: Overseer): TakeClient {
  // Bun does not end while it reads from what its own way of starting programs has started
  const inner = "Bun" in globalThis ? { ...spawner, spawn: spawnOnPipes } : spawner;
  let next: Promise<Waiting | undefined> | undefined;
  overseer.atEnd(async () => {
    const spare = await next;
    void spare?.launch.client.endInput();
    spare?.launch.client.release();
  });

  async function prepare(): Promise<Waiting | undefined> {
    const sink = lateSink();
    try {
      await setImmediate(); // a start blocks this process for milliseconds: first the command itself is told to run
      const prepared = await launch(inner, overseer, sink, { sessionId: "", scope: "" });
      prepared.client.keepAlive?.(false);
      return { launch: prepared, sink };
    } catch {
      return undefined; // the command that would take it meets the same trouble, and tells
    }
  }

  return async (sink, { sessionId, scope }) => {
    const mine = next;
    next = mine && prepare(); // at once, so that nobody else is given the same
    const spare = await mine;
    if (spare === undefined || spare.launch.isOver()) {
      const own = await launch(inner, overseer, sink, { sessionId, scope });
      if (own.client.keepAlive !== undefined) next ??= prepare();
      return own;
    }
    spare.launch.client.keepAlive?.(true);
    spare.sink.to(sink);
    return spare.launch;
  };
}
