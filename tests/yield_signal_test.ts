/**
 * A caller that goes away sends its command to the background (spec R13).
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { act, open } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

test("R13 a yield signal in the foreground is answered `running` at once, and the command runs on", async () => {
  const bench = open();
  const gone = new AbortController();
  const answer = bench.agent.exec({ command: "make" }, { yieldSignal: gone.signal });
  await settle();
  gone.abort();
  await bench.clock.advance(0);
  const { details } = await answer;
  assertEquals(details.status, "running");
  const [child] = bench.spawner.children;
  assertEquals(child?.signals, []);
  child?.print("late\n");
  const { sessions } = await act(bench.agent, { action: "list" });
  assertEquals(sessions.map(({ tail }) => tail), ["late"]);
});

test("R13 a command that has ended when its caller goes away is told as ended", async () => {
  const bench = open();
  const gone = new AbortController();
  const answer = bench.agent.exec({ command: "make" }, { yieldSignal: gone.signal });
  await settle();
  bench.spawner.children[0]?.end(4);
  gone.abort();
  await bench.clock.advance(0);
  const { details } = await answer;
  assertEquals(details.status === "completed" && details.exitCode, 4);
});

test("E31 an agent that cannot call process is not left without the end by a yield signal", async () => {
  const bench = open({}, { processTool: false });
  const gone = new AbortController();
  const answer = bench.agent.exec({ command: "make" }, { yieldSignal: gone.signal });
  await settle();
  gone.abort();
  await bench.clock.advance(60_000);
  bench.spawner.children[0]?.end(0);
  assertEquals((await answer).details.status, "completed");
});

test("R1 a yield signal that is none is a problem that names it", async () => {
  const { details } = await open().agent.exec({ command: "true" }, { yieldSignal: {} as AbortSignal });
  assertEquals(details.status === "failed" && "problems" in details && details.problems.map(({ key }) => key), [
    "yieldSignal",
  ]);
});
