/**
 * An instance without real processes for inputs by the hundred thousand: commands end at once, and time passes as fast as
 * anybody waits for it. Two sessions stand ready, to be poked at.
 *
 * @module
 */
import { setImmediate as turn } from "node:timers/promises";
import { type Agent, type Clock, createOffstage, type Offstage, type Runtime } from "../../mod.ts";
import { EPOCH } from "../fakes/clock.ts";
import { createFakeRuntime, createMachine } from "../fakes/runtime.ts";
import { createFakeSpawner, type FakeChild, type FakeSpawner } from "../fakes/spawner.ts";

/** A session that stands ready. */
export interface Standing {
  readonly id: string;
  readonly child: FakeChild;
}

/** The instance and what can be seen of it from outside. */
export interface World {
  readonly offstage: Offstage;
  readonly agent: Agent;
  /** On pipes, stdin open. */
  readonly pipe: Standing;
  /** On a terminal. */
  readonly terminal: Standing;
  /** Puts the sessions up again where one was taken down. */
  ready(): Promise<void>;
  /** Everything that a call could have done to processes; the same twice means that nothing was done. */
  footprint(): string;
}

/** Timers up to that long fire as soon as nothing else happens, ms; others only once so much time has passed. */
const RUSHED_MS = 150_000;

/** So many turns of the event loop in which no timer is set mean that nothing else happens. */
const QUIET_TURNS = 5;

/** The sessions are put up anew after so many calls: what was written to them is kept. */
const MOST_CALLS = 500;

/** Opens a world with everything there is to be configured. */
export async function openWorld(): Promise<World> {
  const machine = createMachine();
  const spawner = createFakeSpawner();
  const count = { started: 0, calls: 0, keeps: false };
  const runtime = createFakeRuntime(machine, endingAtOnce(spawner, count), createRushingClock());
  const offstage = createOffstage({
    runtime,
    nodes: { builder: endingAtOnce(spawner, count) },
    elevated: { enabled: true, allowed: () => true },
    onEvent: () => {},
  });
  const agent = offstage.agent("tester");

  async function stand(pty: boolean): Promise<Standing> {
    count.keeps = true;
    const { details, text } = await agent.exec({ command: "make", background: true, timeout: 0, pty });
    count.keeps = false;
    if (details.status !== "running") throw new Error(text);
    return { id: details.sessionId, child: spawner.last };
  }

  let pipe = await stand(false);
  let terminal = await stand(true);
  return {
    offstage,
    agent,
    get pipe() {
      return pipe;
    },
    get terminal() {
      return terminal;
    },
    ready: async () => {
      const isStanding = (id: string): boolean =>
        agent.session(id)?.outcome === undefined && agent.session(id) !== undefined;
      const isWhole = isStanding(pipe.id) && isStanding(terminal.id) && !pipe.child.inputEnded;
      if (isWhole && ++count.calls < MOST_CALLS) return;
      count.calls = 0;
      await agent.killAll();
      (spawner.children as FakeChild[]).splice(0);
      pipe = await stand(false);
      terminal = await stand(true);
    },
    footprint: () =>
      [pipe, terminal].map(({ child }) =>
        `${child.writes.length} ${child.signals.length} ${child.sizes.length} ${child.inputEnded} ${child.released}`
      ).join() + count.started,
  };
}

/** A spawner whose children print a line and end in the next turn. */
function endingAtOnce(spawner: FakeSpawner, count: { started: number; readonly keeps: boolean }): Runtime["spawner"] {
  return {
    name: spawner.name,
    capabilities: spawner.capabilities,
    spawn: async (spec, sink) => {
      const child = await spawner.spawn(spec, sink);
      const fake = spawner.last;
      count.started += 1;
      if (!count.keeps) {
        void turn().then(() => {
          fake.print("done\n");
          fake.end(0);
        });
      }
      return child;
    },
  };
}

/** A clock on which a wait takes no time: whenever nothing else happens, it is time for the next timer. */
function createRushingClock(): Clock {
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  let elapsed = 0;
  let rushing = false;
  let quiet = 0;

  async function rush(): Promise<void> {
    rushing = true;
    for (;;) {
      for (quiet = 0; quiet < QUIET_TURNS; quiet++) await turn();
      let next: { readonly at: number; readonly fire: () => void } | undefined;
      for (const timer of timers) if (next === undefined || timer.at < next.at) next = timer;
      if (next === undefined || next.at > elapsed + RUSHED_MS) break;
      elapsed = Math.max(elapsed, next.at);
      timers.delete(next);
      next.fire();
    }
    rushing = false;
  }

  return {
    now: () => EPOCH + elapsed,
    monotonic: () => elapsed,
    timer: (ms, fire) => {
      const timer = { at: elapsed + Math.max(0, ms), fire };
      timers.add(timer);
      quiet = 0;
      if (!rushing) void rush();
      return () => void timers.delete(timer);
    },
  };
}
