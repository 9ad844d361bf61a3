/**
 * H1 H4 H5: nodes that come and go: who is asked for them, what is told of the one that was chosen, and what becomes of a
 * call whose directory is slow, broken or gone.
 *
 * @module
 */
import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { AbortError, type ChosenNode, type ExecRequest, OffstageError } from "../mod.ts";
import { act, answeredAfter, type Bench, countingSignal, notStarted, open } from "./fakes/bench.ts";
import { settle } from "./fakes/clock.ts";
import { createFakeDirectory, type FakeDirectory, fakeNode } from "./fakes/directory.ts";
import { createFakeSpawner } from "./fakes/spawner.ts";

/** The longest wait for a directory, ms. */
const LONGEST_MS = 10_000;

const never = (): Promise<void> => new Promise(() => {});

/** Three nodes, of which the least busy has a GPU. */
function fleet(): FakeDirectory {
  return createFakeDirectory([
    fakeNode("busy", { running: 5 }),
    fakeNode("idle", { labels: { gpu: "" } }),
    fakeNode("private", { running: 1, scopes: ["ops"] }),
    fakeNode("gone", { state: "lost" }),
  ]);
}

/** Starts a command on a node in the background; answers where it runs. */
async function nodeOf(bench: Bench, node?: string, scope = "tester"): Promise<string | undefined> {
  const pending = bench.offstage.agent(scope).exec({
    command: "make",
    background: true,
    host: "node",
    ...(node !== undefined && { node }),
  });
  await bench.clock.advance(0);
  const { details, text } = await pending;
  assertEquals(details.status, "running", text);
  return "node" in details ? details.node : undefined;
}

test("H1 H5 the node that a directory has chosen is what authorize is asked about, what runs, and what is told", async () => {
  const directory = fleet();
  const asked: ExecRequest[] = [];
  const authorize = (request: ExecRequest): { readonly allow: true } => {
    asked.push(request);
    return { allow: true };
  };
  const bench = open({}, { nodes: directory, authorize });
  const pending = bench.agent.exec({ command: "make", background: true, host: "node", node: "any:gpu" });
  await bench.clock.advance(0);
  const { details, text } = await pending;
  const shown = "node" in details ? [details.host, details.node] : [];
  assertEquals([directory.asked, shown], [[["any:gpu", "tester"]], ["idle", "idle"]]);
  assertEquals(asked.map(({ host, node }) => [host, node]), [["node", "idle"]]);
  assertStringIncludes(text, "[on node idle]");
  const { sessions } = await act(bench.agent, { action: "list" });
  assertEquals(sessions.map(({ host, node }) => [host, node]), [["idle", "idle"]]);
  assertEquals(directory.nodes.map(({ spawner }) => spawner.children.length), [0, 1, 0, 0]);
  assertEquals([directory.nodes[1]?.spawner.last.spec.scope, bench.spawner.children.length], ["tester", 0]);
});

test("H1 the answer of a command that has ended names its node; one of this machine names none", async () => {
  const directory = fleet();
  const bench = open({}, { nodes: directory });
  const onNode = bench.agent.exec({ command: "make", host: "node", node: "busy" });
  const here = bench.agent.exec({ command: "make" });
  await settle();
  for (const spawner of [directory.nodes[0]?.spawner, bench.spawner]) spawner?.last.end();
  const [ended, endedHere] = await Promise.all([onNode, here]);
  assertEquals("node" in ended.details ? ended.details.node : undefined, "busy");
  assertStringIncludes(ended.text, "[on node busy]");
  assertEquals(["node" in endedHere.details, endedHere.text.includes("on node")], [false, false]);
});

test("H4 a directory is asked for what the call names, by the scope that asks; the admin's is *", async () => {
  const directory = fleet();
  const bench = open({}, { nodes: directory });
  assertEquals(await nodeOf(bench, "private", "ops"), "private");
  const pending = bench.offstage.admin.exec({ command: "make", background: true, host: "node" });
  await bench.clock.advance(0);
  assertStringIncludes((await pending).text, "Say which node");
  assertEquals(directory.asked, [["private", "ops"], [undefined, "*"]]);
});

