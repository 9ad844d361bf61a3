/**
 * What all operations of a soak share: one instance, its agents, a server of it, and the faults that are under way.
 *
 * @module
 */
import { createHttpApp } from "../../adapters/http.ts";
import { bubblewrap } from "../../adapters/hosts/bubblewrap.ts";
import { listenHere } from "../../adapters/http/serve/auto.ts";
import {
  type Agent,
  createOffstage,
  type ExecAnswer,
  type ExecOptions,
  type ExecParams,
  type ExitEvent,
  type Offstage,
  OffstageError,
  type ProcessAction,
  type ProcessParams,
  type Runtime,
} from "../../mod.ts";
import { type Ledger, openLedger } from "../conformance/ledger.ts";
import type { End } from "../conformance/reader.ts";
import { needs, terminal } from "../conformance/machine.ts";
import { fillPool, type Pool } from "./script.ts";
import type { Tally } from "./tally.ts";

/** How many agents there are, each with a scope of its own. */
export const SCOPES = 16;

/** The variable that makes a start fail as one does that finds no memory. */
export const FAIL_START = "OFFSTAGE_SOAK_FAIL";

/** Whether this process gets to run is looked at that often, ms. */
const BEAT_MS = 500;

/** The two tools of an agent, called in this process or over HTTP. */
export interface Hands {
  exec(params: ExecParams, options?: Pick<ExecOptions, "signal">): Promise<ExecAnswer>;
  process<A extends ProcessAction>(params: ProcessParams & { readonly action: A }): ReturnType<Agent["process"]>;
}

/** One served instance. */
export interface Server {
  /** Such as `http://127.0.0.1:41234`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The world of a soak. */
export interface World {
  readonly offstage: Offstage;
  readonly ledger: Ledger;
  readonly agents: readonly Agent[];
  readonly pool: Pool;
  readonly tally: Tally;
  /** The value of `OFFSTAGE_INSTANCE` of all commands. */
  readonly instance: string;
  /** Whether there are terminals. */
  readonly terminals: boolean;
  /** Whether there is a host named `box`. */
  readonly sandbox: boolean;
  /** Events of ends, by session, of this round. */
  readonly events: Map<string, readonly ExitEvent[]>;
  /** Operations that wait for an event, by scope: nobody else may hear of ends there meanwhile. */
  readonly listening: Map<string, number>;
  /** Sessions that were left running in this round, each with its viewers. */
  readonly left: Map<string, readonly Promise<End | undefined>[]>;
  /** Token of a scope. */
  tokenOf(scope: string): string;
  /** Begins to serve; a server lives for one round. */
  serve(): Promise<void>;
  /** The server of this round. */
  server(): Server;
  /** An agent's tools over HTTP. */
  overHttp(scope: string): Hands;
  /** Sets the wall clock off by that much, ms. */
  setClock(offsetMs: number): void;
  /** Says that descriptors run out until the answer is called. */
  exhaust(): () => void;
  /** Longest time that this process has been kept from running since a moment of `performance.now()`, ms. */
  starvedFor(since: number): number;
  /** Whether descriptors have been short at any time since a moment of `performance.now()`. */
  wasExhausted(since: number): boolean;
}

/** Makes the world, its files in `folder`. */
export async function createWorld(folder: string, seed: number, tally: Tally): Promise<World> {
  const pool = await fillPool(folder, seed);
  const ledger = await openLedger();
  const sandbox = await needs("bwrap", "bwrap --unshare-all --ro-bind / / true") === false;
  let clockOffset = 0;
  let instance = "";
  const runtime: Runtime = {
    ...ledger.runtime,
    spawner: {
      ...ledger.runtime.spawner,
      spawn: (spec, sink) => {
        if (spec.env[FAIL_START] === undefined) return ledger.runtime.spawner.spawn(spec, sink);
        const cause = Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" });
        return Promise.reject(new OffstageError("spawn-failed", "Cannot start: there is not enough memory", { cause }));
      },
    },
    clock: { ...ledger.runtime.clock, now: () => ledger.runtime.clock.now() + clockOffset },
    ...(ledger.runtime.guard !== undefined && {
      guard: () => {
        const guard = ledger.runtime.guard?.();
        if (guard === undefined) throw new TypeError("There was a guard");
        instance = guard.instance;
        return guard;
      },
    }),
  };
  const offstage = createOffstage({
    runtime,
    tools: { exec: { killGraceMs: 300, backgroundMs: 120_000, maxSessions: 1_000 } },
    ...(sandbox && { nodes: { box: bubblewrap({ workspace: folder }) } }),
  });
  const agents = Array.from({ length: SCOPES }, (_, index) => offstage.agent(`scope-${index}`));
  const events = new Map<string, readonly ExitEvent[]>();
  for (const agent of agents) {
    agent.events.subscribe((event) => {
      if (event.type !== "exit") return;
      events.set(event.sessionId, [...events.get(event.sessionId) ?? [], event]);
      tally.events += 1;
      agent.events.ack(event.id);
    });
  }

  const stalls: { readonly at: number; readonly ms: number }[] = [];
  let lastBeat = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (now - lastBeat > 2 * BEAT_MS) stalls.push({ at: now, ms: now - lastBeat - BEAT_MS });
    lastBeat = now;
  }, BEAT_MS).unref();

  const tokenOf = (scope: string): string => `token-of-${scope}`;
  let server: Server | undefined;
  let exhausted = 0;
  let lastExhausted = -Infinity;

  function theServer(): Server {
    if (server === undefined) throw new TypeError("Nobody serves");
    return server;
  }

  async function post(scope: string, path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const response = await fetch(theServer().url + path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", authorization: `Bearer ${tokenOf(scope)}` },
      ...(signal !== undefined && { signal }),
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
    return await response.json();
  }

  return {
    offstage,
    ledger,
    agents,
    pool,
    tally,
    get instance() {
      return instance;
    },
    terminals: terminal === false,
    sandbox,
    events,
    listening: new Map(),
    left: new Map(),
    tokenOf,
    serve: async () => {
      const listen = await listenHere();
      const tokens = new Map(agents.map(({ scope }) => [tokenOf(scope), scope]));
      const { port, close } = await listen((host) => createHttpApp(offstage, { tokens, ...host }), {
        hostname: "127.0.0.1",
        port: 0,
      });
      server = { url: `http://127.0.0.1:${port}`, close };
    },
    server: theServer,
    overHttp: (scope) => ({
      exec: async (params, options) =>
        await post(scope, "/v1/exec", params, options?.signal ?? undefined) as ExecAnswer,
      process: async (params) => await post(scope, "/v1/process", params) as never,
    }),
    setClock: (offsetMs) => {
      clockOffset = offsetMs;
    },
    exhaust: () => {
      exhausted += 1;
      return () => {
        exhausted -= 1;
        lastExhausted = performance.now();
      };
    },
    starvedFor: (since) => Math.max(0, ...stalls.filter(({ at }) => at >= since).map(({ ms }) => ms)),
    wasExhausted: (since) => exhausted > 0 || lastExhausted >= since,
  };
}
