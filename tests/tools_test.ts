/**
 * `agent.tools()`: which tools there are, what a model is told of them, and that they do what the agent does.
 *
 * @module
 */
import { assert, assertEquals, assertLessOrEqual, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { test } from "node:test";
import { AbortError, OffstageError, type Tool, type ToolsOptions } from "../mod.ts";
import { forAISDK, forAnthropic, forOpenAI, jsonSchemas } from "../tools.ts";
import { background, type Bench, open, openAll } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import { createFakeDirectory } from "./fakes/directory.ts";
import { createFakeSpawner } from "./fakes/spawner.ts";

/** Most that both tools together may cost of every request (o200k_base). */
const MOST_TOKENS = 1_100;

function named(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  assert(tool !== undefined, `there is no tool ${name}`);
  return tool;
}

function namesOf({ agent }: Bench, options?: ToolsOptions): readonly string[] {
  return agent.tools(options).map(({ name }) => name);
}

function parametersOf({ agent }: Bench, name: string, options?: ToolsOptions): readonly string[] {
  const { inputSchema } = jsonSchemas([named(agent.tools(options), name)])[0] ?? {};
  return Object.keys(inputSchema?.["properties"] as object);
}

test("an agent has exec and process, always in that order, and a tool that only looks if asked for", () => {
  assertEquals(namesOf(open()), ["exec", "process"]);
  assertEquals(namesOf(open(), { readOnlyTool: true }), ["exec", "process", "process_read"]);
});

test("E31 an agent without the process tool has exec alone, without what needs process afterwards", () => {
  const bench = open({}, { processTool: false, onEvent: () => {} });
  assertEquals(namesOf(bench, { readOnlyTool: true }), ["exec"]);
  const all = parametersOf(bench, "exec", { allParameters: true });
  assertEquals(all, ["command", "workdir", "env", "timeout", "pty", "cols", "rows", "mergeStreams", "limits"]);
  const { description } = named(bench.agent.tools(), "exec");
  assertEquals(/session|yieldMs|background|process tool/.test(description), false, description);
});

test("a model is told only of what has an effect as it is configured", () => {
  const optional = ["elevated", "host", "node", "notifyOn"];
  const offered = (bench: Bench): readonly string[] =>
    parametersOf(bench, "exec").filter((key) => optional.includes(key)).toSorted();
  assertEquals(offered(open()), []);
  assertEquals(offered(openAll()), optional);
  assertEquals(offered(open({}, { sandbox: createFakeSpawner() })), ["host"]);
  assertEquals(offered(open({}, { requestHeartbeat: () => {} })), ["notifyOn"]);
});

test("a model is told the defaults that are configured", () => {
  const { agent } = open({ backgroundMs: 5_000, timeoutSeconds: 77 });
  const told = JSON.stringify(jsonSchemas(agent.tools()));
  assertStringIncludes(told, "default 5000");
  assertStringIncludes(told, "default 77");
});

test("what a model seldom needs is left out, is there with allParameters, and works in any case", async () => {
  const bench = open();
  const [few, all] = [parametersOf(bench, "process"), parametersOf(bench, "process", { allParameters: true })];
  assertEquals(all.filter((key) => !few.includes(key)), [
    "raw",
    "bytes",
    "since",
    "scrollback",
    "base64",
    "literal",
    "hex",
    "delayMs",
    "bracketed",
  ]);
  const { id, child } = await background(bench, { pty: true });
  const call = { action: "send-keys", sessionId: id, literal: "abc" };
  assertEquals((await named(bench.agent.tools(), "process").run(call)).isError, false);
  assertEquals(child.writes, ["abc"]);
});

test("hints: exec and process may destroy, process_read changes nothing", () => {
  const hints = open().agent.tools({ readOnlyTool: true }).map((
    { annotations: a },
  ) => [a.readOnlyHint, a.destructiveHint]);
  assertEquals(hints, [[false, true], [false, true], [true, false]]);
});

/** What a request has of the tools, for each kind of API; hints are for the host, no model reads them. */
const SENT: Readonly<Record<string, (tools: readonly Tool[]) => unknown>> = {
  "plain": (tools) =>
    jsonSchemas(tools).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  "Anthropic": forAnthropic,
  "OpenAI, chat": (tools) => forOpenAI(tools),
  "OpenAI, chat, strict": (tools) => forOpenAI(tools, { strict: true }),
  "OpenAI, responses": (tools) => forOpenAI(tools, { api: "responses" }),
  "OpenAI, responses, strict": (tools) => forOpenAI(tools, { api: "responses", strict: true }),
  "AI SDK": (tools) =>
    Object.entries(forAISDK(tools)).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema: inputSchema["~standard"].jsonSchema.input({ target: "draft-07" }),
    })),
};

