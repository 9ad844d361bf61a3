/**
 * The few members of Deno that are called, declared by hand: nobody who reads these declarations needs Deno's own types.
 *
 * @module
 */

import { OffstageError, type SignalName } from "../../mod.ts";

/** What is used of the global `Deno`. */
export interface DenoGlobal {
  /** Versions of the runtime and its parts. */
  readonly version: { readonly deno: string };
  /** Makes a command; nothing starts before `spawn` or `output`. */
  readonly Command: new (program: string, options: DenoCommandOptions) => DenoCommand;
  /** The environment, as far as it may be read. */
  readonly env: { get(name: string): string | undefined; toObject(): Record<string, string> };
  /** What this process may do. */
  readonly permissions: {
    /** Never asks anybody, unlike the calls that need the permission. */
    querySync(permission: DenoPermission): DenoPermissionStatus;
  };
  /** Looks at a file, following links. */
  stat(path: string): Promise<DenoFileInfo>;
  /** The same, blocking. */
  statSync(path: string): DenoFileInfo;
  /** Opens a native library. */
  dlopen(path: string, symbols: Readonly<Record<string, DenoForeignFunction>>): {
    readonly symbols: Readonly<Record<string, (...args: readonly unknown[]) => number | bigint>>;
  };
}

/** What is used of a file's description. */
export interface DenoFileInfo {
  /** Whether it is a directory. */
  readonly isDirectory: boolean;
}

/** A permission to query. Without its second member: all of that kind. */
export type DenoPermission =
  | { readonly name: "run"; readonly command?: string }
  | { readonly name: "read" | "write" | "ffi"; readonly path?: string }
  | { readonly name: "env"; readonly variable?: string }
  | { readonly name: "net"; readonly host?: string }
  | { readonly name: "sys"; readonly kind?: string };

/** What Deno says of a permission: now, not as it was when it was asked. */
export interface DenoPermissionStatus {
  /** Whether this process has it. */
  readonly state: "granted" | "prompt" | "denied";
  /** Granted, but for a part of it that is denied. */
  readonly partial?: boolean;
}

/** How a function of a native library is called. */
export interface DenoForeignFunction {
  /** Types of its parameters. */
  readonly parameters: readonly ("i32" | "usize" | "buffer")[];
  /** Type of its result. */
  readonly result: "i32" | "isize";
}

/** What is used of the options of `Deno.Command`. */
export interface DenoCommandOptions {
  /** The arguments, without the program. */
  readonly args: string[];
  /** Working directory; this process's by default. */
  readonly cwd?: string;
  /** The environment; all of it with `clearEnv`. */
  readonly env: Readonly<Record<string, string>>;
  /** Does not inherit this process's environment. */
  readonly clearEnv: true;
  /** Makes the child the leader of its own session and process group. */
  readonly detached?: boolean;
  /** `null` is `/dev/null`. */
  readonly stdin: "piped" | "null";
  /** Where the child's stdout goes. */
  readonly stdout: "piped" | "null";
  /** Where the child's stderr goes. */
  readonly stderr: "piped" | "null";
}

/** What is used of a `Deno.Command`. */
export interface DenoCommand {
  /** Starts it. Throws an error with the system's `code`, or a `NotCapable` one, when nothing was started. */
  spawn(): DenoChildProcess;
  /** Runs it to its end, blocking. */
  outputSync(): { readonly code: number; readonly stderr: Uint8Array };
}

/** What is used of a `Deno.ChildProcess`. */
export interface DenoChildProcess {
  /** Process id. */
  readonly pid: number;
  /** Settles when the process has ended; rejects if a real-time signal ended it, which Deno has no name for. */
  readonly status: Promise<DenoCommandStatus>;
  /** Its input. Throws when it is not piped. */
  readonly stdin: WritableStream<Uint8Array>;
  /** Its output. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** Its other output. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Sends it a signal. Throws when it has ended. */
  kill(signal: SignalName): void;
  /** Lets this process end before the child does. */
  unref(): void;
  /** Takes that back. */
  ref(): void;
}

/** How a child ended. */
export interface DenoCommandStatus {
  /** Its exit code; 128 and the signal's number if a signal ended it. */
  readonly code: number;
  /** The signal that ended it. */
  readonly signal: SignalName | null;
}

/**
 * The global `Deno`.
 *
 * @throws {OffstageError} `unsupported` on another runtime
 */
export function denoGlobal(): DenoGlobal {
  // Under Deno's own type check this compares the declarations above with the official ones
  const { Deno } = globalThis as { readonly Deno?: DenoGlobal };
  if (Deno === undefined) throw new OffstageError("unsupported", "Cannot use the Deno adapter: this is not Deno");
  return Deno;
}
