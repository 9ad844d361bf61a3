/**
 * Commands on pipes, over `Bun.spawn`.
 *
 * @module
 */

import process from "node:process";
import { createGate, type Gate } from "../gate.ts";
import { stdinClosed } from "../node/failures.ts";
import { stdinOf } from "../linux/proc.ts";
import { startSubprocess, supervise } from "./subprocess.ts";
import type { BunFileSink, BunGlobal, BunSubprocess } from "./types.ts";
import type { Child, OutputSink, SpawnSpec } from "../../mod.ts";

/** The input of a child. */
interface Input {
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

/**
 * Starts a command on pipes, as the leader of its own process group.
 *
 * Bun closes the child's input when the child ends, even if a process it left behind still reads it; and not before,
 * released or not, while the child has not read what was written.
 *
 * @param bun the runtime
 * @param spec what to start; `terminal` is ignored
 * @param sink takes the output, by reference
 * @throws {OffstageError} `spawn-failed` when nothing was started
 */
export function spawnOnPipes(bun: BunGlobal, spec: SpawnSpec, sink: OutputSink): Child {
  const isOpen = spec.stdin === "open";
  const child = startSubprocess(bun, spec, {
    detached: process.platform !== "win32", // there it would open a console window
    stdin: isOpen ? "pipe" : "ignore",
    stdout: "pipe",
    stderr: "pipe",
    windowsHide: true,
  });
  const { common, hasExited } = supervise(child, spec.sessionId, isOpen ? stdinOf(child.pid) : undefined);
  const input = inputOf(child.stdin, hasExited);
  const gate = createGate();
  const stopReading = forwardOutput(child, sink, gate);
  return {
    ...common,
    write: input.write,
    endInput: input.end,
    hold: gate.hold,
    release: () => {
      gate.hold(false);
      stopReading();
      void input.end();
      child.unref();
    },
  };
}

/** @returns a function that stops reading and closes both pipes, which is their end for the sink as well */
function forwardOutput({ stdout, stderr }: BunSubprocess, sink: OutputSink, gate: Gate): () => void {
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  const forward = async (name: "stdout" | "stderr", stream: BunSubprocess["stdout"]): Promise<void> => {
    if (!(stream instanceof ReadableStream)) return;
    const reader = stream.getReader();
    readers.push(reader);
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        sink.chunk(name, owned(piece.value));
        if (gate.closed !== undefined) await gate.closed;
      }
    } catch {
      // ECONNRESET, EIO: the stream is over, which is all there is to know
    }
  };
  void Promise.all([forward("stdout", stdout), forward("stderr", stderr)]).then(() => {
    readers.length = 0;
    sink.end();
  });
  return () => {
    for (const reader of readers) reader.cancel().catch(ignore);
  };
}

/** The bytes in memory of about their own size, as Bun 1.4 hands them out; before, two bytes came with 256 KiB. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.length * 2 < bytes.buffer.byteLength ? bytes.slice() : bytes;
}

function inputOf(stdin: BunSubprocess["stdin"], hasExited: () => boolean): Input {
  if (typeof stdin !== "object" || stdin === null) {
    return { write: () => Promise.reject(stdinClosed()), end: () => Promise.resolve() };
  }
  let isOpen = true;
  return {
    write: async (bytes) => {
      // Bun takes what is written to a closed pipe and says nothing
      if (!isOpen || hasExited()) throw stdinClosed();
      try {
        await writeTo(stdin, bytes);
      } catch (cause) {
        isOpen = false;
        throw stdinClosed(cause);
      }
    },
    end: async () => {
      if (!isOpen) return;
      isOpen = false;
      await settled(() => stdin.end()).catch(ignore); // EPIPE: closed by the other side
    },
  };
}

/**
 * Both calls can fail, each by throwing or by rejecting: waiting for the two together leaves no rejection unhandled.
 */
async function writeTo(stdin: BunFileSink, bytes: Uint8Array): Promise<void> {
  await Promise.all([settled(() => stdin.write(bytes)), settled(() => stdin.flush())]);
}

/** Calls, and makes a promise of whatever comes: a value, a promise or a throw. */
async function settled(call: () => unknown): Promise<void> {
  await call();
}

function ignore(): void {}
