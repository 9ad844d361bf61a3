/**
 * Offstage on Node.js 20.19 and newer.
 *
 * @module
 */
import { createOffstage as createCore, type Offstage, type OffstageConfig } from "../mod.ts";
import { nodeRuntime } from "./node/runtime.ts";

export { nodeRuntime } from "./node/runtime.ts";
export type { NodeRuntimeOptions } from "./node/runtime.ts";
export { bridgeChildProcess } from "./node/bridge.ts";
export type { BridgedChildProcess } from "./node/bridge.ts";
export type { Bridge, BridgedSignal, BridgeOptions } from "./signal_bridge.ts";
export type { PtyLoader } from "./node/pty_loader.ts";
export type { Offstage, OffstageConfig, Runtime } from "../mod.ts";

/**
 * Makes an instance that runs commands with `node:child_process`, and in terminals with `@lydell/node-pty` or
 * `node-pty` if one of them is installed.
 *
 * To choose terminals yourself, give `nodeRuntime({ pty })` to `createOffstage` of `offstage`.
 *
 * @throws {OffstageError} `invalid` if the configuration is wrong
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/node";
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
  return createCore({ ...config, runtime: nodeRuntime() });
}
