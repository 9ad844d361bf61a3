/**
 * Commands on pipes, over `Deno.Command`.
 *
 * @module
 */

import process from "node:process";
import { type Child, type Exit, OffstageError, type OutputSink, type SpawnSpec } from "../../mod.ts";
import type { GroupLeader } from "../linux/proc.ts";
import { createGate, type Gate } from "../gate.ts";
import { codeOf, spawnFailure, stdinClosed } from "../node/failures.ts";
import { denoControl } from "./control.ts";
import { killFor } from "./kill.ts";
import { demand, isNotCapable, notAllowed } from "./permissions.ts";
import { type DenoChildProcess, denoGlobal } from "./types.ts";

/** The input of a child. */
interface Input {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  release(): void;
}

const FIRST_READ_BYTES = 1_024; // enough for many commands; more takes longer to make, and adds up in idle sessions
const READ_BYTES = 65_536; // what a pipe of Linux holds

/**
 * Starts a command on pipes, as the leader of its own process group.
 *
 * The child ignores what this process was started to ignore, as in the background of a script SIGINT and SIGQUIT are:
 * Deno, unlike Node and Bun, does not reset them.
 *
 * The child's input is closed when the child ends, even if a process it left behind still reads it. A write that has
 * not been taken keeps this process alive until nobody holds that input any more, even after `release`: Deno cannot
 * take it back.
 *
 * @param spec what to start; `terminal` is ignored
 * @param sink takes the output; each chunk has memory of its own and of its own size
 * @throws {OffstageError} `refused` when Deno does not allow it, `spawn-failed` when nothing was started
 */
export function spawnOnPipes(spec: SpawnSpec, sink: OutputSink): Child {
  const child = start(spec);
  const { pid } = child;
  let exitedAt: number | undefined;
  const ended = (exit: Exit): Exit => {
    exitedAt = performance.now();
    return exit;
  };
  const exited = child.status.then<Exit, Exit>(
    ({ code, signal }) => ended(signal === null ? { code } : { signal }),
    () => ended({ code: null }), // ended by a real-time signal
  );
  const kill = killFor(spec.argv[0], child);
  const leader: GroupLeader = { pid, sessionId: spec.sessionId, kill, exitedAt: () => exitedAt };
  const input = spec.stdin === "open" ? inputOf(child.stdin) : NO_INPUT;
  void exited.then(input.release); // as on Node and Bun: an ended session that is kept must not hold a descriptor
  const gate = createGate();
  const stopReading = forwardOutput(child, sink, gate);
  return {
    pid,
    exited,
    ...denoControl(leader, spec.stdin === "open"),
    write: input.write,
    endInput: input.end,
    hold: gate.hold,
    keepAlive: (keeps) => setKeepsAlive(child, keeps),
    release: () => {
      gate.hold(false);
      stopReading();
      input.release();
      setKeepsAlive(child, false);
    },
  };
}

function setKeepsAlive(child: DenoChildProcess, keeps: boolean): void {
  try {
    if (keeps) child.ref();
    else child.unref();
  } catch {
    // BadResource: Deno has seen it end, and has not told yet. It keeps nothing alive any more
  }
}

function start(spec: SpawnSpec): DenoChildProcess {
  const [program, ...args] = spec.argv;
  demand({ name: "run", command: program }, `run "${program}"`);
  try {
    return new (denoGlobal().Command)(program, {
      args,
      cwd: spec.cwd,
      env: spec.env,
      clearEnv: true,
      detached: process.platform !== "win32", // there it would open a console window
      stdin: spec.stdin === "open" ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
  } catch (cause) {
    throw startFailure(cause, spec);
  }
}

/** Deno's own messages tell the directory from the program, which takes no permission to look at either. */
function startFailure(cause: unknown, spec: SpawnSpec): OffstageError {
  const [program] = spec.argv;
  // The program is allowed, so it is about LD_* or DYLD_*, with which any program is another one, or about a PATH on
  // which that name is another program
  if (isNotCapable(cause)) return notAllowed(`run "${program}" in this environment`, "all of --allow-run", cause);
  const code = codeOf(cause);
  if (code === "E2BIG") return spawnFailure(cause, spec);
  const message = cause instanceof Error ? cause.message : String(cause);
  const fail = (text: string): OffstageError => new OffstageError("spawn-failed", `Cannot start ${text}`, { cause });
  if (message.includes("No such cwd")) return fail(`in "${spec.cwd}": the working directory does not exist`);
  if (message.includes("cwd is not a directory")) return fail(`in "${spec.cwd}": it is not a directory`);
  if (code === "ENOENT" || code === "ENOTDIR") return fail(`"${program}": there is no such program`);
  if (code === "EACCES") return fail(`"${program}" in "${spec.cwd}": one of them may not be executed or entered`);
  return fail(`"${program}": ${message}`);
}

/** @returns a function that stops reading and closes both pipes */
function forwardOutput({ stdout, stderr }: DenoChildProcess, sink: OutputSink, gate: Gate): () => void {
  const forward = async (name: "stdout" | "stderr", reader: ReadableStreamBYOBReader): Promise<void> => {
    try {
      let buffer = new Uint8Array(FIRST_READ_BYTES);
      for (;;) {
        const { done, value } = await reader.read(buffer);
        if (done) return;
        // Copied, since a chunk is kept for as long as its text: it must not keep a whole buffer with it
        sink.chunk(name, value.slice());
        if (gate.closed !== undefined) await gate.closed;
        const memory = value.buffer;
        buffer = value.byteLength === memory.byteLength ? new Uint8Array(READ_BYTES) : new Uint8Array(memory);
      }
    } catch {
      // ECONNRESET, EIO: the stream is over, which is all there is to know
    }
  };
  const readers = [stdout.getReader({ mode: "byob" }), stderr.getReader({ mode: "byob" })] as const;
  let isOver = false;
  void Promise.all([forward("stdout", readers[0]), forward("stderr", readers[1])]).then(() => {
    isOver = true;
    sink.end();
  });
  return () => {
    if (isOver) return;
    for (const reader of readers) reader.cancel().catch(ignore);
  };
}

const NO_INPUT: Input = {
  write: () => Promise.reject(stdinClosed()),
  end: () => Promise.resolve(),
  release: () => {},
};

function inputOf(stdin: DenoChildProcess["stdin"]): Input {
  const writer = stdin.getWriter();
  writer.closed.catch(ignore); // EPIPE: the write that met it has told
  return {
    write: async (bytes) => {
      try {
        await writer.write(bytes);
      } catch (cause) {
        throw stdinClosed(cause);
      }
    },
    end: () => writer.close().catch(ignore), // closed before, by either side
    release: () => void writer.abort().catch(ignore),
  };
}

function ignore(): void {}
