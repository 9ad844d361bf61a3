/**
 * Frames: what goes to and fro for one command, binary.
 *
 * One byte says what it is, one how long the command's id is; the id in ASCII, a number as a big-endian double, and the
 * rest is what it carries.
 *
 * @module
 */
import type { StreamName } from "../../../mod.ts";

/** What a frame is: output of a stream, progress, an acknowledgement, input, or another control. */
export type FrameKind = StreamName | "progress" | "ack" | "write" | "control";

/** A frame. */
export interface Frame {
  /** What it is. */
  readonly kind: FrameKind;
  /** The command. */
  readonly link: string;
  /** An offset of output, or the place in the order of controls. */
  readonly number: number;
  /** What it carries: output or input as it is, anything else in JSON. */
  readonly payload: Uint8Array;
}

const KINDS: readonly FrameKind[] = ["stdout", "stderr", "terminal", "progress", "ack", "write", "control"];
const NUMBER_BYTES = 8;

/** Most bytes that a frame has beside what it carries. */
export const FRAME_OVERHEAD: number = 2 + 64 + NUMBER_BYTES;

/** A frame as bytes. */
export function encodeFrame({ kind, link, number, payload }: Frame): Uint8Array {
  const start = 2 + link.length + NUMBER_BYTES;
  const bytes = new Uint8Array(start + payload.length);
  bytes[0] = KINDS.indexOf(kind);
  bytes[1] = link.length;
  for (let at = 0; at < link.length; at++) bytes[2 + at] = link.charCodeAt(at);
  new DataView(bytes.buffer).setFloat64(2 + link.length, number);
  bytes.set(payload, start);
  return bytes;
}

/** The frame in these bytes, if there is one; it refers to their memory. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  const [kindAt, length] = bytes;
  const kind = KINDS[kindAt ?? KINDS.length];
  if (kind === undefined || length === undefined || bytes.length < 2 + length + NUMBER_BYTES) return undefined;
  const link = String.fromCharCode(...bytes.subarray(2, 2 + length));
  const number = new DataView(bytes.buffer, bytes.byteOffset).getFloat64(2 + length);
  if (!Number.isSafeInteger(number) || number < 0) return undefined;
  return { kind, link, number, payload: bytes.subarray(2 + length + NUMBER_BYTES) };
}
