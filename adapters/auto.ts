/**
 * Offstage on whichever runtime this is: Node.js, Deno or Bun. Loads that one's adapter and nothing of the others.
 *
 * @module
 */
import { type Offstage, type OffstageConfig, OffstageError } from "../mod.ts";

/** An adapter's entry point, as far as it is the same for all. */
interface Adapter {
  createOffstage(config?: OffstageConfig): Offstage;
}

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
export const createOffstage: (config?: OffstageConfig) => Offstage = (await adapter()).createOffstage;

/** Bun and Deno know `process.versions.node` too, so they are asked first. */
function adapter(): Promise<Adapter> {
  const { Bun, Deno, process } = globalThis as {
    readonly Bun?: unknown;
    readonly Deno?: unknown;
    readonly process?: { readonly versions?: { readonly node?: string } };
  };
  if (Bun !== undefined) return import("./bun.ts");
  if (Deno !== undefined) return import("./deno.ts");
  if (process?.versions?.node !== undefined) return import("./node.ts");
  throw new OffstageError(
    "unsupported",
    'Cannot run commands here: this is neither Node.js, Deno nor Bun. Use createOffstage from "offstage" with a ' +
      "runtime of your own",
  );
}
