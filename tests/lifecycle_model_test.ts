/**
 * The life of many sessions of several agents against a simple model: whatever the order of starts, yields, ends, removals
 * and the passing of time, who blocks, who is listed and what is remembered agree with it, and nothing is left behind.
 *
 * @module
 */
import { assert, assertEquals, fail } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import type { Agent, ExecAnswer } from "../mod.ts";
import { open } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import type { FakeChild } from "./fakes/spawner.ts";

const SCOPES = ["a", "b", "c"] as const;
const YIELD_MS = 50;
const TTL_MS = 60_000;
const LEASE_MS = 120_000;
const GRACE_MS = 5_000;
const MAX_FINISHED = 3;
const MAX_CHARS = 2_500;
const MAX_SESSIONS = 4;

type Phase = "foreground" | "running" | "removing" | "finished" | "gone";

/** What the model knows of one session. */
interface Modelled {
  readonly scope: string;
  readonly child: FakeChild;
  readonly answer: Promise<ExecAnswer>;
  readonly chars: number;
  id: string;
  phase: Phase;
  /** When it yields, is killed or expires: what comes next by itself. */
  due: number;
}

type Step =
  | { readonly do: "start"; readonly scope: string; readonly background: boolean; readonly chars: number }
  | { readonly do: "end" | "remove" | "clear"; readonly which: number }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "suspend" | "resume"; readonly lease: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("start" as const),
      scope: fc.constantFrom(...SCOPES),
      background: fc.boolean(),
      chars: fc.constantFrom(0, 100, 700, 3_000),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom("end", "end", "end", "remove", "clear"), which: fc.nat(100) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1, 50, 4_000, 40_000) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("suspend", "resume"), lease: fc.constantFrom("one", "two") }),
  },
);

/** Bench and model side by side. */
interface Run {
  /** Does one thing to both. */
  step(one: Step): Promise<void>;
  /** Compares them. */
  check(): Promise<void>;
  /** Ends everything: whoever was known by id is known to have gone, and nothing waits for anything. */
  close(): Promise<void>;
}

