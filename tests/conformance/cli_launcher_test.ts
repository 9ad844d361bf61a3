/**
 * What npm and npx have started ends with them, though they hand their signals on to their shell alone.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { closing, test } from "../closing.ts";
import { eventually, processesWith, uniqueSleep } from "./agent.ts";
import { OFFSTAGE_COMMAND, serverEnv } from "./cli.ts";
import { serveHttp } from "./http_server.ts";
import { posix, proc } from "./machine.ts";

const TOKEN = "token-of-one-1234567890";
const SERVE = "serve --port 0 --json --log off";
const INITIALIZE = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** A shell that runs the command line and waits for it, as npm's does. */
interface Launched {
  readonly shell: ChildProcess;
  /** The first line that was printed. */
  readonly line: Promise<string>;
  /** Resolves once nobody holds the shell's output any more: it has ended, and so has what it ran. */
  readonly ended: Promise<void>;
}

/** Starts it; `script` is what npm says that it runs. */
function launch(words: string, script: string, more: Readonly<Record<string, string>> = {}): Launched {
  const env = { ...process.env, OFFSTAGE_TOKENS: `one:${TOKEN}`, npm_lifecycle_script: script, ...more };
  const shell = spawn("sh", ["-c", `${OFFSTAGE_COMMAND} ${words}; :`], { env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => shell.once("close", () => resolve()));
  const line = new Promise<string>((resolve, reject) => {
    let printed = "";
    shell.stdout?.on("data", (bytes) => {
      printed += bytes;
      if (printed.includes("\n")) resolve(printed);
    });
    void ended.then(() => reject(new Error(`ended after ${printed}`)));
  });
  return { shell, line, ended };
}

/** Ends the shell and no other process. */
function endShell({ shell }: Launched): void {
  process.kill(shell.pid ?? NaN, "SIGTERM");
}

test("a server ends when the shell of npx, or of npm start, has been ended", { skip: posix }, async () => {
  for (
    const script of ["'offstage'", "node dist/adapters/cli/main.js serve", "NODE_ENV=test offstage serve --port 0"]
  ) {
    const launched = launch(SERVE, script);
    await launched.line;
    endShell(launched);
    await launched.ended;
  }
});

test("so does an MCP server whose client holds its stdin open", { skip: posix }, async () => {
  const launched = launch("mcp", "offstage");
  launched.shell.stdin?.write(`${JSON.stringify(INITIALIZE)}\n`);
  await launched.line;
  endShell(launched);
  await launched.ended;
});

test("so does exec, with its command", { skip: proc }, async () => {
  const command = uniqueSleep();
  const launched = launch(`exec 'echo up; ${command}'`, "offstage");
  await launched.line;
  endShell(launched);
  await launched.ended;
  await eventually(async () => (await processesWith(command)).length === 0, "the command has ended");
});

test("so does who looks on at a session, which goes on", { skip: posix }, async () => {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  const agent = served.offstage.agent("one");
  const { details } = await agent.exec({ command: "echo up; sleep 60", background: true });
  const sessionId = "sessionId" in details ? String(details.sessionId) : "";
  for (const words of [`logs -f ${sessionId}`, `attach --readonly ${sessionId}`]) {
    const launched = launch(words, "offstage", serverEnv(served));
    await launched.line;
    endShell(launched);
    await launched.ended;
  }
  assertEquals(served.offstage.activeCount(), 1);
});

test(
  "a server that was sent to the background, or is run by an agent, outlives its shell",
  { skip: posix },
  async () => {
    const others = [["offstage serve &"], ["node build.js"], ["offstage", { OFFSTAGE_SESSION_ID: "amber-otter-0000" }]];
    await Promise.all((others as [string, Readonly<Record<string, string>>?][]).map(async ([script, more]) => {
      const launched = launch(SERVE, script, more);
      const { url } = JSON.parse(await launched.line) as { readonly url: string };
      endShell(launched);
      await sleep(1_000); // it would have noticed
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/v1/exec`, { method: "POST", headers, body: '{"command":"echo $PPID"}' });
      const { text } = await answer.json() as { readonly text: string };
      process.kill(Number(text), "SIGTERM");
      await launched.ended;
      assertEquals(answer.status, 200);
    }));
  },
);
