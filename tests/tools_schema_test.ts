/**
 * What a model is told of the parameters is what the tools take.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { toJsonSchema } from "@valibot/to-json-schema";
import { test } from "node:test";
import fc from "./property.ts";
import { LIMIT_NAMES } from "../src/limits.ts";
import { checkExec, execSchema } from "../src/exec/schema.ts";
import { checkProcess, PROCESS_ACTIONS, processSchema } from "../src/process/schema.ts";
import type { JsonSchema, ParametersSchema } from "../src/tools/definition.ts";
import { execDefinition } from "../src/tools/exec.ts";
import { inputSchema } from "../src/tools/input_schema.ts";
import { LOOKING_ACTIONS, PROCESS, PROCESS_READ } from "../src/tools/process.ts";
import type { Checked } from "../src/validate.ts";

const EXEC = execDefinition({ processTool: true, backgroundMs: 10_000, timeoutSeconds: 1_800, idle: [] });

/** Each definition with the schema that parses. */
const TOOLS = [
  { definition: EXEC, parser: execSchema, check: checkExec as (input: unknown) => Checked<object> },
  { definition: PROCESS, parser: processSchema, check: checkProcess as (input: unknown) => Checked<object> },
] as const;

/** The part of a converted valibot schema that tells which values it takes. */
interface Converted {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Converted[];
  readonly properties?: Readonly<Record<string, Converted>>;
  readonly required?: readonly string[];
}

/** Another name for `timeout`: one is enough for a model. */
const ALIASES = ["timeoutSeconds"];

for (const { definition, parser, check } of TOOLS) {
  const { name, parameters } = definition;
  const parsed = toJsonSchema(parser, { errorMode: "ignore", typeMode: "input" }) as Converted;

  test(`${name}: a model is told of every parameter there is, in their order, and which are required`, () => {
    const keys = Object.keys(parsed.properties ?? {}).filter((key) => !ALIASES.includes(key));
    assertEquals(Object.keys(parameters.properties), keys);
    assertEquals<readonly string[] | undefined>(parameters.required, parsed.required);
  });

  test(`${name}: a parameter has a type that its parser takes, and the words that its parser knows`, () => {
    for (const [key, { type, enum: words }] of Object.entries(parameters.properties)) {
      const taken = parsed.properties?.[key] ?? {};
      assert(takesType(taken, type), `${key}: ${type} is not in ${JSON.stringify(taken)}`);
      if (taken.enum !== undefined) assertEquals<readonly unknown[] | undefined>(words, taken.enum, key);
    }
  });

  test(`${name}: every object is closed, the schema flat, and what a model seldom needs is a parameter`, () => {
    assertEquals([parameters.type, parameters.additionalProperties], ["object", false]);
    for (const each of Object.values(parameters.properties)) {
      if (each.properties !== undefined) assertEquals(each.additionalProperties, false);
    }
    assertEquals(definition.seldom.filter((key) => !(key in parameters.properties)), []);
    assertEquals(definition.seldom.filter((key) => parameters.required.includes(key)), []);
  });

  test(`${name}: what the schema admits is never of a wrong type for the tool, which takes it or says what is missing`, () => {
    fc.assert(fc.property(admitted(parameters), (input) => {
      const checked = check(input);
      if (checked.ok) return;
      assert(checked.problems.length > 0);
      for (const { key, message } of checked.problems) {
        assert((key.split(".")[0] ?? "") in parameters.properties, key);
        assertNotMatch(message, /^unknown|expected (?:an object|a number|String|Boolean|Array|string) /);
        assertMatch(message, /\w{2}/);
      }
    }));
  });

  test(`${name}: what has been checked can be checked again and stays the same`, () => {
    fc.assert(fc.property(admitted(parameters), (input) => {
      const checked = check(input);
      if (checked.ok) assertEquals<unknown>(check(checked.value), checked);
    }));
  });

  test(`${name}: a check answers either a value or issues, never both, with the words of the tool`, async () => {
    const { "~standard": schema } = inputSchema(parameters, (input) => Promise.resolve(check(input)));
    await fc.assert(fc.asyncProperty(fc.oneof(admitted(parameters), fc.anything()), async (input) => {
      const result = await schema.validate(input);
      const checked = check(input);
      assertEquals([!("issues" in result), "value" in result], [checked.ok, checked.ok]);
      if (!checked.ok) {
        assertEquals(
          result.issues?.map(({ message }) => message),
          checked.problems.map((p) => p.message),
        );
      }
    }));
  });
}

