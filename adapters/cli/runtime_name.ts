/**
 * What this program runs on.
 *
 * @module
 */
import process from "node:process";

/** Name and version of this runtime. */
export function runtimeName(): string {
  const { bun, deno, node } = process.versions as Readonly<Record<string, string | undefined>>;
  if (bun !== undefined) return `bun ${bun}`;
  return deno === undefined ? `node ${node}` : `deno ${deno}`;
}
