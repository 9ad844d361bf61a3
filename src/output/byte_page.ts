/**
 * Pages of a log's bytes, for those who want them as they came.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import type { OutputLog } from "./log.ts";
import { endOf } from "./segments.ts";

/** Some bytes of a log. Offsets are bytes of the whole log, also when only one stream is asked for. */
export interface BytePage {
  /** The bytes, base64; of the stream that was asked for, else of all as they came. */
  readonly base64: string;
  /** Where they begin: where they were asked for, or at the oldest byte held, or with the character that is there. */
  readonly from: number;
  /** Where they end: where the next page begins. */
  readonly to: number;
  /** Bytes ever. */
  readonly total: number;
}

/** Characters of base64 for each three bytes. */
const BASE64_CHARS = 4;

/** Reads bytes from an offset on, as many as fit. @param maxChars bound of the base64 text, at least 16 */
export function readBytes(
  log: OutputLog,
  since: number,
  stream: StreamName | undefined,
  maxChars: number,
): BytePage {
  const from = log.read(since)[0]?.at ?? log.end;
  const held = log.read(from, from + Math.floor(maxChars / BASE64_CHARS) * 3);
  let binary = "";
  for (const segment of held) {
    if (stream !== undefined && segment.stream !== stream) continue;
    for (const byte of segment.bytes) binary += String.fromCharCode(byte);
  }
  return { base64: btoa(binary), from, to: endOf(held, from), total: log.end };
}
