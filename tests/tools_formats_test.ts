/**
 * The tools in the shapes of OpenAI and Anthropic, and a model's calls answered in the shape they came in.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import fc from "./property.ts";
import { AbortError, type Tool } from "../mod.ts";
import { forAnthropic, forOpenAI, jsonSchemas, runToolCall, type ToolCall } from "../tools.ts";
import { background, type Bench, open, openAll, start } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";

/** Every tool with every parameter there is. */
function allTools(bench: Bench = openAll()): readonly Tool[] {
  return bench.agent.tools({ allParameters: true, readOnlyTool: true });
}

test("OpenAI: a function in the shape of each API; not strict unless asked for, and said so", () => {
  const tools = allTools();
  const [plain] = jsonSchemas(tools);
  const { name, description, inputSchema: parameters } = plain ?? {};
  const chat = { type: "function", function: { name, description, parameters, strict: false } };
  assertEquals<unknown>(forOpenAI(tools)[0], chat);
  assertEquals<unknown>(forOpenAI(tools, { api: "responses" })[0], { type: "function", ...chat.function });
  assertEquals(forOpenAI(tools, { strict: true }).map((tool) => tool.function.strict), [true, true, true]);
});

test("Anthropic: a tool has the schema under its own name", () => {
  const tools = allTools();
  const [plain] = jsonSchemas(tools);
  const { name, description, inputSchema: input_schema } = plain ?? {};
  assertEquals<unknown>(forAnthropic(tools)[0], { name, description, input_schema });
});

test("names are such as every API takes", () => {
  for (const { name } of allTools()) assertMatch(name, /^[a-zA-Z0-9_-]{1,64}$/);
});

/* Strict mode: https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas" */

interface StrictSchema {
  readonly type: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, StrictSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: StrictSchema;
}

const KEYWORDS = ["type", "description", "enum", "properties", "required", "additionalProperties", "items"];
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** What breaks the rules of strict mode. */
function strictTrouble(schema: StrictSchema, path = "root"): readonly string[] {
  const types = [schema.type].flat();
  const { properties, items } = schema;
  return [
    ...Object.keys(schema).filter((keyword) => !KEYWORDS.includes(keyword)).map((keyword) => `${path}: ${keyword}`),
    ...types.filter((type) => !TYPES.includes(type)).map((type) => `${path}: type ${type}`),
    ...(types.includes("object") && schema.additionalProperties !== false ? [`${path}: open`] : []),
    ...(types.includes("object") && properties === undefined ? [`${path}: no properties`] : []),
    ...(types.includes("array") && items === undefined ? [`${path}: no items`] : []),
    ...(properties !== undefined && String(Object.keys(properties)) !== String(schema.required)
      ? [`${path}: not all required`]
      : []),
    ...Object.entries(properties ?? {}).flatMap(([key, value]) => strictTrouble(value, `${path}.${key}`)),
    ...(items === undefined ? [] : strictTrouble(items, `${path}[]`)),
  ];
}

function countKeys(schema: StrictSchema): number {
  const inside = [...Object.values(schema.properties ?? {}), ...(schema.items === undefined ? [] : [schema.items])];
  return Object.keys(schema.properties ?? {}).length + inside.reduce((sum, each) => sum + countKeys(each), 0);
}

/** The strict parameters of a tool. */
function strictOf(tools: readonly Tool[], name: string): StrictSchema {
  const tool = forOpenAI(tools, { strict: true, api: "responses" }).find((each) => each.name === name);
  return tool?.parameters as unknown as StrictSchema;
}

test("OpenAI strict: the schemas keep every documented rule", () => {
  const tools = allTools();
  for (const { name } of tools) {
    const schema = strictOf(tools, name);
    assertEquals(schema.type, "object");
    assertEquals(strictTrouble(schema), []);
    assert(countKeys(schema) <= 100, name); // the limit of the oldest models that have it
  }
  // That the rules are looked at at all
  const plain = jsonSchemas(tools)[0]?.inputSchema as unknown as StrictSchema;
  assertEquals(strictTrouble(plain).length > 3, true);
});

