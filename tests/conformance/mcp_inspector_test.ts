/**
 * The MCP Inspector's command line, a client that others have made, lists the tools and runs a command.
 *
 * @module
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { test } from "../closing.ts";
import { root } from "../project.ts";
import { skipUnless } from "../skip.ts";
import { serveHttp, TOKENS } from "./http_server.ts";
import { posix } from "./machine.ts";
import { commandLine } from "./mcp_clients.ts";

const packages = join(root, ".ci", "runtimes", "node_modules");
/** It wants Node 22.19 at least. */
const node = join(packages, "node24", "bin", "node");
const inspector = join(packages, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js");
const skip = posix ||
  skipUnless(existsSync(node) && existsSync(inspector), "the MCP Inspector is not installed in .ci/runtimes");

/** Runs it against a server; gives what it prints, as JSON. */
async function inspect(target: readonly string[], ...options: readonly string[]): Promise<Record<string, unknown>> {
  const home = mkdtempSync(join(tmpdir(), "offstage-inspector-"));
  try {
    const env = { ...process.env, HOME: home, NO_COLOR: "1" };
    const child = spawn(node, [inspector, "--cli", ...target, ...options], { env, stdio: ["ignore", "pipe", "pipe"] });
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
    const [code] = await once(child, "close") as [number | null];
    assertEquals(code, 0, `${await stdout}\n${await stderr}`);
    return JSON.parse(await stdout);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Lists the tools, of which it finds no schema that some model would refuse, and runs a command. */
async function listAndRun(target: readonly string[]): Promise<void> {
  const { tools } = await inspect(target, "--method", "tools/list", "--strict");
  assertEquals((tools as readonly { name: string }[]).map(({ name }) => name), ["exec", "process"]);
  const call = ["--method", "tools/call", "--tool-name", "exec", "--tool-arg", "command=echo hi from $OPENCLAW_SHELL"];
  assertStringIncludes(JSON.stringify(await inspect(target, ...call)), "hi from exec");
}

test("the Inspector lists the tools and runs a command over stdio", { skip }, async () => {
  await listAndRun(commandLine("mcp"));
});

test("the Inspector lists the tools and runs a command over HTTP", { skip }, async () => {
  const served = await serveHttp();
  try {
    await listAndRun([`${served.url}/mcp`, "--header", `Authorization: Bearer ${TOKENS.one}`]);
  } finally {
    await served.close();
  }
});
