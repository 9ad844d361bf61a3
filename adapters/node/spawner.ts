/**
 * Starts commands on this machine, from Node.
 *
 * @module
 */

import process from "node:process";
import { nodeKill } from "./kill.ts";
import { spawnOnPipes } from "./pipes.ts";
import { createPtyBackend } from "./pty.ts";
import type { PtyLoader } from "./pty_loader.ts";
import type { Spawner } from "../../mod.ts";

// Typed as plain strings, so that nothing looks for these optional packages before a terminal is asked for
const PTY_PACKAGES: readonly string[] = ["@lydell/node-pty", "node-pty"];

/** The modules that can open terminals on Node, best first: the one without an install script, then the original. */
export const NODE_PTY_LOADERS: readonly PtyLoader[] = PTY_PACKAGES.map((name) => () => import(name));

/**
 * Makes the spawner for host `gateway`.
 *
 * @param ptyLoaders modules to try for terminals, best first; none: no terminals
 */
export function createNodeSpawner(ptyLoaders: readonly PtyLoader[] = NODE_PTY_LOADERS): Spawner {
  const pty = createPtyBackend({ loaders: ptyLoaders, kill: nodeKill });
  const isPosix = process.platform !== "win32";
  return {
    name: "node",
    capabilities: async () => ({ pty: await pty.available(), signals: isPosix, groups: isPosix }),
    inherited: () => pty.masters(),
    spawn: (spec, sink) => spec.terminal === undefined ? spawnOnPipes(spec, sink) : pty.spawn(spec, sink),
  };
}
