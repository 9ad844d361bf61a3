/**
 * `offstage mcp` as a process: what it writes where, and how it ends.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { text } from "node:stream/consumers";
import { test } from "../closing.ts";
import { eventually, processesWith, uniqueSleep } from "./agent.ts";
import { commandLine } from "./mcp_clients.ts";
import { posix, proc } from "./machine.ts";

/** A server that is spoken to line by line. */
interface RawServer {
  readonly child: ChildProcessWithoutNullStreams;
  /** Sends a message, or a line as it is. */
  send(message: object | string): void;
  /** Sends a request and waits for its answer. */
  ask(method: string, params: object): Promise<Readonly<Record<string, unknown>>>;
  /** Waits for the end: the code, all of stdout, all of stderr. */
  end(): Promise<readonly [code: number | null, stdout: string, stderr: string]>;
}

function start(...flags: readonly string[]): RawServer {
  const [program, ...args] = commandLine("mcp", ...flags);
  const child = spawn(program, args);
  const ended = once(child, "close");
  const stderr = text(child.stderr);
  let stdout = "";
  let ids = 0;
  let wake = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
    wake();
  });
  const send = (message: object | string): void => {
    child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  };
  return {
    child,
    send,
    ask: async (method, params) => {
      const id = ++ids;
      send({ jsonrpc: "2.0", id, method, params });
      for (;;) {
        const answer = lines(stdout).find((message) => message["id"] === id);
        if (answer !== undefined) return answer;
        await new Promise<void>((resolve) => wake = resolve);
      }
    },
    end: async () => {
      const [code] = await ended as [number | null];
      return [code, stdout, await stderr];
    },
  };
}

/** Every whole line of stdout, each of which must be a message. */
function lines(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  return stdout.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

const OPENING = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } };

async function startCommand(server: RawServer, command: string): Promise<void> {
  await server.ask("initialize", OPENING);
  server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const { result } = await server.ask("tools/call", { name: "exec", arguments: { command, background: true } });
  assertMatch(JSON.stringify(result), /"status":"running"/);
}

test(
  "MCP over stdio: when stdin ends, the sessions are ended and the server exits 0; stdout was the protocol's alone",
  {
    skip: posix || proc,
  },
  async () => {
    const server = start();
    const command = uniqueSleep();
    await startCommand(server, `echo on stdout; echo on stderr >&2; ${command}`);
    server.child.stdin.end();
    const [code, stdout, stderr] = await server.end();
    assertEquals([code, stderr], [0, ""]);
    for (const message of lines(stdout)) assertEquals(message["jsonrpc"], "2.0");
    assertEquals(processesWith(command), []);
  },
);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`MCP over stdio: ${signal} ends the sessions, also one that is waited for, and the server exits 0`, {
    skip: posix || proc,
  }, async () => {
    const server = start();
    const command = uniqueSleep();
    const awaited = uniqueSleep();
    await startCommand(server, `trap 'sleep 0.2; exit 5' TERM; ${command} & wait`);
    const call = { name: "exec", arguments: { command: awaited, yieldMs: 120_000 } };
    server.send({ jsonrpc: "2.0", id: "waits", method: "tools/call", params: call });
    await eventually(() => processesWith(awaited).length > 0, "the second command");
    process.kill(server.child.pid as number, signal); // what Deno's child.kill() sends it takes for how the child ended
    const [code] = await server.end();
    assertEquals([code, processesWith(command), processesWith(awaited)], [0, [], []]);
  });
}

test("MCP over stdio: lines that are no messages are told on stderr and change nothing", { skip: posix }, async () => {
  const server = start();
  for (const line of ["", "no json", "null", "[]", '{"jsonrpc":"2.0"}', '"x"', "\u0000\ufffd", '{"id":1}']) {
    server.send(line);
  }
  await server.ask("initialize", OPENING);
  for (const line of ["no json", "{", "[1,2]", '{"jsonrpc":"2.0","id":null}']) server.send(line);
  const { error } = await server.ask("no/such", {});
  assertEquals((error as { code: number }).code, -32_601);
  const { result } = await server.ask("tools/call", { name: "exec", arguments: { command: "echo fine" } });
  assertStringIncludes(JSON.stringify(result), "fine");
  server.child.stdin.end();
  const [code] = await server.end();
  assertEquals(code, 0);
});

test("MCP over stdio: a message without end is refused before it fills the memory", { skip: posix }, async () => {
  const server = start();
  await server.ask("initialize", OPENING);
  server.child.stdin.on("error", () => {}); // it stops reading
  const piece = "x".repeat(1024 * 1024);
  for (let mebibyte = 0; mebibyte < 12; mebibyte++) server.child.stdin.write(piece);
  const [code, , stderr] = await server.end();
  assertEquals(code, 0);
  assertStringIncludes(stderr, "maximum size");
});

test("MCP over stdio: a command of a mebibyte runs, one that is larger is refused with both numbers", {
  skip: posix,
}, async () => {
  const server = start();
  await server.ask("initialize", OPENING);
  const run = async (bytes: number): Promise<string> => {
    const command = `echo ok #${"x".repeat(bytes - 9)}`;
    return JSON.stringify(await server.ask("tools/call", { name: "exec", arguments: { command } }));
  };
  assertMatch(await run(1024 * 1024), /"isError":false/);
  assertMatch(await run(1024 * 1024 + 1), /1048577.*1048576.*"isError":true/);
  server.child.stdin.end();
  assertEquals((await server.end())[0], 0);
});

test("MCP over stdio: help tells of its options, an unknown one is refused", async () => {
  const [code, stdout] = await start("--help").end();
  assertEquals(code, 0);
  assertStringIncludes(stdout, "--read-only-tool");
  const [refused, nothing, stderr] = await start("--no-such-flag").end();
  assertEquals([refused, nothing], [125, ""]);
  assertStringIncludes(stderr, "--no-such-flag");
});
