/**
 * The tools in an MCP server of the official SDK, called by its client.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import type { Agent } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { open } from "./agent.ts";

/** A client of a server that has the agent's tools. */
async function connect(agent: Agent): Promise<Client & AsyncDisposable> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    for (const { name, run, ...config } of agent.tools({ readOnlyTool: true })) {
      server.registerTool(name, config, async (input, { mcpReq: { signal } }) => {
        const { text, details, isError } = await run(input, { signal });
        return { content: [{ type: "text", text }], structuredContent: { ...details }, isError };
      });
    }
    return server;
  });
  const client = new Client({ name: "tester", version: "1.0.0" });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => handler.fetch(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch }));
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** The text of a call's result. */
function textOf({ content }: { readonly content?: unknown }): string {
  return (content as readonly { readonly text: string }[])[0]?.text ?? "";
}

test("MCP: registerTool takes each tool as it is, with its schema and hints", async () => {
  const { agent } = closing(open());
  const client = closing(await connect(agent));
  const { tools } = await client.listTools();
  assertEquals(tools.map(({ name }) => name), ["exec", "process", "process_read"]);
  for (const tool of agent.tools({ readOnlyTool: true })) {
    const listed = tools.find(({ name }) => name === tool.name);
    assertEquals(listed?.description, tool.description);
    assertEquals<unknown>(listed?.annotations, tool.annotations);
    const schema = tool.inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    assertEquals<unknown>({ ...listed?.inputSchema, $schema: undefined }, { ...schema, $schema: undefined });
  }
});

test("MCP: a client runs a command and waits for its end", async () => {
  const client = closing(await connect(closing(open()).agent));
  const started = await client.callTool({
    name: "exec",
    arguments: { command: "sleep 0.5; echo done", background: true },
  });
  const { sessionId } = started.structuredContent as { readonly sessionId: string };
  const end = { action: "poll", sessionId, until: "exit", timeout: 30_000 };
  assertEquals(textOf(await client.callTool({ name: "process", arguments: end })), "done\n[completed: exit code 0]");
});

test("MCP: bad input is an error that names the key and what is right", async () => {
  const client = closing(await connect(closing(open()).agent));
  const said = async (name: string, input: Record<string, unknown>): Promise<string> => {
    const result = await client.callTool({ name, arguments: input });
    assertEquals(result.isError, true);
    return textOf(result);
  };
  assertMatch(await said("exec", { cmd: "ls" }), /cmd: unknown; did you mean "command"\?.*command: required/s);
  assertStringIncludes(await said("process", { action: "write", sessionId: "x" }), 'required by action "write"');
  assertStringIncludes(await said("process_read", { action: "kill", sessionId: "x" }), "left to the tool process");
});
