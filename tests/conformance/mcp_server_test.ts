/**
 * `createMcpServer` in a program of one's own: it leaves nothing behind, and says what it lacks.
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpServer, type McpServer } from "../../adapters/mcp.ts";
import { paced } from "../../adapters/mcp/paced.ts";
import { loadSdk } from "../../adapters/mcp/sdk.ts";
import { type Agent, OffstageError } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { background, eventually, open } from "./agent.ts";
import { posix } from "./machine.ts";

/** A client that talks to a server in the same process. */
async function connect({ fetch }: McpServer): Promise<Client> {
  const client = new Client({ name: "tester", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
      fetch: (url, init) => fetch(new Request(url, init)),
    }),
  );
  return client;
}

/** The same agent, and how many watch its sessions and their output. */
function counted(agent: Agent): { readonly agent: Agent; watchers(): number } {
  let watchers = 0;
  const count = (stop: () => void): () => void => {
    watchers += 1;
    let isOver = false;
    return () => {
      if (!isOver) watchers -= 1;
      isOver = true;
      stop();
    };
  };
  return {
    agent: {
      ...agent,
      watchSessions: (listener) => count(agent.watchSessions(listener)),
      session: (id) => {
        const view = agent.session(id);
        return view && Object.create(view, { watch: { value: (listener: () => void) => count(view.watch(listener)) } });
      },
    },
    watchers: () => watchers,
  };
}

test("a server in one's own program runs commands for a client", { skip: posix }, async () => {
  const { agent } = closing(open());
  const server = createMcpServer(agent, { readOnlyTool: true });
  const client = await connect(server);
  const { tools } = await client.listTools();
  assertEquals(tools.map(({ name }) => name), ["exec", "process", "process_read"]);
  const run = await client.callTool({ name: "exec", arguments: { command: "echo hi" } });
  assertEquals(run.content, [{ type: "text", text: "hi" }]);
  const read = await client.callTool({ name: "process_read", arguments: { action: "kill", sessionId: "x" } });
  assertEquals(read.isError, true);
  await client.close();
  await server.close();
});

test("streams of changes that clients have left leave nobody watching", { skip: posix }, async () => {
  const { agent, watchers } = counted(closing(open()).agent);
  const server = createMcpServer(agent);
  const { id } = await background(agent, { command: "while :; do echo tick; sleep 0.05; done" });
  const uri = `offstage://sessions/${id}/log`;
  for (let client = 0; client < 20; client++) {
    const connected = await connect(server);
    let updates = 0;
    connected.setNotificationHandler("notifications/resources/updated", () => void (updates += 1));
    const subscription = await connected.listen({ resourceSubscriptions: [uri, uri, "offstage://sessions/no/log"] });
    assertEquals(watchers(), 2); // the list, and the log once
    await eventually(() => updates > 0, "an update");
    await (client % 2 === 0 ? subscription.close() : connected.close());
    await eventually(() => watchers() === 0, "nobody watches");
    await connected.close();
  }
  await server.close();
});

test("a client may have a number of streams of changes and no more; those who wait are told of the server's end", {
  skip: posix,
}, async () => {
  const { agent, watchers } = counted(closing(open()).agent);
  const server = createMcpServer(agent);
  const client = await connect(server);
  const open64 = Array.from({ length: 64 }, () => client.listen({ resourcesListChanged: true }));
  const subscriptions = await Promise.all(open64);
  await assertRejects(() => client.listen({ resourcesListChanged: true }), Error, "limit");
  await server.close();
  assertEquals(await Promise.all(subscriptions.map(({ closed }) => closed)), Array(64).fill("graceful"));
  assertEquals(watchers(), 0);
  const late = await server.fetch(new Request("http://localhost/mcp", { method: "POST" }));
  assertEquals(late.status, 503);
});

test("without the protocol's package it is said what to install", async () => {
  const missing = (): Promise<never> => Promise.reject(new Error("Cannot find package\nImported from here"));
  const error = await assertRejects(() => loadSdk(missing), OffstageError);
  assertEquals(error.code, "unsupported");
  assertStringIncludes(error.message, "npm install @modelcontextprotocol/server) [Cannot find package]");
});

test("what is paced is done at once, then once for all changes while it was being done, and never after its end", async () => {
  const ends: (() => void)[] = [];
  let begun = 0;
  const pace = paced(0, () => {
    begun += 1;
    return new Promise<void>((resolve) => ends.push(resolve));
  });
  for (let change = 0; change < 5; change++) pace.poke();
  await eventually(() => begun === 1, "the first");
  for (let change = 0; change < 5; change++) pace.poke();
  assertEquals(begun, 1);
  ends[0]?.();
  await eventually(() => begun === 2, "the second");
  pace.poke();
  pace.stop();
  ends[1]?.();
  pace.poke();
  const other = paced(0, () => void (begun += 10));
  other.poke();
  await eventually(() => begun >= 12, "another one's");
  assert(begun === 12, `${begun}`);
});
