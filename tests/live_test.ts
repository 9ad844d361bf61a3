/**
 * Watching a session for many viewers, and the streams they are sent: adapters/http/{live,streams,sse,restore,typist}.ts.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { createLiveSessions } from "../adapters/http/live.ts";
import { createMetrics } from "../adapters/http/metrics.ts";
import { createRestoring } from "../adapters/http/restore.ts";
import { sseEvent, sseResponse } from "../adapters/http/sse.ts";
import { createStreams } from "../adapters/http/streams.ts";
import { createTypist } from "../adapters/http/typist.ts";
import type { Agent, Outcome, SessionView } from "../mod.ts";
import { settle } from "./fakes/clock.ts";

const OUTCOME: Outcome = { status: "completed", ok: true, exitCode: 0, signal: null, reason: "exit", limit: null };

/** A session whose output is only counted. */
function fakeView(): SessionView & { watchers: number; change(by: Partial<SessionView>): void } {
  const listeners = new Set<() => void>();
  const state = { start: 0, end: 0, outcome: undefined as Outcome | undefined, gone: false, watchers: 0 };
  return Object.assign(state, {
    sessionId: "fake",
    scope: "one",
    name: "fake",
    pty: false,
    size: undefined,
    sizes: [],
    modes: undefined,
    read: () => [],
    tail: () => "",
    watch: (listener: () => void) => {
      listeners.add(listener);
      state.watchers = listeners.size;
      return () => {
        listeners.delete(listener);
        state.watchers = listeners.size;
      };
    },
    change: (by: Partial<SessionView>) => {
      Object.assign(state, by);
      for (const listener of listeners) listener();
    },
  });
}

test("all viewers of a session share one listener, and the last one takes it along", () => {
  const sessions = createLiveSessions();
  const view = fakeView();
  const seats = [sessions.join(view), sessions.join(view), sessions.join({ ...view, watch: () => () => {} })];
  assertEquals(view.watchers, 1);
  for (const seat of seats) seat.leave();
  assertEquals(view.watchers, 0);
  seats[0]?.leave();
  const again = sessions.join(view);
  assertEquals(view.watchers, 1);
  again.leave();
});

test("a change is shown to all who wait at the same moment, once, outside of the call that brought it", async () => {
  const sessions = createLiveSessions();
  const view = fakeView();
  const [one, other] = [sessions.join(view), sessions.join(view)];
  const ends: number[] = [];
  one.wait(() => ends.push(one.viewed.end));
  other.wait(() => ends.push(other.viewed.end));
  view.change({ end: 5 });
  assertEquals([ends, one.viewed.end], [[], 0]);
  await settle();
  assertEquals(ends, [5, 5]);
  view.change({ end: 6 });
  view.change({ end: 7 }); // within the pace: both are shown together
  assertEquals(one.viewed.end, 5);
  await new Promise<void>((resolve) => one.wait(resolve));
  assertEquals([one.viewed.end, ends], [7, [5, 5]]);
  view.change({ end: 200_000 }); // much: at once
  await settle();
  assertEquals(other.viewed.end, 200_000);
  one.leave();
  other.leave();
});

test("after its end nothing of a session is shown; a viewer who has left is not woken", async () => {
  const sessions = createLiveSessions();
  const view = fakeView();
  const [one, other] = [sessions.join(view), sessions.join(view)];
  let woken = 0;
  other.wait(() => woken += 1);
  other.leave();
  view.change({ end: 3, outcome: OUTCOME });
  await settle();
  view.change({ end: 9 });
  await settle();
  assertEquals([one.viewed.end, one.viewed.over, woken], [3, true, 0]);
  one.leave();
});

