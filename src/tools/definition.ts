/**
 * What a model is told of a tool: plain data, the same for every framework.
 *
 * @module
 */

/** The part of JSON Schema that the tools' parameters need; it means the same in draft-07, 2020-12 and OpenAPI 3.0. */
export interface JsonSchema {
  /** What kind of value. */
  readonly type: "object" | "array" | "string" | "number" | "integer" | "boolean";
  /** For the model. */
  readonly description?: string;
  /** The only values there are. */
  readonly enum?: readonly string[];
  /** Of an object: its keys. */
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  /** Of an object: the keys that must be there. */
  readonly required?: readonly string[];
  /** Of an object: other keys, which there are only in a map. */
  readonly additionalProperties?: false | JsonSchema;
  /** Of a list: what it is of. */
  readonly items?: JsonSchema;
}

/** JSON Schema of a tool's parameters: one flat, closed object. */
export interface ParametersSchema extends JsonSchema {
  /** An object. */
  readonly type: "object";
  /** Every parameter. */
  readonly properties: Readonly<Record<string, JsonSchema>>;
  /** The parameters that must be there. */
  readonly required: readonly string[];
  /** None. */
  readonly additionalProperties: false;
}

/** Hints for a host that asks its user before a tool is called, with the names that MCP has for them. They enforce nothing. */
export interface ToolAnnotations {
  /** It changes nothing. */
  readonly readOnlyHint: boolean;
  /** What it changes may be lost. */
  readonly destructiveHint: boolean;
  /** Calling it again with the same parameters changes nothing more. */
  readonly idempotentHint: boolean;
  /** It may reach beyond this machine. */
  readonly openWorldHint: boolean;
}

/** What a model is told of a tool. */
export interface ToolDefinition {
  /** What the model calls it. */
  readonly name: string;
  /** What it is for, and how to use it well. */
  readonly description: string;
  /** Its parameters. */
  readonly parameters: ParametersSchema;
  /** Those among them that a model seldom needs. */
  readonly seldom: readonly string[];
  /** Hints for who approves calls. */
  readonly annotations: ToolAnnotations;
}

/** A closed object of these keys. */
export function parameters(
  required: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
  description?: string,
): ParametersSchema {
  const described = description === undefined ? {} : { description };
  return { type: "object", ...described, properties, required, additionalProperties: false };
}

/** The same definition with only some of its parameters. */
export function withParameters(definition: ToolDefinition, isKept: (name: string) => boolean): ToolDefinition {
  const { properties, required } = definition.parameters;
  const kept = Object.fromEntries(Object.entries(properties).filter(([name]) => isKept(name)));
  return { ...definition, parameters: parameters(required.filter(isKept), kept) };
}

/** Text. */
export function text(description?: string): JsonSchema {
  return { type: "string", ...(description === undefined ? {} : { description }) };
}

/** One of a few words. */
export function choice(words: readonly string[], description?: string): JsonSchema {
  return { ...text(description), enum: words };
}

/** A number, fractions allowed. */
export function number(description?: string): JsonSchema {
  return { ...text(description), type: "number" };
}

/** A whole number. */
export function whole(description?: string): JsonSchema {
  return { ...text(description), type: "integer" };
}

/** True or false. */
export function flag(description?: string): JsonSchema {
  return { ...text(description), type: "boolean" };
}
