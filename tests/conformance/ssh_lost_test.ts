/**
 * What becomes of sessions over SSH when the connection breaks, and of what runs there when this side dies.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assertEquals, assertMatch } from "@std/assert";
import { closing, test } from "../closing.ts";
import type { HostPlan } from "../fixtures/host.ts";
import { runtimeName } from "../skip.ts";
import { background, eventually, poll, processesWith, runToEnd, uniqueSleep } from "./agent.ts";
import { terminal } from "./machine.ts";
import { openRemote as open, openSshServer, sshServer } from "./ssh_server.ts";

const pty = sshServer || terminal;

const gone = (text: string): Promise<void> => eventually(() => processesWith(text).length === 0, `${text} has ended`);

for (const onTerminal of [false, true]) {
  test(
    `host-lost: a connection that breaks fails its sessions, and leaves nothing running, ${
      onTerminal ? "a terminal" : "pipes"
    }`,
    {
      skip: onTerminal ? pty : sshServer,
    },
    async () => {
      const { agent, server } = await open();
      const sleep = uniqueSleep();
      const { id } = await background(agent, {
        command: `trap '' HUP; setsid ${sleep} & echo up; ${sleep}; ${sleep}`,
        pty: onTerminal,
      });
      await eventually(() => processesWith(sleep).length === 2, "both run");
      for (const pid of server.connections()) process.kill(pid, "SIGKILL");
      const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
      assertEquals([ended.status, ended.reason, ended.exitCode, ended.signal], ["failed", "host-lost", null, null]);
      assertMatch(ended.text, /its host was lost \(127\.0\.0\.1: .+\): how it ended there is unknown/);
      await gone(sleep);
      // The next command makes a connection of its own
      assertEquals((await runToEnd(agent, { command: "echo again" })).details.output, "again\n");
    },
  );
}

test("host-lost: a command in the foreground, and a server that is gone for good", { skip: sshServer }, async () => {
  const { agent, server } = await open();
  const sleep = uniqueSleep();
  const answer = agent.exec({ command: sleep, yieldMs: 60_000 });
  await eventually(() => processesWith(sleep).length === 1, "it runs");
  const connections = server.connections();
  const serverEnded = once(server.process, "exit"); // until then it may accept connections still
  server.process.kill("SIGKILL");
  for (const pid of connections) process.kill(pid, "SIGKILL");
  const { details } = await answer;
  assertEquals(["reason" in details && details.reason, details.status], ["host-lost", "failed"]);
  await serverEnded;
  assertMatch((await agent.exec({ command: "true" })).text, /Cannot reach 127\.0\.0\.1: .*refused/);
  await gone(sleep);
});

test(
  "the connection's own client here may be killed: the session is lost, and its command ended",
  { skip: sshServer },
  async () => {
    const { agent, server } = await open();
    const sleep = uniqueSleep();
    const { id } = await background(agent, { command: sleep });
    const key = String(server.options.options?.["IdentityFile"]);
    await eventually(() => processesWith(key).length > 0, "the clients run");
    for (const pid of processesWith(key)) process.kill(pid, "SIGKILL");
    assertEquals((await poll(agent, id, { until: "exit", timeout: 30_000 })).reason, "host-lost");
    await gone(sleep);
  },
);

test(
  "the client of one command may be killed here: its tree is ended there",
  { skip: sshServer },
  async () => {
    const { agent, server } = await open();
    const sleep = uniqueSleep();
    const command = `(setsid setsid ${sleep} &); ${sleep}; ${sleep}`;
    const { id } = await background(agent, { command });
    await eventually(() => processesWith(sleep).length === 2, "both run");
    const overseers = processesWith("ControlMaster=yes");
    const clients = processesWith(String(server.options.options?.["IdentityFile"]));
    for (const pid of clients) if (!overseers.includes(pid)) process.kill(pid, "SIGKILL");
    assertEquals((await poll(agent, id, { until: "exit", timeout: 30_000 })).reason, "host-lost");
    await gone(sleep);
  },
);

/** Beside the compiled tests lie compiled fixtures. */
const hostProgram = fileURLToPath(
  new URL(`../fixtures/host.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
);
const runtimeArgs = { node: [], bun: [], deno: ["run", "-A", "--no-check"] }[runtimeName];

async function startHost(plan: HostPlan): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...runtimeArgs, hostProgram, JSON.stringify(plan)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closing({ [Symbol.asyncDispose]: () => Promise.resolve(void child.kill("SIGKILL")) });
  const [chunk] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  assertEquals(String(chunk), "up\n");
  return child;
}

for (const orphanGuard of [true, false]) {
  test(`E39 a host that dies by SIGKILL leaves nothing over there, ${orphanGuard ? "with" : "without"} a guard here`, {
    skip: pty,
  }, async () => {
    const server = closing(await openSshServer());
    const sleep = uniqueSleep();
    const command = `trap '' TERM HUP; setsid ${sleep} & echo up; ${sleep}; ${sleep}`;
    const host = await startHost({
      exec: { orphanGuard },
      ssh: server.options,
      commands: [{ command }, { command, pty: true }],
      end: "stay",
    });
    await eventually(() => processesWith(sleep).length === 4 + 1, "all run"); // and the host, which was told of them
    host.kill("SIGKILL");
    await gone(sleep);
    const key = String(server.options.options?.["IdentityFile"]);
    await gone(key);
  });
}

test("a program that is done ends, although a connection is open", { skip: sshServer }, async () => {
  const server = closing(await openSshServer());
  const host = await startHost({ exec: {}, ssh: server.options, commands: [{ command: "echo up" }], end: "close" });
  if (host.exitCode === null) await once(host, "exit");
  assertEquals(host.exitCode, 0);
  await gone(String(server.options.options?.["IdentityFile"]));
});
