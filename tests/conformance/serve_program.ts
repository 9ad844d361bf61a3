/**
 * `offstage serve` as a program of its own, on this runtime.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../skip.ts";

/** A started server. */
export interface ServeProgram {
  /** Sends it a signal, unless it has ended. */
  kill(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): void;
  /** What it has printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /** Where it listens, once it does. */
  readonly url: Promise<string>;
  /** Its exit code and signal, once all its output has been read. */
  readonly ended: Promise<readonly [code: number | null, signal: string | null]>;
}

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const MAIN = fileURLToPath(new URL(`../../adapters/cli/main.${extension}`, import.meta.url));

/** Program and arguments by which this runtime runs the command line. */
const ARGV = [process.execPath, ...(runtimeName === "deno" ? ["run", "-A", "--no-check"] : []), MAIN] as const;

/** Starts `offstage serve` on any free port, unless `words` name another. */
export function serveProgram(words: readonly string[] = [], env: Readonly<Record<string, string>> = {}): ServeProgram {
  const [program, ...args] = ARGV;
  return watch(spawn(program, [...args, "serve", "--port", "0", ...words], { env: { ...process.env, ...env } }));
}

/** Reads what a started server prints. */
export function watch(child: ChildProcess): ServeProgram {
  const printed = { stdout: "", stderr: "" };
  const ended = new Promise<readonly [number | null, string | null]>((resolve) => {
    child.on("close", (code, signal) => resolve([code, signal]));
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (bytes) => {
      printed.stdout += bytes;
      const [, found] = /listens on (\S+)\n[^]*curl .*\n/.exec(printed.stdout) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.stderr?.on("data", (bytes) => (printed.stderr += bytes));
    void ended.then(() => reject(new Error(`The server has ended: ${printed.stdout}${printed.stderr}`)));
  });
  url.catch(() => {}); // who waits for the end only is told by that
  // Not child.kill: on Deno a child that has been sent a signal is said to have died of it
  const kill = (signal: "SIGTERM" | "SIGINT" | "SIGKILL"): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(child.pid, signal);
    }
  };
  return { kill, printed, url, ended };
}
