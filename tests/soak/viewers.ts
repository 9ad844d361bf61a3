/**
 * Viewers of a session, each of whom has to be shown every byte once, or told what is missing, and then the end.
 *
 * @module
 */
import { createConnection } from "node:net";
import { assert, assertEquals } from "@std/assert";
import type { Outcome, SessionView } from "../../mod.ts";
import { type End, endOf } from "../conformance/reader.ts";
import { attach, bytesOf, readEvents } from "../conformance/http_streams.ts";
import type { Random } from "../random.ts";
import { createFollower, type Truth } from "./oracle.ts";
import { count } from "./tally.ts";
import type { World } from "./world.ts";

/** A viewer at work. */
export interface Watching {
  /** Resolves when he has seen the end or has gone away; to how it ended, if he was told. */
  readonly done: Promise<End | undefined>;
}

/** Lets one look at a session until its end, or for a while. */
export function addViewer(world: World, random: Random, view: SessionView, truth: Truth): Watching {
  const kind = random.weighted([
    { weight: 4, name: "library", watch: inLibrary },
    { weight: 4, name: "SSE", watch: overSse },
    { weight: 4, name: "WebSocket", watch: overWebSocket },
    { weight: 1, name: "stalled", watch: stalled },
  ]);
  count(world.tally.viewers, kind.name);
  const startedAt = performance.now();
  const leaveAfterMs = random.chance(0.25) ? random.below(300) : undefined;
  const since = random.chance(0.7) ? 0 : random.below(5_000);
  const done = kind.watch(world, view, truth, since, leaveAfterMs).catch((error) => {
    if (kind.name !== "library" && world.wasExhausted(startedAt)) {
      count(world.tally.viewers, "cut off by a fault");
      return undefined;
    }
    throw new Error(`a viewer (${kind.name}): ${error instanceof Error ? error.message : error}`, { cause: error });
  });
  done.catch(() => {}); // whoever waits for him hears of it
  return { done };
}

type Watch = (
  world: World,
  view: SessionView,
  truth: Truth,
  since: number,
  leaveAfterMs: number | undefined,
) => Promise<End | undefined>;

const inLibrary: Watch = ({ tally }, view, truth, since, leaveAfterMs) =>
  new Promise((resolve, reject) => {
    const follower = createFollower(truth, tally, Math.min(since, view.end));
    let leaving: ReturnType<typeof setTimeout> | undefined;
    let stop = (): void => {};
    const look = (): void => {
      try {
        for (const { at, bytes, stream } of view.read(follower.position)) {
          if (at > follower.position) follower.gap(follower.position, at);
          follower.take(at, bytes, stream);
        }
        if (view.outcome !== undefined || view.gone) end(view.outcome);
      } catch (error) {
        stop();
        clearTimeout(leaving);
        reject(error);
      }
    };
    const end = (outcome: Outcome | undefined): void => {
      stop();
      clearTimeout(leaving);
      if (outcome?.reason === "exit") assertEquals(follower.position, truth.total, "bytes at its end");
      resolve(outcome && endOf(outcome));
    };
    stop = view.watch(look);
    if (leaveAfterMs !== undefined) leaving = setTimeout(() => end(undefined), leaveAfterMs);
    look();
  });

