/**
 * The few members of Bun that are called, declared by hand: nobody who reads these declarations needs Bun's own types.
 *
 * @module
 */

import { OffstageError } from "../../mod.ts";

/** What is used of the global `Bun`. */
export interface BunGlobal {
  /** Version of the runtime, e.g. `1.4.5`. */
  readonly version: string;
  /** Present where `spawn` can open terminals (Bun 1.3.5 and later). */
  readonly Terminal?: unknown;
  /** Starts a process. Throws an error with the system's `code` when nothing was started. */
  spawn(argv: readonly string[], options: BunSpawnOptions): BunSubprocess;
}

/** What is used of the options of `Bun.spawn`. */
export interface BunSpawnOptions {
  /** Working directory. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes the child the leader of its own session and process group. */
  readonly detached?: boolean;
  /** `ignore` is `/dev/null`. */
  readonly stdin?: "pipe" | "ignore";
  /** Where the child's stdout goes. */
  readonly stdout?: "pipe";
  /** Where the child's stderr goes. */
  readonly stderr?: "pipe";
  /** No console window on Windows. */
  readonly windowsHide?: boolean;
  /** Gives the child a terminal in place of the three pipes. */
  readonly terminal?: BunTerminalOptions;
}

/** What is used of the options of a terminal. */
export interface BunTerminalOptions {
  /** Columns. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
  /** Takes output; the memory is the receiver's. */
  data(terminal: BunTerminal, bytes: Uint8Array): void;
  /** Everything that `write` had held back has been taken. Never called before Bun 1.4. */
  drain(terminal: BunTerminal): void;
  /** The terminal has hung up: nobody holds it any more. Says nothing about the process. */
  exit(terminal: BunTerminal): void;
}

/** What is used of a terminal. */
export interface BunTerminal {
  /** Takes all of it, holding back what the terminal has no room for. Throws once the terminal is closed. */
  write(bytes: Uint8Array): number;
  /** Changes the size. Throws once the terminal is closed. */
  resize(cols: number, rows: number): void;
  /** Closes the descriptors; what is still attached is hung up. Idempotent. */
  close(): void;
}

/** What is used of a started process. */
export interface BunSubprocess {
  /** Its process id. */
  readonly pid: number;
  /** Resolves when the process has ended, whoever still holds its pipes. */
  readonly exited: Promise<unknown>;
  /** Its exit code; `null` while it runs and after a signal. */
  readonly exitCode: number | null;
  /** The signal that ended it: a name, or the number of one that has none. */
  readonly signalCode: string | number | null;
  /** Its input, with `stdin: "pipe"`. */
  readonly stdin?: BunFileSink | number | null;
  /** Its output, with `stdout: "pipe"`. */
  readonly stdout?: ReadableStream<Uint8Array> | number | null;
  /** Its error output, with `stderr: "pipe"`. */
  readonly stderr?: ReadableStream<Uint8Array> | number | null;
  /** Its terminal, with `terminal`. */
  readonly terminal?: BunTerminal | undefined;
  /** Lets the host end before the process does. */
  unref(): void;
}

/** What is used of the writing end of a pipe. Each method may also throw or reject with `EPIPE`. */
export interface BunFileSink {
  /** Takes bytes; a promise resolves once the pipe has taken them. */
  write(bytes: Uint8Array): unknown;
  /** Hands to the pipe what `write` only buffered. */
  flush(): unknown;
  /** Closes the pipe after everything written. */
  end(): unknown;
}

/**
 * The global `Bun`.
 *
 * @throws {OffstageError} `unsupported` on another runtime
 */
export function bunGlobal(): BunGlobal {
  const { Bun: bun } = globalThis as { readonly Bun?: BunGlobal };
  if (bun === undefined) {
    throw new OffstageError("unsupported", "This adapter runs on Bun only: use the one for Node or Deno");
  }
  return bun;
}
