/**
 * Starts commands on this machine, from Deno.
 *
 * @module
 */

import process from "node:process";
import type { Spawner } from "../../mod.ts";
import type { PtyLoader } from "../node/pty_loader.ts";
import { canKillGroups } from "./kill.ts";
import { spawnOnPipes } from "./pipes.ts";
import { createDenoPtyBackend } from "./pty.ts";

/**
 * Makes the spawner for host `gateway`.
 *
 * @param ptyLoaders modules to try for terminals, best first; none: no terminals
 */
export function createDenoSpawner(ptyLoaders?: readonly PtyLoader[]): Spawner {
  const pty = createDenoPtyBackend(ptyLoaders);
  const isPosix = process.platform !== "win32";
  return {
    name: "deno",
    capabilities: async () => ({ pty: await pty.available(), signals: isPosix, groups: isPosix && canKillGroups() }),
    spawn: async (spec, sink) => spec.terminal === undefined ? spawnOnPipes(spec, sink) : await pty.spawn(spec, sink),
  };
}
