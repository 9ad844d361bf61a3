/**
 * Reads of `/proc` that answer `undefined` instead of throwing: a process may end, or be somebody else's, between
 * any two looks at it.
 *
 * @module
 */

import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";

/** Kept for when the process has no other descriptor left: a look that fails would read as "nobody is there". */
let reserve: number | undefined;
let isKept = false;
let short = 0;

/**
 * Opens the descriptor that is given up for the moment of a read when there is no other.
 *
 * @returns whether `/proc` can be read; `undefined` when no descriptor was left to find out with
 */
export function openReserve(): boolean | undefined {
  try {
    reserve ??= openSync("/proc/self/stat", "r");
    return isKept = true;
  } catch (error) {
    return isShortage(error) ? undefined : false;
  }
}

/** The whole text of a file of `/proc`; `undefined` when it cannot be read. */
export function readText(path: string): string | undefined {
  return attempt(() => readFileSync(path, "utf8"));
}

/** Where a symbolic link of `/proc` points; `undefined` when it cannot be read. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path); // which takes no descriptor
  } catch {
    return undefined;
  }
}

/** The entries of a directory that are numbers: processes of `/proc`, threads of a `task`. Empty when unreadable. */
export function numbersIn(directory: string): readonly number[] {
  return (attempt(() => readdirSync(directory)) ?? []).map(Number).filter(Number.isInteger);
}

/** `length` bytes of a process's memory from `address`; `undefined` when they cannot be read. */
export function readMemory(pid: number, address: number, length: number): DataView | undefined {
  return attempt(() => {
    const memory = openSync(`/proc/${pid}/mem`, "r");
    try {
      const bytes = new Uint8Array(length);
      return readSync(memory, bytes, 0, length, address) === length ? new DataView(bytes.buffer) : undefined;
    } finally {
      closeSync(memory);
    }
  });
}

/** How many reads have failed so far for want of a descriptor: a look in which that grows has not seen everything. */
export function shortages(): number {
  return short;
}

/** `undefined` instead of an error. */
function attempt<T>(read: () => T): T | undefined {
  try {
    const seen = read();
    if (isKept && reserve === undefined) openReserve(); // another thread had been quicker
    return seen;
  } catch (error) {
    return isShortage(error) ? withReserve(read) : undefined;
  }
}

function withReserve<T>(read: () => T): T | undefined {
  if (reserve !== undefined) closeSync(reserve);
  reserve = undefined;
  try {
    return read();
  } catch (error) {
    if (isShortage(error)) short += 1;
    return undefined;
  } finally {
    openReserve();
  }
}

/** Whether the process, or the system, has no descriptor left. */
function isShortage(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");
}
