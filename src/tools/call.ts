/**
 * Answering a model's call, in the shape it came in.
 *
 * @module
 */
import type { ToolAnswer } from "../exec/answer.ts";
import type { ExecOptions } from "../exec/exec.ts";
import { nearest } from "../nearest.ts";
import type { FailureDetails } from "../process/answer.ts";
import type { ParametersSchema } from "./definition.ts";
import { jsonSchemas } from "./json_schemas.ts";
import type { Tool } from "./tools.ts";

/** A call in no API's shape. */
export interface ToolCall {
  /** The tool. */
  readonly name: string;
  /** Its parameters, as an object or as JSON. */
  readonly arguments?: unknown;
}

/** An entry of `tool_calls` of OpenAI's Chat Completions. */
export interface OpenAIChatCall {
  /** Tells it from calls of other tools. */
  readonly type?: "function";
  /** Id of the call. */
  readonly id: string;
  /** The tool, and its parameters as JSON. */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What answers an {@linkcode OpenAIChatCall}: a message. */
export interface OpenAIChatAnswer {
  /** A tool's answer. */
  role: "tool";
  /** Id of the call. */
  tool_call_id: string;
  /** The answer's text. */
  content: string;
}

/** An item `function_call` of OpenAI's Responses. */
export interface OpenAIResponsesCall {
  /** Tells it from other items. */
  readonly type?: "function_call";
  /** Id of the call. */
  readonly call_id: string;
  /** The tool. */
  readonly name: string;
  /** Its parameters, as JSON. */
  readonly arguments: string;
}

/** What answers an {@linkcode OpenAIResponsesCall}: an input item. */
export interface OpenAIResponsesAnswer {
  /** A tool's answer. */
  type: "function_call_output";
  /** Id of the call. */
  call_id: string;
  /** The answer's text. */
  output: string;
}

/** A block `tool_use` of Anthropic's Messages. */
export interface AnthropicCall {
  /** Tells it from other blocks. */
  readonly type?: "tool_use";
  /** Id of the call. */
  readonly id: string;
  /** The tool. */
  readonly name: string;
  /** Its parameters. */
  readonly input: unknown;
}

/** What answers an {@linkcode AnthropicCall}: a block of the next message. */
export interface AnthropicAnswer {
  /** A tool's answer. */
  type: "tool_result";
  /** Id of the call. */
  tool_use_id: string;
  /** The answer's text. */
  content: string;
  /** Whether the call failed. */
  is_error: boolean;
}

/**
 * Runs a call of OpenAI's Chat Completions.
 *
 * @returns the message that answers it, also for a tool there is not and for arguments that are no JSON
 * @throws an AbortError when `options.signal` fires while the call waits
 */
export function runToolCall(
  tools: readonly Tool[],
  call: OpenAIChatCall,
  options?: ExecOptions,
): Promise<OpenAIChatAnswer>;
/** Runs a call of OpenAI's Responses and returns the item that answers it. */
export function runToolCall(
  tools: readonly Tool[],
  call: OpenAIResponsesCall,
  options?: ExecOptions,
): Promise<OpenAIResponsesAnswer>;
/** Runs a call of Anthropic's Messages and returns the block that answers it. */
export function runToolCall(
  tools: readonly Tool[],
  call: AnthropicCall,
  options?: ExecOptions,
): Promise<AnthropicAnswer>;
/** Runs a call in no API's shape and returns the tool's answer. */
export function runToolCall(
  tools: readonly Tool[],
  call: ToolCall,
  options?: ExecOptions,
): Promise<ToolAnswer<object>>;
export async function runToolCall(
  tools: readonly Tool[],
  call: OpenAIChatCall | OpenAIResponsesCall | AnthropicCall | ToolCall,
  options: ExecOptions = {},
): Promise<OpenAIChatAnswer | OpenAIResponsesAnswer | AnthropicAnswer | ToolAnswer<object>> {
  if ("function" in call) {
    const { text } = await run(tools, call.function?.name, call.function?.arguments, options);
    return { role: "tool", tool_call_id: call.id, content: text };
  }
  if ("call_id" in call) {
    const { text } = await run(tools, call.name, call.arguments, options);
    return { type: "function_call_output", call_id: call.call_id, output: text };
  }
  if ("input" in call) {
    const { text, isError } = await run(tools, call.name, call.input, options);
    return { type: "tool_result", tool_use_id: call.id, content: text, is_error: isError };
  }
  return await run(tools, call.name, call.arguments, options);
}

async function run(
  tools: readonly Tool[],
  name: unknown, // models have been seen to leave it out
  given: unknown,
  options: ExecOptions,
): Promise<ToolAnswer<object>> {
  const tool = tools.find((known) => known.name === name);
  if (tool === undefined) return refused("tool", unknownTool(tools, typeof name === "string" ? name : ""));
  if (typeof given !== "string") return await tool.run(given, options);
  let input: unknown;
  try {
    input = given.trim() === "" ? {} : parsed(given); // a call without arguments may have no text at all
  } catch (error) {
    return refused("arguments", `${error instanceof Error ? error.message : error}; send one JSON object`);
  }
  return await tool.run(input, options);
}

/** The JSON, which some models encode twice. A string that is nothing but that is for the tool to refuse. */
function parsed(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function unknownTool(tools: readonly Tool[], name: string): string {
  const names = tools.map((tool) => tool.name);
  const owner = jsonSchemas(tools).find(({ inputSchema }) => actionsOf(inputSchema).includes(name));
  const near = nearest(name, names, 1)[0];
  const hint = owner !== undefined
    ? `it is an action of ${owner.name}; `
    : near === undefined
    ? ""
    : `did you mean "${near}"? `;
  return `no tool "${name}"; ${hint}known are ${names.join(", ")}`;
}

function actionsOf(inputSchema: unknown): readonly string[] {
  const { properties } = inputSchema as ParametersSchema;
  return properties["action"]?.enum ?? [];
}

function refused(key: string, message: string): ToolAnswer<FailureDetails> {
  const text = `Nothing was done. ${key}: ${message}`;
  const problems = [{ key, message }];
  return { text, details: { status: "failed", reason: "invalid", message: text, problems, known: [] }, isError: true };
}
