/**
 * MCP over HTTP as it is on the wire: plain requests, sessions of older clients, and clients that mean no good.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { closing, test } from "../closing.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { CLIENTS } from "./mcp_clients.ts";
import { posix } from "./machine.ts";

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** A served instance that is closed at the end of the test. */
async function open(): Promise<Served & AsyncDisposable> {
  const served = await serveHttp();
  return closing({ ...served, [Symbol.asyncDispose]: served.close });
}

/** Posts something to `/mcp`; a message is sent as JSON, text as it is. */
function post(
  { request }: Served,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return request("/mcp", { method: "POST", body: text, headers: { ...HEADERS, ...headers } });
}

/** The messages of an answer, be it JSON or a stream. */
async function messages(response: Response): Promise<readonly Record<string, unknown>[]> {
  const text = await response.text();
  if (response.headers.get("content-type")?.includes("json")) return [JSON.parse(text)].flat();
  return text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
}

function call(name: string, args: unknown, id: unknown = 1): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

test("MCP over HTTP: one request without any session runs a command", { skip: posix }, async () => {
  const served = await open();
  const [answer] = await messages(await post(served, call("exec", { command: "echo hi" })));
  assertEquals((answer?.["result"] as { content: unknown }).content, [{ type: "text", text: "hi" }]);
});

test("MCP over HTTP: no token, no answer", async () => {
  const served = await open();
  for (const authorization of ["", "Bearer wrong", `Basic ${TOKENS.one}`]) {
    const response = await post(served, INITIALIZE, { authorization });
    assertEquals(response.status, 401, authorization);
    await response.body?.cancel();
  }
});

test("MCP over HTTP: the session of an older client is no other scope's, and ends when it says so", async () => {
  const served = await open();
  const begun = await post(served, INITIALIZE);
  const session = begun.headers.get("mcp-session-id") ?? "";
  assertEquals((await messages(begun)).length, 1);
  assert(session.length >= 32);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const status = async (headers: Readonly<Record<string, string>>, method = "POST"): Promise<number> => {
    const response = method === "POST"
      ? await post(served, list, headers)
      : await served.request("/mcp", { method, headers });
    await response.body?.cancel();
    return response.status;
  };
  const own = { "mcp-session-id": session };
  assertEquals(await status(own), 200);
  assertEquals(await status({ ...own, authorization: `Bearer ${TOKENS.two}` }), 404);
  assertEquals(await status({ "mcp-session-id": "no-such-session" }), 404);
  assertEquals(await status({ ...own, authorization: `Bearer ${TOKENS.two}` }, "DELETE"), 404);
  assertEquals(await status({ ...own, authorization: `Bearer ${TOKENS.one}` }, "DELETE"), 200);
  assertEquals(await status(own), 404);
  assertEquals(await status({ authorization: `Bearer ${TOKENS.one}` }, "GET"), 405);
});

test("MCP over HTTP: a scope's sessions are bounded; who has been silent for longest makes room", async () => {
  const served = await open();
  const begin = async (token: string = TOKENS.one): Promise<string> => {
    const response = await post(served, INITIALIZE, { authorization: `Bearer ${token}` });
    await response.text();
    return response.headers.get("mcp-session-id") ?? "";
  };
  const foreign = await begin(TOKENS.two);
  const first = await begin();
  const second = await begin();
  for (let more = 0; more < 63; more++) await begin();
  const status = async (session: string, token: string = TOKENS.one): Promise<number> => {
    const headers = { "mcp-session-id": session, authorization: `Bearer ${token}` };
    const response = await post(served, { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
    await response.body?.cancel();
    return response.status;
  };
  assertEquals([await status(first), await status(second), await status(foreign, TOKENS.two)], [404, 200, 200]);
});

test("MCP over HTTP: what is no message of the protocol gets an error, and the next client an answer", {
  skip: posix,
}, async () => {
  const served = await open();
  const bodies = [
    "",
    "{",
    "null",
    "7",
    '"text"',
    "[]",
    "{}",
    "[[[[]]]]",
    `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
    { jsonrpc: "1.0", id: 1, method: "tools/list" },
    { jsonrpc: "2.0", id: {}, method: "tools/list" },
    { jsonrpc: "2.0", id: 1, method: 7 },
    { jsonrpc: "2.0", id: 1, method: "no/such" },
    { jsonrpc: "2.0", id: 1, method: "tools/call" },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "exec", arguments: "ls" } },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "constructor", arguments: {} } },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "__proto__", arguments: {} } },
    { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "offstage://sessions/%00/log" } },
    { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: 7 } },
    { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: null },
    { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: 1 } } },
    { jsonrpc: "2.0", id: 1, result: {} },
    Array.from({ length: 1_000 }, (_, id) => call("exec", { command: "true" }, id)),
  ];
  for (const body of bodies) {
    const response = await post(served, body);
    const text = JSON.stringify(body)?.slice(0, 120);
    assert(response.status < 500, `${response.status} for ${text}`);
    const isRefused = response.status >= 400 || response.status === 202;
    assert(/"error":|"isError":true/.test(await response.text()) || isRefused, `accepted ${text}`);
  }
  const other = await post(served, "command=id", { "content-type": "text/plain" });
  assertEquals(other.status, 415);
  await other.body?.cancel();
  const [answer] = await messages(await post(served, call("exec", { command: "echo fine" })));
  assertStringIncludes(JSON.stringify(answer), "fine");
});

test("MCP over HTTP: a body that is too large is refused", async () => {
  const served = await open();
  const response = await post(served, call("exec", { command: "x".repeat(5 * 1024 * 1024) }));
  assertEquals(response.status, 413);
  await response.body?.cancel();
});

for (const kind of CLIENTS) {
  const calls = kind.transport === "stdio" ? 1_000 : 250; // each is a connection of its own over HTTP
  test(`${kind.name}: ${calls} calls at once are all answered, those too many with an error`, {
    skip: posix,
  }, async () => {
    const client = closing(await kind.connect());
    const sessionId = await client.background({ command: "sleep 60" });
    const wait = { action: "poll", sessionId, timeout: 3_000 };
    const answers = await Promise.all(Array.from({ length: calls }, () => client.call("process", wait)));
    const refused = answers.filter(({ isError }) => isError);
    assert(refused.length > 0 && refused.length < calls, `${refused.length} refused`);
    for (const { details } of refused) assertEquals(details["reason"], "refused");
    assertEquals((await client.call("exec", { command: "echo fine" })).text, "fine");
  });
}
