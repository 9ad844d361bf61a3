/**
 * The commands of a node, by the gateways that they belong to.
 *
 * @module
 */
import { setTimeout as delay } from "node:timers/promises";
import type { OrphanGuard, Spawner } from "../../../mod.ts";
import * as check from "./checks.ts";
import { decodeFrame, type Frame } from "./frame.ts";
import { type NodeSession, startNodeSession } from "./node_session.ts";
import type { LookAnswer, LookQuestion, Progress, SpawnAnswer, SpawnRequest } from "./protocol.ts";

/** What a desk is made of. */
export interface NodeDeskParts {
  /** The node's id, for people. */
  readonly id: string;
  /** Random id of this run of it. */
  readonly instance: string;
  /** Whom it serves; absent: everybody. */
  readonly scopes?: readonly string[] | undefined;
  /** Runs the commands. */
  readonly spawner: Spawner;
  /** Sees to it that they do not outlive this process. */
  readonly guard: OrphanGuard | undefined;
  /** Most bytes of output in one frame. */
  readonly chunkBytes: number;
  /** A gateway that is silent for that long has its commands ended, ms. */
  readonly leaseMs: number;
  /** Time between SIGTERM and SIGKILL, ms. */
  readonly graceMs: number;
  /** The environment of a command, given the variables that came with the call. */
  environment(call: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  /** Sends to a gateway. */
  send(gateway: string, frame: Frame): void;
  /** Another number of commands runs. */
  onLoad(): void;
}

/** What is asked of a node, and what it has. */
export interface NodeDesk {
  /** Starts a command, if that is allowed; no answer to what is for another run of the node. */
  spawn(request: SpawnRequest): Promise<SpawnAnswer | undefined>;
  /** Looks at a command's processes. */
  look(question: LookQuestion): Promise<LookAnswer>;
  /** Takes a frame. */
  takeFrame(bytes: Uint8Array): void;
  /** Takes a gateway's beat. */
  takeBeat(bytes: Uint8Array): void;
  /** Looks who is silent, and what may have been lost. */
  tick(passedMs: number): void;
  /** Tells all gateways how far their commands are. */
  remind(): void;
  /** How many commands run. */
  running(): number;
  /** Starts nothing any more, and ends everything. */
  close(): Promise<void>;
}

/** A gateway that has commands here. */
interface Gateway {
  readonly links: Set<string>;
  silentMs: number;
}

/** A command, and whose it is. */
interface Owned {
  readonly session: NodeSession;
  readonly gateway: string;
}

/** Output that is kept for a gateway that does not take it, bytes a command; then the command has to wait. */
const HELD_BYTES = 4_194_304;

/** How long the gateways' word is waited for that they know of the ends, and how often it is looked for, ms. */
const DELIVERY_LIMIT_MS = 2_000;
const DELIVERY_LOOK_MS = 20;

/** Makes the desk. */
export function createNodeDesk(parts: NodeDeskParts): NodeDesk {
  const { id, instance, scopes, spawner, guard, chunkBytes, leaseMs, graceMs, send } = parts;
  const gateways = new Map<string, Gateway>();
  const sessions = new Map<string, Owned>(); // by link
  let isClosed = false;

  function spawn({ gateway, instance: meant, link, spec, limit }: SpawnRequest): Promise<SpawnAnswer | undefined> {
    if (meant !== instance) return Promise.resolve(undefined);
    const known = sessions.get(link);
    if (known !== undefined) return known.gateway === gateway ? known.session.started : refusal("it is another's");
    hear(gateway);
    if (isClosed) return refusal("it is about to end");
    if (scopes !== undefined && !scopes.includes(spec.scope)) {
      return refusal(`it runs nothing for the scope "${spec.scope}"`);
    }
    if ([...sessions.values()].some(({ session }) => session.sessionId === spec.sessionId)) {
      return refusal(`it has a session "${spec.sessionId}"`);
    }
    const session = startNodeSession({
      link,
      spec: { ...spec, env: parts.environment(spec.env) },
      limit,
      spawner,
      guard,
      chunkBytes,
      heldBytes: HELD_BYTES,
      send: (frame) => send(gateway, frame),
      onEnded: parts.onLoad,
    });
    sessions.set(link, { session, gateway });
    gatewayOf(gateway).links.add(link);
    parts.onLoad();
    return session.started;
  }

  function refusal(why: string): Promise<SpawnAnswer> {
    return Promise.resolve({ ok: false, code: "refused", message: `Node "${id}" refuses: ${why}` });
  }

  function gatewayOf(name: string): Gateway {
    const known = gateways.get(name) ?? { links: new Set(), silentMs: 0 };
    gateways.set(name, known);
    return known;
  }

  /** The command that a gateway speaks of. */
  function heardOf(link: string): NodeSession | undefined {
    const owned = sessions.get(link);
    if (owned !== undefined) hear(owned.gateway);
    return owned?.session;
  }

  /** Whatever comes from a gateway shows that it lives: its beats may all fall into cuts of a bad connection. */
  function hear(name: string): void {
    const gateway = gateways.get(name);
    if (gateway !== undefined) gateway.silentMs = 0;
  }

  function isWanted(link: string): boolean {
    return gateways.get(sessions.get(link)?.gateway ?? "")?.links.has(link) === true;
  }

  /** Ends a command, then forgets it. */
  async function drop(link: string, lost: string | undefined): Promise<void> {
    const owned = sessions.get(link);
    if (owned === undefined) return;
    const gateway = gateways.get(owned.gateway);
    gateway?.links.delete(link);
    if (gateway?.links.size === 0) gateways.delete(owned.gateway);
    await owned.session.end(lost, graceMs);
    sessions.delete(link);
  }

  /** The gateway lives; what it does not want any more is ended, and what is not here it is told. */
  function takeBeat(bytes: Uint8Array): void {
    const beat = check.decode(check.beat, bytes);
    if (beat?.instance !== instance) return;
    hear(beat.gateway);
    if (beat.links === undefined) return;
    const wanted = new Set(beat.links);
    for (const link of gateways.get(beat.gateway)?.links ?? []) if (!wanted.has(link)) void drop(link, undefined);
    for (const link of wanted) if (!sessions.has(link)) send(beat.gateway, unknownFrame(link));
  }

  function tick(passedMs: number): void {
    for (const gateway of gateways.values()) {
      gateway.silentMs += passedMs;
      const isSilent = gateway.silentMs >= leaseMs;
      for (const link of gateway.links) {
        if (isSilent) void drop(link, `its gateway was not heard of for ${leaseMs / 1_000} s`);
        else sessions.get(link)?.session.remind(false);
      }
    }
  }

  return {
    spawn,
    look: async ({ link, what }) => await heardOf(link)?.look(what) ?? { look: 0, processes: [] },
    takeFrame: (bytes) => {
      const frame = decodeFrame(bytes);
      if (frame !== undefined) heardOf(frame.link)?.take(frame);
    },
    takeBeat,
    tick,
    remind: () => {
      for (const { session } of sessions.values()) session.remind(true);
    },
    running: () => [...sessions.values()].filter(({ session }) => session.isRunning()).length,
    close: async () => {
      isClosed = true;
      const all = [...sessions.values()].map(({ session }) => session);
      await Promise.all(all.map((session) => session.end("it was ended", graceMs)));
      const until = performance.now() + DELIVERY_LIMIT_MS;
      const isHeard = (session: NodeSession): boolean => session.isDelivered() || !isWanted(session.link);
      while (performance.now() < until && !all.every(isHeard)) await delay(DELIVERY_LOOK_MS);
    },
  };
}

function unknownFrame(link: string): Frame {
  const progress: Progress = { rev: 0, applied: 0, settled: 0, isLeft: false, isUnknown: true };
  return { kind: "progress", link, number: 0, payload: check.encode(progress) };
}
