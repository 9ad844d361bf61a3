/**
 * From held bytes to rendered text: decoding, and rendering that begins in the middle of a log.
 *
 * @module
 */

import type { StreamName } from "../runtime.ts";
import type { OutputLog } from "./log.ts";
import { createRenderer, type Renderer } from "./render.ts";
import { type Segment, STREAM_NAMES } from "./segments.ts";
import { decode } from "./utf8.ts";

/**
 * Creates a renderer for what follows an offset: a sequence that began before it is still recognised as one.
 *
 * @param offsetOf where each stream goes on; the same offset for all, or one a stream
 */
export function rendererFrom(log: OutputLog, offsetOf: (stream: StreamName) => number): Renderer {
  const renderer = createRenderer();
  for (const stream of STREAM_NAMES) {
    const before = log.lookBack(offsetOf(stream), stream);
    if (before.length > 0) renderer.prime(stream, before.map(({ bytes }) => decode(bytes)).join(""));
  }
  return renderer;
}

/**
 * Renders held output.
 *
 * @param segments in their order; what was before the first one decides in which state rendering begins
 * @param isEnd nothing will come after them: a sequence that is not terminated is shown as text
 */
export function renderSegments(log: OutputLog, segments: readonly Segment[], isEnd: boolean): string {
  const from = segments[0]?.at ?? log.end;
  const renderer = rendererFrom(log, () => from);
  for (const { stream, bytes } of segments) renderer.write(stream, decode(bytes));
  if (isEnd) renderer.finish();
  return renderer.take();
}
