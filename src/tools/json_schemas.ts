/**
 * Tools as plain data, for whatever has no shape of its own here.
 *
 * @module
 */
import type { ToolAnnotations } from "./definition.ts";
import type { Tool } from "./tools.ts";

/** A tool's definition, plain JSON; the names are those of MCP. */
export interface PlainTool {
  /** What the model calls it. */
  name: string;
  /** What it is for, and how to use it well. */
  description: string;
  /** JSON Schema of its parameters. */
  inputSchema: Record<string, unknown>;
  /** Hints for who approves calls. */
  annotations: ToolAnnotations;
}

/**
 * The tools as plain JSON.
 *
 * @example For Gemini
 * ```ts
 * import type { Agent } from "offstage";
 * import { jsonSchemas } from "offstage/tools";
 *
 * function declarations(agent: Agent) {
 *   return jsonSchemas(agent.tools()).map(({ name, description, inputSchema }) => ({
 *     name,
 *     description,
 *     parametersJsonSchema: inputSchema,
 *   }));
 * }
 * ```
 */
export function jsonSchemas(tools: readonly Tool[]): PlainTool[] {
  return tools.map(({ name, description, inputSchema, annotations }) => ({
    name,
    description,
    inputSchema: inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" }),
    annotations: { ...annotations },
  }));
}
