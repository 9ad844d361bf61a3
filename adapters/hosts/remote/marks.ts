/**
 * What the script around a command tells, taken out of the command's streams.
 *
 * @module
 */
import type { OutputSink, StreamName } from "../../../mod.ts";
import { MARK_BYTE, MARK_START } from "./wrapper.ts";

/** Something the script has told. */
export type Mark =
  | { readonly kind: "ready" }
  | { readonly kind: "fail"; readonly why: string }
  | {
    readonly kind: "start";
    /** Process id of the command. */
    readonly pid: number;
    /** Its process group: of that number, or that of the script around it. */
    readonly group: number;
  }
  | {
    readonly kind: "end";
    /** Exit code, as a shell tells it. */
    readonly code: number;
    /** Name of the signal that ended it, without `SIG`; empty if none did, or nobody has said so. */
    readonly signal: string;
    /** Whether others of its group live on, if that is its own. */
    readonly isLeft: boolean;
  };

/** A sink for the client's streams, which gives the command's to another one. */
export interface MarkReader {
  /** For the client. */
  readonly sink: OutputSink;
  /** What came on stderr, or in the terminal, before anything of the command: the client's complaints. */
  complaints(): string;
}

/** How much is kept of what comes before the start, characters. */
const KEPT_COMPLAINTS = 4_096;

/** Longest thing that is told, bytes. */
const LONGEST_MARK = 256;

const PREFIX = new TextEncoder().encode(`${String.fromCharCode(MARK_BYTE)}${MARK_START}`);

/**
 * Makes a reader. What comes before the start is not the command's: greetings, the words of startup files, complaints of
 * the client. Afterwards every byte is, but for the end that is told, once.
 *
 * @param tag which everything that is told has to carry, but for `ready`
 * @param sink takes what the command prints
 * @param onMark given what is told, before anything that follows it is passed on
 * @param onEnd called when the client's streams are at their end
 */
export function createMarkReader(
  tag: string,
  sink: OutputSink,
  onMark: (mark: Mark) => void,
  onEnd: () => void,
): MarkReader {
  const decoder = new TextDecoder();
  const held = new Map<StreamName, Uint8Array>();
  const started = new Set<StreamName>();
  let isOver = false; // the end has been told
  let complaints = "";

  /** Whether something may be told there: on stdout it is the start alone. */
  const isWatched = (stream: StreamName): boolean => !started.has(stream) || (stream !== "stdout" && !isOver);

  function pass(stream: StreamName, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (started.has(stream)) return sink.chunk(stream, bytes);
    if (stream !== "stdout") complaints = (complaints + decoder.decode(bytes)).slice(-KEPT_COMPLAINTS);
  }

  function chunk(stream: StreamName, bytes: Uint8Array): void {
    if (!isWatched(stream)) return pass(stream, bytes);
    const earlier = held.get(stream);
    held.delete(stream);
    let rest = earlier === undefined ? bytes : concat(earlier, bytes);
    for (let from = 0; isWatched(stream);) {
      const at = findPrefix(rest, from);
      if (at < 0) break;
      const begin = at + PREFIX.length;
      const end = rest.indexOf(MARK_BYTE, begin);
      if (end < 0 && rest.length - at < LONGEST_MARK) {
        pass(stream, rest.subarray(0, at));
        return void held.set(stream, rest.subarray(at));
      }
      const isMark = end >= 0 && end - at < LONGEST_MARK;
      const mark = isMark ? markOf(new TextDecoder().decode(rest.subarray(begin, end)), tag) : undefined;
      if (mark === undefined || (mark.kind === "end") !== started.has(stream)) {
        from = at + 1;
        continue;
      }
      from = 0;
      pass(stream, rest.subarray(0, at));
      rest = rest.subarray(end + 1);
      if (mark.kind === "start") started.add(stream);
      if (mark.kind === "end") isOver = true;
      if (stream !== "stdout") onMark(mark);
    }
    pass(stream, rest);
  }

  return {
    complaints: () => complaints,
    sink: {
      chunk,
      end: () => {
        for (const [stream, bytes] of held) pass(stream, bytes);
        held.clear();
        onEnd();
        if (started.size > 0) sink.end();
      },
    },
  };
}

/** Where the next thing told may begin, perhaps cut off by the end; -1 if nowhere. */
function findPrefix(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(MARK_BYTE, from); at >= 0; at = bytes.indexOf(MARK_BYTE, at + 1)) {
    if (PREFIX.every((byte, index) => at + index >= bytes.length || bytes[at + index] === byte)) return at;
  }
  return -1;
}

function markOf(text: string, tag: string): Mark | undefined {
  const [kind = "", carried, ...words] = text.split(":");
  if (kind === "ready") return { kind };
  if (carried !== tag) return undefined;
  const [first = "", second = "", third = ""] = words;
  switch (kind) {
    case "fail":
      return { kind, why: first };
    case "start":
      return { kind, pid: Number(first), group: Number(second) };
    case "end":
      return { kind, code: Number(first), signal: second, isLeft: third === "y" };
    default:
      return undefined;
  }
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const whole = new Uint8Array(one.length + other.length);
  whole.set(one);
  whole.set(other, one.length);
  return whole;
}
