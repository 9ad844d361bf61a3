/**
 * What every conformance test begins with: a real instance on the runtime the test runs on.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createOffstage } from "../../adapters/auto.ts";
import type {
  Agent,
  EndedDetails,
  ExecAnswer,
  ExecConfig,
  ExecParams,
  KillDetails,
  LogDetails,
  Offstage,
  PollDetails,
  RunningDetails,
  SignalName,
} from "../../mod.ts";

/** One instance with one agent, closed at the end of the test. */
export interface Bench extends AsyncDisposable {
  /** The instance. */
  readonly offstage: Offstage;
  /** Its agent `tester`. */
  readonly agent: Agent;
}

/** Opens an instance, to be closed at the end of the test. */
export function open(exec: ExecConfig = {}): Bench {
  const offstage = createOffstage({ tools: { exec } });
  const agent = offstage.agent("tester");
  return { offstage, agent, [Symbol.asyncDispose]: () => offstage.close() };
}

/** Runs a command that is expected to end in the foreground. */
export async function runToEnd(agent: Agent, params: ExecParams): Promise<ExecAnswer & { details: EndedDetails }> {
  const answer = await agent.exec(params);
  if (!("durationMs" in answer.details)) throw new Error(`Expected an end but got: ${answer.text}`);
  return { ...answer, details: answer.details };
}

/** Runs a command on an instance of its own: what a file asks about the machine before its tests are known. */
export async function tryOut(params: ExecParams): Promise<EndedDetails> {
  const { agent, offstage } = open();
  try {
    return (await runToEnd(agent, params)).details;
  } finally {
    await offstage.close();
  }
}

/** Starts a command that is expected to go to the background; by default after 300 ms. */
export async function background(
  agent: Agent,
  params: ExecParams,
): Promise<ExecAnswer & { details: RunningDetails; id: string }> {
  const answer = await agent.exec({ yieldMs: 300, ...params });
  const { details } = answer;
  if (details.status !== "running") throw new Error(`Expected "running" but got: ${answer.text}`);
  return { ...answer, details, id: details.sessionId };
}

/** One poll. */
export async function poll(
  agent: Agent,
  sessionId: string,
  options: { readonly timeout?: number; readonly until?: string; readonly since?: number } = {},
): Promise<PollDetails & { text: string }> {
  const { details, text } = await agent.process({ action: "poll", sessionId, ...options });
  if (!("from" in details)) throw new Error(`Expected a poll's answer but got: ${text}`);
  return { ...details, text };
}

/** One page of the log. */
export async function log(
  agent: Agent,
  sessionId: string,
  options: { readonly offset?: number; readonly limit?: number; readonly stream?: "stdout" | "stderr" } = {},
): Promise<LogDetails & { text: string }> {
  const { details, text } = await agent.process({ action: "log", sessionId, ...options });
  if (!("lines" in details)) throw new Error(`Expected a page of lines but got: ${text}`);
  return { ...details, text };
}

/** Polls until the session has ended; gives all output together and the last answer. */
export async function pollToEnd(
  agent: Agent,
  sessionId: string,
): Promise<{ readonly output: string; readonly last: PollDetails & { text: string } }> {
  let output = "";
  for (;;) {
    const last = await poll(agent, sessionId, { timeout: 30_000 });
    output += last.output;
    if (last.status !== "running") return { output, last };
  }
}

/** Polls until the output of all polls together contains `wanted`. */
export async function pollUntil(agent: Agent, sessionId: string, wanted: string | RegExp): Promise<string> {
  let output = "";
  const found = (): boolean => typeof wanted === "string" ? output.includes(wanted) : wanted.test(output);
  while (!found()) {
    const answer = await poll(agent, sessionId, { timeout: 30_000 });
    output += answer.output;
    if (answer.status !== "running" && !found()) throw new Error(`Ended without ${wanted}: ${output}`);
  }
  return output;
}

/** Ends a session, waiting for the end up to 30 s, or sends it one signal. */
export async function kill(
  agent: Agent,
  sessionId: string,
  options: { readonly signal?: SignalName; readonly wait?: number } = { wait: 30_000 },
): Promise<KillDetails & { text: string }> {
  const { details, text } = await agent.process({ action: "kill", sessionId, ...options });
  if (!("confirmed" in details)) throw new Error(`Expected a kill's answer but got: ${text}`);
  return { ...details, text };
}

/** Waits until `met`, looking often; fails after a generous time. */
export async function eventually(met: () => boolean | Promise<boolean>, what: string, limitMs = 30_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!await met()) {
    if (Date.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain: ${what}`);
    await sleep(20);
  }
}

/** Does something `times` times, `atOnce` at a time: for races. */
export async function repeat(times: number, run: (round: number) => Promise<void>, atOnce = 4): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < times) await run(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** A `sleep` of a day that no other test has started, to be looked for with {@linkcode processesWith}. */
export function uniqueSleep(): string {
  return `sleep 98765.${Math.random().toString().slice(2)}`;
}

/** An environment that marks every process of one test, and its entry for {@linkcode processesCarrying}. */
export function uniqueMark(): { readonly env: Readonly<Record<string, string>>; readonly variable: string } {
  const mark = Math.random().toString().slice(2);
  return { env: { OFFSTAGE_TEST_MARK: mark }, variable: `OFFSTAGE_TEST_MARK=${mark}` };
}

/** State letter of a process (`Z` is a zombie), or `undefined` if there is none. Needs `/proc`. */
export function processState(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2)[0];
  } catch {
    return undefined;
  }
}

/** Live processes (zombies do not count) whose command line contains a text. Needs `/proc`. */
export function processesWith(text: string): readonly number[] {
  return liveProcesses((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").includes(text));
}

/** Live processes that were started with `variable` (`NAME=value`) in their environment. Needs `/proc`. */
export function processesCarrying(variable: string): readonly number[] {
  return liveProcesses((pid) => readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(variable));
}

function liveProcesses(matches: (pid: number) => boolean): readonly number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return matches(pid) && !/^[ZX]/.test(processState(pid) ?? "X");
    } catch {
      return false; // it has ended since, or is somebody else's
    }
  });
}

/** Descriptors this process has open, each with what it is. Needs `/proc`. */
export function openDescriptors(): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}
