/**
 * Starts commands on this machine, from Bun.
 *
 * @module
 */

import process from "node:process";
import type { PtyBackend } from "../node/pty.ts";
import { createBunPtyBackend } from "./bun_pty.ts";
import { spawnOnPipes } from "./pipes.ts";
import { createTerminalBackend } from "./terminal.ts";
import type { BunGlobal } from "./types.ts";
import type { Spawner } from "../../mod.ts";

/** What opens terminals: Bun itself, or the package `bun-pty`. */
export type BunPtyKind = "terminal" | "bun-pty";

/**
 * Makes the spawner for host `gateway`.
 *
 * @param bun the runtime
 * @param kind what opens terminals; by default Bun itself where it can, else `bun-pty`
 */
export function createBunSpawner(bun: BunGlobal, kind: BunPtyKind = bestPtyKind(bun)): Spawner {
  const pty: PtyBackend = kind === "terminal" ? createTerminalBackend(bun) : createBunPtyBackend();
  const isPosix = process.platform !== "win32";
  return {
    name: "bun",
    capabilities: async () => ({ pty: await pty.available(), signals: isPosix, groups: isPosix }),
    spawn: async (spec, sink) =>
      spec.terminal === undefined ? spawnOnPipes(bun, spec, sink) : await pty.spawn(spec, sink),
  };
}

function bestPtyKind(bun: BunGlobal): BunPtyKind {
  return bun.Terminal !== undefined && process.platform !== "win32" ? "terminal" : "bun-pty";
}
