/**
 * Offstage on Deno 2.
 *
 * @module
 */
import { createOffstage as createCore, type Offstage, type OffstageConfig } from "../mod.ts";
import { denoRuntime } from "./deno/runtime.ts";

export { denoRuntime } from "./deno/runtime.ts";
export type { DenoRuntimeOptions } from "./deno/runtime.ts";
export { bridgeChildProcess } from "./deno/bridge.ts";
export type { BridgedDenoProcess } from "./deno/bridge.ts";
export type { Bridge, BridgedSignal, BridgeOptions } from "./signal_bridge.ts";
export type { PtyLoader } from "./node/pty_loader.ts";
export type { Offstage, OffstageConfig, Runtime } from "../mod.ts";

/**
 * Makes an instance that runs commands with `Deno.Command`, and in terminals with `@lydell/node-pty`.
 *
 * It works with what Deno allows: at least `--allow-run=bash --allow-env=PATH`; what else each flag gives stands in the README.
 * To choose terminals or variables yourself, give `denoRuntime({ pty, variables })` to `createOffstage` of `offstage`.
 *
 * @throws {OffstageError} `invalid` if the configuration is wrong
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/deno";
 *
 * await using offstage = createOffstage();
 * const agent = offstage.agent("agent-1");
 * const run = await agent.exec({ command: "sleep 2; echo done", yieldMs: 500 });
 * if (run.details.status === "running") {
 *   const { sessionId } = run.details;
 *   const more = await agent.process({ action: "poll", sessionId, until: "exit", timeout: 10_000 });
 *   console.log(more.text);
 *   // done
 *   // [completed: exit code 0]
 * }
 * ```
 */
export function createOffstage(config: OffstageConfig = {}): Offstage {
  return createCore({ ...config, runtime: denoRuntime() });
}
