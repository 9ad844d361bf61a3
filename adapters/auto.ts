/**
 * Offstage on whichever runtime this is: Node.js, Deno or Bun. Loads that one's adapter and nothing of the others.
 *
 * @module
 */
import { type Offstage, type OffstageConfig, OffstageError, type Runtime } from "../mod.ts";

/** An adapter's entry point, as far as it is the same for all. */
interface Adapter {
  createOffstage(config?: OffstageConfig): Offstage;
  hostRuntime(): Runtime;
}

const here: Adapter = await adapter();

/**
 * Makes an instance on this runtime; see `createOffstage` of `offstage/node`, `offstage/deno` and `offstage/bun`.
 *
 * Importing this module on any other runtime throws an `OffstageError` of code `unsupported`.
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/auto";
 *
 * await using offstage = createOffstage();
 * const run = await offstage.agent("agent-1").exec({ command: "uname" });
 * console.log(run.text);
 * ```
 */
export const createOffstage: (config?: OffstageConfig) => Offstage = here.createOffstage;

/** The runtime object of this runtime: `nodeRuntime`, `denoRuntime` or `bunRuntime`, with everything as usual. */
export const hostRuntime: () => Runtime = here.hostRuntime;

/** Bun and Deno know `process.versions.node` too, so they are asked first. */
async function adapter(): Promise<Adapter> {
  const { Bun, Deno, process } = globalThis as {
    readonly Bun?: unknown;
    readonly Deno?: unknown;
    readonly process?: { readonly versions?: { readonly node?: string } };
  };
  if (Bun !== undefined) {
    const { createOffstage, bunRuntime } = await import("./bun.ts");
    return { createOffstage, hostRuntime: bunRuntime };
  }
  if (Deno !== undefined) {
    const { createOffstage, denoRuntime } = await import("./deno.ts");
    return { createOffstage, hostRuntime: denoRuntime };
  }
  if (process?.versions?.node !== undefined) {
    const { createOffstage, nodeRuntime } = await import("./node.ts");
    return { createOffstage, hostRuntime: nodeRuntime };
  }
  throw new OffstageError(
    "unsupported",
    'Cannot run commands here: this is neither Node.js, Deno nor Bun. Use createOffstage from "offstage" with a ' +
      "runtime of your own",
  );
}
