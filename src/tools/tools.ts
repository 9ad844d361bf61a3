/**
 * `agent.tools()`: an agent's tools as a model calls them.
 *
 * @module
 */
import type { ExecAnswer, ToolAnswer } from "../exec/answer.ts";
import type { ExecOptions } from "../exec/exec.ts";
import { onUse } from "../on_use.ts";
import type { ProcessAnswer } from "../process/answer.ts";
import type { ProcessAction } from "../process/schema.ts";
import { type ToolAnnotations, type ToolDefinition, withParameters } from "./definition.ts";
import { execDefinition, type ExecOffer } from "./exec.ts";
import { type InputSchema, inputSchema } from "./input_schema.ts";
import { LOOKING_ACTIONS, PROCESS, PROCESS_READ } from "./process.ts";

/** A tool of an agent, for any framework. */
export interface Tool {
  /** What the model calls it: `exec`, `process` or `process_read`. */
  readonly name: string;
  /** For the model: what it is for, and how to use it well. */
  readonly description: string;
  /** Its parameters: a Standard Schema and Standard JSON Schema in one. */
  readonly inputSchema: InputSchema;
  /** Hints for who approves calls. */
  readonly annotations: ToolAnnotations;
  /** Whether `onUpdate` is called while a call waits. */
  readonly tellsUpdates: boolean;
  /**
   * Calls it.
   *
   * @param input what the model gave; it is checked
   * @param options the same as those of `agent.exec` and `agent.process`
   * @returns the answer, also for bad input (`isError`)
   * @throws an AbortError when `options.signal` fires while the call waits
   */
  run(input: unknown, options?: ExecOptions): Promise<ToolAnswer<object>>;
}

/** Options of `agent.tools()`. */
export interface ToolsOptions {
  /**
   * Whether there is a third tool, `process_read`, with those actions of `process` that only look (list, poll, log,
   * screen), so that a host can approve its calls without asking. @default {false}
   */
  readonly readOnlyTool?: boolean;
  /**
   * Whether the model is told of the parameters that it seldom needs, too. They work in any case; to leave them out saves
   * a few hundred tokens of every request. @default {false}
   */
  readonly allParameters?: boolean;
  /**
   * Whether events reach the agent, since its host takes them from `agent.events`: then the model is told of those it can
   * ask for. Default: whether there is an `onEvent` or a `requestHeartbeat`.
   */
  readonly events?: boolean;
}

/** The agent whose tools they are. */
export interface Toolbox {
  /** Its `exec`. */
  readonly exec: (input: unknown, options?: ExecOptions) => Promise<ExecAnswer>;
  /** Its `process`, as far as these actions go; default all. */
  readonly process: (
    input: unknown,
    options?: ExecOptions,
    actions?: readonly ProcessAction[],
  ) => Promise<ProcessAnswer>;
}

const execSchema = onUse(() => import("../exec/schema.ts"));
const processSchema = onUse(() => import("../process/schema.ts"));

/** Makes the tools of an agent, always in the same order. */
export function makeTools(box: Toolbox, offer: ExecOffer, options: ToolsOptions = {}): readonly Tool[] {
  const { readOnlyTool = false, allParameters = false } = options;
  const shown = (definition: ToolDefinition): ToolDefinition =>
    allParameters ? definition : withParameters(definition, (name) => !definition.seldom.includes(name));
  return [
    execTool(box, shown(execDefinition(offer))),
    ...(offer.processTool ? [processTool(box, shown(PROCESS))] : []),
    ...(offer.processTool && readOnlyTool ? [processTool(box, shown(PROCESS_READ), LOOKING_ACTIONS)] : []),
  ];
}

function execTool(box: Toolbox, { name, description, parameters, annotations }: ToolDefinition): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema(
      parameters,
      (input) => execSchema.use(({ checkExec }) => Promise.resolve(checkExec(input))),
    ),
    annotations,
    tellsUpdates: true,
    run: box.exec,
  };
}

function processTool(
  box: Toolbox,
  { name, description, parameters, annotations }: ToolDefinition,
  actions?: readonly ProcessAction[],
): Tool {
  return {
    name,
    description,
    inputSchema: inputSchema(
      parameters,
      (input) => processSchema.use(({ checkProcess }) => Promise.resolve(checkProcess(input, actions))),
    ),
    annotations,
    tellsUpdates: false,
    run: (input, options) => box.process(input, options, actions),
  };
}
