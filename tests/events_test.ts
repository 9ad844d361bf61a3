/**
 * Exit events: the end of a background session is news once, whichever tells it first (spec S9, S10, R9, E28).
 *
 * @module
 */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import type { ExecConfig, ExecParams, SessionEvent, TreeProcess } from "../mod.ts";
import { createEventQueue } from "../src/session/event_queue.ts";
import { createEvents, type Events } from "../src/session/events.ts";
import type { Session } from "../src/session/session.ts";
import { waitFor } from "../src/session/wait.ts";
import { act, background, type Bench, type BenchOptions, ended, open, type Running, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

/** An instance whose host listens, with one session in the background. */
type Heard = Bench & Running & {
  /** What `onEvent` was given. */
  readonly heard: SessionEvent[];
  /** For whom a heartbeat was asked. */
  readonly beats: string[];
};

async function hear(
  exec: ExecConfig = {},
  params: Partial<ExecParams> = {},
  options: BenchOptions = {},
): Promise<Heard> {
  const heard: SessionEvent[] = [];
  const beats: string[] = [];
  const onEvent = (event: SessionEvent): void => void heard.push(event);
  const requestHeartbeat = (scope: string): void => void beats.push(scope);
  const bench = open(exec, { onEvent, requestHeartbeat, ...options });
  return { ...bench, ...await background(bench, params), heard, beats };
}

/** The same where nobody listens: events wait in the list. */
async function queue(exec: ExecConfig = {}, params: Partial<ExecParams> = {}): Promise<Bench & Running> {
  const bench = open(exec);
  return { ...bench, ...await background(bench, params) };
}

/** Ends a session and lets everything follow. */
async function end(child: Running["child"], how: Parameters<Running["child"]["end"]>[0] = 3): Promise<void> {
  child.end(how);
  await settle();
}

const READER: TreeProcess = { pid: 2001, name: "python3", inGroup: true, signal: () => "sent" };

test("S9 an end that an onlooker was told is still news for the agent", async () => {
  const { agent, child, id, offstage } = await queue();
  child.end(3);
  const looks = [
    agent.process({ action: "list" }, { onlooker: true }),
    agent.process({ action: "log", sessionId: id }, { onlooker: true }),
    offstage.admin.process({ action: "log", sessionId: id }, { onlooker: true }),
  ];
  await settle();
  for (const look of looks) assertEquals((await look).isError, false);
  await agent.process({ action: "log", sessionId: id }, { onlooker: true });
  await agent.process({ action: "list" }, { onlooker: true });
  assertEquals(agent.events.list().events.map(({ sessionId }) => sessionId), [id]);
});

test("S9 the end of a background session makes one event, then a heartbeat is asked for its scope", async () => {
  const order: string[] = [];
  const bench = open({}, {
    onEvent: ({ type }) => void order.push(type),
    requestHeartbeat: (scope) => void order.push(`heartbeat of ${scope}`),
  });
  const { id, child } = await background(bench, { command: "npm test --watch" });
  child.print("\x1b[31mone\x1b[0m\n2 failed\n\n");
  await bench.clock.advance(1_500);
  await end(child, 3);
  assertEquals(order, ["exit", "heartbeat of tester"]);
  assertEquals(bench.agent.events.list(), {
    events: [{
      type: "exit",
      id: `${id}.exit`,
      sessionId: id,
      scope: "tester",
      name: "npm test",
      status: "completed",
      ok: false,
      reason: "exit",
      exitCode: 3,
      signal: null,
      limit: null,
      durationMs: 1_500,
      snippet: "one\n2 failed",
      delivered: true,
    }],
    dropped: 0,
  });
});

test("S9 a snippet is at most 180 characters, and whole ones", async () => {
  const { child, heard } = await hear();
  child.print("🙂".repeat(500) + "\n".repeat(50));
  await end(child);
  assertEquals(heard.map((event) => "snippet" in event && event.snippet), ["🙂".repeat(180)]);
});

test("S9 a signal, a timeout and a limit of output are told as such", async () => {
  const one = await hear();
  await end(one.child, "SIGSEGV");
  const two = await hear({}, { timeout: 5 });
  await two.clock.advance(5_000);
  const three = await hear({}, { limits: { outputBytes: 10 } });
  three.child.print("more than ten\n");
  await three.clock.advance(5_000);
  const ends = [one, two, three].flatMap(({ heard }) => heard)
    .map((event) => event.type === "exit" && [event.reason, event.signal]);
  assertEquals(ends, [["signal", "SIGSEGV"], ["timeout", "SIGTERM"], ["killed", "SIGTERM"]]);
});

/* Who is not told */

test("S9 what ends in the foreground makes no event, also if its session is kept, and never did", async () => {
  const heard: SessionEvent[] = [];
  const bench = open({ maxResultChars: 1_000 }, { onEvent: (event) => void heard.push(event) });
  for (const text of ["short\n", "long\n".repeat(1_000)]) {
    const { answer, child } = await start(bench);
    child.print(text);
    child.end(1);
    const { details } = await ended(answer);
    if (details.sessionId === undefined) continue;
    const later = await act(bench.agent, { action: "poll", sessionId: details.sessionId });
    assertEquals([later.status, later.notified], ["completed", false]);
  }
  await bench.clock.advance(10_000);
  assertEquals([heard, bench.agent.events.list().events], [[], []]);
});

test("E28 who yields while it is being killed on request is not promised an event, one that timed out is", async () => {
  for (const [timeout, promised] of [[1_800, false], [0.5, true]] as const) {
    const bench = open({}, { onEvent: () => {} });
    const { answer, child } = await start(bench, { yieldMs: 1_000, timeout });
    child.ignores = ["SIGTERM"];
    await bench.clock.advance(800);
    const killed = promised ? undefined : bench.agent.killAll();
    await bench.clock.advance(200);
    assertEquals((await answer).text.includes("you will be told when it ends"), promised);
    await bench.clock.advance(10_000);
    await killed;
  }
});

test("S9 E30 an end at the instant of the yield is told by exec, or by the event, and not by both", async () => {
  for (const turns of [0, 1, 2, 3, 4, 5, 6, 8, 10, 15]) {
    const heard: SessionEvent[] = [];
    const bench = open({}, { onEvent: (event) => void heard.push(event) });
    const { answer, child } = await start(bench, { yieldMs: 1_000 });
    bench.clock.timer(1_000, () => void after(turns, () => child.end(3)));
    await bench.clock.advance(1_000);
    await settle();
    const { details } = await answer;
    assertEquals(heard.length, details.status === "running" ? 1 : 0, `after ${turns} turns`);
  }
});

test("S9 E29 whenever a command ends that is to run in the background: told by exec, or by the event", async () => {
  const told = new Set<string>();
  for (let turns = 0; turns < 60; turns++) {
    const heard: SessionEvent[] = [];
    const bench = open({}, { onEvent: (event) => void heard.push(event) });
    const answer = bench.agent.exec({ command: "make", background: true });
    await after(turns, () => bench.spawner.children[0]?.end(3));
    const { details } = await answer;
    bench.spawner.last.end(3);
    await settle();
    assertEquals(heard.length, details.status === "running" ? 1 : 0, `after ${turns} turns`);
    told.add(details.status);
  }
  assertEquals([...told].toSorted(), ["completed", "running"]);
});

/** Calls something after some turns of the microtask queue. */
async function after(turns: number, call: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
  call();
}

const ASKED: Readonly<Record<string, (bench: Heard) => Promise<unknown>>> = {
  "kill": ({ agent, id }) => agent.process({ action: "kill", sessionId: id }),
  "kill with wait": ({ agent, id }) => agent.process({ action: "kill", sessionId: id, wait: 1_000 }),
  "kill with a signal": ({ agent, id }) => agent.process({ action: "kill", sessionId: id, signal: "SIGINT" }),
  "a kill that it outwits": ({ agent, id, child }) => {
    child.onSignal = () => child.end(4);
    return agent.process({ action: "kill", sessionId: id });
  },
  "a kill of what it left behind": async ({ agent, id, child }) => {
    child.started.push({ pid: 5_001, name: "sleep", inGroup: true });
    child.exit(3);
    await settle();
    const answer = agent.process({ action: "kill", sessionId: id });
    child.closeOutput();
    return await answer;
  },
  "remove": ({ agent, id }) => agent.process({ action: "remove", sessionId: id }),
  "killAll": ({ agent }) => agent.killAll(),
  "close": ({ offstage }) => offstage.close(),
};

for (const [name, ask] of Object.entries(ASKED)) {
  test(`S9 an end that was asked for makes no event: ${name}`, async () => {
    const bench = await hear();
    bench.child.print("output\n");
    const asked = ask(bench);
    await bench.clock.advance(20_000);
    await asked;
    assertEquals([bench.heard, bench.beats], [[], []]);
  });
}

test("S9 a program that takes a requested signal as it likes and ends by itself later is news", async () => {
  const { agent, id, child, heard } = await hear();
  child.onSignal = () => {};
  await agent.process({ action: "kill", sessionId: id, signal: "SIGUSR1" });
  await end(child, 1);
  assertEquals(heard.length, 1);
});

test("S9 [132] a success without output makes an event only with notifyOnExitEmptySuccess", async () => {
  for (const output of ["", "\n\x1b[2J  \n"]) {
    for (const notifyOnExitEmptySuccess of [false, true]) {
      const { child, heard } = await hear({ notifyOnExitEmptySuccess });
      child.print(output);
      await end(child, 0);
      assertEquals(heard.length, notifyOnExitEmptySuccess ? 1 : 0);
    }
  }
  for (const [output, code] of [["done\n", 0], ["", 1], ["", null]] as const) {
    const { child, heard } = await hear();
    child.print(output);
    await end(child, code);
    assertEquals(heard.length, 1, `${output} ${code}`);
  }
});

test("S9 notifyOnExit is a setting, and a parameter of exec that beats it", async () => {
  for (const setting of [true, false]) {
    for (const given of [undefined, true, false]) {
      const { child, heard, beats, text } = await hear(
        { notifyOnExit: setting },
        given === undefined ? {} : { notifyOnExit: given },
      );
      await end(child);
      const expected = given ?? setting ? 1 : 0;
      assertEquals([heard.length, beats.length], [expected, expected]);
      assertEquals(text.includes("you will be told"), expected === 1);
    }
  }
});

test("E28 exec says that the agent will be told, of what, and only if somebody listens", async () => {
  const told = async (exec: ExecConfig, params: Partial<ExecParams> = {}): Promise<string> =>
    (await hear(exec, params)).text.split("\n").find((line) => line.includes("poll")) ?? "";
  const poll = (id: string): string =>
    `process { action: "poll", sessionId: "${id}", timeout: 30000 } waits for more output`;
  const id = (await hear()).id; // ids are the same in every run
  assertEquals(await told({}), `[you will be told when it ends, unless it succeeds without output; ${poll(id)}]`);
  assertEquals(await told({ notifyOnExitEmptySuccess: true }), `[you will be told when it ends; ${poll(id)}]`);
  assertEquals(
    await told({ notifyOnExitEmptySuccess: true }, { notifyOn: { pattern: "ready" } }),
    `[you will be told when a line matches notifyOn and when it ends; ${poll(id)}]`,
  );
  assertEquals(
    await told({ notifyOnExit: false }, { notifyOn: { pattern: "ready" } }),
    `[you will be told when a line matches notifyOn; ${poll(id)}]`,
  );
  assertEquals((await queue()).text.split("\n").at(-1), `[${poll(id)} or the end]`);
  const bench = open();
  bench.agent.events.subscribe(() => {});
  const pending = start(bench, { yieldMs: 10 });
  const { answer, child } = await pending;
  child.print("something\n");
  await bench.clock.advance(10);
  assertStringIncludes((await answer).text, "[you will be told when it ends; process");
});

/* The order of things */

/** What an answer told of the end: nothing, news, or what an event had told before. */
type Told = "running" | "news" | "old";

interface Row {
  readonly name: string;
  /** Ends the session and asks, in some order; gives what each answer told. */
  readonly run: (bench: Heard) => Promise<readonly Told[]>;
  readonly told: readonly Told[];
  /** Events in all. */
  readonly events: number;
}

async function ask(bench: Heard, timeout = 0, signal?: AbortSignal): Promise<Told> {
  const params = { action: "poll", sessionId: bench.id, timeout, ...(timeout > 0 && { until: "exit" }) } as const;
  const { status, notified, text } = await act(bench.agent, params, signal === undefined ? {} : { signal });
  assertEquals(text.includes("(an event has told so before)"), notified);
  return status === "running" ? "running" : notified ? "old" : "news";
}

const ROWS: readonly Row[] = [
  {
    name: "nobody asks",
    run: async ({ child }) => {
      await end(child);
      return [];
    },
    told: [],
    events: 1,
  },
  {
    name: "a poll asks before the end, and another one after the event",
    run: async (bench) => {
      const before = await ask(bench);
      await end(bench.child);
      return [before, await ask(bench), await ask(bench)];
    },
    told: ["running", "old", "old"],
    events: 1,
  },
  {
    name: "a poll waits",
    run: async (bench) => {
      const waiting = ask(bench, 1_000);
      await settle();
      await end(bench.child);
      return [await waiting, await ask(bench)];
    },
    told: ["news", "news"],
    events: 0,
  },
  {
    name: "three polls wait",
    run: async (bench) => {
      const waiting = [ask(bench, 1_000), ask(bench, 2_000), ask(bench, 3_000)];
      await settle();
      await end(bench.child);
      return await Promise.all(waiting);
    },
    told: ["news", "news", "news"],
    events: 0,
  },
  {
    name: "a poll that waits is aborted before the end is read",
    run: async (bench) => {
      const controller = new AbortController();
      const waiting = ask(bench, 1_000, controller.signal);
      await settle();
      bench.child.end(3);
      controller.abort();
      await assertRejects(() => waiting);
      await settle();
      return [await ask(bench)];
    },
    told: ["old"],
    events: 1,
  },
  {
    name: "of two polls that wait one is aborted",
    run: async (bench) => {
      const controller = new AbortController();
      const aborted = ask(bench, 1_000, controller.signal);
      const waiting = ask(bench, 1_000);
      await settle();
      bench.child.end(3);
      controller.abort();
      await assertRejects(() => aborted);
      return [await waiting];
    },
    told: ["news"],
    events: 0,
  },
  {
    name: "a poll that has seen it running asks the platform meanwhile, and tells no end",
    run: async (bench) => {
      let tell = (): void => {};
      bench.child.reader = new Promise((resolve) => (tell = () => resolve(undefined)));
      const asking = ask(bench);
      await bench.clock.advance(0);
      await end(bench.child);
      assertEquals(bench.heard, []); // it may still tell
      tell();
      const told = await asking;
      await settle();
      return [told];
    },
    told: ["running"],
    events: 1,
  },
  {
    name: "one poll waits and tells, another one has seen it running",
    run: async (bench) => {
      let tell = (): void => {};
      bench.child.reader = new Promise((resolve) => (tell = () => resolve(undefined)));
      const asking = ask(bench);
      await bench.clock.advance(0);
      const waiting = ask(bench, 1_000);
      await settle();
      await end(bench.child);
      tell();
      const told = [await asking, await waiting];
      await settle();
      return told;
    },
    told: ["running", "news"],
    events: 0,
  },
  {
    name: "a log reads the end",
    run: async (bench) => {
      const log = (): Promise<{ readonly status: string; readonly notified: boolean }> =>
        act(bench.agent, { action: "log", sessionId: bench.id });
      let tell = (): void => {};
      bench.child.reader = new Promise((resolve) => (tell = () => resolve(undefined)));
      const reading = log();
      await end(bench.child);
      tell();
      const { status, notified } = await reading;
      await settle();
      return [status === "running" ? "running" : notified ? "old" : "news"];
    },
    told: ["news"],
    events: 0,
  },
  {
    name: "a kill with a signal waits, and the program ends by itself",
    run: async (bench) => {
      bench.child.onSignal = () => {};
      const killing = act(bench.agent, { action: "kill", sessionId: bench.id, signal: "SIGUSR1", wait: 1_000 });
      await settle();
      await end(bench.child);
      return [(await killing).status === "running" ? "running" : "news"];
    },
    told: ["news"],
    events: 0,
  },
];

for (const { name, run, told, events } of ROWS) {
  test(`S9 R9 [131] the end is news once: ${name}`, async () => {
    const bench = await hear({}, {}, { host: { inspects: true } });
    bench.child.print("output\n");
    await bench.clock.advance(1_000);
    assertEquals(await run(bench), told);
    await bench.clock.advance(30_000);
    assertEquals([bench.heard.length, bench.beats.length], [events, events]);
  });
}

test("S9 R9 [131] whenever the end comes while a poll is asked or aborted, it is told exactly once", async () => {
  const turn = fc.nat({ max: 12 });
  await fc.assert(fc.asyncProperty(turn, turn, turn, fc.boolean(), async (asks, ends, aborts, isAborted) => {
    const bench = await hear();
    const controller = new AbortController();
    const told: Told[] = [];
    await Promise.all([
      after(asks, () => {
        ask(bench, 1_000, controller.signal).then((answer) => void told.push(answer), () => {});
      }),
      after(ends, () => bench.child.end(3)),
      after(aborts, () => isAborted && controller.abort()),
    ]);
    await bench.clock.advance(0);
    assertEquals(told.filter((how) => how === "news").length + bench.heard.length, 1);
  }));
});

const TELLERS = {
  poll: (bench: Bench & Running) => act(bench.agent, { action: "poll", sessionId: bench.id }),
  log: (bench: Bench & Running) => act(bench.agent, { action: "log", sessionId: bench.id }),
  list: (bench: Bench & Running) => act(bench.agent, { action: "list" }),
  kill: (bench: Bench & Running) => act(bench.agent, { action: "kill", sessionId: bench.id }),
  clear: (bench: Bench & Running) => act(bench.agent, { action: "clear", sessionId: bench.id }),
  remove: (bench: Bench & Running) => act(bench.agent, { action: "remove", sessionId: bench.id }),
  killAll: (bench: Bench & Running) => bench.agent.killAll(),
} as const;

for (const [name, tell] of Object.entries(TELLERS)) {
  test(`R9 an event that nobody has seen is withdrawn when ${name} tells the end`, async () => {
    const bench = await queue();
    await end(bench.child);
    const answer: object = await tell(bench);
    if ("notified" in answer) assertEquals(answer.notified, false);
    assertEquals(bench.agent.events.list(), { events: [], dropped: 0 });
  });

  test(`R9 an event that was listed stays until it is acknowledged, also when ${name} tells the end again`, async () => {
    const bench = await queue();
    await end(bench.child);
    assertEquals(bench.agent.events.list().events.map(({ delivered }) => delivered), [false]);
    const answer: object = await tell(bench);
    if ("notified" in answer) assertEquals(answer.notified, true);
    const { events } = bench.agent.events.list();
    assertEquals(events.map(({ delivered }) => delivered), [true]);
    assertEquals(bench.agent.events.ack(...events.map(({ id }) => id), "none-such"), 1);
    assertEquals(bench.agent.events.list().events, []);
  });
}

test("R9 a kill after the event says, as a poll does, that an event has told the end", async () => {
  const bench = await hear();
  await end(bench.child);
  const { details, text } = await bench.agent.process({ action: "kill", sessionId: bench.id });
  assertEquals(["notified" in details && details.notified, bench.heard.length], [true, 1]);
  assertStringIncludes(text, "(an event has told so before)");
});

/* The queue */

test("S10 [134] an event is kept until it is acknowledged: 20 a scope, the oldest go and are counted", async () => {
  const bench = open();
  const other = bench.offstage.agent("other");
  const ids: string[] = [];
  for (let round = 0; round < 25; round++) {
    const { id, child } = await background(bench);
    ids.push(`${id}.exit`);
    await end(child);
  }
  const { child } = await background(bench, {}, other);
  await end(child);
  const { events, dropped } = bench.agent.events.list();
  assertEquals([events.map(({ id }) => id), dropped], [ids.slice(5), 5]);
  assertEquals([other.events.list().events.length, other.events.list().dropped], [1, 0]);
  assertEquals(other.events.ack(...ids), 0);
  assertEquals(bench.agent.events.ack(...ids), 20);
  assertEquals(bench.agent.events.list(), { events: [], dropped: 5 });
});

/** Tells a match of a session of that scope. */
function tellMatch(events: Events, scope: string): void {
  const session = { id: "amber", name: "make", facts: { scope } } as Session;
  events.matchesOf(session, "x").tell({ line: "x", lineNumber: 0, matched: 1, untold: 0, skippedLines: 0 });
}

test("S10 the events of 1000 scopes are kept: of one more, those of the scope that had the last one longest ago go", () => {
  const { settings } = open().offstage;
  const events = createEvents({ settings, waitFor });
  for (let index = 0; index < 1_000; index++) tellMatch(events, `scope ${index}`);
  tellMatch(events, "scope 0");
  tellMatch(events, "one more");
  const kept = ["scope 0", "scope 1", "scope 2", "one more"].map((scope) => events.of(scope).list().events.length);
  assertEquals(kept, [2, 0, 1, 1]);
});

test("S10 R9 an event that is acknowledged unlisted has told the end", async () => {
  const { agent, id, child } = await queue();
  await end(child);
  assertEquals(agent.events.ack(`${id}.exit`), 1);
  assertEquals((await act(agent, { action: "poll", sessionId: id })).notified, true);
});

test("S10 a queue keeps order and bound and counts what goes, whatever is pushed, withdrawn and acknowledged", () => {
  const step = fc.oneof(
    fc.constant("push" as const),
    fc.record({ withdraw: fc.nat() }),
    fc.record({ ack: fc.array(fc.nat({ max: 40 })) }),
  );
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (steps, limit) => {
    const events = createEventQueue(limit);
    let model: string[] = [];
    let gone = 0;
    let pushed = 0;
    for (const step of steps) {
      if (step === "push") {
        const id = String(pushed++);
        events.push({ id } as SessionEvent);
        model.push(id);
        gone += Math.max(0, model.length - limit);
        model = model.slice(-limit);
      } else if ("withdraw" in step) {
        const entry = events.entries()[step.withdraw % limit];
        if (entry !== undefined) entry.state = "withdrawn";
        model = model.filter((id) => id !== entry?.event.id);
      } else {
        const ids = step.ack.map(String);
        assertEquals(events.ack(ids), model.filter((id) => ids.includes(id)).length);
        model = model.filter((id) => !ids.includes(id));
      }
      assertEquals([events.entries().map(({ event }) => event.id), events.dropped], [model, gone]);
    }
  }));
});

