/**
 * The part of a runtime object that is not about starting commands: time, environment, files, ports, shutdown.
 * Uses only built-ins that Node, Deno and Bun share.
 *
 * @module
 */

import { existsSync, statSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import process from "node:process";
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";
import { createOrphanGuard } from "../linux/orphan_guard.ts";
import { findProgram } from "./programs.ts";
import { createShutdown } from "./shutdown.ts";
import { codeOf } from "./failures.ts";
import type { Clock, DirectoryStatus, Runtime } from "../../mod.ts";

const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];
const RANDOM_STOCK_BYTES = 384; // of 6 bytes each, as many as sessions have: enough for 64 ids
const PORT_PROBE_MS = 1_000; // loopback answers in microseconds; a firewall that drops packets never does

/**
 * Stands for a working directory that has been deleted, so that a command that is to run there fails with this name.
 * `PWD` would not do: it does not follow `chdir`, so the command would run in some other directory.
 */
export const DELETED_CWD: string = "/(the host's working directory has been deleted)";

/** Everything a {@linkcode Runtime} has beside its name and its spawner. */
export function createSystem(): Omit<Runtime, "name" | "spawner"> {
  return {
    platform: process.platform === "win32" ? "windows" : "posix",
    clock: systemClock,
    environment: createEnvironment(),
    cwd,
    home,
    directoryStatus: (path) => Promise.resolve(directoryStatus(path)),
    hasProgram: (nameOrPath) => Promise.resolve(findProgram(nameOrPath, process.env.PATH, cwd()) !== undefined),
    portOpen: async (port) => (await Promise.all(LOOPBACK.map((host) => answers(host, port)))).includes(true),
    randomBytes: createRandomPool(),
    ...(process.platform !== "win32" && { guard: () => createOrphanGuard() }),
    onShutdown: createShutdown(),
  };
}

const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer: (ms, fire, holding = false) => {
    if (ms <= 0) return afterReading(fire);
    const timer = setTimeout(fire, ms);
    if (!holding) timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * A timer alone may be due before any input has been looked at. Node and Bun look at it between a timer and an
 * immediate; Deno does while it waits for a timer, and tells of it by the next one.
 */
function afterReading(fire: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  let timer = setTimeout(() => {
    timer = setTimeout(() => {
      immediate = setImmediate(fire);
    }, 0);
  }, 0);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}

/**
 * The environment, which is the same frozen object for as long as no variable has changed. Name by name: for a spread, and
 * for `Object.keys`, Node asks the system once more for each variable.
 */
function createEnvironment(): Runtime["environment"] {
  let known: Readonly<Record<string, string>> = {};
  let count = 0;
  return () => {
    const { env } = process;
    const names = Object.getOwnPropertyNames(env);
    if (names.length !== count || names.some((name) => env[name] !== known[name])) {
      known = Object.freeze({ ...env } as Record<string, string>);
      count = names.length;
    }
    return known;
  };
}

/** Draws random bytes in stock: a draw costs the same for few bytes as for many. None is given out twice. */
function createRandomPool(): (count: number) => Uint8Array {
  let pool = new Uint8Array(0);
  return (count) => {
    if (pool.length < count) pool = crypto.getRandomValues(new Uint8Array(Math.max(count, RANDOM_STOCK_BYTES)));
    const bytes = pool.slice(0, count);
    pool = pool.subarray(count);
    return bytes;
  };
}

function cwd(): string {
  try {
    return process.cwd();
  } catch {
    return DELETED_CWD;
  }
}

function home(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined; // no HOME, and the user is not in the password file
  }
}

/** Without the thread pool, which takes longer than the look itself: the spawn that follows blocks on the same path. */
function directoryStatus(path: string): DirectoryStatus {
  if (isEnterable(path)) return "ok";
  try {
    return statSync(`${path}/.`).isDirectory() ? "ok" : "not-a-directory";
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOTDIR") return "not-a-directory";
    return code === "EACCES" || code === "EPERM" ? "not-permitted" : "missing";
  }
}

/**
 * Whether a directory is there and may be entered, in half the time of a look at what it is.
 *
 * With the dot it fails for a file, and for a directory that may not be entered; not on Windows.
 */
export function isEnterable(path: string): boolean {
  return process.platform !== "win32" && existsSync(`${path}/.`);
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: PORT_PROBE_MS });
    const settle = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => settle(true)).once("error", () => settle(false)).once("timeout", () => settle(false));
  });
}
