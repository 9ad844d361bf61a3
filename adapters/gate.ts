/**
 * Stops a loop that reads, and lets it go on.
 *
 * @module
 */

/** What such a loop waits at. */
export interface Gate {
  /** Resolves when it may go on; `undefined` if it may. */
  readonly closed: Promise<void> | undefined;
  /** Closes the gate, or opens it. */
  hold(isHeld: boolean): void;
}

/** An open gate. */
export function createGate(): Gate {
  let closed: Promise<void> | undefined;
  let open = (): void => {};
  return {
    get closed() {
      return closed;
    },
    hold: (isHeld) => {
      if (isHeld === (closed !== undefined)) return;
      if (isHeld) closed = new Promise((resolve) => open = resolve);
      else {
        closed = undefined;
        open();
      }
    },
  };
}
