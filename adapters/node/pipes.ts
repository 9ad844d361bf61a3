/**
 * Commands on pipes, over `node:child_process`.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { Readable, Writable } from "node:stream";
import { type GroupLeader, stdinOf } from "../linux/proc.ts";
import { controlOf } from "./control.ts";
import { nodeKill } from "./kill.ts";
import { spawnFailure, stdinClosed } from "./failures.ts";
import type { Child, Exit, OutputSink, SignalName, SpawnSpec } from "../../mod.ts";

/**
 * Starts a command on pipes, as the leader of its own process group.
 *
 * A death by a real-time signal is reported as code 0: Node (20 to 26) knows no name for it, and tells it in no way from
 * a plain end.
 *
 * @param spec what to start; `terminal` is ignored
 * @param sink takes the output, by reference
 * @throws {OffstageError} `spawn-failed` when nothing was started
 */
export async function spawnOnPipes(spec: SpawnSpec, sink: OutputSink): Promise<Child> {
  const child = start(spec);
  const { pid, stdin } = child;
  if (pid === undefined) {
    const [cause] = await once(child, "error");
    throw spawnFailure(cause, spec);
  }
  child.on("error", ignore);
  stdin?.on("error", ignore);
  forwardOutput(child, sink);

  let exitedAt: number | undefined;
  const exited = new Promise<Exit>((resolve) => {
    child.once("exit", (code, signal) => {
      exitedAt = performance.now();
      // Node's signal names are those of the system, hence ours
      resolve(signal === null ? { code } : { signal: signal as SignalName });
    });
  });
  const leader: GroupLeader = { pid, sessionId: spec.sessionId, kill: nodeKill, exitedAt: () => exitedAt };

  return {
    pid,
    exited,
    ...controlOf(leader, stdin === null ? undefined : stdinOf(pid)),
    write: (bytes) => writeTo(stdin, bytes),
    endInput: () => end(stdin),
    hold: (isHeld) => {
      for (const stream of [child.stdout, child.stderr]) isHeld ? stream?.pause() : stream?.resume();
    },
    keepAlive: (keeps) => {
      for (const part of [child, stdin, child.stdout, child.stderr]) setAlive(part, keeps);
    },
    release: () => {
      for (const stream of [stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
    },
  };
}

function start(spec: SpawnSpec): ChildProcess {
  const [program, ...args] = spec.argv;
  try {
    return spawn(program, args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: process.platform !== "win32", // there it would open a console window
      stdio: [spec.stdin === "open" ? "pipe" : "ignore", "pipe", "pipe"],
      windowsHide: true,
    });
  } catch (cause) {
    throw spawnFailure(cause, spec);
  }
}

function forwardOutput(child: ChildProcess, sink: OutputSink): void {
  let open = 2;
  const forward = (name: "stdout" | "stderr", stream: Readable | null): void => {
    stream?.on("data", (bytes: Uint8Array) => sink.chunk(name, bytes));
    stream?.on("error", ignore); // ECONNRESET, EIO: it closes then, which is all there is to know
    stream?.once("close", () => {
      if (--open === 0) sink.end();
    });
  };
  forward("stdout", child.stdout);
  forward("stderr", child.stderr);
}

function writeTo(stdin: Writable | null, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: unknown): void => reject(stdinClosed(cause));
    if (stdin === null || !stdin.writable) return fail();
    // Node 20 reports no error for what was waiting when the stream was destroyed, as it is when the child ends
    stdin.write(bytes, (error) => error || stdin.destroyed ? fail(error) : resolve());
  });
}

function end(stdin: Writable | null): Promise<void> {
  return new Promise((resolve) => {
    if (stdin === null || !stdin.writable) return resolve();
    stdin.end(() => resolve());
  });
}

/** A pipe is a socket, which its type does not say. */
function setAlive(part: object | null, keeps: boolean): void {
  const { ref, unref } = (part ?? {}) as { ref?: () => void; unref?: () => void };
  (keeps ? ref : unref)?.call(part);
}

function ignore(): void {}
