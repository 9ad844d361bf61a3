/**
 * What a session must have printed, held against what its readers and viewers get.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Agent, PollDetails, ProcessAction, ProcessParams, StreamName } from "../../mod.ts";
import { type End, endOf } from "../conformance/reader.ts";
import { joined, type Script, throughTerminal } from "./script.ts";
import type { Tally } from "./tally.ts";

/** What a session prints of its own will, all of it; one that is stopped prints a beginning of it. */
export interface Truth {
  /** Bytes of all streams together. */
  readonly total: number;
  /** What comes at all, if only one stream is used: then the order is known. */
  readonly only: Uint8Array | undefined;
  /** Whether it is text in whole lines, without controls. */
  readonly isText: boolean;
  /** What comes of one stream. */
  of(stream: StreamName): Uint8Array;
}

const NOTHING = new Uint8Array();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The truth about a script, whose session has a terminal or pipes. */
export function truthOf({ stdout, stderr, isText }: Script, pty: boolean): Truth {
  if (pty && stdout.length > 0 && stderr.length > 0) {
    throw new TypeError("Both streams in one terminal: no order is known");
  }
  const streams: Partial<Record<StreamName, Uint8Array>> = pty
    ? { terminal: throughTerminal(joined([stdout, stderr])) }
    : { stdout, stderr };
  const used = Object.values(streams).filter(({ length }) => length > 0);
  return {
    total: used.reduce((sum, { length }) => sum + length, 0),
    only: used.length > 1 ? undefined : used[0] ?? NOTHING,
    isText,
    of: (stream) => streams[stream] ?? NOTHING,
  };
}

/** Whoever follows a session's output byte for byte. */
export interface Follower {
  /** Offset of the next byte. */
  readonly position: number;
  /** Takes bytes as they come. `stream` is left out where that is not told. */
  take(at: number, bytes: Uint8Array, stream?: StreamName): void;
  /** Is told that bytes are missing. */
  gap(from: number, to: number): void;
}

/** Follows a session from an offset on; fails with the first byte that is not the one that was printed. */
export function createFollower(truth: Truth, tally: Tally, since = 0): Follower {
  let position = since;
  let isWhole = since === 0;
  let hasBegun = false;
  const places = new Map<StreamName, number>();

  function compare(at: number, bytes: Uint8Array, stream: StreamName | undefined): void {
    if (truth.only !== undefined) return assertSame(bytes, truth.only, at);
    if (stream === undefined || !isWhole) return;
    const place = places.get(stream) ?? 0;
    assertSame(bytes, truth.of(stream), place);
    places.set(stream, place + bytes.length);
  }

  return {
    get position() {
      return position;
    },
    take: (at, bytes, stream) => {
      const atCharacter = !hasBegun && at < position && position - at < 4; // it begins with the character it is in
      assert(at === position || atCharacter, `bytes at ${at}, but the next ones are those at ${position}`);
      hasBegun = true;
      compare(at, bytes, stream);
      position = at + bytes.length;
      tally.bytes += bytes.length;
    },
    gap: (from, to) => {
      assertEquals(from, position, "a gap begins where the bytes before it end");
      assert(to > from, `an empty gap at ${from}`);
      isWhole = false;
      hasBegun = true;
      position = to;
      tally.dropped += to - from;
    },
  };
}

function assertSame(bytes: Uint8Array, truth: Uint8Array, at: number): void {
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === truth[at + index]) continue;
    const text = (from: Uint8Array, begin: number): string =>
      JSON.stringify(decoder.decode(from.subarray(begin, begin + 40)));
    throw new Error(
      `byte ${at + index} of ${truth.length}: expected ${text(truth, at + index)} but got ${text(bytes, index)}`,
    );
  }
}

/** Says where two texts part, not all of both. */
function assertText(text: string, truth: string, which: string): void {
  if (text === truth) return;
  let at = 0;
  while (text[at] === truth[at]) at += 1;
  const around = (whole: string): string => JSON.stringify(whole.slice(Math.max(0, at - 10), at + 40));
  throw new Error(
    `${which}, character ${at} of ${truth.length}: expected ${around(truth)} but got ${around(text)} (${text.length})`,
  );
}

/** Calls `process` in a way that fails are thrown. */
export type Call = <A extends ProcessAction>(
  params: ProcessParams & { readonly action: A },
) => ReturnType<Agent["process"]>;

/** The only poller of a session. */
export interface Poller {
  /** Bytes it has been told of. */
  readonly position: number;
  /** Polls once; fails if a byte came twice, is missing untold, or is another. */
  poll(options?: { readonly timeout?: number; readonly until?: string }): Promise<PollDetails>;
  /** Polls to the end, and once more. */
  toEnd(timeoutMs: () => number): Promise<End>;
}

