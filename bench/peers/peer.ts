/**
 * What a peer is made to do: what it cannot is left out.
 *
 * @module
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../report/results.ts";

/** A program in a peer's terminal. */
export interface PeerTerminal {
  write(text: string): unknown;
}

/** The same few things, done by a peer. */
export interface Peer {
  /** Runs a command on pipes; resolves at its end, with its output read as the peer reads it. */
  readonly run?: (command: string) => Promise<unknown>;
  /** The same in a terminal. */
  readonly runInTerminal?: (command: string) => Promise<unknown>;
  /** Starts a command in a terminal; `heard` is called when there is output to be read. */
  readonly open?: (command: string, heard: () => void) => Promise<PeerTerminal>;
  /** Starts a command that goes on. */
  readonly start?: (command: string) => Promise<unknown>;
  /** Lets go of what it has. */
  readonly close?: () => Promise<unknown>;
}

/** Loads a peer: the time it takes is measured. */
export type OpenPeer = () => Promise<Peer>;

/** Where each peer is installed, a folder a peer. Not kept in Git. */
export const INSTALLED = "bench/.peers";

/** Where a peer's package is. */
export function packagePath(peer: string, name = peer): string {
  return join(root, INSTALLED, peer, "node_modules", name);
}

/** Imports a file of a peer's package. */
export async function load<T>(peer: string, name: string, file: string): Promise<T> {
  return await import(pathToFileURL(join(packagePath(peer, name), file)).href) as T;
}
