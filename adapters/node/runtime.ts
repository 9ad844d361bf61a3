/**
 * Node as a runtime of Offstage.
 *
 * @module
 */

import process from "node:process";
import type { PtyLoader } from "./pty_loader.ts";
import { createNodeSpawner } from "./spawner.ts";
import { createSystem } from "./system.ts";
import type { Runtime } from "../../mod.ts";

/** Options of {@linkcode nodeRuntime}. */
export interface NodeRuntimeOptions {
  /**
   * Where terminals come from: loaders of modules with node-pty's interface, tried in order on first use. An empty list
   * turns terminals off.
   *
   * @default {["@lydell/node-pty", "node-pty"]}
   */
  readonly pty?: readonly PtyLoader[];
}

/**
 * The runtime object for Node 20.19 and later.
 *
 * @param options where terminals come from
 */
export function nodeRuntime(options: NodeRuntimeOptions = {}): Runtime {
  return { ...createSystem(), name: `node ${process.versions.node}`, spawner: createNodeSpawner(options.pty) };
}