/** Makes the poller of a session that nobody has polled yet. */
export function createPoller(call: Call, sessionId: string, truth: Truth, tally: Tally): Poller {
  let position = 0;
  let output = "";
  let isWhole = true;

  async function poll(options: { readonly timeout?: number; readonly until?: string } = {}): Promise<PollDetails> {
    const { details, text } = await call({ action: "poll", sessionId, ...options });
    assert("from" in details, `a poll's answer, but: ${text}`);
    const { from, to, dropped, droppedByStream } = details;
    assertEquals(from, position, "a poll begins where the last one ended");
    const byStream = droppedByStream.stdout + droppedByStream.stderr + droppedByStream.terminal;
    assert(to >= from && dropped >= 0 && dropped <= to - from && byStream === dropped, `wrong numbers: ${text}`);
    const delivered = to - from - dropped;
    if (truth.isText && truth.only !== undefined && truth.of("terminal").length === 0) {
      // Of one that was stopped within a character, that is U+FFFD
      assertText(
        details.output,
        decoder.decode(truth.only.subarray(to - delivered, to)),
        `from byte ${to - delivered} on`,
      );
    }
    position = to;
    tally.bytes += delivered;
    tally.dropped += dropped;
    isWhole &&= dropped === 0;
    if (isWhole) output += details.output;
    return details;
  }

  /** What came together is what was printed, or its beginning. */
  function compareWhole(end: End): void {
    if (end.reason === "exit") assertEquals(position, truth.total, "bytes that all polls together told of");
    assert(position <= truth.total, `${position} bytes, but only ${truth.total} are printed`);
    if (!isWhole || !truth.isText || truth.only === undefined) return;
    assertText(output, decoder.decode(truth.only.subarray(0, position)).replaceAll("\r", ""), "of all polls together");
  }

  return {
    get position() {
      return position;
    },
    poll,
    toEnd: async (timeoutMs) => {
      for (;;) {
        const details = await poll({ timeout: timeoutMs() });
        if (details.status === "running") continue;
        const end = endOf(details);
        const again = await poll();
        assertEquals([again.output, endOf(again)], ["", end], "the end stays what it was and brings nothing new");
        compareWhole(end);
        return end;
      }
    },
  };
}

/** Reads the log of an ended session page by page, line by line and byte by byte. */
export async function comparePages(
  call: Call,
  sessionId: string,
  truth: Truth,
  tally: Tally,
  limit: number,
): Promise<void> {
  if (truth.isText) {
    for (const stream of ["stdout", "stderr"] as const) {
      await compareLines(call, sessionId, truth, tally, limit, stream);
    }
  }
  const follower = createFollower(truth, tally);
  for (let since = 0;;) {
    const { details, text } = await call({ action: "log", sessionId, bytes: true, since });
    assert("bytes" in details && details.bytes !== null, `a page of bytes, but: ${text}`);
    const { base64, from, to, total } = details.bytes;
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    if (from > follower.position) follower.gap(follower.position, from);
    assertEquals(bytes.length, to - from, "bytes of a page");
    if (bytes.length > 0) follower.take(from, bytes);
    since = to;
    if (to >= total) break;
    assert(to > from, "a page that is empty and not the last");
  }
}

async function compareLines(
  call: Call,
  sessionId: string,
  truth: Truth,
  tally: Tally,
  limit: number,
  stream: "stdout" | "stderr",
): Promise<void> {
  const printed = truth.only ?? truth.of(stream);
  if (truth.only !== undefined && truth.of(stream).length === 0) return;
  const lines = decoder.decode(printed).replaceAll("\r", "").split("\n");
  let next: number | undefined;
  for (let offset: number | null = 0; offset !== null;) {
    const page: Awaited<ReturnType<Call>> = await call({
      action: "log",
      sessionId,
      offset,
      limit,
      ...(truth.only === undefined && { stream }),
    });
    const { details, text } = page;
    assert("lines" in details, `a page of lines, but: ${text}`);
    for (const { number, text: line } of details.lines) {
      if (truth.only === undefined) continue; // the numbers are those of both streams together
      const wanted: number = next ?? details.firstHeld;
      const whole = lines[wanted] ?? "";
      // The oldest line that is held may have lost its beginning
      const isSame = line === whole || (wanted === details.firstHeld && whole.endsWith(line));
      assertEquals([number, line], [wanted, isSame ? line : whole], "a line of the log");
      next = wanted + 1;
      tally.bytes += line.length;
    }
    assert(details.nextOffset === null || details.nextOffset > offset, "paging goes on");
    offset = details.nextOffset;
  }
}