test("OpenAI strict: whatever may be left out may be null, what is required may not", () => {
  const { properties } = strictOf(allTools(), "exec");
  assertEquals(properties?.["command"]?.type, "string");
  assertEquals(properties?.["host"], {
    type: ["string", "null"],
    description: "gateway: this machine",
    enum: ["auto", "sandbox", "gateway", "node", null],
  } as StrictSchema);
  assertEquals(properties?.["notifyOn"]?.properties?.["pattern"]?.type, "string");
  assertEquals(properties?.["notifyOn"]?.properties?.["max"]?.type, ["integer", "null"]);
});

test("OpenAI strict: env is a list of names and values, and is taken as such", async () => {
  const bench = open();
  const { properties } = strictOf(allTools(bench), "exec");
  assertEquals<unknown>(properties?.["env"], {
    type: ["array", "null"],
    items: {
      type: "object",
      properties: { name: { type: "string" }, value: { type: "string" } },
      required: ["name", "value"],
      additionalProperties: false,
    },
  });
  const nulls = Object.fromEntries(Object.keys(properties ?? {}).map((key) => [key, null]));
  const env = [{ name: "A", value: "1" }, { name: "B", value: "" }];
  const { answer, child } = await start(bench, { ...nulls, command: "ls", env: env as never });
  assertEquals([child.spec.env["A"], child.spec.env["B"]], ["1", ""]);
  child.end();
  await settle();
  assertEquals((await answer).isError, false);
});

test("E3 a list that is none of names and values, or has a name twice, is refused", async () => {
  const lists = [
    ["A=1"],
    [{ name: "A" }],
    [{ name: 1, value: "x" }],
    [{ name: "A", value: "1", export: true }],
    [{ name: "A", value: "1" }, { name: "A", value: "2" }],
    [null],
  ];
  for (const env of lists) {
    const bench = open();
    const { text } = await bench.agent.exec({ command: "ls", env: env as never });
    assertStringIncludes(text, "env: expected an object of names and values, or a list of { name, value }");
    assertEquals(bench.spawner.children, []);
  }
  const { text } = await open().agent.exec({
    command: "ls",
    env: [{ name: "A=", value: "x" }, { name: "B", value: 5 }] as never,
  });
  assertMatch(text, /env\.B: expected string/);
});

test("OpenAI strict: what the schema makes a model send is of no wrong type for the tool", async () => {
  const tools = allTools();
  for (const { name, inputSchema } of tools) {
    await fc.assert(
      fc.asyncProperty(strictValue(strictOf(tools, name)), async (input) => {
        for (const { message } of (await inputSchema["~standard"].validate(input)).issues ?? []) {
          assertEquals(
            /^unknown|expected (?:an object|a number|String|Boolean|Array|string) /.test(message),
            false,
            message,
          );
        }
      }),
    );
  }
});

function strictValue(schema: StrictSchema): fc.Arbitrary<unknown> {
  const types = [schema.type].flat();
  if (types.includes("null")) {
    return fc.option(strictValue({ ...schema, type: types.filter((type) => type !== "null") }), { freq: 2 });
  }
  const { enum: words, properties, items } = schema;
  if (words !== undefined) return fc.constantFrom(...words.filter((word) => word !== null));
  switch (types[0]) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: 1, max: 1_000 });
    case "number":
      return fc.integer({ min: 0, max: 5_000 });
    case "array": {
      // A name twice is a mistake that is told, but no schema can forbid it
      const selector = (entry: unknown): unknown => (entry as { readonly name?: unknown }).name ?? {};
      return fc.uniqueArray(strictValue(items ?? { type: "string" }), { maxLength: 3, selector });
    }
    case "object":
      return fc.record(
        Object.fromEntries(Object.entries(properties ?? {}).map(([key, each]) => [key, strictValue(each)])),
      );
    default:
      return fc.string();
  }
}

/* Calls */

/** A bench with a session that has printed `up`, and its id. */
async function withSession(): Promise<{ readonly tools: readonly Tool[]; readonly id: string }> {
  const bench = open();
  const { id, child } = await background(bench);
  child.print("up\n");
  return { tools: bench.agent.tools(), id };
}