const overSse: Watch = async (world, view, truth, since, leaveAfterMs) => {
  const { url } = world.server();
  const authorization = `Bearer ${world.tokenOf(view.scope)}`;
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(url + path, { ...init, headers: { authorization, ...init.headers } });
  const path = `/v1/sessions/${view.sessionId}/output?encoding=base64&since=${since}`;
  const from = Math.min(since, view.end);
  const reading = await readEvents({ request } as Parameters<typeof readEvents>[0], path);
  if (reading.response.status === 404) { // it has been removed meanwhile
    await reading.leave();
    assert(view.gone, "no such session, but there is");
    return undefined;
  }
  assertEquals(reading.response.status, 200);
  let follower: ReturnType<typeof createFollower> | undefined = since === 0
    ? createFollower(truth, world.tally)
    : undefined;
  let hasLeft = false;
  const leaving = leaveAfterMs === undefined ? undefined : setTimeout(() => {
    hasLeft = true;
    void reading.leave();
  }, leaveAfterMs);
  try {
    for (;;) {
      const received = await reading.event();
      if (received === undefined) throw new Error("the stream ended without the session's end");
      const data = JSON.parse(received.data ?? "{}");
      // One who asks for more than there is yet begins at what was the end when he came
      follower ??= createFollower(truth, world.tally, received.event === "gap" ? data.from : data.offset ?? from);
      if (received.event === "output") follower.take(data.offset, bytesOf(received), data.stream);
      else if (received.event === "gap") follower.gap(data.from, data.to);
      else if (data.exit === null) return undefined;
      else {
        if (data.exit.reason === "exit") assertEquals(Number(received.id), truth.total, "bytes at its end");
        if (since === 0 && data.exit.reason === "exit") assertEquals(follower.position, truth.total, "bytes shown");
        return endOf(data.exit);
      }
    }
  } catch (error) {
    if (hasLeft) return undefined;
    throw error;
  } finally {
    clearTimeout(leaving);
    await reading.leave();
  }
};

const overWebSocket: Watch = async (world, view, truth, since, leaveAfterMs) => {
  const startedAt = performance.now();
  const served = { url: world.server().url } as Parameters<typeof attach>[0];
  const attached = await attach(served, view.sessionId, { token: world.tokenOf(view.scope), since });
  const leaving = leaveAfterMs === undefined ? undefined : setTimeout(() => attached.close(), leaveAfterMs);
  const { code, reason } = await attached.closed;
  clearTimeout(leaving);
  let follower: ReturnType<typeof createFollower> | undefined;
  let end: End | undefined;
  let isRestored = false;
  for (const message of attached.messages) {
    if (message instanceof Uint8Array) {
      // What a terminal is set up with again before a gap is no output
      if (isGapNext(attached.messages, message) && view.pty) isRestored = true;
      else follower?.take(follower.position, message);
    } else if (message.type === "hello") follower = createFollower(truth, world.tally, Number(message["start"]));
    else if (message.type === "gap") {
      // What is not held any more when he comes is before the start that he was told
      if (Number(message["to"]) > (follower?.position ?? 0)) {
        follower?.gap(Number(message["from"]), Number(message["to"]));
      }
    } else if (message.type === "exit") end = endOf(message["exit"] as Outcome);
  }
  // A login that comes late because of a machine that is busier than that is none of anybody's fault
  if (code === 4401 && world.starvedFor(startedAt) > 2_000) return undefined;
  if (end === undefined) {
    assert(leaveAfterMs !== undefined || view.gone || code === 4404, `closed without the end: ${code} ${reason}`);
  } else if (end.reason === "exit" && !isRestored) assertEquals(follower?.position, truth.total, "bytes at its end");
  return end;
};

function isGapNext(messages: readonly unknown[], message: Uint8Array): boolean {
  const next = messages[messages.indexOf(message) + 1];
  return typeof next === "object" && next !== null && "type" in next && next.type === "gap";
}

/** Asks, and never reads: it costs nothing and holds nobody up. */
const stalled: Watch = async (world, view) => {
  const { hostname, port } = new URL(world.server().url);
  const socket = createConnection(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  const path = `/v1/sessions/${view.sessionId}/output`;
  const authorization = `Authorization: Bearer ${world.tokenOf(view.scope)}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${authorization}\r\n\r\n`);
  await new Promise<void>((resolve) => {
    const stop = view.watch(() => {
      if (view.outcome === undefined && !view.gone) return;
      stop();
      resolve();
    });
    if (view.outcome !== undefined || view.gone) {
      stop();
      resolve();
    }
  });
  socket.destroy();
  return undefined;
};
