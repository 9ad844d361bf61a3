/**
 * Bun as a runtime of Offstage.
 *
 * @module
 */

import process from "node:process";
import { createShutdown } from "../node/shutdown.ts";
import { createSystem } from "../node/system.ts";
import { type BunPtyKind, createBunSpawner } from "./spawner.ts";
import { bunGlobal } from "./types.ts";
import type { Runtime } from "../../mod.ts";

export type { BunPtyKind } from "./spawner.ts";

/** A rejection that nobody handles is no `uncaughtException` on Bun, unlike on Node and Deno. */
const ERROR_EVENTS: readonly string[] = ["uncaughtException", "unhandledRejection"];

/** Options of {@linkcode bunRuntime}. */
export interface BunRuntimeOptions {
  /**
   * What opens terminals. `terminal` is Bun's own (1.3.5 and later, Linux and macOS). `bun-pty` is the package of that
   * name, to be installed beside this one; it cannot tell a death by signal, and loses what is printed after the exit.
   *
   * @default {"terminal" where Bun has it, else "bun-pty"}
   */
  readonly pty?: BunPtyKind;
}

/**
 * The runtime object for Bun.
 *
 * @param options what opens terminals
 * @throws {OffstageError} `unsupported` on another runtime
 */
export function bunRuntime(options: BunRuntimeOptions = {}): Runtime {
  const bun = bunGlobal();
  return {
    ...createSystem(),
    name: `bun ${bun.version}`,
    spawner: createBunSpawner(bun, options.pty),
    environment: () => ({ ...process.env }) as Readonly<Record<string, string>>, // an object like any other here
    onShutdown: createShutdown(ERROR_EVENTS),
  };
}
