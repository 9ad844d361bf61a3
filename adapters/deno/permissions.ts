/**
 * What Deno allows this process, and how to say what is missing.
 *
 * Deno asks the user at the terminal when a call needs a permission it has not got. A command must not wait for that, so
 * whatever may be missing is queried first, and the call is not made.
 *
 * @module
 */

import { OffstageError } from "../../mod.ts";
import { denoGlobal, type DenoPermission, type DenoPermissionStatus } from "./types.ts";

/** What Deno says of all of a kind. It keeps such an object true when a permission is revoked, so each is asked for once. */
const wholeKinds = new Map<DenoPermission["name"], DenoPermissionStatus>();

/** Whether this process has a permission. */
export function isGranted(permission: DenoPermission): boolean {
  const { permissions } = denoGlobal();
  const { name } = permission;
  // All of a kind first, which is the usual answer; `partial`: parts of it are denied
  let all = wholeKinds.get(name);
  if (all === undefined) {
    all = permissions.querySync({ name } as DenoPermission);
    wholeKinds.set(name, all);
  }
  if (all.state === "granted" && !all.partial) return true;
  // A copy, because Deno writes into what it is asked
  return permissions.querySync({ ...permission }).state === "granted";
}

/**
 * The flags that are missing for a purpose, as they would be typed.
 *
 * @param needed the permissions it takes
 * @returns e.g. `--allow-ffi --allow-net=127.0.0.1:80,[::1]:80`; empty when all are granted
 */
export function missingFlags(needed: readonly DenoPermission[]): string {
  const flags = new Map<string, string[]>();
  for (const { name, ...part } of needed.filter((permission) => !isGranted(permission))) {
    flags.set(name, [...flags.get(name) ?? [], ...Object.values(part)]);
  }
  return [...flags].map(([name, parts]) => `--allow-${name}${parts.length > 0 ? `=${parts}` : ""}`).join(" ");
}

/**
 * Makes sure of a permission, without asking for it.
 *
 * @param permission what is needed
 * @param purpose what for, as a continuation of "Cannot"
 * @throws {OffstageError} `refused`, with the flag that would allow it
 */
export function demand(permission: DenoPermission, purpose: string): void {
  if (!isGranted(permission)) throw notAllowed(purpose, missingFlags([permission]));
}

/** The error for something Deno does not allow. */
export function notAllowed(purpose: string, flags: string, cause?: unknown): OffstageError {
  return new OffstageError("refused", `Cannot ${purpose}: Deno does not allow it without ${flags}`, { cause });
}

/** Whether an error is Deno's for a missing permission. */
export function isNotCapable(error: unknown): boolean {
  return error instanceof Error && error.name === "NotCapable";
}
