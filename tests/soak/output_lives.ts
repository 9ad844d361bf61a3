/**
 * Operations about what commands print and how they end.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import type { ExecParams } from "../../mod.ts";
import { type End, endOf } from "../conformance/reader.ts";
import { comparePages, createPoller, type Truth, truthOf } from "./oracle.ts";
import { type Manner, type Script, writeScript } from "./script.ts";
import {
  compareEnd,
  endBy,
  exited,
  fault,
  inBackground,
  inForeground,
  partWith,
  type Stage,
  type Started,
  startOf,
  stoppedFor,
  untilGone,
  untilTrue,
} from "./stage.ts";
import { addViewer, type Watching } from "./viewers.ts";

/** One kind of operation, and how often it is done. */
export interface Life {
  readonly name: string;
  readonly weight: number;
  live(stage: Stage): Promise<void>;
}

/** A day that nobody waits for. */
export const FOREVER = "exec sleep 86400";

interface Cast extends Script {
  readonly params: ExecParams;
}

/** It is in the foreground first. */
const YIELDS: Partial<ExecParams> = { background: false, yieldMs: 10 };

/** Most characters of an answer that are not cut. */
const WHOLE_CHARS = 30_000;
const decoder = new TextDecoder();

/** A script, and where and how it is run. */
function castOf({ random, world }: Stage, manner?: Manner): Cast {
  const chosen = manner ?? random.weighted<{ readonly weight: number; readonly manner: Manner }>([
    { weight: 10, manner: "quick" },
    { weight: 4, manner: "chatty" },
    { weight: 3, manner: "slow" },
    { weight: 2, manner: "bulk" },
    { weight: 2, manner: "binary" },
    { weight: 2, manner: "silent" },
  ]).manner;
  const script = writeScript(random, world.pool, chosen);
  const oneStream = script.stdout.length === 0 || script.stderr.length === 0;
  const pty = world.terminals && script.isText && oneStream && random.chance(0.2);
  const boxed = world.sandbox && random.chance(0.05);
  const params: ExecParams = {
    command: "",
    pty,
    ...(boxed && { host: "node", node: "box", workdir: world.pool.folder }),
  };
  return { ...script, params };
}

/** Starts it in the background, with or without viewers. */
async function perform(stage: Stage, cast: Cast, ending: string, more: Partial<ExecParams> = {}): Promise<Played> {
  const { random, world } = stage;
  const params = { ...cast.params, command: `${cast.command} ${ending}`, ...more };
  const session = await inBackground(stage, params);
  const truth = truthOf(cast, session.pty);
  const viewers = Array.from({
    length: random.weighted([{ weight: 6, n: 0 }, { weight: 3, n: 1 }, { weight: 1, n: 3 }]).n,
  })
    .map(() => addViewer(world, random, session.view, truth));
  return { ...session, truth, viewers };
}

interface Played extends Started {
  readonly truth: Truth;
  readonly viewers: readonly Watching[];
}

/** Everybody saw it end in the same way. */
async function agree({ world }: Stage, { viewers }: Played, end: End): Promise<void> {
  for (const seen of await Promise.all(viewers.map(({ done }) => done))) {
    if (seen === undefined) continue;
    assertEquals(seen, end, "a viewer saw another end");
    world.tally.exits += 1;
  }
}

function waits({ random }: Stage): () => number {
  return random.chance(0.5) ? () => random.below(40) : () => 30_000;
}

