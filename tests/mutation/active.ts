/**
 * Which mutant is active in this process, which places are reached, and the end of loops that a mutant made endless.
 *
 * @module
 */

let active: number | undefined;
/** How many more places may ask before whatever runs is taken for endless. */
let left = Infinity;
let asked = 0;
let reached = new Set<number>();

/** What the error of an endless loop says. */
export const ENDLESS = "This seems to be endless";

/** The global function that the mutated sources ask. */
export const ASKED = {
  __isMutated(id: number): boolean {
    asked++;
    reached.add(id);
    // It throws at every place from here on: a loop that catches errors ends too
    if (--left < 0) throw new Error(ENDLESS);
    return id === active;
  },
};

/** Makes one mutant the active one. `limit`: how many places may ask from now on. */
export function activate(id: number, limit: number): void {
  active = id;
  left = limit;
}

/** Back to the code as it was written. */
export function deactivate(): void {
  active = undefined;
  left = Infinity;
}

/** How many places have asked, ever. */
export function askedSoFar(): number {
  return asked;
}

/** The places that are reached from now on. */
export function takeDown(): ReadonlySet<number> {
  return reached = new Set();
}
