/**
 * Output cut into pieces that are sent as one, encoded once for all viewers at the same place.
 *
 * @module
 */
import type { Segment, SessionView } from "../../mod.ts";

/** A piece of output, ready to be sent. */
export interface Frame {
  /** Offset of the first byte in it: before the one that was asked for if that lay inside a character. */
  readonly from: number;
  /** Offset after the last byte in it. */
  readonly to: number;
  /** What is sent. Many viewers send the same memory: it is not written to. */
  readonly bytes: Uint8Array;
}

/** How a piece of one stream is sent; at most {@linkcode SEGMENT_BYTES} bytes at a time. */
export type Encode = (segment: Segment) => Uint8Array;

/** The frames of one session in one encoding. */
export interface Frames {
  /**
   * What follows an offset that is still held.
   *
   * @param limit offset at which it has to end, above `from`
   * @returns `undefined` if nothing is held there
   */
  at(from: number, limit: number): Frame | undefined;
}

/** Most bytes of a frame: with a little before it that is under way still, 64 KiB wait for one viewer. */
export const FRAME_BYTES = 61_440;

/** Most bytes of output encoded as one: a control character becomes six bytes of JSON, so this fits a frame. */
export const SEGMENT_BYTES = 8_192;

/** Frames kept for other viewers, bytes: all that a session may hold, as text, fits. */
const KEPT_BYTES = 262_144;

/** Makes the frames of a session. */
export function createFrames(view: Pick<SessionView, "read">, encode: Encode): Frames {
  const kept = new Map<number, Frame>();
  let keptBytes = 0;

  function keep(at: number, frame: Frame): void {
    kept.set(at, frame);
    keptBytes += frame.bytes.length;
    for (const [oldest, { bytes }] of kept) {
      if (keptBytes <= KEPT_BYTES) break;
      kept.delete(oldest);
      keptBytes -= bytes.length;
    }
  }

  return {
    at: (from, limit) => {
      const known = kept.get(from);
      if (known !== undefined && known.to <= limit) return known;
      const frame = makeFrame(view, encode, from, limit);
      if (known === undefined && frame !== undefined) keep(from, frame);
      return frame;
    },
  };
}

function makeFrame(view: Pick<SessionView, "read">, encode: Encode, from: number, limit: number): Frame | undefined {
  const parts: Uint8Array[] = [];
  let size = 0;
  let first: number | undefined;
  let to = from;
  while (to < limit) {
    const segments = view.read(to, Math.min(to + SEGMENT_BYTES, limit));
    for (const segment of segments) {
      const part = encode(segment);
      if (size + part.length > FRAME_BYTES) return first === undefined ? undefined : frameOf(first, to, parts, size);
      parts.push(part);
      size += part.length;
      first ??= segment.at;
      to = segment.at + segment.bytes.length;
    }
    if (segments.length === 0) break;
  }
  return first === undefined ? undefined : frameOf(first, to, parts, size);
}

function frameOf(from: number, to: number, parts: readonly Uint8Array[], size: number): Frame {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return { from, to, bytes: only };
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { from, to, bytes };
}
