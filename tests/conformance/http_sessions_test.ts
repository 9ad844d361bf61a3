/**
 * The sessions over HTTP: looked at, worked with, ended; and never anybody else's.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { after, before, test } from "node:test";
import type { ExecAnswer, ListDetails, LogDetails, ScreenDetails, ToolAnswer } from "../../mod.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";

let served: Served;
before(async () => {
  served = await serveHttp();
});
after(() => served.close());

/** Starts a command in the background; gives the session's id. */
async function start(command: string, more: object = {}, token: string = TOKENS.one): Promise<string> {
  const answer = await served.post("/v1/exec", { command, background: true, ...more }, token) as ExecAnswer;
  return "sessionId" in answer.details ? answer.details.sessionId ?? "" : "";
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly body: unknown }> {
  const type = body === undefined ? {} : { "content-type": "application/json" };
  const init = { method, headers: { ...type, ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await served.request(path, init);
  return { status: response.status, body: await response.json() };
}

const as = (token: string, scope?: string): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  ...(scope !== undefined && { "offstage-scope": scope }),
});

async function ids(headers: Record<string, string> = {}): Promise<readonly string[]> {
  const { body } = await call("GET", "/v1/sessions", undefined, headers);
  return (body as ListDetails).sessions.map(({ sessionId }) => sessionId);
}

function problemKeys(body: unknown): readonly string[] {
  return (body as { error: { problems: { key: string }[] } }).error.problems.map(({ key }) => key);
}

test("[127] a session of another scope is unknown on every route, in the same words as one that never was", async () => {
  const id = await start("sleep 60", {}, TOKENS.two);
  const routes: readonly (readonly [string, string, unknown?])[] = [
    ["GET", ""],
    ["GET", "/log"],
    ["GET", "/screen"],
    ["POST", "/write", { data: "x" }],
    ["POST", "/keys", { keys: ["enter"] }],
    ["POST", "/submit", {}],
    ["POST", "/paste", { text: "x" }],
    ["POST", "/resize", { cols: 80, rows: 24 }],
    ["POST", "/kill", {}],
    ["POST", "/clear", {}],
    ["DELETE", ""],
  ];
  for (const [method, path, body] of routes) {
    const foreign = await call(method, `/v1/sessions/${id}${path}`, body);
    const unknown = await call(method, `/v1/sessions/never-was-here${path}`, body);
    assertEquals(foreign.status, 404, path);
    assertEquals(
      JSON.stringify(foreign).replaceAll(id, "*"),
      JSON.stringify(unknown).replaceAll("never-was-here", "*"),
    );
  }
  for (const action of ["poll", "log", "kill", "remove"]) {
    const answer = await served.post("/v1/process", { action, sessionId: id }) as ToolAnswer<{ reason: string }>;
    assertEquals([answer.isError, answer.details.reason], [true, "unknown-session"]);
  }
  assertEquals(await ids(), []);
  assertEquals(await ids(as(TOKENS.two)), [id]);
  assertEquals((await call("DELETE", "/v1/sessions")).body, { ended: [] });
  assertEquals(await ids(as(TOKENS.two)), [id]);
  await call("DELETE", "/v1/sessions", undefined, as(TOKENS.two));
});

test("S2 the admin sees every scope, and acts in one that he names; nobody else may", async () => {
  const one = await start("sleep 60");
  const two = await start("sleep 60", {}, TOKENS.two);
  assertEquals((await ids(as(TOKENS.admin))).toSorted(), [one, two].toSorted());
  assertEquals(await ids(as(TOKENS.admin, "two")), [two]);
  assertEquals(await ids(as(TOKENS.two, "two")), [two]);
  assertEquals((await call("GET", "/v1/sessions", undefined, as(TOKENS.two, "one"))).status, 403);
  assertEquals((await call("GET", "/v1/sessions", undefined, as(TOKENS.two, "*"))).status, 403);
  assertEquals((await call("GET", "/v1/sessions", undefined, as(TOKENS.admin, " "))).status, 422);
  const { body } = await call("DELETE", "/v1/sessions", undefined, as(TOKENS.admin));
  assertEquals((body as { ended: unknown[] }).ended.length, 2);
});

test("P31 a session is written to, read and removed", async () => {
  const id = await start('read -r line; echo "got $line"; read -r end', { stdin: "open" });
  const written = await call("POST", `/v1/sessions/${id}/write`, { data: "abc\n" });
  assertEquals([written.status, (written.body as ToolAnswer<object>).isError], [200, false]);
  await served.post("/v1/process", { action: "poll", sessionId: id, until: "got abc", timeout: 20_000 });
  const { body } = await call("GET", `/v1/sessions/${id}/log?limit=1&stream=stdout&grep=g.t`);
  assertEquals((body as LogDetails).lines, [{ number: 0, text: "got abc" }]);
  const entry = await call("GET", `/v1/sessions/${id}`);
  assertEquals([entry.status, (entry.body as { status: string }).status], [200, "running"]);
  assertEquals((await call("DELETE", `/v1/sessions/${id}`)).status, 200);
  assertEquals((await call("GET", `/v1/sessions/${id}`)).status, 404);
});

test("P21 a screen is shown, and without a terminal there is none", async () => {
  const id = await start("printf hello; read -r line", { pty: true });
  const { status, body } = await call("GET", `/v1/sessions/${id}/screen?until=hello&timeout=20000`);
  assertEquals([status, (body as ScreenDetails).rows[0]], [200, "hello"]);
  const piped = await start("sleep 60");
  const none = await call("GET", `/v1/sessions/${piped}/screen`);
  assertEquals(none.status, 409);
  assertMatch(JSON.stringify(none.body), /"not-possible".*no terminal/);
  await call("DELETE", "/v1/sessions");
});

