/**
 * The two tools through MCP, with real clients.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { after, test } from "node:test";
import { VERSION } from "../../adapters/version.ts";
import { eventually } from "./agent.ts";
import { CLIENTS, type Progress, type TestClient } from "./mcp_clients.ts";
import { posix, terminal } from "./machine.ts";

for (const kind of CLIENTS) {
  // One server for all of a client's tests: to start a process for each would take a loaded machine minutes.
  let connecting: Promise<TestClient> | undefined;
  const connect = (): Promise<TestClient> => connecting ??= kind.connect(["--read-only-tool"]);
  after(async () => await (await connecting)?.close());

  test(`${kind.name}: the tools are listed with annotations, and exec answers text and details`, {
    skip: posix,
  }, async () => {
    const client = await connect();
    const hints = client.tools.map(({ name, annotations }) => [name, annotations]);
    const changes = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };
    assertEquals<unknown>(hints.slice(0, 2), [["exec", changes], ["process", changes]]);
    if (kind.transport === "stdio") assertEquals(client.tools[2]?.name, "process_read");
    for (const { inputSchema } of client.tools) assertEquals((inputSchema as { type?: unknown }).type, "object");
    assertEquals(client.serverVersion, VERSION);
    assertStringIncludes(client.instructions ?? "", "sessionId");

    const answer = await client.call("exec", { command: "echo out; echo err >&2; exit 3" });
    assertEquals([answer.isError, answer.details["status"], answer.details["exitCode"]], [false, "completed", 3]);
    assertMatch(answer.text, /out\nerr\n\[exit code 3\]/);
    assertEquals(answer.details["output"], "out\nerr\n");
  });

  test(`${kind.name}: [20] what is wrong with a call is told with the right name, and is no crash`, {
    skip: posix,
  }, async () => {
    const client = await connect();
    const misspelt = await client.call("exec", { cmd: "ls", yield_ms: 1 });
    assertEquals([misspelt.isError, misspelt.details["reason"]], [true, "invalid"]);
    assertMatch(misspelt.text, /cmd: unknown; did you mean "command"\?.*yield_ms: unknown; did you mean "yieldMs"\?/);
    const wrong = await client.call("process", { action: "poll", sessionId: "x", timeoutMs: 5_000 });
    assertMatch(wrong.text, /timeoutMs: unknown; did you mean "timeout"\?/);
    assertEquals((await client.call("exec", { command: 7, env: ["A=1"], timeout: {} })).isError, true);
    assertEquals((await client.call("exec", {})).isError, true);
    assertEquals((await client.call("process", { action: "jump" })).isError, true);
    await assertRejects(() => client.call("run", { command: "ls" }), Error, "run");
    assertEquals((await client.call("exec", { command: "echo fine" })).text, "fine");
  });

  test(`${kind.name}: [18] an unknown session is told at once by every action`, { skip: posix }, async () => {
    const client = await connect();
    const id = await client.background({ command: "sleep 60" });
    const calls = [
      { action: "poll", timeout: 30_000 },
      { action: "log" },
      { action: "screen", timeout: 30_000 },
      { action: "write", data: "x" },
      { action: "send-keys", keys: ["C-c"] },
      { action: "submit" },
      { action: "paste", text: "x" },
      { action: "resize", cols: 80, rows: 24 },
      { action: "kill", wait: 30_000 },
      { action: "clear" },
      { action: "remove" },
    ];
    for (const call of calls) {
      const { isError, details, text } = await client.call("process", { ...call, sessionId: "nope" });
      assertEquals([isError, details["reason"]], [true, "unknown-session"], call.action);
      assertStringIncludes(text, id);
    }
  });

  test(`${kind.name}: [19] a finished session tells its output, its code and its log after the end`, {
    skip: posix,
  }, async () => {
    const client = await connect();
    const id = await client.background({ command: "echo hi; exit 4", background: true });
    const process = (params: object) => client.call("process", { sessionId: id, ...params });
    const first = await process({ action: "poll", until: "exit", timeout: 30_000 });
    assertEquals([first.details["output"], first.details["exitCode"]], ["hi\n", 4]);
    for (let again = 0; again < 2; again++) {
      const { details } = await process({ action: "poll" });
      assertEquals([details["output"], details["status"], details["exitCode"]], ["", "completed", 4]);
    }
    assertStringIncludes((await process({ action: "log" })).text, "hi\n");
    assertEquals((await process({ action: "clear" })).isError, false);
  });

  test(`${kind.name}: [23] a poll of endless output is bounded, and says what it left out`, {
    skip: posix,
  }, async () => {
    const client = await connect();
    const sessionId = await client.background({ command: "yes prompt-error", yieldMs: 1_000 });
    const { text, details } = await client.call("process", { action: "poll", sessionId });
    assert(text.length < 40_000, `${text.length} characters`);
    assertEquals([details["truncated"], typeof details["logOffset"]], [true, "number"]);
    assert(Number(details["dropped"]) > 0);
  });

  test(`${kind.name}: [24] [25] [26] [28] pages of a log are lines, past its end there are none`, {
    skip: posix,
  }, async () => {
    const client = await connect();
    const sessionId = await client.background({ command: "printf 'one\\ntwo\\nthree\\n'; sleep 60" });
    const page = async (params: object): Promise<readonly unknown[]> => {
      const { details } = await client.call("process", { action: "log", sessionId, ...params });
      const lines = details["lines"] as readonly { readonly text: string }[];
      return [...lines.map(({ text }) => text), details["total"], details["olderOffset"]];
    };
    await eventually(async () => (await page({})).length >= 5, "the three lines");
    for (const params of [{ offset: 99 }, { offset: 3 }, { offset: 3, limit: 1 }, { offset: 0, limit: 0 }]) {
      assertEquals((await page(params)).length, 2, JSON.stringify(params));
    }
    assertEquals((await page({ limit: 2 })).filter((part) => typeof part === "string"), ["two", "three"]);
    assertEquals((await page({ limit: 2 })).at(-1), 0); // older lines begin there
    assertEquals((await page({ offset: "1", limit: 1 }))[0], "two");
    assertEquals((await page({ offset: -1 }))[0], "three");
    assertEquals((await page({ limit: 1e9 })).length, 5);
    for (const params of [{ limit: -5 }, { limit: "many" }, { offset: 0.5 }]) {
      const { isError } = await client.call("process", { action: "log", sessionId, ...params });
      assertEquals(isError, true, JSON.stringify(params));
    }
  });

  test(`${kind.name}: [31] list, poll and kill tell the same end`, { skip: posix }, async () => {
    const client = await connect();
    const sessionId = await client.background({ command: "sleep 60" });
    const killed = await client.call("process", { action: "kill", sessionId, wait: 30_000 });
    const polled = await client.call("process", { action: "poll", sessionId });
    const { details: { sessions } } = await client.call("process", { action: "list" });
    const listed = (sessions as readonly Record<string, unknown>[]).find((entry) => entry["sessionId"] === sessionId);
    const end = (details: Readonly<Record<string, unknown>> = {}): unknown[] =>
      ["status", "ok", "exitCode", "signal", "reason"].map((key) => details[key]);
    assertEquals(end(polled.details), ["killed", false, null, "SIGTERM", "killed"]);
    assertEquals(end(killed.details), end(polled.details));
    assertEquals(end(listed), end(polled.details));
  });

  test(`${kind.name}: [33] a terminal in the background is listed before exec answers, and takes keys`, {
    skip: posix || terminal,
  }, async () => {
    const client = await connect();
    const sessionId = await client.background({ command: "cat", pty: true, background: true });
    assertStringIncludes((await client.call("process", { action: "list" })).text, sessionId);
    await client.call("process", { action: "write", sessionId, data: "hello\r" });
    const seen = await client.call("process", { action: "poll", sessionId, until: "hello\nhello", timeout: 30_000 });
    assertStringIncludes(seen.text, "hello");
    await client.call("process", { action: "send-keys", sessionId, keys: ["C-c"] });
    const end = await client.call("process", { action: "poll", sessionId, until: "exit", timeout: 30_000 });
    assertEquals(end.details["signal"], "SIGINT");
  });

  test(`${kind.name}: [35] one call waits for the end, and an empty poll says when to come back`, {
    skip: posix,
  }, async () => {
    const client = await connect();
    const sessionId = await client.background({ command: "read -r x" });
    const retries = [];
    for (let time = 0; time < 3; time++) {
      retries.push((await client.call("process", { action: "poll", sessionId })).details["retryInMs"]);
    }
    assertEquals(retries, [5_000, 10_000, 30_000]);
    const end = client.call("process", { action: "poll", sessionId, until: "exit", timeout: 30_000 });
    await client.call("process", { action: "write", sessionId, data: "go\n" });
    assertEquals((await end).details["wokenBy"], "exit");
  });

  test(`${kind.name}: while a call waits, its progress rises and tells the last line`, { skip: posix }, async () => {
    const client = await connect();
    const told: Progress[] = [];
    let sawLine = (): void => {};
    const hasSeenLine = new Promise<void>((resolve) => sawLine = resolve);
    const onprogress = (progress: Progress): void => {
      told.push(progress);
      if (progress.message === "step two") sawLine();
    };
    const sessionId = await client.background({ command: "read -r x; echo step one; echo step two; read -r y" });
    const wait = client.call("process", { action: "poll", sessionId, until: "exit", timeout: 30_000 }, { onprogress });
    await client.call("process", { action: "write", sessionId, data: "\n" });
    await hasSeenLine;
    await client.call("process", { action: "write", sessionId, data: "\n" });
    await wait;
    const values = told.map(({ progress }) => progress);
    assertEquals(values, [...new Set(values)].sort((one, other) => one - other));
  });
}
