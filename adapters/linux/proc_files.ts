/**
 * Reads of `/proc` that answer `undefined` instead of throwing: a process may end, or be somebody else's, between
 * any two looks at it.
 *
 * @module
 */

import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";

/** The whole text of a file of `/proc`; `undefined` when it cannot be read. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** Where a symbolic link of `/proc` points; `undefined` when it cannot be read. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The entries of a directory that are numbers: processes of `/proc`, threads of a `task`. Empty when unreadable. */
export function numbersIn(directory: string): readonly number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** `length` bytes of a process's memory from `address`; `undefined` when they cannot be read. */
export function readMemory(pid: number, address: number, length: number): DataView | undefined {
  let memory: number | undefined;
  try {
    memory = openSync(`/proc/${pid}/mem`, "r");
    const bytes = new Uint8Array(length);
    return readSync(memory, bytes, 0, length, address) === length ? new DataView(bytes.buffer) : undefined;
  } catch {
    return undefined;
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
}