test("what a session cannot do is 409 on every route, in the one shape of errors; as a tool's answer it is 200", async () => {
  const running = await start("sleep 60");
  const ended = await start("true");
  const typed = await start("read -r line", { pty: true });
  await served.post("/v1/process", { action: "poll", sessionId: ended, until: "exit", timeout: 20_000 });
  const refused: readonly (readonly [id: string, word: string, body: object])[] = [
    [running, "clear", {}],
    [running, "resize", { cols: 80, rows: 24 }],
    [ended, "write", { data: "x" }],
    [ended, "submit", {}],
    [ended, "paste", { text: "x" }],
    [ended, "keys", { keys: ["C-c"], literal: "x" }],
    [typed, "write", { data: `${"x".repeat(5_000)}\n` }], // a terminal would drop most of that line
  ];
  for (const [id, word, params] of refused) {
    const { status, body } = await call("POST", `/v1/sessions/${id}/${word}`, params);
    const { code, message, hint } = (body as { error: Readonly<Record<string, string>> }).error;
    assertEquals([status, code], [409, "not-possible"], word);
    const action = word === "keys" ? "send-keys" : word;
    const answer = await served.post("/v1/process", { action, sessionId: id, ...params }) as ToolAnswer<object>;
    assertEquals([answer.isError, message], [true, answer.text], word);
    assertStringIncludes(String(hint), "/v1/process");
  }
  await call("DELETE", "/v1/sessions");
});

test("R14 parameters that are wrong are 422 with every problem, and nothing is done", async () => {
  const id = await start("sleep 60");
  const wrong: readonly (readonly [string, string, unknown, readonly string[]])[] = [
    ["GET", "/log?offst=1&limit=x", undefined, ["offst", "limit"]],
    ["GET", "/log?raw=yes", undefined, ["raw"]],
    ["GET", "/log?limit=1&limit=2", undefined, ["limit"]],
    ["GET", "/log?sessionId=x&action=kill", undefined, ["action", "sessionId"]],
    ["GET", "?verbose=1", undefined, ["verbose"]],
    ["POST", "/kill", { signal: "SIGNOPE" }, ["signal"]],
    ["POST", "/kill", { action: "list" }, ["action"]],
    ["POST", "/kill", ["SIGKILL"], [""]],
    ["POST", "/kill?force=true", {}, ["force"]],
    ["POST", "/resize", { cols: 0, rows: 5_000 }, ["cols", "rows"]],
    ["POST", "/write", { dta: "x" }, ["dta", "data"]],
  ];
  for (const [method, path, body, keys] of wrong) {
    const answer = await call(method, `/v1/sessions/${id}${path}`, body);
    assertEquals([answer.status, problemKeys(answer.body)], [422, keys], path);
  }
  const exec = await call("POST", "/v1/exec?abortOnDisconect=true", { command: "true" });
  assertEquals([exec.status, problemKeys(exec.body)], [422, ["abortOnDisconect"]]);
  const tool = await served.post("/v1/exec", { cmd: "true" }) as ExecAnswer;
  assertEquals(tool.isError, true);
  assertStringIncludes(tool.text, 'did you mean "command"');
  assertEquals(await ids(), [id]);
  await call("DELETE", "/v1/sessions");
});

test("S9 whoever looks at a session's end leaves it news for the agent", async () => {
  const id = await start("echo bye; exit 3");
  const { events, session } = served.offstage.agent("one");
  const view = session(id);
  await until(() => view?.outcome !== undefined);
  for (const path of ["", `/${id}`, `/${id}/log`]) assertEquals((await call("GET", `/v1/sessions${path}`)).status, 200);
  await until(() => events.list().events.some(({ sessionId }) => sessionId === id));
  await call("DELETE", "/v1/sessions");
});

/** Waits for what is sure to come. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test("S8 activity is told per scope, and suspension is the admin's", async () => {
  const id = await start("sleep 60");
  const { body } = await call("GET", "/v1/activity");
  assertEquals((body as { active: number }).active, 1);
  assertEquals((await call("GET", "/v1/activity", undefined, as(TOKENS.two))).body, { active: 0, blockers: [] });
  assertEquals((await call("POST", "/v1/suspend", { requestId: "r" })).status, 403);
  const busy = await call("POST", "/v1/suspend", { requestId: "r" }, as(TOKENS.admin));
  assertMatch(JSON.stringify(busy.body), new RegExp(`"busy".*${id}`));
  await call("DELETE", "/v1/sessions");
  for (const wrong of [{}, { requestId: " " }, { requestId: "r", more: 1 }]) {
    assertEquals((await call("POST", "/v1/suspend", wrong, as(TOKENS.admin))).status, 422);
  }
  const ready = await call("POST", "/v1/suspend", { requestId: "r" }, as(TOKENS.admin));
  assertEquals((ready.body as { status: string }).status, "ready");
  const refused = await served.post("/v1/exec", { command: "true" }) as ExecAnswer;
  assertEquals(refused.isError, true);
  const lift = (): Promise<unknown> => call("DELETE", "/v1/suspend/r", undefined, as(TOKENS.admin));
  assertEquals(await lift(), { status: 200, body: { resumed: true } });
  assertEquals(await lift(), { status: 200, body: { resumed: false } });
});
