/**
 * The baseline for terminals: node-pty, or Bun's own terminal, with the smallest reader.
 *
 * @module
 */
import process from "node:process";
import { SHELL } from "./bare.ts";

/** A command in a baseline terminal. */
export interface BareTerminal {
  /** Resolves at the back-end's own end. */
  readonly done: Promise<void>;
  /** Types. */
  write(text: string): void;
  /** Ends it. */
  kill(): void;
}

type Open = (command: string, onChunk: (bytes: Uint8Array) => void) => Promise<BareTerminal>;

/** Runs a command in a terminal and gives its output to `onChunk`. */
export const openBarePty: Open = "Bun" in globalThis ? bunPty : nodePty;

/** The same, and resolves at its end. */
export async function barePty(command: string, onChunk: (bytes: Uint8Array) => void): Promise<void> {
  await (await openBarePty(command, onChunk)).done;
}

async function nodePty(command: string, onChunk: (bytes: Uint8Array) => void): Promise<BareTerminal> {
  const { spawn } = await import("@lydell/node-pty");
  const [shell, ...flags] = SHELL;
  const env = process.env as Record<string, string>;
  const terminal = spawn(shell, [...flags, command], { cols: 120, rows: 30, encoding: null, env });
  terminal.onData((data: unknown) => onChunk(data as Uint8Array));
  return {
    done: new Promise((resolve) => terminal.onExit(() => resolve())),
    write: (text) => terminal.write(text),
    kill: () => terminal.kill("SIGKILL"),
  };
}

function bunPty(command: string, onChunk: (bytes: Uint8Array) => void): Promise<BareTerminal> {
  interface Child {
    readonly exited: Promise<number>;
    readonly terminal: { write(text: string): void };
    kill(signal: string): void;
  }
  const { Bun } = globalThis as unknown as {
    readonly Bun: { spawn(argv: readonly string[], options: object): Child };
  };
  const terminal = { cols: 120, rows: 30, data: (_: unknown, bytes: Uint8Array) => onChunk(bytes) };
  const child = Bun.spawn([...SHELL, command], { terminal });
  return Promise.resolve({
    done: child.exited.then(() => {}),
    write: (text) => child.terminal.write(text),
    kill: () => child.kill("SIGKILL"),
  });
}
