/**
 * Node's kill(2), with the outcome as a value.
 *
 * @module
 */

import { execFile } from "node:child_process";
import process from "node:process";
import type { Kill } from "../linux/proc.ts";
import { codeOf } from "./failures.ts";
import type { SignalName, SignalOutcome } from "../../mod.ts";

/** ESRCH, everywhere. */
const NO_SUCH_PROCESS = 3;

/**
 * What `process.kill` of Node, Deno and Bun is made of: it gives the error's number, negative or not, and throws nothing.
 * Nothing promises that it is there.
 */
const askedQuietly = Reflect.get(process, "_kill") as ((pid: number, signal: number) => unknown) | undefined;

/**
 * Whether nobody is there, for certain. Of an ended command nobody is, as a rule, and an error that is made, thrown and
 * caught takes ten times as long as the question.
 */
function isGone(pid: number): boolean {
  return typeof askedQuietly === "function" && Math.abs(Number(askedQuietly(pid, 0))) === NO_SUCH_PROCESS;
}

/** Sends a signal to a process, or to a group when `pid` is negative; `0` only asks whether somebody is there. */
export const nodeKill: Kill = (pid: number, signal: SignalName | 0): SignalOutcome => {
  if (signal === 0 && isGone(pid)) return "gone";
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return codeOf(error) === "ESRCH" ? "gone" : "refused";
  }
};

/**
 * Ends a process and everything it started on Windows, which has neither groups nor a polite signal.
 * By absolute path, so that no other `taskkill` on the `PATH` is run.
 */
export function killWindowsTree(pid: number): SignalOutcome {
  if (nodeKill(pid, 0) === "gone") return "gone";
  const taskkill = `${process.env.SystemRoot ?? "C:\\Windows"}\\System32\\taskkill.exe`;
  execFile(taskkill, ["/pid", String(pid), "/T", "/F"], { windowsHide: true }, () => {});
  return "sent";
}
