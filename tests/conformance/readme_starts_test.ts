/**
 * The README's first steps work as they are written there: the words are taken out of it and run by a shell.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { after, before } from "node:test";
import { readJson, readText } from "../project.ts";
import { closing, test } from "../closing.ts";
import { OFFSTAGE_COMMAND } from "./cli.ts";
import { posix } from "./machine.ts";
import { watch } from "./serve_program.ts";

/** Programs of the README that are not here: each runs the command line of this runtime, or what it is told to add. */
const STAND_INS = {
  npx: `[ "$1" = -y ] && shift; [ "$1" = offstage ] || exit 99; shift; exec ${OFFSTAGE_COMMAND} "$@"`,
  claude: 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
  codex: 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
};

let folder = "";
let env: Record<string, string> = {};

before(() => {
  folder = mkdtempSync(join(tmpdir(), "offstage-starts-"));
  for (const [name, script] of Object.entries(STAND_INS)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const inherited = Object.entries(process.env).flatMap(([name, value]) => value === undefined ? [] : [[name, value]]);
  env = { ...Object.fromEntries(inherited), PATH: `${folder}${delimiter}${process.env["PATH"]}` };
});

after(() => rmSync(folder, { recursive: true, force: true }));

test("README: the server's line prints an address, a page, a token and a command that works", {
  skip: posix,
}, async () => {
  const [line = ""] = linesOf("A server, with a page");
  const server = watch(spawn("sh", ["-c", `exec ${line.split(" #")[0]} --port 0 --log off`], { env }));
  try {
    const url = await server.url;
    const { stdout } = server.printed;
    const [, page = "", token = ""] = /^The page: (\S+)#token=(\S+)$/m.exec(stdout) ?? [];
    const html = await fetch(page);
    assertEquals([html.status, html.headers.get("content-type")?.split(";")[0]], [200, "text/html"]);
    const [, address, header, body] = /curl -s (\S+) -H "Authorization: (Bearer .+?)" .* -d '(.+)'$/m.exec(stdout) ??
      [];
    assertEquals([address, header], [`${url}/v1/exec`, `Bearer ${token}`]);
    const headers = { authorization: String(header), "content-type": "application/json" };
    const answer = await fetch(String(address), { method: "POST", headers, body: String(body) });
    assertEquals((await answer.json() as { readonly text: string }).text, "hello");
  } finally {
    server.kill("SIGTERM");
    await server.ended;
  }
});

test("README: what is to be added to an MCP client runs a command", { skip: posix }, async () => {
  const [, json = "{}"] = /```json\n(\{ "mcpServers".*)\n```/.exec(sectionOf("In an MCP client")) ?? [];
  const { mcpServers } = JSON.parse(json) as {
    readonly mcpServers: { readonly offstage: { readonly command: string; readonly args: readonly string[] } };
  };
  const { command, args } = mcpServers.offstage;
  const lines = [...linesOf("In an MCP client"), [command, ...args].join(" ")];
  assertEquals(lines.length, 3);
  for (const line of lines) {
    const client = new Client({ name: "starts", version: "1" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StdioClientTransport({ command: "sh", args: ["-c", line], env }));
    closing({ [Symbol.asyncDispose]: () => client.close() });
    const { content } = await client.callTool({ name: "exec", arguments: { command: "echo hello" } });
    assertStringIncludes(JSON.stringify(content), "hello", line);
  }
});

test("README: what starts the command line exists, whoever starts it", () => {
  const { exports, name } = readJson("deno.json") as {
    readonly exports: Readonly<Record<string, string>>;
    readonly name: string;
  };
  const { bin } = readJson("package.json") as { readonly bin: Readonly<Record<string, string>> };
  const lines = linesOf("On the command line");
  const launchers = lines.map((line) => /^(?:npx|bunx(?: --bun)?|deno run -A) (\S+) (?:exec|doctor)\b/.exec(line)?.[1]);
  assert(lines.length >= 6);
  for (const [index, launched = ""] of launchers.entries()) {
    const entry = launched.replace(`jsr:${name}`, ".");
    if (launched.startsWith("jsr:")) assertEquals(exports[entry], "./adapters/cli/main.ts");
    else assertMatch(launched, /^(?:npm:)?offstage$/, lines[index]);
  }
  assertEquals(Object.keys(bin), ["offstage"]);
});

/** The part of the README under a heading of the third level. */
function sectionOf(heading: string): string {
  const [, section] = readText("README.md").split(`### ${heading}\n`);
  assert(section !== undefined, `the README has no heading "${heading}"`);
  return section.split(/^#|^---$/m)[0] ?? "";
}

/** The lines for a shell under that heading. */
function linesOf(heading: string): readonly string[] {
  const [, block = ""] = /```sh\n([^]*?)\n```/.exec(sectionOf(heading)) ?? [];
  return block.split("\n").map((line) => line.trim());
}
