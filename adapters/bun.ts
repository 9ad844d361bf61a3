/**
 * Offstage on Bun 1.2 and newer.
 *
 * @module
 */
import { createOffstage as createCore, type Offstage, type OffstageConfig } from "../mod.ts";
import { bunRuntime } from "./bun/runtime.ts";

export { bunRuntime } from "./bun/runtime.ts";
export type { BunRuntimeOptions } from "./bun/runtime.ts";
export { bridgeChildProcess } from "./bun/bridge.ts";

/**
 * Makes an instance that runs commands with `Bun.spawn`, and in terminals with Bun's own (1.3.5 and newer) or `bun-pty`.
 *
 * @throws {OffstageError} `invalid` if the configuration is wrong
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/bun";
 *
 * await using offstage = createOffstage();
 * const agent = offstage.agent("agent-1");
 * const run = await agent.exec({ command: "sleep 5; echo done", yieldMs: 1_000 });
 * if (run.details.status === "running") {
 *   const { sessionId } = run.details;
 *   const more = await agent.process({ action: "poll", sessionId, timeout: 10_000 });
 *   console.log(more.text);
 * }
 * ```
 */
export function createOffstage(config: OffstageConfig = {}): Offstage {
  return createCore({ ...config, runtime: bunRuntime() });
}