test("R9 subscribers of a scope get its events from now on, each until it leaves", async () => {
  const bench = open();
  const got: string[] = [];
  const note = (who: string) => (event: SessionEvent): void => void got.push(`${who} ${event.sessionId}`);
  const leave = bench.agent.events.subscribe(note("one"));
  bench.offstage.agent("tester").events.subscribe(note("two"));
  bench.offstage.agent("other").events.subscribe(note("other"));
  const first = await background(bench);
  await end(first.child);
  leave();
  leave();
  const second = await background(bench);
  await end(second.child);
  assertEquals(got, [`one ${first.id}`, `two ${first.id}`, `two ${second.id}`]);
  assertEquals((await act(bench.agent, { action: "poll", sessionId: first.id })).notified, true);
});

test("E28 once the last subscriber has left nothing is promised; who leaves twice takes nobody else out", async () => {
  const bench = open();
  const isPromised = async (): Promise<boolean> => (await background(bench)).text.includes("you will be told");
  const leave = bench.agent.events.subscribe(() => {});
  assertEquals(await isPromised(), true);
  leave();
  assertEquals(await isPromised(), false);
  bench.agent.events.subscribe(() => {});
  leave();
  assertEquals(await isPromised(), true);
});

test("R9 a receiver that throws or rejects breaks nothing, and others get the event", async () => {
  const fault = (): never => {
    throw new Error("broken receiver");
  };
  const bench = open({}, { onEvent: fault, requestHeartbeat: fault });
  const got: string[] = [];
  bench.agent.events.subscribe(() => Promise.reject(new Error("broken")) as never);
  const leave = bench.agent.events.subscribe(({ id }) => void got.push(id));
  const { id, child } = await background(bench);
  await end(child);
  assertEquals(got, [`${id}.exit`]);
  leave();
});

