/**
 * Desktop Commander, over its stdio MCP server.
 *
 * @module
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { MARK } from "../sweep.ts";
import { packagePath, type Peer } from "./peer.ts";

/** Longest wait for a command, ms. */
const WAIT_MS = 60_000;

/** Opens it, with a home of its own. */
export async function open(): Promise<Peer> {
  const program = join(packagePath("desktop-commander", "@wonderwhy-er/desktop-commander"), "dist", "index.js");
  const home = mkdtempSync(join(tmpdir(), "offstage-bench-commander-"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, [MARK]: process.env[MARK] ?? "" };
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, "--no-onboarding"], env, stderr: "ignore" }),
  );
  const run = (command: string, timeout: number): Promise<unknown> =>
    client.callTool({ name: "start_process", arguments: { command, timeout_ms: timeout } }, { timeout: WAIT_MS * 2 });
  return {
    run: (command) => run(command, WAIT_MS),
    start: (command) => run(command, 100),
    close: () => client.close(),
  };
}
