/**
 * A gateway's side of one node: its commands there, whether it lives, and the spawner that starts them.
 *
 * @module
 */
import { clearInterval, setInterval } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";
import { type Child, OffstageError, type OutputSink, type Place, type Spawner, type SpawnSpec } from "../../../mod.ts";
import * as check from "./checks.ts";
import { encodeFrame, type Frame, FRAME_OVERHEAD } from "./frame.ts";
import { createGatewaySession, type GatewaySession } from "./gateway_session.ts";
import {
  type Beat,
  BEAT_MS,
  type HelloAnswer,
  type LookAnswer,
  type LookQuestion,
  newKey,
  type NodeState,
  type PlaceQuestion,
  type SpawnAnswer,
  type Subjects,
} from "./protocol.ts";
import type { Wire } from "./wire.ts";

/** What a link is made of. */
export interface NodeLinkParts {
  /** Random id of this gateway. */
  readonly gateway: string;
  /** What the node is like. */
  readonly hello: HelloAnswer;
  /** The connection. */
  readonly wire: Wire;
  /** Its subjects. */
  readonly subjects: Subjects;
  /** How many bytes of output of one command may be under way at present. */
  window(): number;
}

/** A node as it is used. */
export interface NodeLink {
  /** Starts commands there. */
  readonly spawner: Spawner;
  /** Random id of its run. */
  readonly instance: string;
  /** Whether it is gone: nothing is started by this link any more, though the node may come back. */
  isLost(): boolean;
  /** How many of this gateway's commands are there. */
  size(): number;
  /** Takes what it has sent for one of them. */
  take(frame: Frame): void;
  /** It lives. */
  hear(state: NodeState): void;
  /** The connection is back. */
  resume(): void;
  /** It is gone, with everything that ran there. */
  lose(why: string): void;
  /** This gateway wants nothing of it any more. */
  close(): void;
}

/** How long a node may take to answer, ms, and to start a command. */
const ANSWER_LIMIT_MS = 5_000;
const START_LIMIT_MS = 30_000;

/** A request that got no answer in that time may be lost, and is sent again, ms. */
const ASK_AGAIN_MS = 2_000;

/** A node that nobody hears may be connecting again: it is asked for that long, with such pauses, ms. */
const NOBODY_LIMIT_MS = 2_000;
const NOBODY_PAUSE_MS = 200;

/** Most bytes of input in one frame, where the server passes as many on. */
const INPUT_BYTES = 32_768;

/** How often it is looked whether something was lost, or the node is silent, ms. */
const TICK_MS = 1_000;

