/**
 * What `process` takes, and what it says when it is given something else (spec section 6).
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import type { ProcessAction } from "../mod.ts";
import { act, answeredAfter, background, type Bench, open, refused } from "./fakes/bench.ts";

const ACTIONS: readonly ProcessAction[] = [
  "list",
  "poll",
  "log",
  "screen",
  "write",
  "send-keys",
  "submit",
  "paste",
  "resize",
  "kill",
  "clear",
  "remove",
];

/** What an action needs beside the session. */
const NEEDED: Readonly<Partial<Record<ProcessAction, object>>> = {
  "write": { data: "x" },
  "send-keys": { keys: ["Enter"] },
  "paste": { text: "x" },
  "resize": { cols: 80, rows: 24 },
};

const NUMBERS = ["soon", "", true, {}, [1], NaN];
const SWITCHES = ["yes", "true", 0, 1, {}, []];
const TEXTS = [5, true, {}, ["a"]];

/** Values that each key of each action must refuse. */
const WRONG: readonly (readonly [ProcessAction, string, readonly unknown[]])[] = [
  ["poll", "timeout", NUMBERS],
  ["poll", "until", [...TEXTS, "", "(", "idle:soon", "idle:", "port:0", "port:65536", "port:http"]],
  ["poll", "since", [...NUMBERS, -1, 1.5]],
  ["poll", "until", [{ pattern: "" }, { pattern: "(" }, { pattern: 5 }, { regex: "a" }]],
  ["screen", "until", [...TEXTS, "", "(", "idle:soon", "stable:", "stable:soon", "stable:-1", "stable:5s"]],
  ["screen", "timeout", NUMBERS],
  ["screen", "since", [...NUMBERS, -1, 1.5]],
  ["screen", "scrollback", [...NUMBERS, -1, 1.5]],
  ["log", "offset", [...NUMBERS, 1.5, Infinity]],
  ["log", "limit", [...NUMBERS, -5, 1.5]],
  ["log", "stream", [...TEXTS, "both", ""]],
  ["log", "grep", [...TEXTS, "", "[a"]],
  ["write", "data", TEXTS],
  ["write", "base64", [...TEXTS, "not base64!", "abc"]],
  ["write", "eof", SWITCHES],
  ["write", "sensitive", SWITCHES],
  ["send-keys", "keys", [5, true, {}, [5], [null]]],
  ["send-keys", "literal", TEXTS],
  ["send-keys", "hex", [5, true, {}, [5]]],
  ["send-keys", "delayMs", [...NUMBERS, -1, 5001]],
  ["send-keys", "sensitive", SWITCHES],
  ["paste", "text", [...TEXTS, ""]],
  ["paste", "bracketed", SWITCHES],
  ["paste", "sensitive", SWITCHES],
  ["resize", "cols", [...NUMBERS, 0, -1, 1001, 80.5]],
  ["resize", "rows", [...NUMBERS, 0, -1, 1001, 24.5]],
  ["kill", "signal", [...TEXTS.filter((each) => typeof each !== "number"), "", "SIGFOO", "SIGSEGV", "7", 0, 10]],
  ["kill", "wait", [...NUMBERS, -1]],
];

/** A session with output that has not been read. */
async function withOutput(): Promise<Bench & { readonly id: string }> {
  const bench = open();
  const { id, child } = await background(bench, { pty: true });
  child.print("precious\n");
  return { ...bench, id };
}

/** Nothing was consumed and nothing was done. */
async function assertUntouched({ agent, id, spawner }: Bench & { readonly id: string }): Promise<void> {
  const { output, status } = await act(agent, { action: "poll", sessionId: id });
  assertEquals([output, status], ["precious\n", "running"]);
  assertEquals([spawner.last.writes, spawner.last.signals, spawner.last.sizes], [[], [], []]);
}

