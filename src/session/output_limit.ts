/**
 * The limit of a command's output, counted as it comes.
 *
 * @module
 */
import type { OutputSink } from "../runtime.ts";

/**
 * Puts a counter before a sink, which gets exactly the first `limit` bytes, all streams together.
 *
 * @param onPast called once, when there is more; from then on all output is dropped
 */
export function withOutputLimit(sink: OutputSink, limit: number, onPast: () => void): OutputSink {
  let left = limit;
  let isPast = false;
  return {
    chunk: (stream, bytes) => {
      if (isPast) return;
      sink.chunk(stream, bytes.subarray(0, left));
      isPast = bytes.length > left;
      left -= bytes.length;
      if (isPast) onPast();
    },
    end: () => sink.end(),
  };
}
