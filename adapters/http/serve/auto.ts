/**
 * Listening on this runtime.
 *
 * @module
 */
import type { Listen } from "./server.ts";

/** Loads what listens on this runtime. Bun and Deno know Node's globals too, so they are asked first. */
export async function listenHere(): Promise<Listen> {
  if ("Bun" in globalThis) return (await import("./bun.ts")).listen;
  if ("Deno" in globalThis) return (await import("./deno.ts")).listen;
  return (await import("./node.ts")).listen;
}