test("exec: the nested objects have the keys that their parsers know", () => {
  const { limits, notifyOn } = EXEC.parameters.properties;
  assertEquals<readonly string[]>(Object.keys(limits?.properties ?? {}), LIMIT_NAMES);
  const wrong = checkExec({ command: "ls", notifyOn: { pattern: "x", qqqqqq: 1 } });
  assert(!wrong.ok);
  const [, known = ""] = /\{ (.*) \}/.exec(wrong.problems[0]?.message ?? "") ?? [];
  assertEquals(Object.keys(notifyOn?.properties ?? {}), known.replaceAll("?", "").split(", "));
  assertEquals(notifyOn?.required, ["pattern"]);
});

test("process: each parameter's description begins with the actions that use it", () => {
  for (const [key, { description }] of Object.entries(PROCESS.parameters.properties)) {
    if (key === "action" || key === "sessionId") continue;
    const [, named = ""] = /^([a-z-]+(?:, [a-z-]+)*)(?::|$)/.exec(description ?? "") ?? [];
    assertEquals(named.split(", "), PROCESS_ACTIONS.filter((action) => isUsed(action, key)), key);
  }
});

test("process_read has exactly the actions that change nothing and their parameters, as process has them", () => {
  assertEquals(PROCESS_READ.parameters.properties["action"]?.enum, LOOKING_ACTIONS);
  const used = Object.entries(PROCESS.parameters.properties).filter(([key]) =>
    key !== "action" && LOOKING_ACTIONS.some((action) => isUsed(action, key))
  );
  assertEquals(Object.entries(PROCESS_READ.parameters.properties).slice(1), used);
});

/** Whether an action has a use for a parameter. */
function isUsed(action: string, key: string): boolean {
  const checked = checkProcess({ action, [key]: {} });
  return !checked.ok && !checked.problems.some((each) => each.key === key && each.message.startsWith("not used"));
}

/** Whether a parser takes values of that type; one that looks for itself says nothing about them. */
function takesType(parser: Converted, type: JsonSchema["type"]): boolean {
  if (parser.anyOf !== undefined) return parser.anyOf.some((each) => takesType(each, type));
  const given = parser.type === "number" && type === "integer" ? type : parser.type;
  return given === undefined || given === type;
}

/** Values that a schema admits, also rare ones; half of the calls of an action have only parameters that it uses. */
function admitted(schema: ParametersSchema): fc.Arbitrary<Record<string, unknown>> {
  const any = valueOf(schema) as fc.Arbitrary<Record<string, unknown>>;
  if (schema.properties["action"] === undefined) return any;
  const apt = any.map((call) => {
    const entries = Object.entries(call).filter(([key]) => key === "action" || isUsed(String(call["action"]), key));
    return { ...Object.fromEntries(entries), sessionId: "amber-otter-7k3f" };
  });
  return fc.oneof(any, apt);
}

function valueOf(
  { type, enum: words, properties, required, additionalProperties, items }: JsonSchema,
): fc.Arbitrary<unknown> {
  switch (type) {
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(fc.integer({ min: -1, max: 1_100 }), fc.integer());
    case "number":
      return fc.oneof(fc.integer({ min: -1, max: 6_000 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "string":
      return words === undefined
        ? fc.oneof(fc.string(), fc.constantFrom("exit", "SIGINT", "a", ""))
        : fc.constantFrom(...words);
    case "array":
      return fc.array(valueOf(items ?? { type: "string" }), { maxLength: 4 });
    case "object": {
      if (properties === undefined) {
        return fc.dictionary(fc.string(), valueOf(additionalProperties || { type: "string" }), { maxKeys: 4 });
      }
      const values = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, valueOf(value)]));
      return fc.record(values, { requiredKeys: [...(required ?? [])] });
    }
  }
}
