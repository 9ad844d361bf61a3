/**
 * Leaving tests out aloud.
 *
 * @module
 */

/** Reasons this file has printed. */
const printed = new Set<string>();

/**
 * The `skip` option of a test that needs something this machine or runtime may lack.
 *
 * Bun and Deno do not print why a test was skipped, so the reason is printed here, once.
 *
 * @example
 * ```ts
 * test("reads /proc", { skip: skipUnless(hasProc, "there is no /proc") }, () => {});
 * ```
 *
 * @param possible whether the test can run
 * @param reason what is missing
 * @returns `false` to run it, the reason to skip it
 */
export function skipUnless(possible: boolean, reason: string): string | false {
  if (possible) return false;
  if (!printed.has(reason)) console.log(`skipped because: ${reason}`);
  printed.add(reason);
  return reason;
}

/** The runtime a test runs on. */
export const runtimeName: "node" | "deno" | "bun" = "Deno" in globalThis
  ? "deno"
  : "Bun" in globalThis
  ? "bun"
  : "node";
