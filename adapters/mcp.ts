/**
 * A Model Context Protocol server: an agent's tools for any MCP client, over stdin and stdout or over HTTP.
 *
 * `offstage mcp` and the route `/mcp` of `offstage/http` are made of it. Wants the package `@modelcontextprotocol/server`.
 *
 * @module
 */
export { createMcpServer } from "./mcp/server.ts";
export type { McpServer } from "./mcp/server.ts";
export type { McpOptions } from "./mcp/options.ts";
