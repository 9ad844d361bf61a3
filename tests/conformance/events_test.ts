/**
 * Events of real processes: the end is news once whoever asks at that moment, and matches are found in what is printed
 * (spec S9, R9; cases 131, 135).
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { setImmediate as turn } from "node:timers/promises";
import { createOffstage } from "../../adapters/auto.ts";
import type { ExecConfig, ProcessParams, SessionEvent } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { background, type Bench, eventually, kill, log, poll, repeat, runToEnd } from "./agent.ts";
import { posix, terminal } from "./machine.ts";

type Heard = Bench & {
  /** Every event, by session. */
  readonly heard: Map<string, SessionEvent[]>;
};

/** An instance whose host listens. */
function listen(exec: ExecConfig = {}): Heard {
  const heard: Heard["heard"] = new Map();
  const onEvent = (event: SessionEvent): void =>
    void heard.set(event.sessionId, [...(heard.get(event.sessionId) ?? []), event]);
  const offstage = createOffstage({ tools: { exec }, onEvent });
  return closing({ offstage, agent: offstage.agent("tester"), heard, [Symbol.asyncDispose]: () => offstage.close() });
}

/** Starts a command in the background that is watched, and lets it begin once `exec` has answered. */
async function watched({ agent }: Bench, command: string, pattern: string, pty = false): Promise<string> {
  const { id } = await background(agent, {
    command: `read line; ${command}`,
    notifyOn: { pattern },
    background: true,
    pty,
  });
  await agent.process({ action: "write", sessionId: id, data: "\n" });
  return id;
}

/** Waits for the event of a session; the first one there is. */
async function eventOf({ heard }: Heard, id: string): Promise<SessionEvent> {
  await eventually(() => heard.has(id), `an event of ${id}`);
  return heard.get(id)?.[0] as SessionEvent;
}

test(
  "S9 the end of a command that has gone to the background is told with what it said last",
  { skip: posix },
  async () => {
    const bench = listen();
    const { id, text } = await background(bench.agent, {
      command: "read line; echo working; echo failed >&2; exit 3",
      background: true,
    });
    assertStringIncludes(text, "[you will be told when it ends");
    await bench.agent.process({ action: "write", sessionId: id, data: "\n" });
    const event = await eventOf(bench, id);
    assert(event.type === "exit");
    const { status, reason, exitCode, signal, snippet } = event;
    assertEquals([status, reason, exitCode, signal], ["completed", "exit", 3, null]);
    assertEquals(snippet.split("\n").toSorted(), ["failed", "working"]);
    const later = await poll(bench.agent, id);
    assertEquals([later.exitCode, later.notified], [3, true]);
    assertStringIncludes(later.text, "[completed: exit code 3 (an event has told so before)]");
    assertEquals((await log(bench.agent, id)).notified, true);
  },
);

/** Lets the host take some turns. */
async function pause(turns: number): Promise<void> {
  for (let left = turns; left > 0; left--) await turn();
}

/** What may be asked of a session at the moment of its end. */
const QUESTIONS: readonly Omit<ProcessParams, "sessionId">[] = [
  { action: "poll" },
  { action: "poll", timeout: 30_000, until: "exit" },
  { action: "log" },
  { action: "list" },
  { action: "kill", signal: "SIGCONT" },
  { action: "kill", signal: "SIGCONT", wait: 10_000 },
];

/** Commands that are let end while one to three questions are asked. */
const ROUNDS = 500;

