/**
 * What every test of the core begins with: an instance whose time and processes are in the test's hands.
 *
 * @module
 */
import { fail } from "@std/assert";
import {
  type Agent,
  createOffstage,
  type EndedDetails,
  type ExecAnswer,
  type ExecConfig,
  type ExecOptions,
  type ExecParams,
  type FailureDetails,
  type NotStartedDetails,
  type Offstage,
  type OffstageConfig,
  type ProcessAction,
  type ProcessDetails,
  type ProcessOptions,
  type ProcessParams,
  type RunningDetails,
} from "../../mod.ts";
import { createFakeClock, type FakeClock, settle } from "./clock.ts";
import { createFakeRuntime, createMachine, type Machine } from "./runtime.ts";
import { createFakeSpawner, type FakeChild, type FakeHost, type FakeSpawner } from "./spawner.ts";

// What is loaded on its first use is loaded by now: that takes turns of the event loop, which a fake clock does not wait for
{
  const { agent } = open();
  await agent.exec({ command: "" });
  await agent.process({ action: "list" });
}

/** One instance with one agent on a fake machine. */
export interface Bench {
  readonly offstage: Offstage;
  /** Its agent `tester`. */
  readonly agent: Agent;
  readonly clock: FakeClock;
  readonly spawner: FakeSpawner;
  readonly machine: Machine;
}

/** What a bench may be given beside `tools.exec`. */
export interface BenchOptions extends Omit<OffstageConfig, "tools"> {
  readonly host?: FakeHost;
  readonly environment?: Record<string, string>;
  readonly processTool?: boolean;
}

/** A started command and who plays it. */
export interface Running {
  readonly id: string;
  readonly child: FakeChild;
  readonly details: RunningDetails;
  readonly text: string;
}

/** Opens an instance. Nothing of it is real, so nothing has to be closed. */
export function open(exec: ExecConfig = {}, options: BenchOptions = {}): Bench {
  const { host, environment, processTool = true, ...config } = options;
  const clock = createFakeClock();
  const spawner = createFakeSpawner(host);
  const machine = createMachine(environment);
  const runtime = createFakeRuntime(machine, spawner, clock);
  const core = createOffstage({ runtime, tools: { exec }, ...config });
  const offstage: Offstage = {
    ...core,
    agent: (scope, given) => letRead(core.agent(scope, given), clock),
    admin: letRead(core.admin, clock),
  };
  return { offstage, agent: offstage.agent("tester", { processTool }), clock, spawner, machine };
}

/** Opens an instance that offers all there is to offer: nodes, elevated commands, events. */
export function openAll(nodes: BenchOptions["nodes"] = { builder: createFakeSpawner() }): Bench {
  return open({}, {
    nodes,
    elevated: { enabled: true, allowed: () => true },
    onEvent: () => {},
  });
}

/** A poll that does not wait, or a look at the screen, lets the host read once before it answers: here that turn has to be given by hand. */
function letRead(agent: Agent, clock: FakeClock): Agent {
  return {
    ...agent,
    process: async (params, options) => {
      const answer = agent.process(params, options);
      const isPoll = params?.action === "poll" && !((params.timeout ?? 0) > 0);
      if (isPoll || params?.action === "screen") await Promise.race([answer, clock.advance(0)]);
      return await answer;
    },
  };
}

/** Calls `exec` and returns once the command has been started; the answer is still to come. */
export async function start(
  bench: Bench,
  params: Partial<ExecParams> = {},
  options: ExecOptions = {},
): Promise<{ readonly answer: Promise<ExecAnswer>; readonly child: FakeChild }> {
  const answer = bench.agent.exec({ command: "make", ...params }, options);
  answer.catch(() => {}); // whoever awaits it hears of it
  await settle();
  return { answer, child: bench.spawner.last };
}

/** Starts a command in the background. */
export async function background(
  bench: Bench,
  params: Partial<ExecParams> = {},
  agent: Agent = bench.agent,
): Promise<Running> {
  const pending = agent.exec({ command: "make", background: true, ...params });
  await bench.clock.advance(0);
  const { details, text } = await pending;
  if (details.status !== "running") fail(`Expected "running" but got: ${text}`);
  return { id: details.sessionId, child: bench.spawner.last, details, text };
}

/** An answer for which everything has happened that it needs; a test that is wrong about that fails instead of hanging. */
async function due(answer: Promise<ExecAnswer>): Promise<ExecAnswer> {
  const first = await Promise.race([answer, settle()]);
  return first ?? fail("Expected an answer by now but the command runs in the foreground");
}

/** The answer of a command that has ended. */
export async function ended(
  answer: Promise<ExecAnswer>,
): Promise<{ readonly text: string; readonly details: EndedDetails; readonly isError: boolean }> {
  const { details, text, isError } = await due(answer);
  if (!("durationMs" in details)) fail(`Expected an end but got: ${text}`);
  return { details, text, isError };
}

/** The answer of a call that started nothing. */
export async function notStarted(
  answer: Promise<ExecAnswer>,
): Promise<{ readonly text: string; readonly details: NotStartedDetails }> {
  const { details, text, isError } = await due(answer);
  if (!("problems" in details) || !isError) fail(`Expected that nothing was started but got: ${text}`);
  return { details, text };
}

/** Does one thing with a session that is expected to succeed. */
export async function act<A extends ProcessAction>(
  agent: Agent,
  params: ProcessParams & { readonly action: A },
  options: ProcessOptions = {},
): Promise<ProcessDetails[A] & { readonly text: string }> {
  const { details, text } = await agent.process(params, options);
  if ("problems" in details) fail(`Expected success but got: ${text}`);
  return { ...details, text };
}

/** Does one thing with a session that is expected to fail. */
export async function refused(
  agent: Agent,
  params: unknown,
): Promise<FailureDetails & { readonly text: string }> {
  const { details, text, isError } = await agent.process(params as ProcessParams);
  if (!("problems" in details) || !isError) fail(`Expected a failure but got: ${text}`);
  return { ...details, text };
}

/** Lets up to two minutes pass and says after how many milliseconds a promise was settled. */
export async function answeredAfter({ clock }: Bench, answer: Promise<unknown>): Promise<number> {
  const from = clock.monotonic();
  let after = Infinity;
  const settled = (): void => void (after = clock.monotonic() - from);
  answer.then(settled, settled);
  await clock.advance(120_000);
  return after;
}

/** A signal that knows how many listen to it. */
export function countingSignal(): {
  readonly signal: AbortSignal;
  readonly listeners: () => number;
  readonly abort: (reason?: unknown) => void;
} {
  const controller = new AbortController();
  const { signal } = controller;
  const listening = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: string, listener: EventListener, options?: AddEventListenerOptions) => {
    if (type === "abort") listening.add(listener);
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: EventListener) => {
    if (type === "abort") listening.delete(listener);
    remove(type, listener);
  };
  return {
    signal,
    listeners: () => listening.size,
    abort: (reason) => {
      controller.abort(reason);
      listening.clear(); // they were added to be called once
    },
  };
}
