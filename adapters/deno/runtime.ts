/**
 * Deno as a runtime of Offstage.
 *
 * @module
 */

import type { Runtime } from "../../mod.ts";
import type { PtyLoader } from "../node/pty_loader.ts";
import { createDenoSpawner } from "./spawner.ts";
import { COMMON_VARIABLES, createDenoSystem } from "./system.ts";
import { denoGlobal } from "./types.ts";

export type { PtyLoader } from "../node/pty_loader.ts";

/** Options of {@linkcode denoRuntime}. */
export interface DenoRuntimeOptions {
  /**
   * Where terminals come from: loaders of modules with node-pty's interface, tried in order on first use. An empty list
   * turns terminals off.
   *
   * @default {["@lydell/node-pty", "npm:@lydell/node-pty@^1.1.0"]}
   */
  readonly pty?: readonly PtyLoader[];
  /**
   * Further names of environment variables that commands inherit when Deno allows only some of them
   * (`--allow-env=PATH,MY_VARIABLE`): their names cannot be listed then, so they have to be known. The usual ones
   * (`PATH`, `HOME`, `LANG` …) and this package's own are looked for anyway.
   *
   * @default {[]}
   */
  readonly variables?: readonly string[];
}

/**
 * The runtime object for Deno 2.
 *
 * Works with whatever Deno allows, and never makes it ask the user. `--allow-run=bash` is enough for commands on pipes;
 * with `--allow-all` it also sees the processes of a session in `/proc`.
 *
 * @param options where terminals come from, and which variables to look for
 * @throws {OffstageError} `unsupported` on another runtime
 */
export function denoRuntime(options: DenoRuntimeOptions = {}): Runtime {
  const { pty, variables = [] } = options;
  return {
    ...createDenoSystem([...COMMON_VARIABLES, ...variables]),
    name: `deno ${denoGlobal().version.deno}`,
    spawner: createDenoSpawner(pty),
  };
}