for (const [action, key, values] of WRONG) {
  test(`R1 ${action}: a wrong ${key} is refused by name, nothing is done and nothing consumed`, async () => {
    const bench = await withOutput();
    for (const value of values) {
      const call = { action, sessionId: bench.id, ...NEEDED[action], [key]: value };
      const { reason, problems, text } = await refused(bench.agent, call);
      assertEquals(reason, "invalid", text);
      assertEquals(problems.filter((problem) => problem.key.split(".")[0] !== key), [], text);
      assertMatch(text, new RegExp(`^Nothing was done\\. ${key}`));
    }
    await assertUntouched(bench);
  });
}

for (const action of ACTIONS.filter((name) => name !== "list")) {
  test(`R1 ${action} needs a sessionId`, async () => {
    const { agent } = open();
    for (const sessionId of [undefined, null, "", "  ", 5, {}]) {
      const { reason, problems } = await refused(agent, { action, sessionId, ...NEEDED[action] });
      assertEquals([reason, problems.map(({ key }) => key)], ["invalid", ["sessionId"]]);
    }
  });

  test(`R1 ${action}: a key of another action is refused and said whose it is`, async () => {
    const bench = await withOutput();
    const [key, owner] = action === "resize" ? ["grep", "log"] : ["cols", "resize"];
    const { problems } = await refused(bench.agent, { action, sessionId: bench.id, ...NEEDED[action], [key]: 5 });
    assertStringIncludes(
      problems.map(({ message }) => message).join("; "),
      `not used by action "${action}", only by ${owner}`,
    );
    await assertUntouched(bench);
  });
}

for (const [action, needed] of Object.entries(NEEDED)) {
  test(`R1 ${action} without what it needs says so`, async () => {
    const bench = await withOutput();
    const { problems } = await refused(bench.agent, { action, sessionId: bench.id });
    assertEquals(problems.length, Object.keys(needed).length);
    for (const { key, message } of problems) assertMatch(`${key} ${message}`, /^(\w+) required by action/);
    await assertUntouched(bench);
  });
}

test("R1 a choice that there is not is refused with those there are", async () => {
  const bench = await withOutput();
  const { problems } = await refused(bench.agent, { action: "log", sessionId: bench.id, stream: "both" });
  assertEquals(problems, [{ key: "stream", message: 'expected "stdout" or "stderr" but received "both"' }]);
});

test("R1 a value of the wrong kind is told once, with an example of the right kind", async () => {
  const rows = [
    [{ action: "send-keys", keys: 5 }, 'keys: expected a list of keys, such as ["Up", "Enter"]'],
    [{ action: "send-keys", keys: [5] }, 'keys: expected a list of keys, such as ["Up", "Enter"]'],
    [{ action: "send-keys", hex: 5 }, 'hex: expected bytes in hex, such as "1b 5b 41"'],
    [
      { action: "poll", until: 5 },
      'until: expected "exit", "input", "idle:<ms>", "port:<1…65535>" or a regular expression, or { pattern }',
    ],
    [{ action: "submit", hex: 5 }, 'hex: not used by action "submit", only by send-keys'],
  ] as const;
  for (const [call, words] of rows) {
    assertEquals((await refused(open().agent, { sessionId: "x", ...call })).text, `Nothing was done. ${words}`);
  }
});

const MISSPELT = [
  ["poll", "timeoutMs", "timeout"],
  ["poll", "timeot", "timeout"],
  ["poll", "session_id", "sessionId"],
  ["poll", "id", "sessionId"],
  ["log", "lines", "limit"],
  ["log", "pattern", "grep"],
  ["send-keys", "key", "keys"],
  ["write", "input", "data"],
  ["kill", "signl", "signal"],
] as const;

for (const [action, wrong, right] of MISSPELT) {
  test(`R1 [20] ${action} with ${wrong} suggests ${right} and consumes nothing`, async () => {
    const bench = await withOutput();
    const { problems } = await refused(bench.agent, {
      action,
      sessionId: bench.id,
      ...NEEDED[action as ProcessAction],
      [wrong]: "x",
    });
    assertEquals(problems, [{ key: wrong, message: `unknown; did you mean "${right}"?` }]);
    await assertUntouched(bench);
  });
}

