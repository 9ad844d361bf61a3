/**
 * Those who watch over a server: health, metrics, the log of requests, the wait of those who guess.
 *
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { test } from "node:test";
import type { RequestRecord } from "../../adapters/http.ts";
import { raw } from "./http_raw.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";

const admin = { headers: { authorization: `Bearer ${TOKENS.admin}` } };

async function metricsOf(served: Served): Promise<ReadonlyMap<string, number>> {
  const { status, headers, body } = await raw(`${served.url}/metrics`, admin);
  assertEquals([status, headers["content-type"]], [200, "text/plain; version=0.0.4; charset=utf-8"]);
  const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) assertMatch(line, /^[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? [0-9.e+-]+$/);
  return new Map(lines.map((line) => [line.replace(/ [^ ]*$/, ""), Number(line.replace(/^.* /, ""))]));
}

test("metrics count commands, output, requests and failed logins, for the admin only", async () => {
  const served = await serveHttp();
  try {
    await served.post("/v1/exec", { command: "echo hello" });
    await served.post("/v1/exec", { command: "exit 3" });
    await served.post("/v1/exec", { command: "sleep 60", background: true });
    await served.request("/v1/sessions/secret-id-1234");
    await raw(`${served.url}/v1/sessions`, { headers: { authorization: "Bearer nobody" } });
    const metrics = await metricsOf(served);
    const wanted = {
      'offstage_sessions{state="background"}': 1,
      'offstage_commands_ended_total{status="completed",reason="exit"}': 2,
      'offstage_command_duration_seconds_bucket{le="+Inf"}': 2,
      offstage_command_duration_seconds_count: 2,
      offstage_output_bytes_total: 6,
      offstage_output_dropped_bytes_total: 0,
      'offstage_http_requests_total{method="POST",route="/v1/exec",status="200"}': 3,
      'offstage_http_requests_total{method="GET",route="/v1/sessions/:id",status="404"}': 1,
      'offstage_http_requests_total{method="GET",route="/v1/sessions",status="401"}': 1,
      offstage_http_failed_logins_total: 1,
      'offstage_http_viewers{kind="output"}': 0,
    };
    for (const [name, value] of Object.entries(wanted)) assertEquals(metrics.get(name), value, name);
    assert((metrics.get("offstage_command_duration_seconds_sum") ?? 0) > 0);
    assert(metrics.has("offstage_event_loop_lag_seconds"));
    assertEquals((await served.request("/metrics")).status, 403);
    assertEquals((await raw(`${served.url}/metrics`)).status, 401);
  } finally {
    await served.close();
  }
});

test("each request is told of, and nothing that it carried", async () => {
  const records: RequestRecord[] = [];
  const served = await serveHttp({}, { onRequest: (record) => records.push(record) });
  try {
    const secret = "s3cr3t";
    await served.post("/v1/exec", { command: `: ${secret}`, env: { KEY: secret } });
    await served.request(`/v1/sessions/${secret}/log?grep=${secret}`);
    await raw(`${served.url}/${secret}`, { headers: { authorization: `Bearer ${secret}` } });
    await raw(`${served.url}/v1/sessions`, { method: "BREW" }).catch(() => {}); // some servers cut such a connection
    const told = records.map(({ method, route, status, scope }) => [method, route, status, scope]);
    assertEquals(told.slice(0, 3), [
      ["POST", "/v1/exec", 200, "one"],
      ["GET", "/v1/sessions/:id/log", 404, "one"],
      ["GET", "*", 404, null],
    ]);
    assert(told.slice(3).every(([method]) => method === "other"));
    assert(!JSON.stringify(records).includes(secret));
    const [{ at, ms, client } = { at: 0, ms: -1, client: null }] = records;
    assert(Math.abs(Date.now() - at) < 60_000 && ms >= 0);
    assertMatch(String(client), /127\.0\.0\.1$/);
  } finally {
    await served.close();
  }
});

test("who guesses tokens has to wait, and who has logged in before does not", async () => {
  const served = await serveHttp();
  try {
    const statusOf = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` };
      const { status, headers: answered } = await raw(`${served.url}/v1/sessions`, { headers });
      assertEquals(answered["retry-after"] !== undefined, status === 429);
      return status;
    };
    assertEquals(await statusOf(TOKENS.one), 200);
    const guesses: number[] = [];
    for (let guess = 0; guess < 12; guess++) guesses.push(await statusOf(`guess-${guess}`));
    assertEquals(guesses, [...Array(10).fill(401), 429, 429]);
    assertEquals([await statusOf(TOKENS.one), await statusOf(TOKENS.two)], [200, 429]);
  } finally {
    await served.close();
  }
});

test("a server that is about to end says so, and takes nothing more", async () => {
  const closing = new AbortController();
  const served = await serveHttp({}, { closing: closing.signal });
  try {
    assertEquals((await served.request("/healthz")).status, 200);
    closing.abort();
    const health = await served.request("/healthz");
    assertEquals([health.status, (await health.json() as { ok: boolean }).ok], [503, false]);
    const refused = await served.request("/v1/sessions");
    assertEquals([refused.status, (await refused.json() as { error: { code: string } }).error.code], [503, "closing"]);
  } finally {
    await served.close();
  }
});

test("what goes wrong inside is told to the server, not to the client", async () => {
  const errors: unknown[] = [];
  const fail = (): never => {
    throw new Error("inner secret");
  };
  const served = await serveHttp({}, { onError: (error) => errors.push(error) });
  try {
    Object.assign(served.offstage, { stats: fail });
    const { status, body } = await raw(`${served.url}/metrics`, admin);
    assertEquals(status, 500);
    assertEquals((JSON.parse(body) as { error: { code: string } }).error.code, "internal");
    assert(!body.includes("secret"));
    assertEquals(errors.length, 1);
  } finally {
    await served.close();
  }
});
