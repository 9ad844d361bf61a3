/**
 * Descriptors that Deno did not open itself, through the C library: Deno's own file functions do not know them.
 *
 * @module
 */

import process from "node:process";
import type { DescriptorIo } from "../node/pty.ts";
import { denoGlobal } from "./types.ts";

/** Reads, writes, opens and closes descriptors by number. */
export interface Libc extends DescriptorIo {
  /**
   * Whether there is something to read. Deno tells a terminal's exit at once, but may look at what there is to read only
   * every 61st turn of its event loop when that has other work, seconds later.
   */
  isUnread(descriptor: number): boolean;
  /**
   * Opens a terminal for both directions, neither blocking nor making it this process's own nor letting programs that
   * are started have it; `undefined` if it cannot.
   */
  openTerminal(path: string): number | undefined;
  /** Keeps a descriptor out of the programs that are started from now on. */
  keepFromChildren(descriptor: number): void;
  /** Closes a descriptor that {@linkcode openTerminal} opened. */
  close(descriptor: number): void;
}

const LIBRARIES: readonly string[] = process.platform === "darwin"
  ? ["libSystem.dylib"]
  : ["libc.so.6", "libc.so", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];

// fcntl.h: O_RDWR, O_NOCTTY, O_NONBLOCK and O_CLOEXEC
const OPEN_FLAGS = process.platform === "darwin" ? 0x2 | 0x20000 | 0x4 | 0x1000000 : 0o2 | 0o400 | 0o4000 | 0o2000000;

// ioctls.h, filio.h: FIOCLEX. Unlike fcntl(F_SETFD) it has no variable argument, which Deno could not pass on every CPU
const CLOSE_ON_EXEC = process.platform === "darwin" ? 0x20006601n : 0x5451n;

// poll.h, on Linux and macOS
const POLLIN = 0x1;
const BROKEN = 0x8 | 0x10 | 0x20; // POLLERR, POLLHUP and POLLNVAL

const FUNCTIONS = {
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  write: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  ioctl: { parameters: ["i32", "usize"], result: "i32" },
  poll: { parameters: ["buffer", "usize", "i32"], result: "i32" },
} as const;

/**
 * Opens the C library. Takes `--allow-ffi`.
 *
 * @throws when it cannot be found
 */
export function openLibc(): Libc {
  const symbols = openFirst(LIBRARIES);
  const call = (name: keyof typeof FUNCTIONS, ...args: readonly unknown[]): number => Number(symbols[name]?.(...args));

  const hasEvent = (descriptor: number, events: number): boolean => {
    const pollfd = new Int16Array(4); // int fd, short events, short revents
    new Int32Array(pollfd.buffer)[0] = descriptor;
    pollfd[2] = POLLIN; // what is broken is told unasked
    call("poll", new Uint8Array(pollfd.buffer), 1n, 0);
    return ((pollfd[3] ?? 0) & events) !== 0;
  };

  /** Fails for the reason that the descriptor's state shows: `errno` may have changed on the way back from the call. */
  const transfer = (name: "read" | "write", descriptor: number, bytes: Uint8Array): number => {
    const count = call(name, descriptor, bytes, BigInt(bytes.length));
    if (count >= 0) return count;
    const code = hasEvent(descriptor, BROKEN) ? "EIO" : "EAGAIN";
    throw Object.assign(new Error(`Cannot ${name} descriptor ${descriptor}`), { code });
  };

  return {
    read: (descriptor, bytes) => transfer("read", descriptor, bytes),
    write: (descriptor, bytes) => transfer("write", descriptor, bytes),
    isUnread: (descriptor) => hasEvent(descriptor, POLLIN),
    openTerminal: (path) => {
      const descriptor = call("open", new TextEncoder().encode(`${path}\0`), OPEN_FLAGS);
      return descriptor < 0 ? undefined : descriptor;
    },
    keepFromChildren: (descriptor) => void call("ioctl", descriptor, CLOSE_ON_EXEC),
    close: (descriptor) => void call("close", descriptor),
  };
}

function openFirst(paths: readonly string[]): ReturnType<ReturnType<typeof denoGlobal>["dlopen"]>["symbols"] {
  let failure: unknown;
  for (const path of paths) {
    try {
      return denoGlobal().dlopen(path, FUNCTIONS).symbols;
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}
