/**
 * The part of node-pty's interface that is used here, declared by hand: the package is optional.
 *
 * @module
 */

import type { Socket } from "node:net";
import type { PtyLoader } from "./pty_loader.ts";

/** A module that opens terminals. */
export interface NodePty {
  /** Starts a program in a new terminal. */
  spawn(file: string, args: readonly string[], options: NodePtyOptions): NodePtyTerminal;
}

/** How a terminal is to be opened. */
export interface NodePtyOptions {
  /** Columns. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
  /** Working directory. */
  readonly cwd: string;
  /** The whole environment; node-pty itself sets `PWD` to `cwd`, and `TERM` to `xterm` unless it is there. */
  readonly env: Readonly<Record<string, string>>;
  /** `null`: bytes. */
  readonly encoding: null;
}

/** An open terminal, with the private members that there is no way around. */
export interface NodePtyTerminal {
  /** Process id of the program. */
  readonly pid: number;
  /** The descriptor of the master side; absent on Windows. */
  readonly fd?: number;
  /** Path of the slave side, e.g. `/dev/pts/4`; absent on Windows. */
  readonly ptsName?: string;
  /** What the master side is read with. */
  readonly _socket: Socket;
  /** `true` makes node-pty report the exit when it happens, instead of waiting for the socket and then closing it. */
  _emittedClose?: boolean;
  /** Tells the exit, once; `signal` is a number, 0 for none. */
  onExit(listener: (exit: { readonly exitCode: number; readonly signal?: number }) => void): unknown;
  /** Changes the size. */
  resize(cols: number, rows: number): void;
}

/**
 * Loads the first module that can be loaded.
 *
 * @param loaders best first
 * @returns the module, or the reason why there is none
 */
export async function loadNodePty(loaders: readonly PtyLoader[]): Promise<NodePty | string> {
  const reasons: string[] = [];
  for (const load of loaders) {
    try {
      const pty = asNodePty(await load());
      if (pty !== undefined) return pty;
      reasons.push("a module without spawn()");
    } catch (error) {
      reasons.push(error instanceof Error ? firstLine(error.message) : String(error));
    }
  }
  if (reasons.length === 0) return "terminals are turned off";
  return `no terminal back-end could be loaded, install @lydell/node-pty: ${reasons.join("; ")}`;
}

function asNodePty(module: unknown): NodePty | undefined {
  const { spawn, default: inner } = module as Partial<NodePty> & { readonly default?: Partial<NodePty> };
  if (spawn !== undefined) return module as NodePty;
  return inner?.spawn === undefined ? undefined : inner as NodePty;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? text;
}
