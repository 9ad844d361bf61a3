/**
 * When a host may be suspended, and when forgotten sessions end: cases 42 and 129, with real processes.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Offstage } from "../../mod.ts";
import {
  background,
  type Bench,
  eventually,
  kill,
  open,
  poll,
  pollToEnd,
  pollUntil,
  processesWith,
  repeat,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";
import { CONNECTIONS, posix, proc, terminal } from "./machine.ts";
import { closing, test } from "../closing.ts";

/** Whether whenIdle has come true, as it will say in a later turn. */
function waitIdle(offstage: Offstage): { readonly done: Promise<void>; readonly is: () => boolean } {
  let idle = false;
  return { done: offstage.whenIdle().then(() => void (idle = true)), is: () => idle };
}

function whysOf({ offstage }: Bench): readonly string[] {
  return offstage.blockers().map(({ why }) => why);
}

// S8 suspension

for (const { how, pty, skip } of CONNECTIONS) {
  test(`S8 on ${how} a host is idle once the last session and all its processes have ended`, { skip }, async () => {
    const bench = closing(open());
    const [first, second] = [uniqueSleep(), uniqueSleep()];
    const sessions = [
      await background(bench.agent, { command: `${first} & wait`, background: true, pty }),
      await background(bench.agent, { command: `${second} & wait`, background: true, pty }),
    ];
    const blockers = bench.offstage.blockers();
    assertEquals(blockers.map(({ sessionId }) => sessionId), sessions.map(({ id }) => id));
    assertEquals(blockers.map(({ pid }) => pid), sessions.map(({ details }) => details.pid));
    const idle = waitIdle(bench.offstage);
    for (const { id } of sessions) {
      assertEquals(idle.is(), false);
      await kill(bench.agent, id);
    }
    await idle.done;
    assertEquals([...processesWith(first), ...processesWith(second)], []);
    assertEquals(bench.offstage.prepareSuspend("one").status, "ready");
  });
}

test("S8 a removed session that ignores SIGTERM blocks until it has been killed [42]", { skip: proc }, async () => {
  const bench = closing(open({ killGraceMs: 1_000 }));
  const marker = uniqueSleep();
  const { id } = await background(bench.agent, { command: `trap '' TERM; echo up; ${marker}; ${marker}` });
  await pollUntil(bench.agent, id, "up");
  await bench.agent.process({ action: "remove", sessionId: id });
  assertEquals(whysOf(bench), ["ending"]);
  await bench.offstage.whenIdle();
  assertEquals(processesWith(marker), []);
});

test("S8 processes that a command has left behind block until they end", { skip: proc }, async () => {
  const bench = closing(open());
  const { details } = await runToEnd(bench.agent, { command: "sleep 3 >/dev/null 2>&1 & true" });
  assert(details.sessionId !== undefined);
  assertEquals(whysOf(bench), ["left-behind"]);
  await bench.offstage.whenIdle();
  assertEquals((await poll(bench.agent, details.sessionId)).survivors, []);
});

test("S8 while a lease is held no command starts; what it refused runs after resume", { skip: posix }, async () => {
  const bench = closing(open());
  const { status } = bench.offstage.prepareSuspend("nightly");
  const { text, details } = await bench.agent.exec({ command: "true" });
  assertEquals([status, "reason" in details && details.reason], ["ready", "refused"]);
  assertStringIncludes(text, '"nightly"');
  assertEquals(bench.offstage.resume("nightly"), true);
  assertEquals((await runToEnd(bench.agent, { command: "true" })).details.ok, true);
});

test("S8 asked at any moment of a start, the host is busy or the start is refused: never ready and then running", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { agent, offstage } = bench;
  await repeat(60, async (round) => {
    const call = agent.exec({ command: "sleep 60", background: true });
    for (let turn = 0; turn < round % 20; turn++) {
      await (turn % 2 === 0 ? Promise.resolve() : new Promise((next) => setTimeout(next, 0)));
    }
    const answer = offstage.prepareSuspend("race");
    const { details, text } = await call;
    const isRefused = details.status === "failed" && details.reason === "refused";
    assertEquals(isRefused, answer.status === "ready", `${answer.status} and then: ${text}`);
    offstage.resume("race");
    await agent.killAll();
  }, 1);
});

// C1 idleEndMs

for (const { how, pty, skip } of CONNECTIONS) {
  test(`C1 on ${how} a forgotten session is ended with its tree, however much it prints, and says why [129]`, {
    skip,
  }, async () => {
    const bench = closing(open({ idleEndMs: 1_000 }));
    const marker = uniqueSleep();
    const { id } = await background(bench.agent, {
      command: `${marker} & while :; do echo serving; sleep 0.1; done`,
      background: true,
      pty,
    });
    await bench.offstage.whenIdle();
    assertEquals(processesWith(marker), []);
    const { last, output } = await pollToEnd(bench.agent, id);
    assertStringIncludes(output, "serving");
    assertEquals([last.status, last.reason], ["killed", "killed"]);
    assertStringIncludes(last.text, "nobody had asked for it for 1 s (idleEndMs)");
  });
}

test("C1 a session that is polled lives longer than idleEndMs, to its own end", { skip: posix }, async () => {
  const bench = closing(open({ idleEndMs: 2_000 }));
  const { id } = await background(bench.agent, { command: "sleep 4; echo done", background: true });
  const end = await poll(bench.agent, id, { until: "exit", timeout: 30_000 });
  assertEquals([end.status, end.exitCode, end.output], ["completed", 0, "done\n"]);
});

// S7 and R3

test("S7 a session that timed out and was evicted is remembered as timed out", { skip: posix }, async () => {
  const bench = closing(open({ maxFinished: 1 }));
  const { id } = await background(bench.agent, { command: "sleep 60", timeout: 1, background: true });
  await poll(bench.agent, id, { until: "exit", timeout: 30_000 });
  const next = await background(bench.agent, { command: "true", background: true });
  await eventually(async () => (await poll(bench.agent, next.id)).status !== "running", "the next one ends");
  const { text, details } = await bench.agent.process({ action: "log", sessionId: id });
  assertEquals("departed" in details && details.departed?.reason, "timeout");
  assertMatch(text, /newer ones took its place .*It had ended .*timed out after 1 s, ended by SIGTERM/);
});

test("R3 a hundred forgotten shells stop at maxSessions, and the refusal names what to end [129]", {
  skip: proc || terminal,
}, async () => {
  const bench = closing(open({ maxSessions: 4 }));
  const refusals: string[] = [];
  for (let count = 0; count < 100; count++) {
    const { details, text } = await bench.agent.exec({ command: "bash --norc", pty: true, background: true });
    if (details.status !== "running") refusals.push(text);
  }
  assertEquals([refusals.length, bench.offstage.activeCount()], [96, 4]);
  await eventually(
    async () => {
      const { text } = await bench.agent.exec({ command: "true" });
      return text.split("\n").filter((line) => line.endsWith(", waiting for input")).length === 4;
    },
    "all four shells show their prompt",
  );
  await bench.agent.killAll();
  assertEquals((await runToEnd(bench.agent, { command: "true" })).details.ok, true);
});