test("R9 an event that every receiver threw away has not been told: it waits, and a poll withdraws it", async () => {
  const bench = open({}, {
    onEvent: () => {
      throw new Error("broken receiver");
    },
  });
  const { id, child } = await background(bench);
  await end(child);
  assertEquals((await act(bench.agent, { action: "poll", sessionId: id })).notified, false);
  assertEquals(bench.agent.events.list().events, []);
});

test("S9 E34 a command that cannot be ended is news once it is given up, and none when it ends after all", async () => {
  const bench = await hear({ timeoutSeconds: 10, cleanupMs: 60_000 }, {}, { host: { inspects: true } });
  const { id, child, heard, clock } = bench;
  child.ignores = ["SIGTERM", "SIGKILL"];
  await clock.advance(20_000); // the timeout, and 9 s of the ladder
  assertEquals(heard.map((event) => [event.type, "reason" in event && event.reason]), [["exit", "timeout"]]);
  await clock.advance(120_000);
  const [kept] = (await act(bench.agent, { action: "list" })).sessions;
  assertEquals([kept?.sessionId, kept?.survivors.length], [id, 1]); // longer than its time to live: it lives
  child.end(3);
  await settle();
  assertEquals([heard.length, bench.machine.shutdownHooks.size], [1, 0]);
  await clock.advance(60_000);
  assertEquals((await act(bench.agent, { action: "list" })).sessions, []);
});

test("S9 an event comes also if its session was evicted at its end", async () => {
  const bench = await hear({ maxFinished: 1 });
  const { id: second, child } = await background(bench);
  bench.child.end(1);
  child.end(1);
  await settle();
  assertEquals(bench.heard.map(({ sessionId }) => sessionId), [bench.id, second]);
});

test("S9 a closed instance tells nothing and forgets its events", async () => {
  const bench = await queue();
  await end(bench.child);
  await bench.offstage.close();
  assertEquals(bench.agent.events.list(), { events: [], dropped: 0 });
});

test("S9 a closed instance tells no match any more", () => {
  const heard: SessionEvent[] = [];
  const { settings } = open().offstage;
  const events = createEvents({ settings, waitFor, onEvent: (event) => void heard.push(event) });
  tellMatch(events, "tester");
  events.close();
  tellMatch(events, "tester");
  assertEquals(heard.length, 1);
});

test("S9 a program that waits for input is none the wiser: its end is told like any other", async () => {
  const bench = await hear({}, {}, { host: { inspects: true } });
  bench.child.reader = READER;
  assertEquals(await ask(bench), "running");
  await end(bench.child);
  assertEquals(bench.heard.length, 1);
});
