/**
 * `createMcpServer`: an agent as a server of the Model Context Protocol.
 *
 * @module
 */
import type { Agent } from "../../mod.ts";
import { createEndpoint } from "./endpoint.ts";
import type { McpOptions } from "./options.ts";
import { serveStdio, type StdioService } from "./stdio.ts";

/** An agent's tools and the logs of its sessions, for MCP clients of 2026-07-28 and older. */
export interface McpServer {
  /**
   * Answers one request of Streamable HTTP: the handler of a route for all methods. Who may call it is for you to check
   * before: it runs commands.
   */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Serves the client at stdin and stdout; nothing else may write to stdout.
   *
   * @returns a promise of the client's going: stdin has ended, or the server was closed
   * @throws {OffstageError} `unsupported` if `@modelcontextprotocol/server` is not installed
   */
  readonly serveStdio: () => Promise<void>;
  /** Takes leave of all clients. The sessions are the instance's, and live on. */
  readonly close: () => Promise<void>;
}

/**
 * Makes an MCP server of an agent: tools `exec` and `process`, the logs of its sessions as resources, progress while a
 * call waits. Cancelling a call, or going away, ends the wait and never the command.
 *
 * @example In a server of your own
 * ```ts
 * import { createMcpServer } from "offstage/mcp";
 * import { createOffstage } from "offstage/node";
 *
 * await using offstage = createOffstage();
 * const mcp = createMcpServer(offstage.agent("agent-1"), { readOnlyTool: true });
 * const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "exec", arguments: { command: "echo hi" } } };
 * const response = await mcp.fetch(
 *   new Request("http://localhost/mcp", {
 *     method: "POST",
 *     headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
 *     body: JSON.stringify(call),
 *   }),
 * );
 * console.log(response.status); // 200
 * ```
 */
export function createMcpServer(agent: Agent, options: McpOptions = {}): McpServer {
  const endpoint = createEndpoint(options);
  const clients = new Set<StdioService>();
  return {
    fetch: (request) => endpoint.fetch(request, agent),
    serveStdio: async () => {
      const client = await serveStdio(agent, options);
      clients.add(client);
      await client.closed;
      clients.delete(client);
    },
    close: async () => {
      await Promise.all([endpoint.close(), ...[...clients].map((client) => client.close())]);
    },
  };
}
