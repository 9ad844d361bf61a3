/**
 * What becomes of commands on a node when the node dies, ends or is started anew, and when their gateway dies.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { nats, serveNode } from "../../adapters/hosts/nats.ts";
import { createOffstage } from "../../adapters/auto.ts";
import { OffstageError } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { runtimeName } from "../skip.ts";
import { background, type Bench, eventually, poll, processesWith, runToEnd, uniqueSleep } from "./agent.ts";
import { OFFSTAGE } from "./cli.ts";
import { type NatsServer, natsServer, openLine, openNatsServer } from "./nats_server.ts";

const LEASE_S = 3;
const options = { skip: natsServer };

const gone = (text: string): Promise<void> => eventually(() => processesWith(text).length === 0, `${text} has ended`);

/** Starts `offstage node`, and waits until it serves. */
async function startNode({ url }: NatsServer, ...more: readonly string[]): Promise<ChildProcess> {
  const [program, ...words] = OFFSTAGE;
  const child = spawn(program, [...words, "node", "--id", "builder-1", "--lease", `${LEASE_S}`, ...more], {
    env: { ...process.env, OFFSTAGE_NATS_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  closing({ [Symbol.asyncDispose]: () => Promise.resolve(void child.kill("SIGKILL")) });
  const [said] = await once(child.stdout, "data");
  assertEquals(String(said), "Node builder-1 is there\n");
  return child;
}

function openGateway({ url }: NatsServer): Bench {
  const offstage = createOffstage({ nodes: nats({ url }), tools: { exec: { host: "node" } } });
  return closing({ offstage, agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() });
}

test(
  "host-lost: a node that is killed leaves nothing running, and fails what ran there within its lease",
  options,
  async () => {
    const server = closing(await openNatsServer());
    const node = await startNode(server);
    const { agent } = openGateway(server);
    const sleep = uniqueSleep();
    const command = `trap '' TERM HUP; setsid ${sleep} & echo up; ${sleep}; ${sleep}`;
    const { id } = await background(agent, { command });
    await eventually(() => processesWith(sleep).length === 2, "both run");
    node.kill("SIGKILL");
    await once(node, "exit");
    const refused = await agent.exec({ command: "true" });
    assert(refused.isError);
    assertMatch(refused.text, /builder-1/);
    const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
    assertEquals([ended.status, ended.reason], ["failed", "host-lost"]);
    assertMatch(ended.text, /builder-1: it has not been heard of for 3 s/);
    await gone(sleep);
  },
);

test("host-lost: a node that was given up runs commands again once it is back", options, async () => {
  const server = closing(await openNatsServer());
  const node = await startNode(server);
  const { agent } = openGateway(server);
  const { id } = await background(agent, { command: uniqueSleep() });
  process.kill(node.pid ?? -1, "SIGSTOP");
  const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
  assertEquals(ended.reason, "host-lost");
  process.kill(node.pid ?? -1, "SIGCONT");
  const isBack = async (): Promise<boolean> => (await agent.exec({ command: "true" })).isError !== true;
  await eventually(isBack, "it runs commands again");
});

test("host-lost: a node that is started anew has lost what ran before, at once", options, async () => {
  const server = closing(await openNatsServer());
  const node = await startNode(server, "--lease", "600");
  const { agent } = openGateway(server);
  const { id } = await background(agent, { command: uniqueSleep() });
  node.kill("SIGKILL");
  await once(node, "exit");
  await startNode(server);
  const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
  assertEquals(ended.reason, "host-lost");
  assertMatch(ended.text, /started anew/);
  assertEquals((await runToEnd(agent, { command: "echo again" })).details.output, "again\n");
});

test("a node that is asked to end ends its commands, says so, and is in no list", options, async () => {
  const server = closing(await openNatsServer());
  const node = await startNode(server);
  const { agent, offstage } = openGateway(server);
  const sleep = uniqueSleep();
  const { id } = await background(agent, { command: sleep });
  const listed = async (): Promise<unknown> => (await offstage.nodes()).map((it) => [it.id, it.state, it.running]);
  await eventually(async () => JSON.stringify(await listed()) === '[["builder-1","online",1]]', "it is listed");
  process.kill(node.pid ?? -1, "SIGTERM"); // after `node.kill` Deno tells the signal and not the code
  const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
  assertEquals(ended.reason, "host-lost");
  assertMatch(ended.text, /it was ended/);
  assertEquals(await once(node, "exit"), [0, null]);
  await gone(sleep);
  await eventually(async () => (await offstage.nodes()).length === 0, "it is in no list");
});

test("a gateway that is killed has its commands ended after the lease", options, async () => {
  const server = closing(await openNatsServer());
  closing(await serveNode({ url: server.url, id: "builder-1", leaseMs: LEASE_S * 1_000, graceMs: 200 }));
  const sleep = uniqueSleep();
  const program = fileURLToPath(
    new URL(`../fixtures/nats_gateway.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
  );
  const runtimeArgs = { node: [], bun: [], deno: ["run", "-A", "--no-check"] }[runtimeName];
  const command = `trap '' TERM; setsid ${sleep} & echo up; ${sleep}; ${sleep}`;
  const gateway = spawn(process.execPath, [...runtimeArgs, program, server.url, "builder-1", command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closing({ [Symbol.asyncDispose]: () => Promise.resolve(void gateway.kill("SIGKILL")) });
  await once(gateway.stdout, "data");
  await eventually(() => processesWith(`1 ${sleep}`).length === 0 && processesWith(sleep).length >= 2, "both run");
  gateway.kill("SIGKILL");
  await gone(sleep);
});

test("a gateway that is closed has its commands ended at once", options, async () => {
  const server = closing(await openNatsServer());
  const node = closing(await serveNode({ url: server.url, id: "builder-1", leaseMs: 600_000, graceMs: 200 }));
  const directory = nats({ url: server.url });
  const { spawner } = await directory.choose(undefined, "tester");
  const sleep = uniqueSleep();
  await spawner.spawn(
    { argv: ["sh", "-c", sleep], cwd: "/", env: {}, stdin: "closed", sessionId: "closed", scope: "tester" },
    { chunk: () => {}, end: () => {} },
  );
  await eventually(() => processesWith(sleep).length > 0, "it runs");
  assertEquals(node.running(), 1);
  await directory.close();
  await gone(sleep);
});

test("there is one node of each id: the second is refused", options, async () => {
  const server = closing(await openNatsServer());
  const { url } = server;
  closing(await serveNode({ url, id: "builder-1" }));
  const error = await assertRejects(
    () => serveNode({ url, id: "builder-1" }),
    OffstageError,
    'a node "builder-1" already',
  );
  assertEquals(error.code, "refused");
  closing(await serveNode({ url, id: "builder-1", prefix: "other.fleet" }));
});

test("of two nodes of one id that did not meet before, the younger one ends", options, async () => {
  const [one, other] = [closing(await openNatsServer()), closing(await openNatsServer())];
  closing(await serveNode({ url: one.url, id: "builder-1" }));
  const line = closing(await openLine(other.port));
  const younger = closing(await serveNode({ url: line.url, id: "builder-1" }));
  line.cut();
  line.lead(one.port);
  line.mend();
  assertMatch(String((await younger.ended)?.message), /a node "builder-1" already/);
});

test("a node whose place a younger one of its id had taken is used again once that has gone", options, async () => {
  const server = closing(await openNatsServer());
  const line = closing(await openLine(server.port));
  closing(await serveNode({ url: line.url, id: "builder-1", env: { WHO: "elder" } }));
  const { agent } = openGateway(server);
  const who = async (): Promise<unknown> => (await agent.exec({ command: "echo $WHO" })).details;
  await eventually(async () => JSON.stringify(await who()).includes("elder"), "the elder runs commands");
  line.cut();
  const younger = closing(await serveNode({ url: server.url, id: "builder-1", env: { WHO: "younger" } }));
  await eventually(async () => JSON.stringify(await who()).includes("younger"), "the younger runs commands");
  line.mend();
  await younger.ended;
  await eventually(async () => JSON.stringify(await who()).includes("elder"), "the elder runs commands again");
});
