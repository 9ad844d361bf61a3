/**
 * Sessions in a real container of podman: what its engine has a part in.
 *
 * @module
 */
import process from "node:process";
import { assertEquals, assertMatch } from "@std/assert";
import { test } from "../closing.ts";
import {
  background,
  eventually,
  kill,
  poll,
  pollUntil,
  processesCarrying,
  processesWith,
  uniqueMark,
  uniqueSleep,
} from "./agent.ts";
import { terminal } from "./machine.ts";
import { openInPodman as open, podman } from "./podman_container.ts";

const gone = (text: string): Promise<void> => eventually(() => processesWith(text).length === 0, `${text} has ended`);

test("a command runs in the container, with its variables in nobody's arguments", { skip: podman }, async () => {
  const { agent } = await open();
  const { env, variable } = uniqueMark();
  const { id } = await background(agent, { command: "ls /; pwd; echo up; read -r line", stdin: "open", env });
  assertMatch(
    await pollUntil(agent, id, "up\n"),
    /^bin\ndev\netc\nlib\n(?:lib64\n)?proc\n(?:run\n)?sbin\nsys\ntmp\nusr\n\/\nup\n$/,
  );
  assertEquals(processesCarrying(variable).length, 1);
  assertEquals(processesWith(variable.split("=")[1] ?? "").length, 0);
  await kill(agent, id);
});

test("E34 a kill ends the tree in the container, with who has left its group", { skip: podman }, async () => {
  const { agent } = await open();
  const sleep = uniqueSleep();
  const { id } = await background(agent, { command: `trap '' TERM; setsid ${sleep} & ${sleep}; ${sleep}` });
  await eventually(() => processesWith(sleep).length === 2, "both run");
  await kill(agent, id);
  await gone(sleep);
});

test("host-lost: a container that ends, with everything in it", { skip: podman }, async () => {
  const { agent, box } = await open();
  const sleep = uniqueSleep();
  const { id } = await background(agent, { command: `setsid ${sleep} & ${sleep}; ${sleep}` });
  await eventually(() => processesWith(sleep).length === 2, "both run");
  await box.stop();
  const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
  assertEquals([ended.status, ended.reason], ["failed", "host-lost"]);
  assertEquals(processesWith(sleep).length, 0);
  assertMatch((await agent.exec({ command: "true" })).text, /Cannot reach podman box: .*no such container/);
});

test("the engine's client of one command may be killed: its tree is ended in there", {
  skip: podman || terminal,
}, async () => {
  const { agent, box } = await open();
  const sleep = uniqueSleep();
  const command = `(setsid setsid ${sleep} &); ${sleep}; ${sleep}`;
  const { id } = await background(agent, { command, pty: true });
  await eventually(() => processesWith(sleep).length === 2, "both run");
  const clients = processesWith(`${box.options.options?.join(" ")} exec -i -t`);
  assertEquals(clients.length, 1);
  for (const pid of clients) process.kill(pid, "SIGKILL");
  assertEquals((await poll(agent, id, { until: "exit", timeout: 30_000 })).reason, "host-lost");
  await gone(sleep);
});
