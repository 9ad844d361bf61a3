/**
 * Which node of a fleet runs a command, and what is told of the nodes.
 *
 * @module
 */
import process from "node:process";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { nats, serveNode, type ServeNodeOptions } from "../../adapters/hosts/nats.ts";
import { createOffstage } from "../../adapters/auto.ts";
import { OffstageError } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { background, type Bench, eventually, runToEnd, uniqueSleep } from "./agent.ts";
import { natsServer, openNatsServer } from "./nats_server.ts";

const options = { skip: natsServer };

/** A gateway, and nodes that it finds. */
async function openNodes(...nodes: readonly Omit<ServeNodeOptions, "url">[]): Promise<Bench> {
  const { url } = closing(await openNatsServer());
  for (const node of nodes) closing(await serveNode({ url, graceMs: 200, ...node }));
  const offstage = createOffstage({ nodes: nats({ url }), tools: { exec: { host: "node" } } });
  return closing({ offstage, agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() });
}

test("any: the node that has least to do, in turn where they are equal", options, async () => {
  const { agent, offstage } = await openNodes({ id: "a" }, { id: "b" }, { id: "c" });
  const where: (string | undefined)[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const { details } = await background(agent, { command: uniqueSleep(), node: "any", yieldMs: 10 });
    where.push((await agent.process({ action: "list" })).text.match(new RegExp(`${details.sessionId}.*`))?.[0]);
  }
  await eventually(
    async () => JSON.stringify((await offstage.nodes()).map(({ running }) => running)) === "[2,2,2]",
    "two run on each",
  );
});

test("any:label and any:label=value, a name, and what is said where nothing fits", options, async () => {
  const { agent } = await openNodes(
    { id: "a", labels: { gpu: "" }, cwd: "/tmp" },
    { id: "b", labels: { arch: "arm", gpu: "" }, cwd: "/usr" },
    { id: "c", labels: { arch: "x64" }, cwd: "/etc" },
  );
  const run = async (node: string): Promise<string> =>
    (await agent.exec({ command: "pwd", node })).text.split("\n")[0] ?? "";
  assertEquals(await run("a"), "/tmp");
  assertEquals(await run("any:arch=arm"), "/usr");
  assertEquals(await run("any:arch=x64"), "/etc");
  for (let turn = 0; turn < 4; turn++) assertEquals(["/tmp", "/usr"].includes(await run("any:gpu")), true);
  for (
    const [node, what] of [
      ["d", 'Node "d" is not known'],
      ["any:tpu", "There is no node with the label tpu to run on"],
      ["any:arch=mips", "There is no node with the label arch=mips to run on"],
      ["any:toString", "There is no node with the label toString to run on"],
    ] as const
  ) {
    const { details } = await agent.exec({ command: "pwd", node });
    const [problem, ...more] = "problems" in details ? details.problems : [];
    assertEquals([problem?.key, problem?.message.split("; ")[0], more], ["node", what, []]);
    for (const told of ["a (gpu)", "b (arch=arm, gpu)", "c (arch=x64)"]) {
      assertStringIncludes(problem?.message ?? "", told);
    }
  }
  const { details } = await agent.exec({ command: "pwd" });
  assertEquals("problems" in details && details.problems?.[0]?.key, "node");
});

test(
  "H6 a command on a node has the node's PATH and HOME, what its owner adds, and nothing else of it",
  options,
  async () => {
    process.env["OFFSTAGE_TEST_SECRET"] = "of the node";
    const { agent } = await openNodes({ id: "a", env: { JAVA_HOME: "/opt/java" } });
    const { details } = await runToEnd(agent, { command: "env", env: { MINE: "1" } });
    const variables = new Map(
      details.output.trim().split("\n").map((line) => line.split(/=(.*)/s) as [string, string]),
    );
    assertEquals(
      [variables.get("PATH"), variables.get("JAVA_HOME"), variables.get("MINE"), variables.has("OFFSTAGE_TEST_SECRET")],
      [process.env["PATH"], "/opt/java", "1", false],
    );
  },
);

test("what a list tells of a node, and that a server which is not there is said", options, async () => {
  const server = await openNatsServer();
  const { url } = server;
  const node = await serveNode({ url, id: "a", labels: { gpu: "" } });
  const directory = nats({ url });
  const [info] = await directory.list();
  assertEquals([info?.id, info?.state, info?.labels, info?.running], ["a", "online", { gpu: "" }, 0]);
  assertEquals(info?.system, `${process.platform} ${process.arch}`);
  await node.close();
  assertEquals(await directory.list(), []);
  await directory.close();
  await assertRejects(() => directory.list(), OffstageError, "closed");
  await server[Symbol.asyncDispose]();
  const nobody = await assertRejects(() => nats({ url }).list(), OffstageError, "Cannot reach NATS at 127.0.0.1");
  assertEquals(nobody.code, "spawn-failed");
  await assertRejects(() => serveNode({ url, id: "a" }), OffstageError, "Cannot reach NATS");
});
