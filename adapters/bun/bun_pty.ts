/**
 * Commands in a pseudo-terminal, over the optional package `bun-pty` (0.4.10 or later): for a Bun without terminals of
 * its own. It works, with these gaps:
 *
 * - Output and input are text. Bytes that are not UTF-8 come out as U+FFFD and cannot be written.
 * - A death by signal is told as exit code 1. So code 1 is reported as unknown (`null`) once a signal has been sent.
 * - The output ends 20 ms after the child: what a process it left behind prints later is lost, and on a busy machine
 *   now and then what the child itself printed last.
 * - Each terminal is looked at every 8 ms, and each exit holds the event loop for those 20 ms.
 * - A write resolves at once: nothing tells when the terminal has taken it.
 * - A terminal that is released while its child lives is closed when the child ends.
 *
 * @module
 */

import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { controlOf } from "../node/control.ts";
import { foreseeSpawnFailure, spawnFailure, stdinClosed } from "../node/failures.ts";
import { nodeKill } from "../node/kill.ts";
import type { PtyBackend } from "../node/pty.ts";
import { readStat, terminalOf } from "../linux/proc.ts";
import { readText } from "../linux/proc_files.ts";
import { isCooked } from "../linux/terminal_mode.ts";
import { OffstageError } from "../../mod.ts";
import type { Child, Exit, OutputSink, SpawnSpec } from "../../mod.ts";

/** What is used of the module `bun-pty`. */
interface BunPtyModule {
  spawn(program: string, args: readonly string[], options: BunPtyOptions): BunPty;
}

interface BunPtyOptions {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What is used of a terminal of `bun-pty`. */
interface BunPty {
  readonly pid: number;
  onData(listener: (text: string) => void): void;
  onExit(listener: (exit: { readonly exitCode: number }) => void): void;
  write(text: string): void;
  resize(cols: number, rows: number): void;
  /** Sends SIGHUP and closes the descriptors: the only way to close them. */
  kill(): void;
}

// Typed as a plain string, so that nothing looks for the optional package before a terminal is asked for
const PACKAGE: string = "bun-pty";
const DEFAULT_SIZE = { cols: 120, rows: 30 } as const;
const SIGNAL_DEATH_CODE = 1; // what bun-pty makes of every signal
const EXIT_RECHECK_MS = 50; // only after an exit that was reported too early
// These the package sets by itself, beside everything the host's environment has
const ADDED_VARIABLES: readonly string[] = ["TERM", "SHELL"];

/** Makes the terminal back-end over `bun-pty`, which is loaded on first use. */
export function createBunPtyBackend(): PtyBackend {
  let loading: Promise<BunPtyModule | string> | undefined;
  const load = (): Promise<BunPtyModule | string> => loading ??= loadBunPty();
  return {
    available: async () => {
      const pty = await load();
      return typeof pty === "string" ? pty : true;
    },
    spawn: async (spec, sink) => {
      const pty = await load();
      if (typeof pty === "string") throw new OffstageError("unsupported", `Cannot open a terminal: ${pty}`);
      return attach(open(pty, spec), spec, sink);
    },
  };
}

async function loadBunPty(): Promise<BunPtyModule | string> {
  try {
    return await import(PACKAGE) as BunPtyModule;
  } catch (error) {
    return `this Bun has none of its own, and "${PACKAGE}" cannot be loaded: ${
      error instanceof Error ? error.message : String(error)
    }`;
  }
}

function open(pty: BunPtyModule, spec: SpawnSpec): BunPty {
  const foreseen = foreseeSpawnFailure(spec); // it only says "PTY spawn failed"
  if (foreseen !== undefined) throw foreseen;
  const [program, ...args] = withoutHostEnvironment(spec);
  try {
    return pty.spawn(program, args, { name: "", ...(spec.terminal ?? DEFAULT_SIZE), cwd: spec.cwd, env: spec.env });
  } catch (cause) {
    throw spawnFailure(cause, spec);
  }
}

/**
 * The package adds `env` to the host's environment, whose secrets are none of the child's business: env(1) takes the
 * surplus variables out again, by name, so that no value shows up in a command line.
 */
function withoutHostEnvironment({ argv, env }: SpawnSpec): readonly [string, ...string[]] {
  if (process.platform === "win32") return argv;
  // The package reads the environment the host was started with, not what has become of `process.env`
  const initial = (readText("/proc/self/environ") ?? "").split("\0").map((entry) => entry.replace(/=.*/s, ""));
  const surplus = new Set([...initial, ...Object.keys(process.env), ...ADDED_VARIABLES]);
  const removals = [...surplus].filter((name) => name !== "" && !Object.hasOwn(env, name));
  return ["/usr/bin/env", ...removals.flatMap((name) => ["-u", name]), ...argv];
}

function attach(terminal: BunPty, spec: SpawnSpec, sink: OutputSink): Child {
  const { pid } = terminal;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let exitedAt: number | undefined;
  let isReading = true;
  let wasSignalled = false;
  const finish = (): void => {
    if (!isReading) return;
    isReading = false;
    sink.end();
  };

  terminal.onData((text) => {
    if (isReading) sink.chunk("terminal", encoder.encode(text));
  });
  const exited = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
    .then(async (code): Promise<Exit> => {
      const isEarly = !isGone(pid); // an interrupted read is taken for the end of the terminal by older versions
      while (!isGone(pid)) await delay(EXIT_RECHECK_MS);
      exitedAt = performance.now();
      terminal.kill(); // nobody is left to get the signal
      finish();
      return { code: isEarly || code < 0 || (wasSignalled && code === SIGNAL_DEATH_CODE) ? null : code };
    });
  const path = terminalOf(pid);
  const control = controlOf({ pid, sessionId: spec.sessionId, kill: nodeKill, exitedAt: () => exitedAt }, path);

  return {
    pid,
    exited,
    ...control,
    signal: (name, target) => {
      const outcome = control.signal(name, target);
      wasSignalled ||= outcome === "sent";
      return outcome;
    },
    write: (bytes) =>
      new Promise((resolve) => {
        if (exitedAt !== undefined || !isReading) throw stdinClosed();
        const text = decode(decoder, bytes);
        if (text !== "") terminal.write(text); // it throws on an empty one
        resolve();
      }),
    endInput: () => Promise.resolve(),
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
    ...(path !== undefined && { isCooked: () => isCooked(path) }),
    release: finish,
  };
}

function isGone(pid: number): boolean {
  return nodeKill(pid, 0) === "gone" || readStat(pid)?.state === "Z";
}

/** The text of bytes; a character that is cut at their end is kept for the next call. */
function decode(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes, { stream: true });
  } catch (cause) {
    throw new OffstageError("unsupported", `Cannot write bytes that are not UTF-8 to a terminal of "${PACKAGE}"`, {
      cause,
    });
  }
}
