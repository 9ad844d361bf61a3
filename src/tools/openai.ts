/**
 * Function tools for the APIs of OpenAI, and those made after them.
 *
 * @module
 */
import type { JsonSchema } from "./definition.ts";
import { jsonSchemas } from "./json_schemas.ts";
import type { Tool } from "./tools.ts";

/** Options of {@linkcode forOpenAI}. */
export interface OpenAIOptions {
  /** Which API: its entries are flat in Responses, nested in Chat Completions. @default {"chat"} */
  readonly api?: "chat" | "responses";
  /**
   * Whether the model is held to the schema. Every parameter is then required and may be null, and `env` is a list of
   * `{ name, value }`; the tools take that as it comes. It costs tokens in every call. @default {false}
   */
  readonly strict?: boolean;
}

/** A function as a model is told of it. */
export interface OpenAIFunction {
  /** What the model calls it. */
  name: string;
  /** What it is for, and how to use it well. */
  description: string;
  /** JSON Schema of its parameters. */
  parameters: Record<string, unknown>;
  /** Whether the model is held to it. */
  strict: boolean;
}

/** An entry of `tools` in a request to Responses. */
export interface OpenAIResponsesTool extends OpenAIFunction {
  /** A function. */
  type: "function";
}

/** An entry of `tools` in a request to Chat Completions. */
export interface OpenAIChatTool {
  /** A function. */
  type: "function";
  /** Which. */
  function: OpenAIFunction;
}

/** The tools as `tools` of a request to Responses; {@linkcode runToolCall} answers the `function_call` items. */
export function forOpenAI(
  tools: readonly Tool[],
  options: OpenAIOptions & { readonly api: "responses" },
): OpenAIResponsesTool[];
/** The tools as `tools` of a request to Chat Completions; {@linkcode runToolCall} answers the `tool_calls`. */
export function forOpenAI(
  tools: readonly Tool[],
  options?: OpenAIOptions & { readonly api?: "chat" },
): OpenAIChatTool[];
export function forOpenAI(
  tools: readonly Tool[],
  { api = "chat", strict = false }: OpenAIOptions = {},
): (OpenAIChatTool | OpenAIResponsesTool)[] {
  return jsonSchemas(tools).map(({ name, description, inputSchema }) => {
    const parameters = strict ? strictly(inputSchema as unknown as JsonSchema, true) : inputSchema;
    const definition = { name, description, parameters, strict };
    return api === "chat" ? { type: "function", function: definition } : { type: "function", ...definition };
  });
}

/**
 * The same schema under the rules of strict mode: each object closed, each of its keys required, and null in the place of
 * one that is left out. A map, which no closed object can be, is a list of its entries.
 */
function strictly(schema: JsonSchema, isRequired: boolean): Record<string, unknown> {
  const { type, description, enum: words, properties, required = [], additionalProperties, items } = schema;
  const isMap = type === "object" && additionalProperties !== undefined && additionalProperties !== false;
  const ownType = isMap ? "array" : type;
  const entry = isMap ? closed({ name: { type: "string" }, value: strictly(additionalProperties, true) }) : undefined;
  const element = items === undefined ? entry : strictly(items, true);
  return {
    type: isRequired ? ownType : [ownType, "null"],
    ...(description !== undefined && { description }),
    ...(words !== undefined && { enum: isRequired ? words : [...words, null] }),
    ...(element !== undefined && { items: element }),
    ...(properties !== undefined && closedParts(
      Object.fromEntries(
        Object.entries(properties).map(([key, value]) => [key, strictly(value, required.includes(key))]),
      ),
    )),
  };
}

function closed(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { type: "object", ...closedParts(properties) };
}

function closedParts(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { properties, required: Object.keys(properties), additionalProperties: false };
}
