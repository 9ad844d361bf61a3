/**
 * Tools for the AI SDK (the package `ai`, 7 and newer).
 *
 * @module
 */
import type { ToolAnswer } from "../exec/answer.ts";
import type { ExecUpdate } from "../exec/updates.ts";
import type { InputSchema } from "./input_schema.ts";
import type { Tool } from "./tools.ts";

/** A tool as `generateText`, `streamText` and agents of the AI SDK take it. */
export interface AISDKTool {
  /** What it is for, and how to use it well. */
  readonly description: string;
  /** Its parameters. */
  readonly inputSchema: InputSchema;
  /**
   * Calls it. While `exec` waits, its newest output comes as preliminary results (`details: { status: "waiting", bytes }`).
   */
  readonly execute: (
    input: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => AsyncIterable<ToolAnswer<object>> | Promise<ToolAnswer<object>>;
  /** Sends the model the answer's text; `details` are for programs. */
  readonly toModelOutput: (
    call: { readonly output: ToolAnswer<object> },
  ) => { type: "text"; value: string } | { type: "error-text"; value: string };
}

/** The tools as `tools` of the AI SDK, by name. */
export function forAISDK(tools: readonly Tool[]): Record<string, AISDKTool> {
  return Object.fromEntries(tools.map((tool) => [tool.name, toolOf(tool)]));
}

function toolOf(tool: Tool): AISDKTool {
  const { description, inputSchema, tellsUpdates } = tool;
  return {
    description,
    inputSchema,
    execute: (input, { abortSignal }) =>
      tellsUpdates ? updatesAndAnswer(tool, input, abortSignal) : tool.run(input, { signal: abortSignal }),
    toModelOutput: ({ output: { text, isError } }) => ({ type: isError ? "error-text" : "text", value: text }),
  };
}

/** The newest output each time somebody asks for it and there is some, last the answer. */
async function* updatesAndAnswer(
  tool: Tool,
  input: unknown,
  signal: AbortSignal | undefined,
): AsyncGenerator<ToolAnswer<object>> {
  let newest: ExecUpdate | undefined;
  let isAnswered = false;
  let wake = (): void => {};
  const onUpdate = (update: ExecUpdate): void => {
    newest = update;
    wake();
  };
  const answer = tool.run(input, { signal, onUpdate });
  const answered = (): void => {
    isAnswered = true;
    wake();
  };
  answer.then(answered, answered);
  while (!isAnswered) {
    if (newest === undefined) {
      await new Promise<void>((resolve) => wake = resolve);
    } else {
      const { tail, bytes } = newest;
      newest = undefined;
      yield { text: tail, details: { status: "waiting", bytes }, isError: false };
    }
  }
  yield await answer;
}
