/**
 * Offstage on Bun 1.4 and newer.
 *
 * @module
 */
import { createOffstage as createCore, type Offstage, type OffstageConfig } from "../mod.ts";
import { type BunPtyKind, bunRuntime } from "./bun/runtime.ts";

export { bunRuntime } from "./bun/runtime.ts";
export type { BunPtyKind, BunRuntimeOptions } from "./bun/runtime.ts";
export { bridgeChildProcess } from "./bun/bridge.ts";
export type { BridgedSubprocess } from "./bun/bridge.ts";
export type { Bridge, BridgedSignal, BridgeOptions } from "./signal_bridge.ts";
export type { Offstage, OffstageConfig, Runtime } from "../mod.ts";

/** What `createOffstage` takes on Bun. */
export interface BunOffstageConfig extends OffstageConfig {
  /** Which terminals to use. Default: Bun's own, `bun-pty` where Bun has none (Windows). */
  readonly pty?: BunPtyKind;
}

/**
 * Makes an instance that runs commands with `Bun.spawn`, and in terminals with Bun's own or `bun-pty`.
 *
 * @throws {OffstageError} `invalid` if the configuration is wrong
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/bun";
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
export function createOffstage(config: BunOffstageConfig = {}): Offstage {
  const { pty, ...rest } = config;
  return createCore({ ...rest, runtime: bunRuntime(pty === undefined ? {} : { pty }) });
}
