/**
 * `offstage exec` without a command: what the two tools do, shown on real commands.
 *
 * @module
 */
import process from "node:process";
import type { Agent, ExecParams, ProcessParams } from "../../mod.ts";
import { createOffstage } from "../auto.ts";

/** Prints which arrow key was pressed. */
const MENU = `printf 'press an arrow: '; IFS= read -rsn3 key; case $key in *A) echo up;; *B) echo down;; esac`;

/** Runs the tour; resolves with the exit code. */
export async function tour(): Promise<number> {
  const offstage = createOffstage({ tools: { exec: { killGraceMs: 1_000 } } });
  try {
    await show(offstage.agent("tour"));
  } finally {
    await offstage.close();
  }
  return 0;
}

async function show(agent: Agent): Promise<void> {
  title("A quick command answers at once");
  await exec(agent, { command: "echo hello from $OPENCLAW_SHELL; exit 3" });

  title("A slow one yields, and is followed with poll");
  const slow = await exec(agent, { command: "for i in 1 2 3; do echo step $i; sleep 0.4; done", yieldMs: 200 });
  await call(agent, { action: "poll", sessionId: slow, until: "exit", timeout: 10_000 });

  title("One that asks is answered through stdin");
  const asking = await exec(agent, { command: `printf 'your name? '; read name; echo "hello $name"`, yieldMs: 200 });
  await call(agent, { action: "write", sessionId: asking, data: "Ada\n" });
  await call(agent, { action: "poll", sessionId: asking, until: "exit", timeout: 10_000 });

  title("A terminal program is sent keys");
  const menu = await exec(agent, { command: MENU, pty: true, yieldMs: 400 });
  await call(agent, { action: "send-keys", sessionId: menu, keys: ["Down"] });
  await call(agent, { action: "poll", sessionId: menu, until: "exit", timeout: 5_000 });

  title("One that is not wanted any more is killed, with everything it has started");
  const unwanted = await exec(agent, { command: "sleep 600 & sleep 600; wait", background: true });
  await call(agent, { action: "kill", sessionId: unwanted, wait: 10_000 });
  await call(agent, { action: "list" });
}

function title(text: string): void {
  process.stdout.write(`\n# ${text}\n`);
}

/** Shows a call of exec and its answer; gives the session's id, or an empty one if it has ended already. */
async function exec(agent: Agent, params: ExecParams): Promise<string> {
  announce("exec", params);
  const { text, details } = await agent.exec(params);
  process.stdout.write(`${text}\n`);
  return "sessionId" in details ? details.sessionId ?? "" : "";
}

async function call(agent: Agent, params: ProcessParams): Promise<void> {
  announce("process", params);
  process.stdout.write(`${(await agent.process(params)).text}\n`);
}

function announce(tool: string, params: ExecParams | ProcessParams): void {
  process.stdout.write(`\n> ${tool} ${JSON.stringify(params)}\n`);
}