test("a call is answered in the shape it came in", async () => {
  const { tools, id: sessionId } = await withSession();
  const input = { action: "log", sessionId, limit: 1 };
  const json = JSON.stringify(input);
  const text = "up\n[lines 0 to 0 of 1; running, stdin open, idle 0 s]";
  assertEquals(
    await runToolCall(
      tools,
      { id: "call_1", type: "function", function: { name: "process", arguments: json } } as const,
    ),
    { role: "tool", tool_call_id: "call_1", content: text },
  );
  assertEquals(
    await runToolCall(
      tools,
      { type: "function_call", call_id: "call_2", name: "process", arguments: json } as const,
    ),
    { type: "function_call_output", call_id: "call_2", output: text },
  );
  assertEquals(
    await runToolCall(tools, { type: "tool_use", id: "toolu_1", name: "process", input } as const),
    { type: "tool_result", tool_use_id: "toolu_1", content: text, is_error: false },
  );
  for (const given of [input, json]) {
    const answer = await runToolCall(tools, { name: "process", arguments: given });
    assertEquals([answer.text, answer.isError, "lines" in answer.details], [text, false, true]);
  }
});

test("arguments that are no JSON are an answer that says so, and nothing is done", async () => {
  const bench = open();
  for (const json of ['{"command": "ls', "ls -l", "{'command': 'ls'}", '{"command": "a\nb"}']) {
    const { text, details, isError } = await runToolCall(bench.agent.tools(), { name: "exec", arguments: json });
    assertMatch(text, /^Nothing was done\. arguments: .*JSON.*; send one JSON object$/s);
    assertEquals([isError, "problems" in details], [true, true]);
  }
  assertEquals(bench.spawner.children, []);
});

test("arguments that are JSON but no object, or none at all, are answered by the tool", async () => {
  const tools = open().agent.tools();
  for (const json of ["[]", '"ls"', "5", "true"]) {
    const { content } = await runToolCall(tools, { id: "1", function: { name: "exec", arguments: json } });
    assertStringIncludes(content, "expected an object");
  }
  for (const nothing of ["", " \n", "null", "{}", undefined]) {
    const { text } = await runToolCall(tools, { name: "exec", arguments: nothing });
    assertEquals(text, "The command was not run. command: required");
  }
});

test("arguments that are encoded as JSON twice are read", async () => {
  const { tools, id: sessionId } = await withSession();
  const json = JSON.stringify(JSON.stringify({ action: "log", sessionId }));
  assertStringIncludes((await runToolCall(tools, { name: "process", arguments: json })).text, "up");
});

test("a call without a name, or in no known shape, is answered too", async () => {
  const tools = open().agent.tools();
  const unnamed = [{}, { name: null, arguments: "{}" }, { id: "1", function: null }, { toolName: "exec", input: {} }];
  for (const call of unnamed) {
    const answer = await runToolCall(tools, call as unknown as ToolCall);
    assertStringIncludes(JSON.stringify(answer), "known are exec, process");
  }
});

test("a tool that there is not is answered with the nearest and all there are", async () => {
  const tools = open().agent.tools();
  const { is_error, content } = await runToolCall(tools, { id: "1", name: "Exce", input: {} });
  assertEquals(is_error, true);
  assertEquals(content, 'Nothing was done. tool: no tool "Exce"; did you mean "exec"? known are exec, process');
  const { text } = await runToolCall(tools, { name: "qqqqqqq" });
  assertEquals(text, 'Nothing was done. tool: no tool "qqqqqqq"; known are exec, process');
});

test("an action called as if it were a tool is said to be one", async () => {
  const { text } = await runToolCall(open().agent.tools(), { name: "poll", arguments: {} });
  assertEquals(text, 'Nothing was done. tool: no tool "poll"; it is an action of process; known are exec, process');
});

test("E32 an abort rejects, whatever shape the call has", async () => {
  const { tools } = await withSession();
  const signal = AbortSignal.abort("enough");
  const call = { id: "1", name: "exec", input: { command: "ls" } };
  const error = await assertRejects(() => runToolCall(tools, call, { signal }), AbortError);
  assertEquals(error.cause, "enough");
});

test("updates are told while a call waits", async () => {
  const bench = open();
  const tails: string[] = [];
  const call = { call_id: "1", name: "exec", arguments: '{"command":"make"}' };
  const answer = runToolCall(bench.agent.tools(), call, { onUpdate: ({ tail }) => tails.push(tail) });
  await settle();
  bench.spawner.last.print("working\n");
  await bench.clock.advance(100);
  bench.spawner.last.end(0);
  await settle();
  assertEquals([await answer, tails], [{ type: "function_call_output", call_id: "1", output: "working" }, [
    "working\n",
  ]]);
});
