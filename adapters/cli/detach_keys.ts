/**
 * The keys that leave an attached session: found in what is typed, and kept from it.
 *
 * @module
 */

/** What becomes of typed bytes. */
export interface Sifted {
  /** What is the session's. */
  readonly send: Uint8Array;
  /** Whether the keys are complete: what was typed behind them is nobody's. */
  readonly detached: boolean;
}

/** Looks for the keys in what is typed. */
export interface DetachKeys {
  /** Takes what is typed; what may be the beginning of the keys is kept back. */
  sift(typed: Uint8Array): Sifted;
  /** Gives out what was kept back: nothing followed it in time. */
  release(): Uint8Array;
  /** Whether something is kept back. */
  readonly isHolding: boolean;
}

/**
 * Reads keys such as `ctrl-p,ctrl-q`; a single character stands for itself.
 *
 * @returns their bytes, none if the text is empty; `undefined` if it cannot be read
 */
export function parseDetachKeys(text: string): Uint8Array | undefined {
  if (text === "") return new Uint8Array();
  const bytes = text.split(",").map((key) => {
    const control = /^(?:ctrl|c)-([a-z@[\\\]^_])$/i.exec(key)?.[1];
    if (control !== undefined) return control.toUpperCase().charCodeAt(0) & 0x1f;
    return /^[\x20-\x7e]$/.test(key) ? key.charCodeAt(0) : NaN;
  });
  return bytes.some(Number.isNaN) ? undefined : Uint8Array.from(bytes);
}

/** Makes what looks for the keys; without any nothing is ever found. */
export function createDetachKeys(keys: Uint8Array): DetachKeys {
  let held = 0; // so many of the keys have been typed

  /** How many of the keys stand at the end of what was held and the byte. */
  function heldAfter(byte: number): number {
    const typed = [...keys.subarray(0, held), byte];
    for (let length = Math.min(typed.length, keys.length); length > 0; length--) {
      if (typed.slice(-length).every((each, index) => each === keys[index])) return length;
    }
    return 0;
  }

  return {
    get isHolding() {
      return held > 0;
    },
    sift: (typed) => {
      const send: number[] = [];
      for (const byte of typed) {
        const after = heldAfter(byte);
        const given = [...keys.subarray(0, held), byte];
        send.push(...given.slice(0, given.length - after));
        held = after;
        if (held > 0 && held === keys.length) return { send: Uint8Array.from(send), detached: true };
      }
      return { send: Uint8Array.from(send), detached: false };
    },
    release: () => {
      const rest = keys.slice(0, held);
      held = 0;
      return rest;
    },
  };
}
