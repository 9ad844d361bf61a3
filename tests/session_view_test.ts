/**
 * A session as code shows it live: reading consumes nothing, and nothing of a view stays behind.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import type { SessionView } from "../mod.ts";
import { act, background, open } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

const decoder = new TextDecoder();

function textOf(view: SessionView, from: number): string {
  return view.read(from).map(({ bytes }) => decoder.decode(bytes)).join("");
}

test("a view has the bytes by stream and offset, and moves no poller's place", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  const view = bench.agent.session(id) as SessionView;
  child.print("one ");
  child.print("two\n", "stderr");
  assertEquals(view.read(0).map(({ stream, at }) => [stream, at]), [["stdout", 0], ["stderr", 4]]);
  assertEquals([textOf(view, 0), textOf(view, 4), view.start, view.end], ["one two\n", "two\n", 0, 8]);
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).output, "one two\n");
});

test("a watcher is called on output, on a new size, at the end and at the departure, and not after it has left", async () => {
  const bench = open();
  const { id, child } = await background(bench, { pty: true });
  const view = bench.agent.session(id) as SessionView;
  const seen: unknown[] = [];
  const stop = view.watch(() => seen.push([view.end, view.size?.cols, view.outcome?.exitCode ?? null, view.gone]));
  child.print("ab");
  await act(bench.agent, { action: "resize", sessionId: id, cols: 90, rows: 20 });
  child.end(7);
  await settle();
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals(seen.at(0), [2, 120, null, false]);
  for (const state of ["[2,90,null,false]", "[2,90,7,false]"]) {
    assertEquals(seen.some((one) => JSON.stringify(one) === state), true, state);
  }
  assertEquals(seen.at(-1), [2, 90, 7, true]);
  const calls = seen.length;
  stop();
  stop();
  assertEquals(seen.length, calls);
});

test("S2 a foreign session has no view, nor has one that is gone", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  assertEquals(bench.offstage.agent("stranger").session(id), undefined);
  assertEquals(bench.offstage.admin.session(id)?.scope, "tester");
  child.end(0);
  await settle();
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals(bench.agent.session(id), undefined);
});
