/**
 * What the server answers is what `/openapi.json` says, and Hono's client can speak to it.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { hc } from "hono/client";
import type { AppType } from "../../adapters/hc.ts";
import { closing, test } from "../closing.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { posix, terminal } from "./machine.ts";

/** The words of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

async function serve(): Promise<{ served: Served; document: Document }> {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  return { served, document: await (await fetch(`${served.url}/openapi.json`)).json() as Document };
}

/** What of a value is not as the schema says; empty if all is. */
function faults(document: Document, schema: Schema, value: unknown, where = ""): readonly string[] {
  if (schema.$ref !== undefined) {
    const found = document.components.schemas[schema.$ref.split("/").at(-1) ?? ""];
    return found === undefined ? [`${where}: no ${schema.$ref}`] : faults(document, found, value, where);
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) {
    const all = choices.map((choice) => faults(document, choice, value, where));
    return all.some((found) => found.length === 0) ? [] : all.flat();
  }
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const isRight = schema.type === undefined || schema.type === type ||
    (schema.type === "integer" && Number.isInteger(value));
  if (!isRight) return [`${where}: ${schema.type} expected, but it is ${type}`];
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    return [`${where}: ${value} is none of ${schema.enum}`];
  }
  const missing = (schema.required ?? []).filter((key) => !(key in (value as object)));
  const inside = Object.entries(schema.properties ?? {}).flatMap(([key, each]) =>
    key in (value as object) ? faults(document, each, (value as Record<string, unknown>)[key], `${where}.${key}`) : []
  );
  const items = Array.isArray(value) && schema.items !== undefined ? schema.items : undefined;
  const listed = items === undefined
    ? []
    : (value as unknown[]).flatMap((each, index) => faults(document, items, each, `${where}[${index}]`));
  return [...missing.map((key) => `${where}.${key} is missing`), ...inside, ...listed];
}

function check(document: Document, name: string, value: unknown): void {
  const schema = document.components.schemas[name];
  assert(schema !== undefined, name);
  assertEquals(faults(document, schema, value), [], `${name}: ${JSON.stringify(value)}`);
}

test("R14 the answers of the tools and of the sessions' routes are as described", { skip: posix }, async () => {
  const { served, document } = await serve();
  const get = async (path: string): Promise<unknown> => await (await served.request(path)).json();
  const send = async (method: string, path: string): Promise<unknown> =>
    await (await served.request(path, { method })).json();
  check(document, "ExecAnswer", await served.post("/v1/exec", { command: "echo hi; sleep 60 & exit 1" }));
  check(document, "ExecAnswer", await served.post("/v1/exec", { command: "" }));
  check(document, "ExecAnswer", await served.post("/v1/exec", { command: "kill -9 $$" }));
  const running = await served.post("/v1/exec", { command: "echo hi; read line", background: true });
  check(document, "ExecAnswer", running);
  const { details: { sessionId: id } } = running as { details: { sessionId: string } };
  for (const action of ["poll", "log", "submit", "screen", "kill"]) {
    check(document, "ProcessAnswer", await served.post("/v1/process", { action, sessionId: id }));
  }
  check(document, "ProcessAnswer", await served.post("/v1/process", { action: "list" }));
  check(document, "ProcessAnswer", await served.post("/v1/process", { action: "poll", sessionId: "amber-otter-0000" }));
  check(document, "SessionList", await get("/v1/sessions"));
  check(document, "Session", await get(`/v1/sessions/${id}`));
  check(document, "LogPage", await get(`/v1/sessions/${id}/log`));
  check(document, "LogPage", await get(`/v1/sessions/${id}/log?bytes=true`));
  check(document, "Error", await get("/v1/sessions/amber-otter-0000"));
  check(document, "Error", await get(`/v1/sessions/${id}/log?lines=3`));
  check(document, "Activity", await get("/v1/activity"));
  check(document, "NodeList", await get("/v1/nodes"));
  check(document, "Health", await get("/healthz"));
  check(document, "Acked", await served.post("/v1/events/ack", { ids: [] }));
  await served.post("/v1/exec", { command: "sleep 60", background: true });
  check(document, "SuspendAnswer", await served.post("/v1/suspend", { requestId: "x" }, TOKENS.admin));
  check(document, "SessionEnds", await send("DELETE", "/v1/sessions"));
  check(document, "SuspendAnswer", await served.post("/v1/suspend", { requestId: "x" }, TOKENS.admin));
});

test("R14 a screen, and the events of the streams, are as described", { skip: terminal }, async () => {
  const { served, document } = await serve();
  const { details: { sessionId: id } } = await served.post("/v1/exec", {
    command: "for i in 1 2 3 4; do echo tick; sleep 0.1; done; exit 3",
    pty: true,
    background: true,
    notifyOn: { pattern: "tick" },
  }) as { details: { sessionId: string } };
  check(document, "Screen", await (await served.request(`/v1/sessions/${id}/screen?until=tick`)).json());
  const events = await (await served.request(`/v1/sessions/${id}/output`)).text(); // to the end
  const found = [...events.matchAll(/^event: (\w+)\n(?:id: .*\n)?data: (.*)$/gm)];
  assertEquals(found.at(-1)?.[1], "end");
  for (const [, event = "", data = ""] of found) {
    check(document, `${event[0]?.toUpperCase()}${event.slice(1)}Event`, JSON.parse(data));
  }
  for (const event of served.offstage.agent("one").events.list().events) {
    check(document, event.type === "exit" ? "ExitEvent" : "MatchEvent", event);
  }
});

test("R14 hc<AppType> speaks to the server", { skip: posix }, async () => {
  const { served } = await serve();
  const client = hc<AppType>(served.url, { headers: { authorization: `Bearer ${TOKENS.one}` } });
  const run = await (await client.v1.exec.$post({ json: { command: "read x; echo got $x", background: true } })).json();
  assert(run.details.status === "running", run.text);
  const param = { id: run.details.sessionId };
  await client.v1.sessions[":id"].write.$post({ param, json: { data: "it\n", eof: true } });
  const end = await (await client.v1.process.$post({
    json: { action: "poll", sessionId: param.id, until: "exit", timeout: 30_000 },
  })).json();
  assertEquals(end.text.split("\n")[0], "got it");
  const page = await (await client.v1.sessions[":id"].log.$get({ param, query: { limit: "1" } })).json();
  assertEquals(page.lines, [{ number: 0, text: "got it" }]);
  assertEquals((await (await client.v1.sessions.$delete()).json()).ended.map(({ sessionId }) => sessionId), [param.id]);
});
