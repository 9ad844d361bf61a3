/**
 * The admin view sees the sessions of every scope, and nobody else does (spec S2).
 *
 * @module
 */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { test } from "node:test";
import { type Agent, OffstageError, type SessionEvent } from "../mod.ts";
import { act, background, type Bench, open, refused } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

function agents(bench: Bench): readonly [Agent, Agent] {
  return [bench.offstage.agent("one"), bench.offstage.agent("two")];
}

test("S2 the admin's list has the sessions of every scope, each with its owner", async () => {
  const bench = open();
  const [one, two] = agents(bench);
  const first = await background(bench, {}, one);
  const second = await background(bench, {}, two);
  const { admin } = bench.offstage;
  const { sessions } = await act(admin, { action: "list" });
  assertEquals(sessions.map(({ sessionId, scope }) => [sessionId, scope]), [[second.id, "two"], [first.id, "one"]]);
  const { text } = await admin.process({ action: "list" });
  assertStringIncludes(text, "| of one |");
  assertEquals((await act(one, { action: "list" })).sessions.map(({ sessionId }) => sessionId), [first.id]);
});

test("S2 the admin reads, kills and removes what belongs to others", async () => {
  const bench = open();
  const [one] = agents(bench);
  const { id, child } = await background(bench, {}, one);
  const { admin } = bench.offstage;
  child.print("seen\n");
  assertEquals((await act(admin, { action: "log", sessionId: id })).lines.map(({ text }) => text), ["seen"]);
  await act(admin, { action: "kill", sessionId: id });
  assertEquals(child.signals.length > 0, true);
  child.end(0);
  await settle();
  await act(admin, { action: "clear", sessionId: id });
  assertEquals((await refused(admin, { action: "poll", sessionId: id })).reason, "gone");
  assertEquals((await refused(one, { action: "poll", sessionId: id })).reason, "gone");
});

test("S2 what the admin starts is seen by no agent", async () => {
  const bench = open();
  const [one] = agents(bench);
  const { id } = await background(bench, {}, bench.offstage.admin);
  assertEquals((await act(one, { action: "list" })).sessions, []);
  assertEquals((await refused(one, { action: "poll", sessionId: id })).reason, "unknown-session");
  assertEquals((await act(bench.offstage.admin, { action: "list" })).sessions.map(({ scope }) => scope), ["*"]);
});

test("S2 the admin hears the events of every scope, and may acknowledge them", async () => {
  const bench = open();
  const [one, two] = agents(bench);
  const { admin } = bench.offstage;
  const heard: SessionEvent[] = [];
  const stop = admin.events.subscribe((event) => heard.push(event));
  for (const agent of [one, two]) (await background(bench, {}, agent)).child.end(3);
  await settle();
  stop();
  assertEquals(heard.map(({ scope }) => scope), ["one", "two"]);
  assertEquals(admin.events.list().events.map(({ scope }) => scope), ["one", "two"]);
  assertEquals(admin.events.ack(...heard.map(({ id }) => id)), 2);
  assertEquals(one.events.list().events, []);
});

test("S9 the admin hears of what it started itself once, like everybody", async () => {
  const bench = open();
  const { admin } = bench.offstage;
  const heard: SessionEvent[] = [];
  admin.events.subscribe((event) => heard.push(event));
  (await background(bench, {}, admin)).child.end(3);
  await settle();
  assertEquals(heard.map(({ scope }) => scope), ["*"]);
});

test("P43 the admin's killAll ends the sessions of every scope", async () => {
  const bench = open();
  const children = [];
  for (const agent of agents(bench)) children.push((await background(bench, {}, agent)).child);
  const ends = bench.offstage.admin.killAll();
  await settle();
  for (const child of children) child.end(0);
  assertEquals((await ends).length, 2);
});

test("S2 no agent can be called what the admin is", () => {
  assertThrows(() => open().offstage.agent("*"), OffstageError, "offstage.admin");
});
