/**
 * Tools for the Messages API of Anthropic.
 *
 * @module
 */
import { jsonSchemas } from "./json_schemas.ts";
import type { Tool } from "./tools.ts";

/** An entry of `tools` in a request. */
export interface AnthropicTool {
  /** What the model calls it. */
  name: string;
  /** What it is for, and how to use it well. */
  description: string;
  /** JSON Schema of its parameters. */
  input_schema: { type: "object"; [keyword: string]: unknown };
}

/** The tools as `tools` of a request; {@linkcode runToolCall} answers the `tool_use` blocks. */
export function forAnthropic(tools: readonly Tool[]): AnthropicTool[] {
  return jsonSchemas(tools).map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: { ...inputSchema, type: "object" },
  }));
}
