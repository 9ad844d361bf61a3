/**
 * Nodes on real processes: chosen, listed by every front end, each scope its own.
 *
 * @module
 */
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { createOffstage } from "../../adapters/auto.ts";
import { ClientError, createClient } from "../../adapters/client.ts";
import { chooseNode, type NodeDirectory, type NodeInfo, type Offstage, OffstageError } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { kill, pollToEnd } from "./agent.ts";
import { offstage, serverEnv } from "./cli.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { posix, thisRuntime } from "./machine.ts";

/** What a node of these tests is like. */
interface Node extends Partial<NodeInfo> {
  readonly id: string;
  readonly scopes?: readonly string[];
}

/** A directory whose nodes all are this machine. */
async function directory(nodes: readonly Node[]): Promise<NodeDirectory> {
  const { spawner } = await thisRuntime();
  const list = (scope?: string): readonly NodeInfo[] =>
    nodes.filter(({ scopes }) => scope === undefined || (scopes?.includes(scope) ?? true))
      .map(({ scopes: _, ...node }) => ({ state: "online", labels: {}, running: 0, ...node }));
  return {
    list: (scope) => Promise.resolve(list(scope)),
    choose: (node, scope) =>
      new Promise((resolve) => resolve({ name: chooseNode(list(scope), node).id, spawner: { ...spawner } })),
    close: () => Promise.resolve(),
  };
}

const FLEET: readonly Node[] = [
  { id: "big", labels: { gpu: "", arch: "x64" }, running: 3, system: "linux x64", runtime: "node 24.1.0" },
  { id: "small", labels: { note: "\x1b[2J" } },
  { id: "secret", scopes: ["two"] },
  { id: "gone", state: "lost", lastSeenMs: 61_400 },
];

async function serve(): Promise<Served> {
  const served = await serveHttp({ nodes: await directory(FLEET) });
  closing({ [Symbol.asyncDispose]: () => served.close() });
  return served;
}

async function open(): Promise<Offstage> {
  return closing(createOffstage({ nodes: await directory(FLEET) }));
}

test(
  "H1 a command on a node is a session like any other: run, written to, polled, killed",
  { skip: posix },
  async () => {
    const agent = (await open()).agent("one");
    const { details, text } = await agent.exec({ command: "echo $((6 * 7)); exit 3", host: "node", node: "any:gpu" });
    assertEquals("exitCode" in details && "node" in details ? [details.exitCode, details.node] : [], [3, "big"]);
    assertMatch(text, /^42\n/);
    assertStringIncludes(text, "[on node big]");
    const cat = await agent.exec({ command: "read -r line; echo got $line", host: "node", node: "small", yieldMs: 50 });
    const id = "sessionId" in cat.details ? cat.details.sessionId ?? "" : "";
    await agent.process({ action: "write", sessionId: id, data: "it\n" });
    assertEquals((await pollToEnd(agent, id)).output, "got it\n");
    const long = await agent.exec({ command: "sleep 60", host: "node", node: "any", background: true });
    const { details: listed } = await agent.process({ action: "list" });
    const [entry] = "sessions" in listed ? listed.sessions : [];
    assertEquals([entry?.host, entry?.node, entry?.status], ["small", "small", "running"]);
    const { confirmed } = await kill(agent, "sessionId" in long.details ? long.details.sessionId ?? "" : "");
    assertEquals(confirmed, true);
  },
);

test(
  "H4 any node of a map is the one where least runs, counting what each call has started",
  { skip: posix },
  async () => {
    const { spawner } = await thisRuntime();
    const offstage = closing(createOffstage({ nodes: { a: { ...spawner }, b: { ...spawner }, c: { ...spawner } } }));
    const agent = offstage.agent("one");
    const hosts: (string | undefined)[] = [];
    for (let call = 0; call < 6; call++) {
      const { details } = await agent.exec({ command: "sleep 60", host: "node", node: "any", background: true });
      hosts.push("node" in details ? details.node : undefined);
    }
    assertEquals(hosts, ["a", "b", "c", "a", "b", "c"]);
    assertEquals((await offstage.nodes()).map(({ running }) => running), [2, 2, 2]);
  },
);

test("GET /v1/nodes lists what the scope of the token may use; the admin sees all, or what a scope sees", {
  skip: posix,
}, async () => {
  const served = await serve();
  const ids = async (token: string, scope?: string): Promise<readonly string[]> => {
    const nodes = await createClient({ url: served.url, token, ...(scope !== undefined && { scope }) }).nodes();
    return nodes.map(({ id }) => id);
  };
  assertEquals(await ids(TOKENS.one), ["big", "small", "gone"]);
  assertEquals(await ids(TOKENS.two), ["big", "small", "secret", "gone"]);
  assertEquals(await ids(TOKENS.admin), ["big", "small", "secret", "gone"]);
  assertEquals(await ids(TOKENS.admin, "one"), ["big", "small", "gone"]);
  const [first] = await createClient({ url: served.url, token: TOKENS.one }).nodes();
  assertEquals<unknown>(first, {
    id: "big",
    state: "online",
    labels: { gpu: "", arch: "x64" },
    running: 3,
    system: "linux x64",
    runtime: "node 24.1.0",
  });
  const refused = await assertRejects(() => createClient({ url: served.url, token: "wrong" }).nodes(), ClientError);
  assertEquals(refused.status, 401);
  assertEquals((await served.request("/v1/nodes?all=true")).status, 422);
  assertEquals((await served.request("/v1/nodes", { method: "POST" })).status, 405);
});