test("H4 a node that is another scope's, is lost or is not there starts nothing, and the answer says which there are", async () => {
  const bench = open({}, { nodes: fleet() });
  for (const node of ["private", "gone", "ghost", "any:tpu", undefined]) {
    const { details, text } = await notStarted(
      bench.agent.exec({ command: "make", host: "node", ...(node !== undefined && { node }) }),
    );
    assertEquals([details.reason, details.problems.map(({ key }) => key)], ["invalid", ["node"]]);
    assertStringIncludes(text, "there are busy, idle (gpu), gone (lost)");
  }
});

test("H4 nobody is asked for a node when the call is wrong anyway, or runs elsewhere", async () => {
  const directory = fleet();
  const bench = open({}, { nodes: directory });
  await notStarted(bench.agent.exec({ command: "make", host: "node", env: { PATH: "/x" } }));
  await notStarted(bench.agent.exec({ command: "make", node: "idle" }));
  const here = bench.agent.exec({ command: "make", background: true });
  await bench.clock.advance(0);
  assertEquals([(await here).isError, directory.asked], [false, []]);
});

/** What a directory may do instead of answering, and what the caller is told. */
const BROKEN: readonly (readonly [fails: () => Promise<void>, reason: string, words: string])[] = [
  [() => Promise.reject(new Error("no servers")), "spawn-error", "Cannot find a node to run on: no servers"],
  [() => Promise.reject("no servers"), "spawn-error", "Cannot find a node to run on: no servers"],
  [() => Promise.reject(new OffstageError("refused", "Not for you")), "refused", "Not for you"],
  [() => Promise.reject(new OffstageError("closed", "It is closed")), "shutdown", "It is closed"],
  [
    () => {
      throw new Error("no servers");
    },
    "spawn-error",
    "Cannot find a node to run on: no servers",
  ],
];

test("E29 a directory that fails starts nothing, and the answer says why", async () => {
  for (const [fails, reason, words] of BROKEN) {
    const bench = open({}, { nodes: createFakeDirectory([fakeNode("a")], fails) });
    const { details, text } = await notStarted(bench.agent.exec({ command: "make", host: "node" }));
    assertEquals([details.reason, text], [reason, words]);
    assertEquals(bench.clock.pending, 0);
  }
});

test("H1 a directory that gives none, or one without a spawner, starts nothing, on this machine least of all", async () => {
  const noSpawner = [{ name: "idle" }, { name: "idle", spawner: {} }, { name: 5, spawner: createFakeSpawner() }];
  for (const answer of [undefined, {}, ...noSpawner]) {
    const directory = { ...fleet(), choose: () => Promise.resolve(answer as unknown as ChosenNode) };
    const bench = open({}, { nodes: directory });
    const { details } = await notStarted(bench.agent.exec({ command: "make", host: "node" }));
    assertEquals([details.reason, bench.spawner.children.length], ["spawn-error", 0]);
  }
});

test("E29 a directory that does not answer is waited for ten seconds, whatever yieldMs is, and starts nothing", async () => {
  for (const yieldMs of [0, 50, 60_000]) {
    const bench = open({}, { nodes: createFakeDirectory([fakeNode("a")], never) });
    const answer = bench.agent.exec({ command: "make", host: "node", yieldMs });
    assertEquals(await answeredAfter(bench, answer), LONGEST_MS);
    const { details, text } = await notStarted(answer);
    assertEquals([details.reason, text], ["spawn-error", "Cannot find a node to run on: no answer within 10 s"]);
    assertEquals([bench.clock.pending, bench.offstage.activeCount()], [0, 0]);
  }
});

