/**
 * One instance of the protocol's server: what a client of an agent can do.
 *
 * @module
 */
import type { McpServer } from "@modelcontextprotocol/server";
import type { Agent, Tool } from "../../mod.ts";
import { VERSION } from "../version.ts";
import { type CallRoom, callTool } from "./call.ts";
import { offerLogs } from "./log_resources.ts";
import type { McpOptions } from "./options.ts";
import { OUTPUT_SCHEMAS } from "./output_schema.ts";
import type { Sdk } from "./sdk.ts";

/** What an instance needs. */
export interface InstanceOptions extends McpOptions {
  /** Whose tools and sessions there are. */
  readonly agent: Agent;
  /** The protocol's package. */
  readonly sdk: Sdk;
  /** Counts the calls of all clients that share it. */
  readonly room: CallRoom;
}

/** For the model, beside the tools' own descriptions. */
const INSTRUCTIONS = `Runs shell commands. One that takes longer than yieldMs goes on as a session: follow it with the \
process tool and its sessionId (poll with until and timeout waits for you) instead of running it again. Cancelling a call \
ends the wait, not the command.`;

/** Makes an instance for one connection, or one request. */
export function makeInstance({ agent, sdk, room, readOnlyTool = false }: InstanceOptions): McpServer {
  const server = new sdk.McpServer(
    { name: "offstage", title: "Offstage", version: VERSION },
    {
      capabilities: { tools: { listChanged: false }, resources: { subscribe: true, listChanged: true } },
      instructions: INSTRUCTIONS,
    },
  );
  for (const tool of agent.tools({ readOnlyTool })) {
    server.registerTool(
      tool.name,
      {
        description: tool.description,
        annotations: { ...tool.annotations },
        inputSchema: unchecked(tool.inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" })),
        outputSchema: unchecked(OUTPUT_SCHEMAS[tool.name] ?? { type: "object" }),
      },
      (input, context) => callTool(agent, tool, input, context, room),
    );
  }
  offerLogs(server, agent, sdk);
  return server;
}

/**
 * A schema that is told to clients and checks nothing: the tools check what they are given themselves, and their answers
 * say more than the protocol's error would.
 */
function unchecked(schema: Record<string, unknown>): Tool["inputSchema"] {
  return {
    "~standard": {
      version: 1,
      vendor: "offstage",
      validate: (value) => Promise.resolve({ value: value as Readonly<Record<string, unknown>> }),
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}
