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

/**
 * Sends a signal to a process, or to a group when `pid` is negative; `0` only asks whether somebody is there.
 *
 * Of an ended command nobody is, as a rule, and V8 takes longer for the trace of that error than for the question.
 */
export const nodeKill: Kill = (pid: number, signal: SignalName | 0): SignalOutcome => {
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", 0); // unlike an assignment, no error where it may not be written
  try {
    process.kill(pid, signal);
    return "sent";
  } catch (error) {
    return codeOf(error) === "ESRCH" ? "gone" : "refused";
  } finally {
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
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
