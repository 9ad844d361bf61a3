/**
 * What one operation of a soak works with.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals } from "@std/assert";
import type { Agent, EndedDetails, ExecAnswer, ExecParams, SessionView } from "../../mod.ts";
import { processesCarrying } from "../conformance/agent.ts";
import { type End, endOf } from "../conformance/reader.ts";
import type { Random } from "../random.ts";
import type { Call } from "./oracle.ts";
import { count } from "./tally.ts";
import { type Hands, SCOPES, type World } from "./world.ts";

/** A fault kept a command from being started, and the answer said so: there is nothing more to see. */
export class Refused extends Error {}

/** One operation's place. */
export interface Stage {
  readonly world: World;
  readonly random: Random;
  /** The agent, called in this process. */
  readonly agent: Agent;
  /** Its tools, perhaps over HTTP. */
  readonly hands: Hands;
  /** Calls `process`, whose answer is no failure. */
  readonly call: Call;
  /** When it began, of `performance.now()`. */
  readonly startedAt: number;
}

/** A session in the background. */
export interface Started {
  readonly id: string;
  readonly view: SessionView;
  /** Whether it has a terminal. */
  readonly pty: boolean;
  readonly pid: number;
}

/** Sets the stage for one operation. */
export function createStage(world: World, random: Random, op: number): Stage {
  const agent = world.agents[op % SCOPES];
  if (agent === undefined) throw new TypeError("No agent");
  const hands: Hands = random.chance(0.2) ? world.overHttp(agent.scope) : agent;
  const call: Call = async (params) => {
    const answer = await hands.process(params);
    assert(!answer.isError, `${params.action} failed: ${answer.text}`);
    return answer;
  };
  return { world, random, agent, hands, call, startedAt: performance.now() };
}

/** Runs a command to its end in the foreground. */
export async function inForeground(stage: Stage, params: ExecParams): Promise<EndedDetails> {
  const startedAt = performance.now();
  const answer = await startOf(stage, params);
  const { details, text } = answer;
  assert("durationMs" in details, `an end, but: ${text}`);
  const { durationMs } = details;
  const elapsed = performance.now() - startedAt;
  assert(durationMs >= 0 && durationMs <= elapsed + 1, `it took ${durationMs} ms of the call's ${elapsed}`);
  return details;
}

/** Starts a command in the background, and sees to it that nobody else has it. */
export async function inBackground(stage: Stage, params: ExecParams): Promise<Started> {
  const { world, random, agent } = stage;
  const startedAt = performance.now();
  const { details, text } = await startOf(stage, { background: true, ...params });
  if (details.status !== "running" && params.yieldMs !== undefined && world.starvedFor(startedAt) > 1_000) {
    throw new Refused(`it ended before this process got to run: ${text}`);
  }
  assert(
    details.status === "running" && "tail" in details,
    `"running", but after ${Math.round(performance.now() - startedAt)} ms: ${JSON.stringify(details).slice(-600)}`,
  );
  const { sessionId: id, pty, pid } = details;
  const view = agent.session(id);
  assert(view !== undefined, "its own agent knows it");
  const other = world.agents[(world.agents.indexOf(agent) + 1 + random.below(SCOPES - 1)) % SCOPES];
  assertEquals(other?.session(id), undefined, "another scope has no view of it");
  const foreign = await other?.process({ action: "log", sessionId: id });
  assertEquals(
    foreign !== undefined && "reason" in foreign.details && foreign.details.reason,
    "unknown-session",
    "another scope does not know it",
  );
  assert(!other?.sessions().some(({ sessionId }) => sessionId === id), "another scope does not list it");
  return { id, view, pty, pid: pid ?? 0 };
}

/** What `exec` answers. One that a fault refuses is the end of the operation. */
export async function startOf(
  { world, hands, startedAt }: Stage,
  params: ExecParams,
  signal?: AbortSignal,
): Promise<ExecAnswer> {
  world.tally.commands += 1;
  let answer: ExecAnswer;
  try {
    answer = await hands.exec(params, signal && { signal });
  } catch (error) {
    if (signal?.aborted === true || !("url" in world.server()) || !world.wasExhausted(startedAt)) throw error;
    throw new Refused(String(error), { cause: error });
  }
  if (!("message" in answer.details) || !world.wasExhausted(startedAt)) return answer;
  assertEquals(answer.details.reason, "spawn-error", answer.text);
  world.tally.refused += 1;
  throw new Refused(answer.text);
}

/** Compares an end with those that are possible. */
export function compareEnd({ world }: Stage, end: End, possible: readonly End[]): void {
  world.tally.exits += 1;
  const matches = possible.some((one) => JSON.stringify(one) === JSON.stringify(end));
  assert(matches, `it ended otherwise: ${JSON.stringify(end)}, not ${JSON.stringify(possible[0])}`);
}

/** By itself, with a code. */
export const exited = (exitCode: number): End => ({ status: "completed", reason: "exit", exitCode, signal: null });

/** Ended by us, by the ladder's first signal or its second. */
export const stoppedFor = (reason: "killed" | "timeout"): readonly End[] =>
  (["SIGTERM", "SIGKILL", "SIGHUP"] as const).map((signal) => ({
    status: reason === "killed" ? "killed" : "failed",
    reason,
    exitCode: null,
    signal,
  }));

/** Tells the end of a session without reading its output. */
export async function endBy(stage: Stage, id: string): Promise<End> {
  for (;;) {
    const { details } = await stage.call({ action: "poll", sessionId: id, timeout: 30_000, until: "exit" });
    assert("from" in details);
    if (details.status !== "running") return endOf(details);
  }
}

/** Ends a session's tree and waits until that is certain: on a busy machine longer than one call waits. */
export async function killSurely({ call }: Stage, id: string): Promise<End> {
  for (let round = 0;; round++) {
    const { details, text } = await call({ action: "kill", sessionId: id, wait: 30_000 });
    assert("confirmed" in details, text);
    if (details.confirmed) return endOf(details);
    assert(round < 5 && !text.includes("could not be ended"), `not confirmed: ${text}`);
  }
}

/** Leaves the record of an ended session to the retention, or sees to it itself. */
export async function partWith({ random, agent, call, world }: Stage, id: string): Promise<void> {
  const told = world.events.get(id)?.length ?? 0;
  assert(told <= 1, `its end was told by ${told} events`);
  if (random.chance(0.3)) return;
  await call({ action: random.chance(0.5) ? "clear" : "remove", sessionId: id });
  assertEquals(agent.session(id), undefined, "it is gone");
  const { isError } = await agent.process({ action: "poll", sessionId: id });
  assert(isError, "its id is unknown");
}

/** Counts what was injected. */
export function fault({ world }: Pick<Stage, "world">, kind: string): void {
  count(world.tally.faults, kind);
}

/** Live processes of a session's tree. */
export async function processesOf(id: string): Promise<readonly number[]> {
  for (;;) {
    try {
      return processesCarrying(`OFFSTAGE_SESSION_ID=${id}`);
    } catch {
      await sleep(20); // no descriptor is left to look with
    }
  }
}

/** Waits until something is so. */
export async function untilTrue(met: () => boolean | Promise<boolean>, what: string, limitMs = 180_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!await met()) {
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain: ${what}`);
    await sleep(20);
  }
}

/** Waits until nothing of a session's tree lives. */
export async function untilGone(id: string): Promise<void> {
  await untilTrue(async () => (await processesOf(id)).length === 0, "its tree has ended");
}