test("S8 a place that a call has kept while a node was looked for is free again when none is found", async () => {
  const bench = open({ maxSessions: 1 }, { nodes: createFakeDirectory([fakeNode("a")], never) });
  const answer = bench.agent.exec({ command: "make", host: "node", background: true });
  await settle();
  await notStarted(bench.agent.exec({ command: "make", background: true }));
  await bench.clock.advance(LONGEST_MS);
  await notStarted(answer);
  const next = bench.agent.exec({ command: "make", background: true });
  await bench.clock.advance(0);
  assertEquals((await next).isError, false);
});

test("yieldMs counts from the start of the command: the time to find a node does not", async () => {
  let found = (): void => {};
  const directory = createFakeDirectory([fakeNode("a")], () => new Promise((resolve) => found = resolve));
  const bench = open({}, { nodes: directory });
  const answer = bench.agent.exec({ command: "make", host: "node", yieldMs: 100 });
  await bench.clock.advance(5_000);
  found();
  assertEquals(await answeredAfter(bench, answer), 100);
  assertEquals((await answer).details.status, "running");
});

test("E32 an abort while a node is looked for rejects at once, and what is found later starts nothing", async () => {
  let found = (): void => {};
  const directory = createFakeDirectory([fakeNode("a")], () => new Promise((resolve) => found = resolve));
  const bench = open({}, { nodes: directory });
  const { signal, abort, listeners } = countingSignal();
  const answer = bench.agent.exec({ command: "make", host: "node" }, { signal });
  const rejection = assertRejects(() => answer);
  await settle();
  abort("enough");
  const error = await rejection;
  assertInstanceOf(error, AbortError);
  assertEquals([error.cause, listeners(), bench.clock.pending], ["enough", 0, 0]);
  found();
  await settle();
  assertEquals(directory.nodes[0]?.spawner.children.length, 0);
});

test("R13 a caller who goes away while a node is looked for finds the command in the background", async () => {
  let found = (): void => {};
  const directory = createFakeDirectory([fakeNode("a")], () => new Promise((resolve) => found = resolve));
  const bench = open({}, { nodes: directory });
  const gone = new AbortController();
  const answer = bench.agent.exec({ command: "make", host: "node" }, { yieldSignal: gone.signal });
  await settle();
  gone.abort();
  found();
  await bench.clock.advance(0);
  assertEquals((await answer).details.status, "running");
});

test("a node is chosen anew for each command, so one that comes later is found", async () => {
  const directory = createFakeDirectory();
  const bench = open({}, { nodes: directory });
  assertStringIncludes((await notStarted(bench.agent.exec({ command: "make", host: "node" }))).text, "none is there");
  directory.nodes.push(fakeNode("late"));
  assertEquals(await nodeOf(bench), "late");
});

test("H4 nodes of a map: unnamed the only one, by name, and any where least runs; calls at the same time are spread", async () => {
  const [a, b, c] = [createFakeSpawner(), createFakeSpawner(), createFakeSpawner()];
  assertEquals(await nodeOf(open({}, { nodes: { a } })), "a");
  const bench = open({}, { nodes: { a, b, c } });
  assertEquals(await nodeOf(bench, "b"), "b");
  assertEquals([await nodeOf(bench, "any"), await nodeOf(bench, "any")], ["a", "c"]);
  const calls = Array.from({ length: 3 }, () => nodeOf(bench, "any"));
  assertEquals((await Promise.all(calls)).toSorted(), ["a", "b", "c"]);
  const infos = (await bench.offstage.nodes()).map(({ id, state, running }) => [id, state, running]);
  assertEquals(infos, [["a", "online", 2], ["b", "online", 2], ["c", "online", 2]]);
  b.children[0]?.end();
  await bench.clock.advance(0);
  assertEquals(await nodeOf(bench, "any"), "b");
});