for (const [format, sent] of Object.entries(SENT)) {
  test(`both tools together cost at most ${MOST_TOKENS} tokens: ${format}`, () => {
    for (const bench of [open(), openAll(), openAll(createFakeDirectory())]) {
      const tokens = countTokens(JSON.stringify(sent(bench.agent.tools())));
      assertLessOrEqual(tokens, MOST_TOKENS);
    }
  });
}

test("a call does what the agent does: exec, then process", async () => {
  const bench = open();
  const [exec, process] = bench.agent.tools();
  const pending = exec?.run({ command: "make", background: true });
  await bench.clock.advance(0);
  const started = await pending;
  assertMatch(started?.text ?? "", /running in the background: session/);
  const { sessionId } = started?.details as { readonly sessionId: string };
  bench.spawner.last.print("done\n");
  bench.spawner.last.end(0);
  await settle();
  const end = await process?.run({ action: "poll", sessionId, until: "exit" });
  assertEquals([end?.text, end?.isError], ["done\n[completed: exit code 0]", false]);
});

test("a tool answers bad input as the agent does, and starts nothing", async () => {
  const bench = open();
  const [exec, process] = bench.agent.tools();
  assertEquals(
    (await exec?.run({ cmd: "ls" }))?.text,
    'The command was not run. cmd: unknown; did you mean "command"?; command: required',
  );
  assertEquals((await process?.run({ action: "write", sessionId: "x" }))?.isError, true);
  assertEquals(bench.spawner.children, []);
});

test("process_read looks, and leaves the rest to process", async () => {
  const bench = open();
  const { id, child } = await background(bench);
  child.print("up\n");
  const tools = bench.agent.tools({ readOnlyTool: true });
  const look = named(tools, "process_read");
  assertMatch((await look.run({ action: "log", sessionId: id })).text, /^up\n/);
  const { text, isError } = await look.run({ action: "kill", sessionId: id });
  assertEquals(text, 'Nothing was done. action: "kill" is left to the tool process; known are list, poll, log, screen');
  assertEquals([isError, child.signals], [true, []]);
  const { issues } = await look.inputSchema["~standard"].validate({ action: "kill", sessionId: id });
  assertEquals(issues?.map(({ path }) => path), [["action"]]);
  assertMatch((await look.run({ action: "lsit" })).text, /did you mean "list"\?; known are list, poll, log, screen$/);
});

test("E32 a signal aborts the call, and updates are told while it waits", async () => {
  const bench = open();
  const controller = new AbortController();
  const tails: string[] = [];
  const answer = named(bench.agent.tools(), "exec").run({ command: "make" }, {
    signal: controller.signal,
    onUpdate: ({ tail }) => tails.push(tail),
  });
  answer.catch(() => {});
  await settle();
  bench.spawner.last.print("working\n");
  await bench.clock.advance(100);
  controller.abort();
  await bench.clock.advance(20_000);
  await assertRejects(() => answer, AbortError);
  assertEquals(tails, ["working\n"]);
});

test("a schema is a copy of the caller's own, in the editions that mean the same, and no other", () => {
  const { inputSchema } = named(open().agent.tools(), "exec");
  const { jsonSchema } = inputSchema["~standard"];
  const first = jsonSchema.input({ target: "draft-07" });
  first["properties"] = {};
  for (const target of ["draft-2020-12", "draft-07", "openapi-3.0"]) {
    assertEquals(jsonSchema.input({ target }), jsonSchema.output({ target }));
    assertEquals(Object.keys(jsonSchema.input({ target })["properties"] as object)[0], "command");
  }
  try {
    jsonSchema.input({ target: "draft-3" });
    throw new Error("it has made a schema");
  } catch (error) {
    assert(error instanceof OffstageError && error.code === "unsupported", String(error));
  }
});
