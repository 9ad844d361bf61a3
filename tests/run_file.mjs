/**
 * Runs one program to its end and takes down what it left behind.
 *
 * @module
 */

import { spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** A test file that runs longer hangs: the slowest takes about one minute. */
const LIMIT_MS = 600_000;
/** How long output may still come after the end. Whatever holds the pipes longer was left behind by a test. */
const DRAIN_MS = 2_000;

/**
 * @typedef {object} Run
 * @property {string} output everything it printed, stdout and stderr as they came
 * @property {boolean} endedWell whether its exit code was 0
 * @property {string} ending how it ended, in words
 * @property {number} ms how long it took
 */

/**
 * Runs a program in a process group of its own. The group is ended with it, or when it hangs, or when we are ended.
 *
 * @param {readonly [string, ...string[]]} argv
 * @param {string} cwd
 * @returns {Promise<Run>}
 */
export async function runFile([command, ...args], cwd) {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd,
    detached: process.platform !== "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => output += text);
  }
  const closed = new Promise((resolve) => child.once("close", resolve));

  let hung = false;
  const limit = setTimeout(() => {
    hung = true;
    endGroup(child);
  }, LIMIT_MS);
  const interrupted = () => {
    endGroup(child);
    process.exit(130);
  };
  process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
  try {
    const [code, words] = await exitOf(child);
    endGroup(child);
    await Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]);
    const ending = hung ? `it hung and was ended after ${LIMIT_MS / 1000} s` : words;
    return { output, endedWell: code === 0, ending, ms: performance.now() - startedAt };
  } finally {
    clearTimeout(limit);
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<readonly [code: number | null, words: string]>}
 */
function exitOf(child) {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve([null, String(error)]));
    child.once("exit", (code, signal) => resolve([code, signal === null ? `exit code ${code}` : `ended by ${signal}`]));
  });
}

/** @param {import("node:child_process").ChildProcess} child */
function endGroup(child) {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group has ended already.
  }
}
