/**
 * `offstage exec`: one command through the tools, as an agent would run it.
 *
 * @module
 */
import type { Buffer } from "node:buffer";
import os from "node:os";
import process from "node:process";
import type { Agent, ExecParams, StatusDetails } from "../../mod.ts";
import { createOffstage } from "../auto.ts";

/** Exit code for a command that ran out of time, as of `timeout(1)`. */
const EXIT_TIMEOUT = 124;

/** Exit code for what is this program's own failure, as of `timeout(1)`. */
export const EXIT_OWN_FAILURE = 125;

/** A command ended by signal n exits 128 + n, as in shells. */
const EXIT_SIGNAL_BASE = 128;

/** Everything a command prints between two polls is shown: more than the tools hold for a model, characters. */
const HELD_CHARS = 50_000_000;

/**
 * Runs a command, prints its output as it comes and forwards this program's stdin to it.
 *
 * @returns the exit code to end with
 */
export async function runCommand(params: ExecParams): Promise<number> {
  const exec = { maxOutputChars: HELD_CHARS, pendingMaxOutputChars: HELD_CHARS, maxResultChars: HELD_CHARS };
  const offstage = createOffstage({ tools: { exec } });
  try {
    return await run(offstage.agent("cli"), params);
  } finally {
    await offstage.close();
  }
}

async function run(agent: Agent, params: ExecParams): Promise<number> {
  const { details, text } = await agent.exec({ ...params, background: true });
  if (details.status !== "running") {
    process.stderr.write(`offstage: ${text}\n`);
    return EXIT_OWN_FAILURE;
  }
  for (const warning of details.warnings) process.stderr.write(`offstage: ${warning}\n`);
  const stopForwarding = forwardStdin(agent, details.sessionId);
  try {
    return await follow(agent, details.sessionId);
  } finally {
    stopForwarding();
  }
}

async function follow(agent: Agent, sessionId: string): Promise<number> {
  for (;;) {
    const { details, text } = await agent.process({ action: "poll", sessionId, timeout: 30_000 });
    if (!("from" in details)) {
      process.stderr.write(`offstage: ${text}\n`);
      return EXIT_OWN_FAILURE;
    }
    await print(details.output);
    if (details.status === "running") continue;
    if (details.reason === "timeout") process.stderr.write("offstage: timed out\n");
    for (const { pid, name } of details.survivors) process.stderr.write(`offstage: still runs: ${name} ${pid}\n`);
    return exitCode(details);
  }
}

/** Waits for a slow reader of our output: nothing is printed faster than it is read. */
function print(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

function exitCode({ reason, exitCode, signal }: StatusDetails): number {
  if (reason === "timeout") return EXIT_TIMEOUT;
  if (signal !== null) return EXIT_SIGNAL_BASE + (os.constants.signals[signal as NodeJS.Signals] ?? 0);
  return exitCode ?? EXIT_OWN_FAILURE;
}

/** What this program is given on stdin is the command's; a slow command slows the giver down. */
function forwardStdin(agent: Agent, sessionId: string): () => void {
  const { stdin } = process;
  const write = async (bytes: Buffer): Promise<void> => {
    stdin.pause();
    await agent.process({ action: "write", sessionId, base64: bytes.toString("base64") });
    stdin.resume();
  };
  const end = (): void => void agent.process({ action: "write", sessionId, eof: true });
  stdin.on("data", write).on("end", end).on("error", end);
  return () => {
    stdin.off("data", write).off("end", end).off("error", end);
    stdin.pause();
    stdin.unref?.();
  };
}