test("streams are pinged by one timer while there are some, and closed when the server closes", async () => {
  const metrics = createMetrics();
  const closing = new AbortController();
  const streams = createStreams({ metrics, closing: closing.signal }, 1);
  const told: string[] = [];
  const pinged = new Promise<void>((resolve) => {
    const leave = streams.add("attach", { ping: resolve, close: () => told.push("not this one") });
    streams.add("output", { ping: () => {}, close: () => told.push("closed") });
    leave();
    leave();
    streams.add("events", { ping: resolve, close: () => told.push("closed too") });
  });
  await pinged;
  closing.abort();
  assertEquals(told, ["closed", "closed too"]);
  streams.add("output", { ping: () => {}, close: () => told.push("closed at once") });
  assertEquals(told.at(-1), "closed at once");
});

test("a source is opened when it is read, asked only when something is wanted, and closed once", async () => {
  const streams = createStreams({ metrics: createMetrics(), closing: new AbortController().signal });
  const calls: string[] = [];
  const pieces = [sseEvent("output", 1, { text: "a\nb" }), undefined, sseEvent("end", undefined, {})];
  let wake = (): void => {};
  const source = {
    next: () => {
      calls.push("next");
      return pieces.shift();
    },
    get done() {
      return pieces.length === 0;
    },
    close: () => calls.push("close"),
  };
  const response = sseResponse(streams, "output", (given) => {
    wake = given;
    return source;
  });
  await settle();
  assertEquals(calls, []);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  assertEquals(await read(), ": ping\n\n");
  assertEquals(await read(), 'event: output\nid: 1\ndata: {"text":"a\\nb"}\n\n');
  const last = read();
  await settle();
  assertEquals(calls, ["next", "next"]);
  wake();
  assertEquals(await last, "event: end\ndata: {}\n\n");
  assertEquals([(await reader.read()).done, calls], [true, ["next", "next", "next", "next", "close"]]);
  wake();
  const unread = sseResponse(streams, "output", () => source);
  await unread.body?.cancel();
  assertEquals(calls.filter((call) => call === "close").length, 1);
});

test("modes are those in which what is held was written, not those of now", () => {
  const modes = {
    applicationCursor: true,
    applicationKeypad: false,
    numericKeypad: false,
    bracketedPaste: true,
    alternateScreen: false,
  };
  const restored = (held: string): string => {
    const bytes = new TextEncoder().encode(held);
    const view = { modes, read: () => [{ stream: "terminal", at: 0, bytes }] as const };
    return new TextDecoder().decode(createRestoring(view)(0)).slice("\x18\x1b[0m".length);
  };
  assertEquals(restored(""), "\x1b[?1049l\x1b[?1h\x1b[?66l\x1b[?2004h"); // as they are
  assertEquals(restored("\x1b[?1;1049l\x1b[?1h"), "\x1b[?1049h\x1b[?1h\x1b[?66l\x1b[?2004h"); // left in what is held
  assertEquals(restored("\x1b[?2004h\x1b>"), "\x1b[?1049l\x1b[?1h\x1b[?66h\x1b[?2004l"); // entered in what is held
  assertEquals(restored("\x1bc\x1b[?47h"), restored("")); // nothing is known of what a reset has undone
});

test("what is typed while something is being typed goes in one piece after it, up to 1 MiB", async () => {
  const written: string[] = [];
  const answers: (() => void)[] = [];
  const refused: string[] = [];
  const agent = {
    process: (params: { readonly base64: string }) => {
      written.push(atob(params.base64));
      return new Promise((resolve) => answers.push(() => resolve({ text: "no", isError: written.length === 2 })));
    },
  } as unknown as Agent;
  const typist = createTypist(agent, "fake", (why) => refused.push(why));
  for (const text of ["a", "", "b", "c"]) typist.type(new TextEncoder().encode(text));
  typist.type(new Uint8Array(1_048_575));
  assertEquals([written, refused.length], [["a"], 1]);
  assert(refused[0]?.startsWith("1048575 bytes were not typed"));
  answers.shift()?.();
  await settle();
  answers.shift()?.();
  await settle();
  assertEquals([written, refused[1]], [["a", "bc"], "no"]);
  typist.type(new TextEncoder().encode("d"));
  assertEquals(written.at(-1), "d");
});
