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
  const left: number[] = [];
  const leave = view.watch(() => left.push(view.end));
  child.print("ab");
  leave();
  leave();
  await act(bench.agent, { action: "resize", sessionId: id, cols: 90, rows: 20 });
  assertEquals(seen.at(-1), [2, 90, null, false]);
  child.end(7);
  await settle();
  await act(bench.agent, { action: "clear", sessionId: id });
  assertEquals(seen.at(0), [2, 120, null, false]);
  for (const state of ["[2,90,null,false]", "[2,90,7,false]"]) {
    assertEquals(seen.some((one) => JSON.stringify(one) === state), true, state);
  }
  assertEquals(seen.at(-1), [2, 90, 7, true]);
  assertEquals(left, [2]);
  stop();
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

test("the end of the output is given rendered, from the start of a line", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.print("one\ntw\x1b[31mo\x1b[0m\nthree");
  const view = bench.agent.session(id) as SessionView;
  assertEquals([view.tail(1_000), view.tail(9), view.tail(6)], ["one\ntwo\nthree", "two\nthree", "three"]);
});

test("S2 an agent's sessions are its own, newest first, and looking at them makes no end old news", async () => {
  const bench = open();
  const first = await background(bench);
  const second = await background(bench);
  await background(bench, {}, bench.offstage.agent("other"));
  first.child.end(3);
  await settle();
  const { agent } = bench;
  const seen = agent.sessions().map(({ sessionId, outcome }) => [sessionId, outcome?.exitCode]);
  assertEquals(seen, [[second.id, undefined], [first.id, 3]]);
  assertEquals(bench.offstage.admin.sessions().length, 3);
  assertEquals(agent.events.list().events.map(({ sessionId }) => sessionId), [first.id]);
});

test("who watches an agent's sessions is called when one is new, has ended, is hidden or gone, and for no others", async () => {
  const bench = open();
  const { agent } = bench;
  const seen: number[] = [];
  let all = 0;
  const stop = agent.watchSessions(() => seen.push(agent.sessions().length));
  const stopAll = bench.offstage.admin.watchSessions(() => all += 1);
  const first = await background(bench);
  const second = await background(bench);
  first.child.print("output is no change of the list\n");
  await background(bench, {}, bench.offstage.agent("other"));
  assertEquals([seen, all], [[1, 2], 3]);
  first.child.end(0);
  await settle();
  assertEquals(seen, [1, 2, 2]);
  await act(agent, { action: "clear", sessionId: first.id });
  await act(agent, { action: "remove", sessionId: second.id }); // it runs: hidden at once, gone when it has ended
  assertEquals(seen, [1, 2, 2, 1, 0]);
  stop();
  stop();
  stopAll();
  await background(bench);
  assertEquals([seen.length, all], [5, 6]);
});

test("P35 a view has the sizes of its terminal, each with the place in the output from which on it holds", async () => {
  const bench = open();
  const { id, child } = await background(bench, { pty: true, cols: 80, rows: 24 });
  const view = bench.agent.session(id) as SessionView;
  child.print("ab");
  await act(bench.agent, { action: "resize", sessionId: id, cols: 90, rows: 20 });
  assertEquals(view.sizes, [{ at: 0, cols: 80, rows: 24 }, { at: 2, cols: 90, rows: 20 }]);
});

test("C1 a session is in use until its last watcher has left, however often the others leave", async () => {
  const bench = open({ idleEndMs: 5_000, timeoutSeconds: 0 });
  const { id, child } = await background(bench);
  const view = bench.agent.session(id) as SessionView;
  const [leave, leaveLast] = [view.watch(() => {}), view.watch(() => {})];
  leave();
  leave();
  await bench.clock.advance(20_000);
  assertEquals(child.signals, []);
  leaveLast();
  await bench.clock.advance(4_999);
  assertEquals(child.signals, []);
  await bench.clock.advance(1);
  assertEquals(child.signals[0], "SIGTERM group");
});
