/**
 * Turns what the system says about a failed spawn or write into an error that names what is to be changed.
 *
 * @module
 */

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { readText } from "../linux/proc_files.ts";
import { findProgram } from "./programs.ts";
import { OffstageError } from "../../mod.ts";
import type { SpawnSpec } from "../../mod.ts";

// Linux, see execve(2): MAX_ARG_STRLEN is 32 pages, the NUL included; all strings and their pointers together may fill
// a quarter of the stack's limit, at least ARG_MAX and at most 6 MiB.
const MAX_STRING_BYTES = 131_071;
const STACK_SHARE = 4;
const LEAST_TOTAL_BYTES = 131_072;
const MOST_TOTAL_BYTES = 6_291_456;
const POINTER_BYTES = 8;
const USUAL_STACK_BYTES = 8_388_608;

const EXHAUSTED: Readonly<Record<string, string>> = {
  EAGAIN: "the limit of processes is reached",
  EMFILE: "this process has too many files open",
  ENFILE: "the system has too many files open",
  ENOMEM: "there is not enough memory",
};

/**
 * The error for a spawn that started nothing: names the directory, the program, both sizes or the exhausted resource.
 *
 * @param cause what the runtime threw or reported; its `code` is read, e.g. `ENOENT`
 * @param spec what was to be started
 */
export function spawnFailure(cause: unknown, spec: SpawnSpec): OffstageError {
  return new OffstageError("spawn-failed", describe(codeOf(cause), cause, spec), { cause });
}

/** The system's error code of whatever was thrown, e.g. `EPIPE`; empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/**
 * The error for a spawn that would start something only for it to fail at once: node-pty forks before it knows.
 *
 * @param spec what is to be started
 * @returns `undefined` when nothing speaks against it
 */
export function foreseeSpawnFailure(spec: SpawnSpec): OffstageError | undefined {
  const code = isTooBig(spec) ? "E2BIG" : programProblem(spec);
  if (code === undefined && directoryProblem(spec.cwd) === undefined) return undefined;
  return spawnFailure(Object.assign(new Error(`spawn ${spec.argv[0]}`), { code }), spec);
}

/** The error for a write that nobody will read. */
export function stdinClosed(cause?: unknown): OffstageError {
  return new OffstageError("stdin-closed", "The process no longer reads its input: nothing can be written", { cause });
}

function describe(code: string, cause: unknown, spec: SpawnSpec): string {
  const [program] = spec.argv;
  if (code === "E2BIG") return describeTooBig(spec);
  // The system names the same errors for the directory and for the program, and Node always names the program
  const directory = directoryProblem(spec.cwd);
  if (directory !== undefined) return `Cannot start in "${spec.cwd}": ${directory}`;
  if (code === "ENOENT" || code === "ENOTDIR") return `Cannot start "${program}": there is no such program`;
  if (code === "EACCES" || code === "EPERM") return `Cannot start "${program}": it may not be executed`;
  const reason = EXHAUSTED[code] ?? (cause instanceof Error ? cause.message : String(cause));
  return `Cannot start "${program}": ${reason}`;
}

function directoryProblem(path: string): string | undefined {
  try {
    if (!statSync(path).isDirectory()) return "it is not a directory";
    accessSync(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) === "EACCES"
      ? "the working directory may not be entered"
      : "the working directory does not exist";
  }
}

function programProblem({ argv: [program], cwd, env }: SpawnSpec): "ENOENT" | "EACCES" | undefined {
  if (findProgram(program, env.PATH, cwd) !== undefined) return undefined;
  return program.includes("/") && existsSync(resolve(cwd, program)) ? "EACCES" : "ENOENT";
}

function stringsOf({ argv, env }: SpawnSpec): readonly string[] {
  return [...argv, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
}

/** Whether Linux would refuse it for its size, as far as that can be told from outside: a few bytes are the kernel's. */
function isTooBig(spec: SpawnSpec): boolean {
  if (process.platform !== "linux") return false;
  const { longest, total } = sizesOf(spec);
  return longest > MAX_STRING_BYTES || (total > LEAST_TOTAL_BYTES && total > maxTotalBytes());
}

function sizesOf(spec: SpawnSpec): { readonly longest: number; readonly total: number } {
  const sizes = stringsOf(spec).map(byteLength);
  return {
    longest: sizes.reduce((most, size) => Math.max(most, size), 0),
    total: sizes.reduce((sum, size) => sum + size + 1 + POINTER_BYTES, 0),
  };
}

function maxTotalBytes(): number {
  const stack = /^Max stack size +(\d+|unlimited)/m.exec(readText("/proc/self/limits") ?? "")?.[1];
  const bytes = stack === "unlimited" ? Infinity : Number(stack ?? USUAL_STACK_BYTES);
  return Math.min(MOST_TOTAL_BYTES, Math.max(LEAST_TOTAL_BYTES, Math.floor(bytes / STACK_SHARE)));
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function describeTooBig(spec: SpawnSpec): string {
  const { longest, total } = sizesOf(spec);
  return `Cannot start "${
    spec.argv[0]
  }": its arguments and environment are too big: the longest string has ${longest} ` +
    `bytes of at most ${MAX_STRING_BYTES}, all together ${total} of about ${maxTotalBytes()}`;
}