test(
  "S9 R9 [131] whoever asks when it ends: the end is told by answers or by an event, once",
  { skip: posix },
  async () => {
    const bench = listen({ killGraceMs: 500 });
    const { offstage, heard } = bench;
    const told = new Map<string, boolean>();
    await repeat(ROUNDS, async (round) => {
      const agent = offstage.agent(`racer ${round}`); // a list tells all ends of its scope
      const { id } = await background(agent, { command: "read line; exit 3", background: true });
      const controller = new AbortController();
      /** Whether the answer was the first to tell the end. */
      const ask = async (question: Omit<ProcessParams, "sessionId">): Promise<boolean> => {
        await pause((round * 7) % 11);
        const params = { ...question, ...(question.action !== "list" && { sessionId: id }) } as ProcessParams;
        const { details } = await agent.process(params, { signal: controller.signal });
        const entry = "sessions" in details ? details.sessions.find(({ sessionId }) => sessionId === id) : details;
        const isOver = entry !== undefined && "exitCode" in entry && entry.exitCode === 3;
        const notified = "notified" in details ? details.notified : heard.has(id);
        if ("notified" in details && isOver) assertEquals(notified, heard.has(id));
        return isOver && !notified;
      };
      const questions = [0, 5, 10].slice(round % 3).flatMap((shift) => {
        return QUESTIONS.slice((round + shift) % QUESTIONS.length).slice(0, 1);
      });
      const [answers] = await Promise.all([
        Promise.allSettled(questions.map(ask)),
        pause(round % 5).then(() => agent.process({ action: "write", sessionId: id, data: "\n" })),
        ...(round % 4 === 0 ? [pause(round % 13).then(() => controller.abort())] : []),
      ]);
      for (const answer of answers) {
        if (answer.status === "rejected") assertEquals((answer.reason as Error).name, "AbortError");
      }
      const isTold = answers.some((answer) => answer.status === "fulfilled" && answer.value);
      told.set(id, isTold);
      if (!isTold) await eventOf(bench, id);
    });
    // Everything has ended that was started: an event too many would be there by now, or come in these turns
    await pause(100);
    for (const [id, isTold] of told) assertEquals(heard.get(id)?.length ?? 0, isTold ? 0 : 1, id);
    assertEquals(told.size, ROUNDS);
    assert(new Set(told.values()).size === 2, "the races went one way only");
  },
);

test("[135] a line in two pieces is matched once it is whole, on pipes", { skip: posix }, async () => {
  const bench = listen();
  const command = "echo starting; printf 'listening '; sleep 0.2; echo on 80; cat";
  const id = await watched(bench, command, "^listening on \\d+$");
  const event = await eventOf(bench, id);
  assert(event.type === "match");
  assertEquals([event.line, event.lineNumber], ["listening on 80", 1]);
});

test("[135] and on a terminal, as the line is after its redraws", { skip: terminal }, async () => {
  const bench = listen();
  const id = await watched(bench, "printf '50 %%\\r'; sleep 0.2; printf '100 %% done\\n'; cat", "done$", true);
  const event = await eventOf(bench, id);
  assert(event.type === "match");
  assertEquals([event.line, event.lineNumber], ["100 % done", 1]); // line 0 is the echo of the line it has read
});

test("[135] a fast printer makes one event, and the host goes on with its work", { skip: posix }, async () => {
  const bench = listen();
  const { agent, heard, offstage } = bench;
  const id = await watched(bench, "while :; do echo tick; done", "tick");
  const event = await eventOf(bench, id);
  assert(event.type === "match");
  await eventually(() => {
    const [queued] = agent.events.list().events;
    return queued?.type === "match" && queued.matched + queued.skippedLines > 10_000;
  }, "thousands of matches are counted");
  assertEquals((await runToEnd(agent, { command: "echo still here" })).details.output, "still here\n");
  const { confirmed } = await kill(agent, id);
  assertEquals([confirmed, heard.get(id)?.length, offstage.agent("other").events.list().events.length], [true, 1, 0]);
});

test("S9 killAll and close make no events of what they end", { skip: posix }, async () => {
  const { agent, offstage, heard } = listen({ killGraceMs: 500 });
  for (let count = 0; count < 5; count++) await background(agent, { command: "echo started; cat", background: true });
  assertEquals((await agent.killAll()).length, 5);
  for (let count = 0; count < 5; count++) await background(agent, { command: "echo started; cat", background: true });
  await offstage.close();
  assertEquals(heard.size, 0);
});
