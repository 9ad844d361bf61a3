/**
 * Ends what must not outlive the host, when a Deno host is about to end.
 *
 * @module
 */

import type { Runtime } from "../../mod.ts";
import { createShutdown } from "../node/shutdown.ts";

/**
 * Makes the `onShutdown` of a runtime object: as on Node, and for `Deno.exit()` too, which only the `unload` event tells.
 * Nothing can be awaited there, so only what an `end` does at once is done. None of it takes a permission.
 *
 * @returns registers an `end`, and returns the function that unregisters it
 */
export function createDenoShutdown(): Runtime["onShutdown"] {
  const onShutdown = createShutdown();
  return (end, options) => {
    let ending: Promise<void> | undefined;
    const endOnce = (): Promise<void> => ending ??= end(); // several of the events come when the host ends
    const onUnload = (): void => void endOnce().catch(ignore);
    const unregister = onShutdown(endOnce, options);
    globalThis.addEventListener("unload", onUnload);
    return () => {
      unregister();
      globalThis.removeEventListener("unload", onUnload);
    };
  };
}

/** Calls `act` when the host exits, by `Deno.exit()` too; returns how to prevent that. */
export function atDenoExit(act: () => void): () => void {
  globalThis.addEventListener("unload", act);
  return () => globalThis.removeEventListener("unload", act);
}

function ignore(): void {}
