/**
 * The type of the app is one that Hono's client takes, and says what the client sends and gets.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { hc } from "hono/client";
import { test } from "node:test";
import type { AppType } from "../adapters/hc.ts";
import type { ExecAnswer, ListEntry, LogDetails } from "../mod.ts";

/** A value whose type is exactly the one expected. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

function isSame<A, B>(_: Same<A, B>): void {}

test("R14 hc<AppType> knows the routes, what they take and what they answer", async () => {
  const seen: string[] = [];
  const client = hc<AppType>("http://server", {
    fetch: (async (input: RequestInfo | URL, init?: RequestInit) => {
      seen.push(`${init?.method} ${input} ${init?.body ?? ""}`);
      return await Promise.resolve(Response.json({ sessions: [] }));
    }) as typeof fetch,
  });
  const exec = await client.v1.exec.$post({ json: { command: "true" }, query: { abortOnDisconnect: "true" } });
  isSame<Awaited<ReturnType<typeof exec.json>>, ExecAnswer>(true);
  const list = await client.v1.sessions.$get();
  isSame<Awaited<ReturnType<typeof list.json>>, { sessions: readonly ListEntry[] }>(true);
  const page = await client.v1.sessions[":id"].log.$get({ param: { id: "a" }, query: { offset: "-20" } });
  isSame<Awaited<ReturnType<typeof page.json>>, LogDetails>(true);
  await client.v1.sessions[":id"].keys.$post({ param: { id: "a" }, json: { keys: ["C-c"] } });
  await client.v1.sessions[":id"].$delete({ param: { id: "a" } });
  // @ts-expect-error: a command is required
  await client.v1.exec.$post({ json: {} });
  // @ts-expect-error: there is no such parameter
  await client.v1.sessions[":id"].kill.$post({ param: { id: "a" }, json: { data: "x" } });
  assertEquals(seen.slice(0, 5), [
    'POST http://server/v1/exec?abortOnDisconnect=true {"command":"true"}',
    "GET http://server/v1/sessions ",
    "GET http://server/v1/sessions/a/log?offset=-20 ",
    'POST http://server/v1/sessions/a/keys {"keys":["C-c"]}',
    "DELETE http://server/v1/sessions/a ",
  ]);
});
