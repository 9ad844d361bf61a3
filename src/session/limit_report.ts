/**
 * What the shell reports about the limits it was to set, taken out of the output it is the beginning of.
 *
 * @module
 */
import { concat } from "../output/whole_characters.ts";
import type { OutputSink, StreamName } from "../runtime.ts";
import { REPORT_END, REPORT_START } from "./limit_words.ts";

/** Longest report: every word of it comes once. */
const LONGEST_REPORT = 256;

/**
 * Puts a reader of the report before a sink. Whatever stream it comes on, it is the first thing there; output that does
 * not begin like one is passed on at once.
 *
 * @param onReport called with the words, before anything that follows them is passed on
 */
export function withoutReport(sink: OutputSink, onReport: (words: readonly string[]) => void): OutputSink {
  const held = new Map<StreamName, Uint8Array>();
  const begun = new Set<StreamName>();
  let reported = false;

  function release(stream: StreamName, bytes: Uint8Array): void {
    begun.add(stream);
    held.delete(stream);
    if (bytes.length > 0) sink.chunk(stream, bytes);
  }

  return {
    chunk: (stream, bytes) => {
      if (reported || begun.has(stream)) return sink.chunk(stream, bytes);
      const before = held.get(stream);
      const beginning = before === undefined ? bytes : concat(before, bytes);
      const report = readReport(beginning);
      if (report === "incomplete") return void held.set(stream, beginning);
      if (report !== "none") {
        reported = true;
        onReport(report.words);
      }
      release(stream, report === "none" ? beginning : beginning.subarray(report.length));
      if (reported) { for (const [other, rest] of [...held]) release(other, rest); }
    },
    end: () => {
      for (const [stream, bytes] of [...held]) release(stream, bytes);
      sink.end();
    },
  };
}

type Report = "none" | "incomplete" | { readonly words: readonly string[]; readonly length: number };

function readReport(bytes: Uint8Array): Report {
  const text = String.fromCharCode(...bytes.subarray(0, LONGEST_REPORT)); // a byte a character: all of ours are ASCII
  if (!text.startsWith(REPORT_START)) return REPORT_START.startsWith(text) ? "incomplete" : "none";
  const end = text.indexOf(REPORT_END, REPORT_START.length);
  if (end < 0) return text.length < LONGEST_REPORT ? "incomplete" : "none";
  const words = text.slice(REPORT_START.length, end).split(" ").filter((word) => word !== "");
  return { words, length: end + REPORT_END.length };
}
