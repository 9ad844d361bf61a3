/**
 * The baseline for terminals: node-pty, or Bun's own terminal, with the smallest reader.
 *
 * @module
 */
import process from "node:process";

/** Runs a command in a terminal, gives its output to `onChunk`, resolves at the back-end's own end. */
export const barePty: (command: string, onChunk: (bytes: Uint8Array) => void) => Promise<void> = "Bun" in globalThis
  ? bunPty
  : nodePty;

async function nodePty(command: string, onChunk: (bytes: Uint8Array) => void): Promise<void> {
  const { spawn } = await import("@lydell/node-pty");
  const terminal = spawn("bash", ["--norc", "-c", command], {
    cols: 120,
    rows: 30,
    encoding: null,
    env: process.env as Record<string, string>,
  });
  terminal.onData((data: unknown) => onChunk(data as Uint8Array));
  await new Promise<void>((resolve) => terminal.onExit(() => resolve()));
}

async function bunPty(command: string, onChunk: (bytes: Uint8Array) => void): Promise<void> {
  const { Bun } = globalThis as unknown as {
    readonly Bun: { spawn(argv: readonly string[], options: object): { readonly exited: Promise<number> } };
  };
  const terminal = { cols: 120, rows: 30, data: (_: unknown, bytes: Uint8Array) => onChunk(bytes) };
  await Bun.spawn(["bash", "--norc", "-c", command], { terminal }).exited;
}
