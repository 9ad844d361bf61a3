/**
 * The runtimes, and processes of theirs that measure something.
 *
 * @module
 */
import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root } from "./report/results.ts";
import { MARK, sweep } from "./sweep.ts";

/** A runtime's program and arguments. */
export interface Runtime {
  readonly argv: readonly [string, ...string[]];
  /** Whether it runs what TypeScript was compiled to, and not the sources. */
  readonly compiled?: true;
}

const PINNED = ".ci/runtimes";

/** Bun's program. */
export const BUN = "node_modules/bun/bin/bun.exe";

/** All, by the name that is asked for. */
export const RUNTIMES: Readonly<Record<string, Runtime>> = {
  node20: { argv: [process.execPath, "--expose-gc"], compiled: true },
  node24: { argv: [`${PINNED}/node_modules/node24/bin/node`, "--expose-gc", "--no-warnings"] },
  deno: { argv: ["node_modules/deno/deno", "run", "-A", "--v8-flags=--expose-gc", "--no-check"] },
  bun: { argv: [BUN] },
};

/** Longest time that something is measured, ms. */
const LONGEST_MS = 240_000;

/**
 * Runs a program of the bench on a runtime, and ends what it leaves behind. It prints a line of JSON, which is given back;
 * without one this rejects with what it said last.
 */
export function measure(
  runtime: string,
  file: string,
  args: readonly string[],
  longestMs: number = LONGEST_MS,
): Promise<unknown> {
  const { argv: [program, ...before], compiled } = runtimeOf(runtime);
  const path = compiled && file.endsWith(".ts") ? `.build/${file.replace(/ts$/, "js")}` : file;
  const mark = randomUUID();
  const env = { ...process.env, [MARK]: mark };
  const line = new Promise<string>((resolve, reject) => {
    const options = { cwd: root, env, encoding: "utf8", maxBuffer: 2 ** 26, timeout: longestMs } as const;
    execFile(program, [...before, path, ...args], options, (error, stdout, stderr) => {
      sweep(mark);
      if (error === null) resolve(stdout.trim().split("\n").at(-1) ?? "");
      else reject(new Error(error.killed ? `took more than ${longestMs / 1_000} s` : lastError(stderr)));
    });
  });
  return line.then((text) => JSON.parse(text));
}

/** Its name and version. */
export function versionOf(runtime: string): string {
  const { argv: [program] } = runtimeOf(runtime);
  const text = execFileSync(program, ["--version"], { cwd: root, encoding: "utf8" });
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? text;
}

/** Installs the pinned Node, where that has not been done. */
export function installPinned(): void {
  if (existsSync(join(root, PINNED, "node_modules"))) return;
  execFileSync("npm", ["ci", "--prefix", PINNED, "--no-audit", "--no-fund"], { cwd: root, stdio: "inherit" });
}

function runtimeOf(name: string): Runtime {
  const runtime = RUNTIMES[name];
  if (runtime === undefined) throw new Error(`No such runtime: ${name}`);
  return runtime;
}

/** The line that says what went wrong. */
function lastError(stderr: string): string {
  const lines = stderr.trim().split("\n");
  return (lines.find((line) => /^(?:\w*Error|error)\b/.test(line)) ?? lines.at(-1) ?? "").trim().slice(0, 200);
}
