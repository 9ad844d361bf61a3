/**
 * Commands in a pseudo-terminal, over Bun's own `Bun.spawn({ terminal })`.
 *
 * @module
 */

import { foreseeSpawnFailure, stdinClosed } from "../node/failures.ts";
import type { PtyBackend } from "../node/pty.ts";
import { terminalOf } from "../linux/proc.ts";
import { isCooked } from "../linux/terminal_mode.ts";
import { startSubprocess, supervise } from "./subprocess.ts";
import type { BunGlobal, BunTerminal } from "./types.ts";
import { OffstageError } from "../../mod.ts";
import type { Child, OutputSink, SpawnSpec, TerminalSize } from "../../mod.ts";

// Bun holds back a write smaller than a page (4096 bytes at least) and calls `drain` once the terminal has taken it; a
// larger one it tries at once, and if that succeeds `drain` is never called. So it gets one small piece at a time.
const PIECE_BYTES = 4095;
const DEFAULT_SIZE: TerminalSize = { cols: 120, rows: 30 };

/** A piece of input that the terminal has not taken yet. */
interface PendingPiece {
  resolve(): void;
  reject(error: OffstageError): void;
}

/**
 * Makes the terminal back-end of Bun 1.3.5 and later.
 *
 * Before Bun 1.4 a write resolves at once: that Bun does not tell when the terminal has taken it.
 *
 * @param bun the runtime
 */
export function createTerminalBackend(bun: BunGlobal): PtyBackend {
  const available = bun.Terminal === undefined ? "Bun has terminals since 1.3.5, on Linux and macOS" : true;
  return {
    available: () => Promise.resolve(available),
    spawn: (spec, sink) =>
      new Promise((resolve) => {
        if (available !== true) throw new OffstageError("unsupported", `Cannot open a terminal: ${available}`);
        resolve(spawnInTerminal(bun, spec, sink));
      }),
  };
}

function spawnInTerminal(bun: BunGlobal, spec: SpawnSpec, sink: OutputSink): Child {
  const tellsDrain = !/^(0|1\.[0-3])\./.test(bun.version);
  let pending: PendingPiece | undefined;
  let isReading = false; // until there is a child: a start that fails calls back as well

  const finish = (): void => {
    if (!isReading) return;
    isReading = false;
    pending?.reject(stdinClosed());
    sink.end();
    closeIfOver();
  };
  const foreseen = foreseeSpawnFailure(spec); // early versions throw theirs long after the call
  if (foreseen !== undefined) throw foreseen;
  const child = startSubprocess(bun, spec, {
    terminal: {
      ...(spec.terminal ?? DEFAULT_SIZE),
      data: (_terminal, bytes) => isReading && sink.chunk("terminal", bytes),
      drain: () => pending?.resolve(),
      exit: finish,
    },
  });
  isReading = true;
  const terminal = child.terminal as BunTerminal; // there is one whenever one was asked for
  const path = terminalOf(child.pid);
  const { common, hasExited } = supervise(child, spec.sessionId, path);

  /** Closed before the child has ended, the terminal would send it SIGHUP. */
  const closeIfOver = (): void => {
    if (hasExited() && !isReading) terminal.close();
  };
  void common.exited.then(() => {
    pending?.reject(stdinClosed());
    closeIfOver();
  });

  const writePiece = (bytes: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      if (hasExited() || !isReading) return reject(stdinClosed());
      try {
        terminal.write(bytes);
      } catch (cause) {
        return reject(stdinClosed(cause)); // a failed write has closed it
      }
      if (tellsDrain) pending = { resolve, reject };
      else resolve();
    });

  return {
    ...common,
    write: inOrder(async (bytes) => {
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        await writePiece(bytes.subarray(start, start + PIECE_BYTES));
      }
    }),
    endInput: () => Promise.resolve(),
    resize: ({ cols, rows }) => {
      if (isReading) attempt(() => terminal.resize(cols, rows)); // EBADF: just ended
    },
    ...(path !== undefined && { isCooked: () => isCooked(path) }),
    release: () => {
      finish();
      terminal.close();
      child.unref();
    },
  };
}

/** Makes calls of `write` follow one another; one that fails does not keep the next from being tried. */
function inOrder(write: (bytes: Uint8Array) => Promise<void>): (bytes: Uint8Array) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return (bytes) => {
    const written = last.then(() => write(bytes));
    last = written.catch(() => {});
    return written;
  };
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // What it was for has ended meanwhile
  }
}