test("H4 nodes of a map have no labels: a call that wants one is refused, and told which nodes there are", async () => {
  const bench = open({}, { nodes: { a: createFakeSpawner(), b: createFakeSpawner() } });
  for (
    const [node, words] of [
      ["any:gpu", "There is no node with the label gpu to run on; there are a, b"],
      ["c", 'Node "c" is not known; there are a, b'],
    ] as const
  ) {
    const { text } = await notStarted(bench.agent.exec({ command: "make", host: "node", node }));
    assertStringIncludes(text, words);
  }
});

test("nodes of a map may have any names, those of a directory's methods too", async () => {
  const list = createFakeSpawner();
  const bench = open({}, { nodes: { list, choose: () => createFakeSpawner() } });
  assertEquals([await nodeOf(bench, "list"), list.children.length], ["list", 1]);
  assertEquals((await bench.offstage.nodes()).map(({ id }) => id), ["list", "choose"]);
});

test("offstage.nodes lists what a scope may use, lost ones too; all for the admin, none without nodes", async () => {
  const { offstage } = open({}, { nodes: fleet() });
  const idsFor = async (scope?: string): Promise<readonly string[]> =>
    (await offstage.nodes(scope)).map(({ id, state }) => state === "lost" ? `${id} (lost)` : id);
  assertEquals(await idsFor("tester"), ["busy", "idle", "gone (lost)"]);
  for (const everything of [undefined, "*", "ops"]) {
    assertEquals(await idsFor(everything), ["busy", "idle", "private", "gone (lost)"]);
  }
  assertEquals(await open().offstage.nodes(), []);
});

test("a list of nodes that cannot be had rejects in time, and says why", async () => {
  const failing = open({}, { nodes: createFakeDirectory([], () => Promise.reject(new Error("no servers"))) });
  const failed = await assertRejects(() => failing.offstage.nodes(), OffstageError);
  assertEquals([failed.code, failed.message], ["unreachable", "Cannot list the nodes: no servers"]);
  const silent = open({}, { nodes: createFakeDirectory([], never) });
  const pending = silent.offstage.nodes();
  assertEquals(await answeredAfter(silent, pending), LONGEST_MS);
  assertEquals((await assertRejects(() => pending, OffstageError)).code, "unreachable");
});

test("close ends what runs on the nodes, then closes their directory once, however often it is called", async () => {
  const directory = fleet();
  const bench = open({}, { nodes: directory });
  await nodeOf(bench, "idle");
  const child = directory.nodes[1]?.spawner.last;
  const signals: number[] = [];
  if (child !== undefined) {
    child.onSignal = () => {
      signals.push(directory.closed());
      child.end("SIGTERM");
    };
  }
  await Promise.all([bench.offstage.close(), bench.offstage.close(), bench.clock.advance(20_000)]);
  await bench.offstage.close();
  assertEquals([signals, directory.closed()], [[0], 1]);
});

test("close does not fail because of a directory that cannot be closed, and waits no longer than ten seconds", async () => {
  for (const [answer, ms] of [[() => Promise.reject(new Error("x")), 0], [never, LONGEST_MS]] as const) {
    const directory = createFakeDirectory([], answer);
    const bench = open({}, { nodes: directory });
    assertEquals(await answeredAfter(bench, bench.offstage.close()), ms);
    assertEquals(directory.closed(), 1);
  }
});

test("a model is told of node where there are nodes: their names, or how those that come and go are named", () => {
  const told = (bench: Bench): unknown => {
    const [exec] = bench.agent.tools();
    const schema = exec?.inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    return (schema?.["properties"] as Record<string, { readonly description?: string }>)["node"]?.description;
  };
  const spawner = createFakeSpawner();
  assertEquals(told(open()), undefined);
  assertEquals(told(open({}, { nodes: {} })), undefined);
  assertEquals(told(open({}, { nodes: { a: spawner, b: spawner } })), "host node: a, b, any");
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`node-${index}`, spawner]));
  assertEquals(told(open({}, { nodes: many })), "host node: name, or any");
  assertEquals(told(open({}, { nodes: fleet() })), "host node: id, any or any:<label>[=<value>]");
});