test("R1 an unknown action names the nearest and all there are; a missing one is required", async () => {
  const { agent } = open();
  const rows = [
    ["pol", 'did you mean "poll"?'],
    ["sendkeys", 'did you mean "send-keys"?'],
    [
      "LIST",
      'did you mean "list"?',
    ],
    ["qqqqqq", "unknown; known are"],
    [undefined, "required; known are"],
    [5, "unknown; known are"],
  ] as const;
  for (const [action, words] of rows) {
    const { text, problems } = await refused(agent, { action, sessionId: "x" });
    assertEquals(problems.map(({ key }) => key), ["action"]);
    assertStringIncludes(text, words);
    assertStringIncludes(text, ACTIONS.join(", "));
  }
});

test("R1 every problem of a call is told at once, that of the action too", async () => {
  const { agent } = open();
  const { problems } = await refused(agent, { action: "pol", timeout: "soon", sesionId: "x" });
  assertEquals(problems.map(({ key }) => key), ["action", "sesionId", "timeout"]);
});

test("R1 whatever comes instead of an object is refused, never thrown at", async () => {
  const { agent } = open();
  for (const input of [undefined, null, "poll", 5, [], true]) {
    assertEquals((await refused(agent, input)).reason, "invalid");
  }
});

test("R1 write takes data or base64, not both; eof alone is enough", async () => {
  const bench = await withOutput();
  const both = { action: "write", sessionId: bench.id, data: "x", base64: "eA==" };
  assertEquals((await refused(bench.agent, both)).problems.map(({ key }) => key), ["base64"]);
  await assertUntouched(bench);
  assertEquals((await act(bench.agent, { action: "write", sessionId: bench.id, eof: true })).eof, true);
});

test("P32 [109] an unknown key refuses the whole call with the nearest names", async () => {
  const bench = await withOutput();
  const { text } = await refused(bench.agent, { action: "send-keys", sessionId: bench.id, keys: ["a", "Entr"] });
  assertStringIncludes(text.toLowerCase(), "enter");
  await assertUntouched(bench);
});

test("R1 numbers may come as strings, null counts as absent, the id may have spaces around", async () => {
  const bench = await withOutput();
  const call = { action: "log", sessionId: ` ${bench.id}\n`, offset: "0", limit: "1", stream: null, grep: null };
  const { details } = await bench.agent.process(call as never);
  assertEquals("lines" in details && details.lines, [{ number: 0, text: "precious" }]);
  await assertUntouched(bench);
});

test("P11 poll clamps its timeout to 0…30000", async () => {
  for (const [timeout, waitsMs] of [[-5, 0], [1e12, 30_000], [Infinity, 30_000], ["50", 50]] as const) {
    const bench = open();
    const { id } = await background(bench);
    const pending = act(bench.agent, { action: "poll", sessionId: id, timeout: timeout as number });
    assertEquals(await answeredAfter(bench, pending), waitsMs);
  }
});

test("P40 kill takes a signal by any of its names and waits at most 30 s", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGUSR1"];
  for (const signal of ["SIGUSR1", "usr1", " USR1 "]) {
    const pending = act(bench.agent, { action: "kill", sessionId: id, signal: signal as "SIGUSR1", wait: 1e9 });
    await bench.clock.advance(30_000);
    assertEquals((await pending).confirmed, false);
  }
  assertEquals(child.signals, ["SIGUSR1 group", "SIGUSR1 group", "SIGUSR1 group"]);
});

test("P40 kill takes the numbers that mean the same signal everywhere", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.ignores = ["SIGHUP", "SIGINT"];
  for (const signal of [1, "2"]) {
    await act(bench.agent, { action: "kill", sessionId: id, signal: signal as unknown as "SIGHUP" });
  }
  assertEquals(child.signals, ["SIGHUP group", "SIGINT group"]);
});