function createRun(): Run {
  const { offstage, clock, spawner, machine } = open({
    maxFinished: MAX_FINISHED,
    maxFinishedChars: MAX_CHARS,
    maxSessions: MAX_SESSIONS,
    cleanupMs: TTL_MS,
  });
  const agents = new Map<string, Agent>(SCOPES.map((scope) => [scope, offstage.agent(scope)]));
  const all: Modelled[] = [];
  const leases = new Map<string, number>();
  let finished: readonly Modelled[] = []; // in the order of their ends

  const agentOf = (scope: string): Agent => agents.get(scope) as Agent;
  const blocking = (): readonly Modelled[] => all.filter(({ phase }) => phase === "running" || phase === "removing");
  const idsOf = (sessions: readonly Modelled[]): readonly string[] => sessions.map(({ id }) => id).sort();
  const charsOf = (sessions: readonly Modelled[]): number => sessions.reduce((sum, { chars }) => sum + chars, 0);

  async function listed(scope: string): Promise<readonly string[]> {
    const { details } = await agentOf(scope).process({ action: "list" });
    assert("sessions" in details);
    return details.sessions.map(({ sessionId }) => sessionId);
  }

  async function start({ scope, background, chars }: Step & { readonly do: "start" }): Promise<void> {
    const live = blocking().filter((session) => session.scope === scope).length;
    const isRefused = leases.size > 0 || live >= MAX_SESSIONS;
    const before = spawner.children.length;
    const how = background ? { background } : { yieldMs: YIELD_MS };
    const answer = agentOf(scope).exec({ command: "make", timeout: 0, ...how });
    await clock.advance(0);
    assertEquals(spawner.children.length - before, isRefused ? 0 : 1);
    if (isRefused) return assertEquals((await answer).isError, true);
    const child = spawner.last;
    child.ignores = ["SIGTERM"]; // so that an end on request takes its time
    child.print("x".repeat(chars));
    const session: Modelled = { scope, child, answer, chars, id: "", phase: "foreground", due: clock.now() + YIELD_MS };
    all.push(session);
    if (background) await yielded(session);
  }

  async function yielded(session: Modelled): Promise<void> {
    const { details } = await session.answer;
    assert(details.status === "running");
    session.id = details.sessionId;
    session.phase = "running";
    session.due = Infinity;
  }

  async function end(session: Modelled): Promise<void> {
    const { phase } = session;
    if (phase === "gone" || phase === "finished") return;
    session.child.end(0);
    await settle();
    if (phase === "running") await finish(session);
    else bury(session);
  }

  async function leave(session: Modelled, action: "remove" | "clear"): Promise<void> {
    const { phase } = session;
    if (session.id === "") return; // nobody knows it yet
    const works = phase === "finished" || (phase === "running" && action === "remove");
    const { isError } = await agentOf(session.scope).process({ action, sessionId: session.id });
    assertEquals(isError, !works);
    if (phase === "finished") bury(session);
    else if (works) {
      session.phase = "removing";
      session.due = clock.now() + GRACE_MS;
    }
  }

  async function finish(session: Modelled): Promise<void> {
    session.phase = "finished";
    session.due = clock.now() + TTL_MS;
    finished = [...finished, session];
    finished.filter(({ scope }) => scope === session.scope).slice(0, -MAX_FINISHED).forEach(bury);
    while (charsOf(finished) > MAX_CHARS) {
      const movable = finished.filter((old) => old !== session && old.chars > 0);
      const held = new Map(movable.map(({ scope }) => [scope, charsOf(finished.filter((one) => one.scope === scope))]));
      const most = Math.max(...held.values());
      const oldest = SCOPES.filter((scope) => held.get(scope) === most)
        .map((scope) => movable.find((old) => old.scope === scope) as Modelled);
      if (oldest.length === 0) return;
      // which of two scopes that hold as much gives up is not said: the model takes the one that has
      const gone = await Promise.all(oldest.map(async ({ scope, id }) => !(await listed(scope)).includes(id)));
      bury(oldest[gone.indexOf(true)] ?? fail("Expected the scope that holds most to give up its oldest"));
    }
  }

  function bury(session: Modelled): void {
    session.phase = "gone";
    session.due = Infinity;
    finished = finished.filter((other) => other !== session);
  }

  async function pass(ms: number): Promise<void> {
    const until = clock.now() + ms;
    for (;;) {
      const next = all.reduce<Modelled | undefined>(
        (first, one) => first && first.due <= one.due ? first : one,
        undefined,
      );
      if (next === undefined || next.due > until) break;
      await clock.advance(next.due - clock.now());
      if (next.phase === "foreground") await yielded(next);
      else bury(next);
    }
    await clock.advance(until - clock.now());
    for (const [id, at] of leases) if (at <= clock.now()) leases.delete(id);
  }

  function suspend(id: string): void {
    const { status } = offstage.prepareSuspend(id);
    assertEquals(status, blocking().length === 0 ? "ready" : "busy");
    if (status === "ready") leases.set(id, clock.now() + LEASE_MS);
    else leases.delete(id);
  }

  function resume(id: string): void {
    assertEquals(offstage.resume(id), leases.delete(id));
  }

  return {
    step: async (one) => {
      if (one.do === "start") return await start(one);
      if (one.do === "wait") return await pass(one.ms);
      if ("lease" in one) return one.do === "suspend" ? suspend(one.lease) : resume(one.lease);
      const session = all[one.which % Math.max(1, all.length)];
      if (session === undefined) return;
      await (one.do === "end" ? end(session) : leave(session, one.do));
    },
    check: async () => {
      assertEquals(offstage.blockers().map(({ sessionId }) => sessionId).sort(), idsOf(blocking()));
      assertEquals(offstage.activeCount(), blocking().length);
      for (const scope of SCOPES) {
        const own = all.filter((session) => session.scope === scope);
        assertEquals(
          [...await listed(scope)].sort(),
          idsOf(own.filter(({ phase }) => phase === "running" || phase === "finished")),
        );
      }
    },
    close: async () => {
      const idle = offstage.whenIdle();
      for (const session of all) await end(session);
      await idle;
      for (const { id, scope } of all.filter((session) => session.id !== "" && session.phase === "gone")) {
        const { details } = await agentOf(scope).process({ action: "poll", sessionId: id });
        assertEquals("reason" in details && details.reason, "gone");
      }
      await offstage.close();
      assertEquals([clock.pending, machine.shutdownHooks.size], [0, 0]);
      assertEquals(spawner.children.filter(({ released }) => !released), []);
    },
  };
}

test("S7 S8 R3 any life of any sessions: blockers, lists, tombstones and leases are as a simple model has them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const run = createRun();
      for (const one of steps) {
        await run.step(one);
        await run.check();
      }
      await run.close();
    }),
    { numRuns: 60 },
  );
});