/** All of them. */
export const OUTPUT_LIVES: readonly Life[] = [
  {
    name: "runs in the foreground",
    weight: 30,
    live: async (stage) => {
      const { random, world, agent } = stage;
      const cast = castOf(stage);
      const code = random.below(256);
      const details = await inForeground(stage, { ...cast.params, command: `${cast.command} exit ${code}` });
      compareEnd(stage, endOf(details), [exited(code)]);
      const truth = truthOf(cast, details.pty);
      const printed = truth.only && decoder.decode(truth.only).replaceAll("\r", "");
      if (truth.isText && printed !== undefined && printed.length <= WHOLE_CHARS) {
        assertEquals(details.output, printed);
        world.tally.bytes += truth.total;
      }
      assertEquals(details.survivors, []);
      const id = details.sessionId;
      if (id === undefined) return;
      assertEquals(agent.session(id)?.end, truth.total, "bytes that its log has had");
      await comparePages(stage.call, id, truth, world.tally, 1 + random.below(300));
      await partWith(stage, id);
    },
  },
  {
    name: "is polled to its end",
    weight: 24,
    live: async (stage) => {
      const { random, world } = stage;
      const code = random.below(4);
      const cast = castOf(stage);
      const played = random.chance(0.05)
        ? await perform(stage, { ...cast, command: `sleep 4; ${cast.command}` }, `exit ${code}`, YIELDS)
        : await perform(stage, cast, `exit ${code}`);
      const poller = createPoller(stage.call, played.id, played.truth, world.tally);
      const end = await poller.toEnd(waits(stage));
      compareEnd(stage, end, [exited(code)]);
      await agree(stage, played, end);
      if (random.chance(0.4)) {
        await comparePages(stage.call, played.id, played.truth, world.tally, 1 + random.below(500));
      }
      await partWith(stage, played.id);
    },
  },
  {
    name: "is heard of by an event",
    weight: 5,
    live: async (stage) => {
      const { random, world, agent } = stage;
      const { listening, events } = world;
      listening.set(agent.scope, (listening.get(agent.scope) ?? 0) + 1);
      try {
        const code = 1 + random.below(9);
        const played = await perform(stage, castOf(stage), `exit ${code}`);
        await untilTrue(() => (events.get(played.id)?.length ?? 0) > 0, "the event of its end");
        const [event] = events.get(played.id) ?? [];
        assert(event !== undefined && event.scope === agent.scope);
        compareEnd(stage, endOf(event), [exited(code)]);
        const { details } = await stage.call({ action: "poll", sessionId: played.id });
        assert("notified" in details && details.notified === true, "the poll knows that it has been told");
        await agree(stage, played, endOf(event));
        await partWith(stage, played.id);
      } finally {
        listening.set(agent.scope, (listening.get(agent.scope) ?? 1) - 1);
      }
    },
  },
  {
    name: "ends by a signal of its own",
    weight: 3,
    live: async (stage) => {
      const signal = (["SIGTERM", "SIGKILL", "SIGUSR1", "SIGHUP"] as const)[stage.random.below(4)] ?? "SIGTERM";
      const cast = castOf(stage, "quick");
      const { pty } = cast.params;
      const played = await perform(
        stage,
        { ...cast, params: { command: "", pty: pty ?? false } },
        `kill -${signal.slice(3)} $$; sleep 5`,
      );
      const end = await createPoller(stage.call, played.id, played.truth, stage.world.tally).toEnd(waits(stage));
      compareEnd(stage, end, [{ status: "failed", reason: "signal", exitCode: null, signal }]);
      await agree(stage, played, end);
      await partWith(stage, played.id);
    },
  },
  {
    name: "is killed",
    weight: 9,
    live: async (stage) => {
      const { random, world, agent } = stage;
      const played = await perform(stage, castOf(stage), FOREVER);
      const poller = createPoller(stage.call, played.id, played.truth, world.tally);
      if (random.chance(0.5)) await poller.poll({ timeout: random.below(300) });
      if (random.chance(0.3)) {
        const list = world.listening.get(agent.scope) ? undefined : await stage.call({ action: "list" });
        if (list !== undefined && "sessions" in list.details) {
          assert(list.details.sessions.some(({ sessionId }) => sessionId === played.id), "it is listed");
          assert(list.details.sessions.every(({ scope }) => scope === agent.scope), "only its own scope's are listed");
        }
      }
      const { details } = await stage.call({
        action: "kill",
        sessionId: played.id,
        wait: random.chance(0.5) ? 30_000 : 0,
      });
      if ("survivors" in details && "confirmed" in details && details.confirmed) assertEquals(details.survivors, []);
      const end = await poller.toEnd(waits(stage));
      compareEnd(stage, end, stoppedFor("killed"));
      await agree(stage, played, end);
      if (random.chance(0.3)) {
        await untilGone(played.id);
      }
      await partWith(stage, played.id);
    },
  },
  {
    name: "runs out of time",
    weight: 4,
    live: async (stage) => {
      const played = await perform(stage, castOf(stage), FOREVER, { timeout: (1 + stage.random.below(300)) / 1_000 });
      const poller = createPoller(stage.call, played.id, played.truth, stage.world.tally);
      const end = await poller.toEnd(waits(stage));
      compareEnd(stage, end, stoppedFor("timeout"));
      await agree(stage, played, end);
      await partWith(stage, played.id);
    },
  },
  {
    name: "is removed while it runs",
    weight: 5,
    live: async (stage) => {
      const played = await perform(stage, castOf(stage), FOREVER);
      await sleep(stage.random.below(100));
      await stage.call({ action: "remove", sessionId: played.id });
      await Promise.all(played.viewers.map(({ done }) => done));
      const { isError } = await stage.agent.process({ action: "poll", sessionId: played.id });
      assert(isError, "its id is unknown");
      await untilGone(played.id);
      stage.world.tally.exits += 1;
    },
  },
  {
    name: "is aborted",
    weight: 4,
    live: async (stage) => {
      const cast = castOf(stage);
      const controller = new AbortController();
      const params = { ...cast.params, command: `${cast.command} ${FOREVER}` };
      const run = startOf({ ...stage, hands: stage.agent }, params, controller.signal);
      const aborting = sleep(stage.random.below(100)).then(() => controller.abort("enough"));
      const error = await run.then(() => undefined, (thrown: Error & { readonly output?: string }) => thrown);
      await aborting;
      if (error?.name === "AbortError") assertEquals(error.cause, "enough");
      else throw error ?? new Error("it was aborted, but answered");
      stage.world.tally.exits += 1;
    },
  },
  {
    name: "goes on when its client goes away",
    weight: 2,
    live: async (stage) => {
      const { agent, world } = stage;
      const mark = `mark-${Math.random().toString(36).slice(2)}`;
      const controller = new AbortController();
      const run = startOf({ ...stage, hands: world.overHttp(agent.scope) }, {
        command: `echo ${mark}; sleep 0.6; exit 7`,
      }, controller.signal);
      await Promise.race([sleep(300), run]).catch(() => {});
      controller.abort();
      const answer = await run.catch(() => undefined);
      if (answer !== undefined) return;
      const find = (): string | undefined => agent.sessions().find((view) => view.tail(200).includes(mark))?.sessionId;
      // It may not have come to the server at all, or have ended before its client went
      await untilTrue(() => find() !== undefined, "it goes on in the background", 5_000).catch(() => {});
      const id = find();
      if (id === undefined) return;
      fault(stage, "client gone");
      compareEnd(stage, await endBy({ ...stage, hands: agent }, id), [exited(7)]);
    },
  },
  {
    name: "is stopped for a while",
    weight: 3,
    live: async (stage) => {
      const { random, world } = stage;
      const cast = castOf(stage, "slow");
      const played = await perform(
        stage,
        { ...cast, params: { command: "", pty: cast.params.pty ?? false } },
        "exit 3",
      );
      await stage.call({ action: "kill", sessionId: played.id, signal: "SIGSTOP" });
      fault(stage, "SIGSTOP");
      await sleep(random.below(200));
      const poller = createPoller(stage.call, played.id, played.truth, world.tally);
      const stays = random.chance(0.3);
      if (stays) await stage.call({ action: "kill", sessionId: played.id });
      else await stage.call({ action: "kill", sessionId: played.id, signal: "SIGCONT" });
      const end = await poller.toEnd(waits(stage));
      compareEnd(stage, end, stays ? [...stoppedFor("killed"), exited(3)] : [exited(3)]);
      await agree(stage, played, end);
      await partWith(stage, played.id);
    },
  },
  {
    name: "is left running",
    weight: 2,
    live: async (stage) => {
      const { id, viewers } = await perform(stage, castOf(stage, "quick"), FOREVER);
      stage.world.left.set(id, viewers.map(({ done }) => done));
    },
  },
];
