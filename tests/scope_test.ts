/**
 * Whose sessions are whose: a foreign session does not exist (spec S2).
 *
 * @module
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { act, answeredAfter, background, open, refused } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

const CALLS: readonly { readonly action: string }[] = [
  { action: "poll" },
  { action: "log" },
  { action: "write", ...{ data: "x" } },
  { action: "send-keys", ...{ keys: ["C-c"] } },
  { action: "submit" },
  { action: "paste", ...{ text: "x" } },
  { action: "resize", ...{ cols: 80, rows: 24 } },
  { action: "kill" },
  { action: "clear" },
  { action: "remove" },
];

for (const call of CALLS) {
  test(`S2 [127] ${call.action} on a foreign session is answered exactly like one on an unknown id`, async () => {
    for (const state of ["running", "ended", "gone"]) {
      const bench = open();
      const { id, child } = await background(bench, { pty: true });
      child.print("secret of another agent");
      if (state !== "running") child.end(0);
      await settle();
      if (state === "gone") await act(bench.agent, { action: "clear", sessionId: id });
      const stranger = bench.offstage.agent("stranger");
      const own = await background(bench, {}, stranger);
      const foreign = await refused(stranger, { ...call, sessionId: id });
      const unknown = await refused(stranger, { ...call, sessionId: "no-such-0000" });
      const asUnknown = JSON.parse(JSON.stringify(foreign).replaceAll(id, "no-such-0000"));
      assertEquals(asUnknown, { ...unknown });
      assertEquals([foreign.reason, foreign.known], ["unknown-session", [own.id]]);
      assertEquals([child.signals, child.writes, child.sizes], [[], [], []]);
    }
  });

  test(`[18] ${call.action} on an unknown id is answered at once and names the ids there are`, async () => {
    const bench = open();
    const { id } = await background(bench);
    const params = { ...call, sessionId: "nope", ...(call.action === "poll" && { timeout: 30_000, until: "exit" }) };
    const answer = refused(bench.agent, params);
    assertEquals(await answeredAfter(bench, answer), 0);
    const { text, known } = await answer;
    assertEquals([text, known], [`No session "nope": known are ${id}`, [id]]);
  });
}

test("[18] where there are no sessions the answer says that", async () => {
  assertEquals(
    (await refused(open().agent, { action: "poll", sessionId: "nope" })).text,
    'No session "nope": there are none',
  );
});

test("S2 list and killAll see and touch nothing of another scope", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  const stranger = bench.offstage.agent("stranger");
  assertEquals((await act(stranger, { action: "list" })).sessions, []);
  assertEquals(await stranger.killAll(), []);
  assertEquals([child.signals, (await act(bench.agent, { action: "list" })).sessions.length], [[], 1]);
  assertStringIncludes((await act(bench.agent, { action: "log", sessionId: id })).text, "running");
});

test("S2 agents of the same scope share their sessions", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  const twin = bench.offstage.agent("tester");
  child.print("for both");
  assertEquals((await act(twin, { action: "poll", sessionId: id })).output, "for both");
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).output, "");
});

test("S2 a scope that is named like something of the language is a scope like any other", async () => {
  const bench = open();
  for (const scope of ["__proto__", "constructor", " tester", "TESTER"]) {
    const agent = bench.offstage.agent(scope);
    assertEquals((await act(agent, { action: "list" })).sessions, []);
    const { id } = await background(bench, {}, agent);
    assertEquals((await act(agent, { action: "list" })).sessions.map(({ sessionId }) => sessionId), [id]);
    assertEquals((await refused(agent, { action: "poll", sessionId: "__proto__" })).reason, "unknown-session");
  }
});

test("S2 the limit of one scope's sessions, and twins, are not another's", async () => {
  const bench = open({ maxSessions: 1 });
  await background(bench);
  const { details } = await background(bench, {}, bench.offstage.agent("stranger"));
  assertEquals([details.status, details.twins], ["running", []]);
});