test(
  "GET /v1/nodes is an empty list without nodes, and 503 while they cannot be reached",
  { skip: posix },
  async () => {
    const none = await serveHttp();
    closing({ [Symbol.asyncDispose]: () => none.close() });
    assertEquals(await (await none.request("/v1/nodes")).json(), { nodes: [] });
    const broken = await serveHttp({
      nodes: {
        ...await directory([]),
        list: () => Promise.reject(new OffstageError("spawn-failed", "connect ECONNREFUSED")),
      },
    });
    closing({ [Symbol.asyncDispose]: () => broken.close() });
    const response = await broken.request("/v1/nodes");
    const { error } = await response.json() as { readonly error: Readonly<Record<string, string>> };
    assertEquals([response.status, error["code"], error["message"]], [
      503,
      "unreachable",
      "Cannot list the nodes: connect ECONNREFUSED",
    ]);
  },
);

test(
  "H1 exec over HTTP runs on the node it names, and a scope that may not use it is refused",
  { skip: posix },
  async () => {
    const served = await serve();
    const call = { command: "echo hi", host: "node", node: "secret" };
    const allowed = await served.post("/v1/exec", call, TOKENS.two) as { readonly details: { readonly node: string } };
    assertEquals(allowed.details.node, "secret");
    const refused = await served.post("/v1/exec", call, TOKENS.one) as {
      readonly isError: boolean;
      readonly text: string;
    };
    assertEquals(refused.isError, true);
    assertStringIncludes(refused.text, 'Node "secret" is not known; there are big');
  },
);

test(
  "offstage nodes lists them, as a table and as JSON, and ps shows where a session runs",
  { skip: posix },
  async () => {
    const served = await serve();
    const env = serverEnv(served);
    const { stdout, stderr, code } = await offstage(["nodes"], { env });
    assertEquals([stdout.split("\n"), stderr, code], [
      [
        "ID     STATE         RUNNING  SYSTEM     RUNTIME      LABELS",
        "big    online        3        linux x64  node 24.1.0  gpu arch=x64",
        "small  online        0        -          -            note=\uFFFD[2J",
        "gone   lost for 61s  0        -          -",
        "",
      ],
      "",
      0,
    ]);
    const listed = JSON.parse((await offstage(["nodes", "--json"], { env })).stdout) as readonly NodeInfo[];
    assertEquals(listed.map(({ id, state }) => [id, state]), [["big", "online"], ["small", "online"], [
      "gone",
      "lost",
    ]]);
    await served.post("/v1/exec", { command: "sleep 60", background: true, host: "node", node: "small" });
    assertMatch((await offstage(["ps"], { env })).stdout, / running +\d+s +\d+ +small *\n/);
    const wrong = await offstage(["nodes", "big"], { env });
    assertEquals([wrong.code, wrong.stderr], [125, 'offstage: nodes takes no words, but there is "big"\n']);
  },
);

test(
  "offstage doctor tells the nodes of a server that is named, and when it cannot be asked",
  { skip: posix },
  async () => {
    const served = await serve();
    const env = { OFFSTAGE_TOKEN: TOKENS.one };
    const { stdout, code } = await offstage(["doctor", "--url", served.url], { env });
    assertEquals(code, 0);
    assertMatch(stdout, /^ {2}nodes +big \(gpu arch=x64\), small \(note=\uFFFD\[2J\), gone \(lost\)$/m);
    const nobody = await offstage(["doctor", "--url", "http://127.0.0.1:1"], { env });
    assertEquals(nobody.code, 1);
    assertMatch(nobody.stdout, /^! nodes +/m);
  },
);

test("offstage exec --node without nodes, and credentials without NATS, are refused in words of the command line", {
  skip: posix,
}, async () => {
  const env = { OFFSTAGE_NATS_URL: "" };
  const node = await offstage(["exec", "--node", "any", "true"], { env });
  assertEquals(node.code, 125);
  assertStringIncludes(node.stderr, "no node is configured");
  await Promise.all(["exec", "serve", "mcp", "doctor"].map(async (verb) => {
    const command = verb === "exec" ? ["true"] : [];
    const { code, stderr } = await offstage([verb, "--nats-creds", "x.creds", ...command], { env });
    assertEquals(code, 125, verb);
    assertStringIncludes(stderr, "--nats-creds is about NATS: say where it is by --nats or OFFSTAGE_NATS_URL");
  }));
});