/** Makes the link. */
export function createNodeLink({ gateway, hello, wire, subjects, window }: NodeLinkParts): NodeLink {
  const { id, instance, leaseMs } = hello.node;
  const sessions = new Map<string, GatewaySession>();
  let ticking: ReturnType<typeof setInterval> | undefined;
  let silentMs = 0;
  let lastTick = 0;
  let lastBeat = 0;
  let lost: string | undefined;

  function beat(): void {
    lastBeat = performance.now();
    const whole = check.encode<Beat>({ gateway, instance, links: [...sessions.keys()] });
    const fits = whole.length <= wire.maxBytes();
    wire.publish(subjects.to(id, "beat"), fits ? whole : check.encode<Beat>({ gateway, instance }));
  }

  function watch(): void {
    if (ticking !== undefined) return;
    silentMs = 0;
    lastTick = performance.now();
    lastBeat = lastTick; // the request itself is a beat
    ticking = setInterval(tick, TICK_MS);
  }

  function tick(): void {
    const now = performance.now();
    silentMs += Math.min(now - lastTick, 2 * TICK_MS); // this process may have been stopped: the node was not
    lastTick = now;
    if (silentMs >= leaseMs) return lose(`it has not been heard of for ${leaseMs / 1_000} s`);
    for (const session of sessions.values()) session.tick();
    if (sessions.size === 0 || now - lastBeat >= BEAT_MS - TICK_MS / 2) beat();
    if (sessions.size === 0) rest();
  }

  function rest(): void {
    clearInterval(ticking);
    ticking = undefined;
  }

  function lose(why: string): void {
    lost = why;
    rest();
    for (const session of [...sessions.values()]) session.lose(`node ${id}: ${why}`);
  }

  /** Asks until there is an answer. */
  async function ask<T>(
    what: "place" | "spawn" | "look",
    question: unknown,
    answer: check.Check<T>,
    limitMs: number,
  ): Promise<T> {
    const until = performance.now() + limitMs;
    let nobodySince: number | undefined;
    for (;;) {
      if (lost !== undefined) throw new OffstageError("spawn-failed", `Node "${id}" is lost: ${lost}`);
      const left = until - performance.now();
      if (left <= 0) throw new OffstageError("spawn-failed", `Node "${id}" gave no answer in ${limitMs / 1_000} s`);
      const reply = await wire.request(subjects.to(id, what), check.encode(question), Math.min(left, ASK_AGAIN_MS));
      if (reply === "nobody") {
        nobodySince ??= performance.now();
        if (performance.now() - nobodySince > NOBODY_LIMIT_MS) {
          throw new OffstageError("spawn-failed", `Node "${id}" does not answer: it is not connected`);
        }
        await delay(NOBODY_PAUSE_MS);
      } else if (reply === "late") {
        nobodySince = undefined;
      } else {
        silentMs = 0;
        const told = check.decode(answer, reply);
        if (told === undefined) {
          throw new OffstageError(
            "spawn-failed",
            `Node "${id}" gave an answer that is none: is it of another version?`,
          );
        }
        return told;
      }
    }
  }

  async function look(link: string, what: LookQuestion["what"]): Promise<LookAnswer | undefined> {
    return await ask("look", { link, what }, check.lookAnswer, ANSWER_LIMIT_MS).catch(() => undefined);
  }

  async function askPlace(what: PlaceQuestion["what"], name: string) {
    return (await ask("place", { what, name }, check.placeAnswer, ANSWER_LIMIT_MS)).is;
  }

  async function spawn(spec: SpawnSpec, sink: OutputSink): Promise<Child> {
    const link = newKey();
    const session = createGatewaySession({
      link,
      spec,
      sink,
      send: (frame) => wire.publish(subjects.to(id, "frame"), encodeFrame(frame)),
      ask: (what) => look(link, what),
      pieceBytes: Math.min(INPUT_BYTES, wire.maxBytes() - FRAME_OVERHEAD),
      window,
      onOver: () => void sessions.delete(link),
    });
    sessions.set(link, session);
    watch();
    let answer: SpawnAnswer | undefined;
    try {
      answer = await ask(
        "spawn",
        { gateway, instance, link, spec, limit: window() },
        check.spawnAnswer,
        START_LIMIT_MS,
      );
    } finally {
      if (answer?.ok !== true) sessions.delete(link); // the next beat tells the node that nobody wants it
    }
    if (answer.ok) return session.child(answer);
    throw new OffstageError(answer.code, `${answer.message} (on node ${id})`);
  }

  const place: Place = {
    cwd: () => hello.cwd,
    home: () => hello.home,
    directoryStatus: (path) => askPlace("directory", path),
    hasProgram: async (nameOrPath) => await askPlace("program", nameOrPath) === "ok",
  };

  return {
    instance,
    spawner: { name: "nats", place, capabilities: () => Promise.resolve(hello.capabilities), spawn },
    isLost: () => lost !== undefined,
    size: () => sessions.size,
    take: (frame) => {
      silentMs = 0;
      sessions.get(frame.link)?.take(frame);
    },
    hear: (state) => {
      if (state.instance === instance) silentMs = 0;
    },
    resume: () => {
      if (sessions.size === 0) return;
      beat();
      for (const session of sessions.values()) session.resume();
    },
    lose,
    close: () => {
      lose("this gateway has ended");
      beat();
    },
  };
}
