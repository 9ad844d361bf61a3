/**
 * node-pty: a terminal, and no more.
 *
 * @module
 */
import process from "node:process";
import { SHELL } from "../scenarios/bare.ts";
import { load, type Peer } from "./peer.ts";

interface Terminal {
  onData(listener: (data: unknown) => void): void;
  onExit(listener: () => void): void;
  write(text: string): void;
}

interface NodePty {
  spawn(file: string, args: readonly string[], options: object): Terminal;
}

/** Opens it. */
export async function open(): Promise<Peer> {
  const { spawn } = await load<NodePty>("node-pty", "node-pty", "lib/index.js");
  const [shell, ...flags] = SHELL;
  const start = (command: string, heard: () => void): Terminal => {
    const terminal = spawn(shell, [...flags, command], { cols: 120, rows: 30, encoding: null, env: process.env });
    terminal.onData(heard);
    return terminal;
  };
  return {
    runInTerminal: (command) => new Promise<void>((resolve) => start(command, () => {}).onExit(() => resolve())),
    open: (command, heard) => Promise.resolve(start(command, heard)),
  };
}
