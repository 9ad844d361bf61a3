/**
 * Keeps typed secrets out of a session's output: wherever one of them comes by, `[redacted]` stands instead.
 *
 * @module
 */
import type { StreamName } from "../runtime.ts";

/** Replaces secrets in a stream of bytes. */
export interface Redactor {
  /** Watches for one more secret. Empty ones are ignored. */
  add(secret: Uint8Array): void;
  /** Gives what may be logged now; holds back a tail that may be the beginning of a secret. */
  feed(stream: StreamName, bytes: Uint8Array): readonly Uint8Array[];
  /** Gives what was held back: the streams have ended. */
  finish(): readonly (readonly [StreamName, Uint8Array])[];
}

const MASK: Uint8Array = new TextEncoder().encode("[redacted]");

/** Shorter secrets are replaced once, at their echo, and not for ever: they occur in innocent text too. */
const LASTING_LENGTH = 4;

/** Makes a redactor without secrets. */
export function createRedactor(): Redactor {
  let secrets: readonly Uint8Array[] = []; // longest first: of two at one place the longer one is meant
  const held = new Map<StreamName, Uint8Array>();

  /** Replaces what is there of secrets, up to where one may still be under way; gives the rest back. */
  function mask(
    bytes: Uint8Array,
    isEnd: boolean,
  ): { readonly pieces: readonly Uint8Array[]; readonly rest: Uint8Array } {
    let rest = bytes;
    const pieces: Uint8Array[] = [];
    for (;;) {
      const match = firstMatch(rest, secrets);
      const open = isEnd ? rest.length : rest.length - heldLength(rest, secrets);
      // A longer secret may be under way where a short one has just been found.
      if (match === undefined || open <= match.at) {
        return { pieces: [...pieces, rest.subarray(0, open)], rest: rest.slice(open) };
      }
      pieces.push(rest.subarray(0, match.at), MASK);
      rest = rest.subarray(match.at + match.secret.length);
      if (match.secret.length < LASTING_LENGTH) secrets = secrets.filter((secret) => secret !== match.secret);
    }
  }

  return {
    add: (secret) => {
      if (secret.length > 0) secrets = [...secrets, secret.slice()].sort((a, b) => b.length - a.length);
    },
    feed: (stream, bytes) => {
      const { pieces, rest } = mask(joined(held.get(stream), bytes), false);
      if (rest.length > 0) held.set(stream, rest);
      else held.delete(stream);
      return pieces.filter((piece) => piece.length > 0);
    },
    finish: () => {
      const rest = [...held].flatMap(([stream, bytes]) =>
        mask(bytes, true).pieces.map((piece) => [stream, piece] as const)
      );
      held.clear();
      return rest.filter(([, piece]) => piece.length > 0);
    },
  };
}

function joined(before: Uint8Array | undefined, bytes: Uint8Array): Uint8Array {
  if (before === undefined) return bytes;
  const whole = new Uint8Array(before.length + bytes.length);
  whole.set(before);
  whole.set(bytes, before.length);
  return whole;
}

function firstMatch(
  bytes: Uint8Array,
  secrets: readonly Uint8Array[],
): { readonly at: number; readonly secret: Uint8Array } | undefined {
  let first: { readonly at: number; readonly secret: Uint8Array } | undefined;
  for (const secret of secrets) {
    const at = find(bytes, secret);
    if (at >= 0 && (first === undefined || at < first.at)) first = { at, secret };
  }
  return first;
}

function find(bytes: Uint8Array, secret: Uint8Array): number {
  const head = secret[0] as number;
  for (let at = bytes.indexOf(head); at >= 0; at = bytes.indexOf(head, at + 1)) {
    if (at + secret.length > bytes.length) return -1;
    if (startsWith(bytes, at, secret, secret.length)) return at;
  }
  return -1;
}

/** Length of the longest tail of `bytes` with which a secret begins. */
function heldLength(bytes: Uint8Array, secrets: readonly Uint8Array[]): number {
  let longest = 0;
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, bytes.length); length > longest; length--) {
      if (startsWith(bytes, bytes.length - length, secret, length)) longest = length;
    }
  }
  return longest;
}

function startsWith(bytes: Uint8Array, at: number, secret: Uint8Array, length: number): boolean {
  for (let index = 0; index < length; index++) if (bytes[at + index] !== secret[index]) return false;
  return true;
}
