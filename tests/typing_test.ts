/**
 * Typing into terminals: pauses, long lines, secrets, and what is said when something is in the way (spec P31–P34).
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { AbortError, type ProcessParams, type WriteDetails } from "../mod.ts";
import { act, answeredAfter, background, type Bench, open, refused, type Running } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import fc from "./property.ts";

type Typing = "write" | "send-keys" | "submit" | "paste";
type Started = Bench & Running & {
  readonly type: (action: Typing, params?: Partial<ProcessParams>) => Promise<WriteDetails & { readonly text: string }>;
};

async function session(pty = true): Promise<Started> {
  const bench = open();
  const running = await background(bench, { pty });
  const type: Started["type"] = (action, params = {}) => act(bench.agent, { ...params, action, sessionId: running.id });
  return { ...bench, ...running, type };
}

// Lines that a terminal cuts

const LONG = "a".repeat(5_000);
const TYPED_LONG: readonly (readonly [Typing, Partial<ProcessParams>])[] = [
  ["write", { data: `${LONG}\r` }],
  ["paste", { text: `one\n${LONG}\n` }],
  ["paste", { text: LONG, bracketed: true }],
  ["send-keys", { literal: LONG, keys: ["Enter"] }],
  ["send-keys", { literal: "a".repeat(4_000), keys: Array.from({ length: 96 }, () => "b") }],
];

test("P31 [89] a line that the terminal would cut is not sent at all, whatever types it, and the answer says why", async () => {
  for (const [action, params] of TYPED_LONG) {
    const { agent, id, child, type } = await session();
    child.cooked = true;
    const { text, isError } = await agent.process({ ...params, action, sessionId: id });
    assertEquals(isError, true);
    for (const wanted of ["Nothing was sent", "4095", "pty: false"]) assertStringIncludes(text, wanted);
    const { accepted, refused: left, warnings } = await type(action, params);
    assertEquals([accepted, left >= 4_096, warnings.length, child.writes], [0, true, 1, []]);
    assertEquals((await type("write", { data: "a".repeat(4_095) })).warnings, []);
  }
});

test("P31 [89] the line that several writes make is not cut either, and C-u starts it afresh", async () => {
  const { type, child } = await session();
  child.cooked = true;
  for (const action of ["write", "paste", "send-keys"] as const) {
    const text = "a".repeat(1_365);
    const params = { "write": { data: text }, "paste": { text }, "send-keys": { literal: text } }[action];
    assertEquals((await type(action, params)).accepted, 1_365);
  }
  const before = child.writes.length;
  for (
    const [action, params] of [["write", { data: "b" }], ["paste", { text: "b" }], ["send-keys", {
      keys: ["b"],
    }]] as const
  ) {
    const { accepted, text } = await type(action, params);
    assertEquals(accepted, 0);
    assertMatch(text, /4096 bytes \(4095 were typed before; send-keys C-u/);
  }
  assertEquals(child.writes.length, before);
  await type("send-keys", { keys: ["C-u"] });
  assertEquals((await type("write", { data: "b\r" })).accepted, 2);
});

test("P31 [89] a terminal in raw mode takes a line of any length, without a word", async () => {
  for (const [action, params] of TYPED_LONG) {
    const started = await session();
    started.child.cooked = false;
    const pending = started.type(action, params);
    await answeredAfter(started, pending);
    const { warnings, refused: left, queued } = await pending;
    assertEquals([warnings, left, queued], [[], 0, 0]);
  }
});

test("P31 [89] where nobody can tell the mode the line is sent with a warning, unless the program edits lines itself", async () => {
  for (const asked of [false, true]) {
    const { type, child } = await session();
    if (asked) child.print("\x1b[?2004h");
    const { warnings, accepted } = await type("write", { data: LONG });
    assertEquals([accepted, warnings.length], [5_000, asked ? 0 : 1]);
    if (!asked) assertMatch((await type("paste", { text: "b" })).text, /5001 bytes.*4095/);
  }
});

test("P33 [89] submit warns of a line that may have been cut", async () => {
  const started = await session();
  const { type, child } = started;
  await type("write", { data: LONG });
  for (const [cooked, expected] of [[undefined, 1], [false, 0]] as const) {
    child.cooked = cooked;
    const pending = type("submit");
    await answeredAfter(started, pending);
    assertEquals((await pending).warnings.length, expected);
    await type("write", { data: LONG });
  }
});

test("P31 what is typed while a long line is asked about stays behind it", async () => {
  const { type, child } = await session();
  child.cooked = false;
  await Promise.all([
    type("write", { data: "a".repeat(4_096) }),
    type("write", { data: "b" }),
    type("paste", { text: "c" }),
    type("send-keys", { keys: ["d"] }),
  ]);
  assertEquals(child.writes.join(""), `${"a".repeat(4_096)}bcd`);
});

// Pauses

test("P32 [104] an Escape that ends one call is not read as Alt with the next, however soon that comes", async () => {
  for (const escape of [{ keys: ["Escape"] }, { keys: ["C-["] }, { hex: "1b" }, { literal: "\x1b" }]) {
    for (
      const [action, params] of [["send-keys", { keys: ["j"] }], ["paste", { text: "x" }], ["submit", {}]] as const
    ) {
      const started = await session();
      await started.type("send-keys", escape);
      assertEquals(await answeredAfter(started, started.type(action, params)), 150);
    }
  }
});

test("P32 [104] Escape is apart from the key after it, in one call and over two", async () => {
  const started = await session();
  const one = started.type("send-keys", { keys: ["Escape", "j", "k"] });
  assertEquals(await answeredAfter(started, one), 150);
  await started.type("send-keys", { keys: ["Escape"] });
  await started.clock.advance(60);
  assertEquals(await answeredAfter(started, started.type("send-keys", { keys: ["j"] })), 90);
  await started.type("send-keys", { keys: ["Escape"] });
  await started.clock.advance(200);
  await started.type("send-keys", { keys: ["j"] });
  assertEquals(started.child.writes, ["\x1b", "j", "k", "\x1b", "j", "\x1b", "j"]);
});

test("P32 [105] Enter is apart from the text before it, and nothing else waits", async () => {
  const started = await session();
  const pending = started.type("send-keys", { literal: "ls", keys: ["Enter", "Enter", "Up", "x"] });
  assertEquals(await answeredAfter(started, pending), 50);
  assertEquals(started.child.writes, ["ls", "\r", "\r", "\x1b[A", "x"]);
});

test("P32 pauses of more than 30 s in one call are refused before anything is sent", async () => {
  const { agent, id, child } = await session();
  for (const params of [{ keys: Array(8).fill("a"), delayMs: 5_000 }, { keys: Array(202).fill("Escape") }]) {
    const { problems, text } = await refused(agent, { action: "send-keys", sessionId: id, ...params });
    assertEquals(problems.map(({ key }) => key), ["delayMs"]);
    assertStringIncludes(text, "30 s");
  }
  assertEquals(child.writes, []);
  const started = await session();
  const longest = started.type("send-keys", { keys: Array(7).fill("a"), delayMs: 5_000 });
  assertEquals(await answeredAfter(started, longest), 30_000);
});

// Something is in the way

test("P15 P32 an abort between two keys leaves what was sent, and says how many that were", async () => {
  const { agent, id, child, clock } = await session();
  const controller = new AbortController();
  const call = { action: "send-keys", sessionId: id, literal: "x", keys: ["a", "b", "c"], delayMs: 100 } as const;
  const pending = agent.process(call, { signal: controller.signal });
  pending.catch(() => {});
  await clock.advance(150);
  controller.abort("enough");
  const error = await assertRejects(() => pending, AbortError);
  assertStringIncludes(error.message, "2 of 4 keys were sent");
  assertEquals([error.cause, child.writes], ["enough", ["x", "a"]]);
});

test("P15 P32 an abort while a key waits for its reader counts that key, which stays queued", async () => {
  const { agent, id, child } = await session();
  child.stdin = "leaves";
  const controller = new AbortController();
  const call = { action: "send-keys", sessionId: id, keys: ["a", "b"] } as const;
  const pending = agent.process(call, { signal: controller.signal });
  pending.catch(() => {});
  await settle();
  controller.abort();
  assertStringIncludes((await assertRejects(() => pending, AbortError)).message, "1 of 2 keys were sent");
});

test("P32 a program that does not read is not typed at any further, and the answer says how far it went", async () => {
  const started = await session();
  started.child.stdin = "leaves";
  const keys = Array.from({ length: 500 }, () => "a");
  const pending = started.agent.process({ action: "send-keys", sessionId: started.id, keys });
  assertEquals(await answeredAfter(started, pending), 2_000);
  const { details, text, isError } = await pending;
  assert("sent" in details && isError, text);
  assertEquals([details.sent, details.accepted, details.queued], [1, 1, 1]);
  assertStringIncludes(text, "1 of 500 keys were sent");
  started.child.stdin = "takes";
  assertEquals((await started.type("send-keys", { keys: ["b", "c"] })).sent, 2);
});

test("P31 P32 a program that closes its input in the middle is said to have taken so much", async () => {
  const started = await session();
  started.child.stdin = "leaves";
  const pending = started.agent.process({
    action: "write",
    sessionId: started.id,
    data: `${"x".repeat(4_094)}\n`.repeat(3),
  });
  await settle();
  started.child.take(1);
  await settle();
  started.child.stdin = "closed";
  const { details, text } = await pending;
  assert("taken" in details, text);
  assertEquals(details.taken, 4_095);
  assertStringIncludes(text, "stdin closed by the process after 4095 of 12285 bytes were handed over");

  const typed = await session();
  const keys = typed.agent.process({
    action: "send-keys",
    sessionId: typed.id,
    keys: ["q", "y", "Enter"],
    delayMs: 200,
  });
  await typed.clock.advance(100);
  typed.child.stdin = "closed";
  await typed.clock.advance(1_000);
  assertStringIncludes((await keys).text, "after 1 of 2 bytes were handed over; 1 of 3 keys were sent");
});

test("R16 P34 the answer to a program's question comes after a paste that is under way, not into it", async () => {
  const started = await session();
  const { child } = started;
  child.print("\x1b[?2004h");
  child.stdin = "leaves";
  const pending = started.type("paste", { text: "x".repeat(10_000) });
  await settle();
  child.print("\x1b[5n");
  child.stdin = "takes";
  await answeredAfter(started, pending);
  assertEquals(child.writes.join(""), `\x1b[200~${"x".repeat(10_000)}\x1b[201~\x1b[0n`);
});

// Secrets

const SECRET = "hunter2-correct-horse";

test("P31 [93] a secret is kept out of the log whatever types it, echoed in one piece or key by key", async () => {
  const ways: readonly (readonly [Typing, Partial<ProcessParams>])[] = [
    ["write", { data: `${SECRET}\r` }],
    ["write", { base64: btoa(SECRET) }],
    ["paste", { text: `${SECRET}\n` }],
    ["paste", { text: SECRET, bracketed: true }],
    ["send-keys", { literal: SECRET, keys: ["Enter"] }],
    ["send-keys", { keys: [...SECRET] }],
    ["send-keys", { hex: [...new TextEncoder().encode(SECRET)].map((byte) => byte.toString(16)) }],
    ["send-keys", { literal: SECRET.slice(0, 5), keys: [...SECRET.slice(5), "Up"] }],
  ];
  for (const [action, params] of ways) {
    for (const pty of [true, false]) {
      if (!pty && action === "send-keys") continue;
      const started = await session(pty);
      const pending = started.type(action, { ...params, sensitive: true });
      await answeredAfter(started, pending);
      const pieces = action === "paste" ? ["\x1b[7m", SECRET, "\x1b[27m\r\n"] : [...SECRET, "\r\n"];
      for (const piece of ["Password: ", ...pieces, "[A stays"]) started.child.print(piece);
      started.child.end(0);
      await settle();
      const { agent, id } = started;
      const shown = JSON.stringify([
        await pending,
        await act(agent, { action: "list" }),
        await act(agent, { action: "log", sessionId: id }),
        await act(agent, { action: "poll", sessionId: id }),
      ]);
      assert(!shown.includes("hunter2") && !shown.includes("horse"), shown);
      assertStringIncludes(shown, "[A stays");
    }
  }
});

test("P31 [93] a secret that is mistyped as a key is not repeated in the refusal", async () => {
  for (const pty of [true, false]) {
    const { agent, id, child } = await session(pty);
    for (const params of [{ keys: [SECRET] }, { keys: [`a"${SECRET}\\"`] }, { keys: ["Enter", SECRET], hex: SECRET }]) {
      const { text } = await refused(agent, { action: "send-keys", sessionId: id, sensitive: true, ...params });
      assert(!text.includes("hunter2"), text);
      assertStringIncludes(text, "What was given (sensitive)");
    }
    assertEquals([child.writes, child.signals], [[], []]);
  }
});

// Modes

test("P32 the keypad follows the program: ESC O until it has asked for digits, as xterm", async () => {
  const { type, child } = await session();
  for (const ask of ["", "\x1b=", "\x1b>", "\x1b[?66h", "\x1b[?1;66l"]) {
    child.print(ask);
    await type("send-keys", { keys: ["kp5"] });
  }
  assertEquals(child.writes, ["\x1bOu", "\x1bOu", "5", "\x1bOu", "5"]);
});

test("P32 any list of tokens is either typed whole, each as its own write, or refused with nothing sent", async () => {
  const token = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom("Up", "C-c", "M-x", "^d", "C-S-Left", "kp5", "F5", "Entr", "C-", "S-1", "é", "👨‍👩‍👧"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(token, { minLength: 1, maxLength: 6 }), async (keys) => {
      const started = await session();
      const pending = started.agent.process({ action: "send-keys", sessionId: started.id, keys });
      await answeredAfter(started, pending);
      const { details, isError } = await pending;
      assertEquals(started.child.writes.length, isError ? 0 : keys.length);
      if ("problems" in details) assert(details.problems.length > 0);
      else assertEquals(details.sent, keys.length);
    }),
    { numRuns: 60 },
  );
});
