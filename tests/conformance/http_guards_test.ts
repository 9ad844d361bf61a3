/**
 * What a request has to get past: host, origin, media type, size, token.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { after, before, test } from "node:test";
import { raw, type RawRequest, type RawResponse } from "./http_raw.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";

const LISTED = "https://app.example";
const bearer = { authorization: `Bearer ${TOKENS.one}` };
const json = { ...bearer, "content-type": "application/json" };

let served: Served;
before(async () => {
  served = await serveHttp({}, { allowedHosts: ["box.example"], allowedOrigins: [LISTED] });
});
after(() => served.close());

const send = (path: string, init?: RawRequest): Promise<RawResponse> => raw(served.url + path, init);
const port = (): string => new URL(served.url).port;

function codeOf({ status, body }: RawResponse): readonly [number, string] {
  const { error } = JSON.parse(body) as { error: { code: string; message: string; hint: string } };
  assertEquals([typeof error.message, typeof error.hint], ["string", "string"]);
  return [status, error.code];
}

test("[138] a host that is not ours is refused on every route, and one that is allowed is not", async () => {
  for (const path of ["/healthz", "/v1/sessions", "/metrics", "/", "/nowhere", "/v1/sessions/x/attach"]) {
    const answer = await send(path, { headers: { ...bearer, host: `evil.example:${port()}` } });
    assertEquals(codeOf(answer), [403, "forbidden-host"], path);
  }
  for (
    const host of ["127.0.0.1.evil.example", "localhost.evil.example", "evil.localhost.", "10.0.0.1", "127.0.0.1x"]
  ) {
    assertEquals(codeOf(await send("/healthz", { headers: { host } })), [403, "forbidden-host"], host);
  }
  for (const host of ["localhost", "LOCALHOST:7333", "127.0.0.1:80", "[::1]:7333", "a.localhost", "box.example:443"]) {
    assertEquals((await send("/healthz", { headers: { host } })).status, 200, host);
  }
});

test("[137] a page of another origin gets nothing: no run, no preflight, no answer to read", async () => {
  const body = JSON.stringify({ command: "true" });
  for (const origin of ["https://evil.example", "null", "file://", `http://127.0.0.1:1`, `${LISTED}.evil.example`]) {
    const answer = await send("/v1/exec", { method: "POST", headers: { ...json, origin }, body });
    assertEquals(codeOf(answer), [403, "forbidden-origin"], origin);
    assertEquals(answer.headers["access-control-allow-origin"], undefined);
    const preflight = await send("/v1/exec", {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    assertEquals(codeOf(preflight), [403, "forbidden-origin"], origin);
    const attach = { ...bearer, origin, connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const upgrade = await send("/v1/sessions/x/attach", {
      headers: { ...attach, "sec-websocket-key": "MDEyMzQ1Njc4OWFiY2RlZg==", "sec-websocket-protocol": "offstage.v1" },
    });
    assertEquals(upgrade.status, 403, origin);
  }
});

test("[137] its own origin may call, and a listed one may read the answer", async () => {
  const body = JSON.stringify({ command: "true" });
  const own = await send("/v1/exec", { method: "POST", headers: { ...json, origin: served.url }, body });
  assertEquals([own.status, own.headers["access-control-allow-origin"]], [200, undefined]);
  const listed = await send("/v1/exec", { method: "POST", headers: { ...json, origin: LISTED }, body });
  assertEquals([listed.status, listed.headers["access-control-allow-origin"]], [200, LISTED]);
  assertEquals(listed.headers["cross-origin-resource-policy"], "cross-origin");
  assertMatch(String(listed.headers.vary), /origin/i);
  const refused = await send("/v1/exec", { method: "POST", headers: { origin: LISTED } });
  assertEquals([refused.status, refused.headers["access-control-allow-origin"]], [401, LISTED]);
  const preflight = await send("/v1/exec", {
    method: "OPTIONS",
    headers: {
      origin: LISTED,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    },
  });
  assertEquals([preflight.status, preflight.headers["access-control-allow-origin"]], [204, LISTED]);
  assertMatch(String(preflight.headers["access-control-allow-headers"]), /authorization/i);
});

test("[137] a body that is not said to be JSON dies before its token is looked at", async () => {
  for (
    const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/jsonx",
    ]
  ) {
    const answer = await send("/v1/exec", { method: "POST", headers: { "content-type": type }, body: "{}" });
    assertEquals(codeOf(answer), [415, "unsupported-media-type"], type);
  }
  const untyped = await send("/v1/exec", { method: "POST", headers: { ...bearer, "content-length": "2" }, body: "{}" });
  assertEquals(codeOf(untyped), [415, "unsupported-media-type"]);
  const packed = { ...json, "content-encoding": "gzip" };
  assertEquals(codeOf(await send("/v1/exec", { method: "POST", headers: packed, body: "{}" })), [
    415,
    "unsupported-media-type",
  ]);
  const charset = { ...bearer, "content-type": "application/JSON; charset=utf-8" };
  const answer = await send("/v1/exec", { method: "POST", headers: charset, body: '{"command":"true"}' });
  assertEquals(answer.status, 200);
});

test("[137] without a valid token nothing is told and nothing is done", async () => {
  for (
    const authorization of ["", "Bearer", "Bearer wrong", `Basic ${TOKENS.one}`, TOKENS.one, `Bearer ${TOKENS.one}x`]
  ) {
    const answer = await send("/v1/sessions", { headers: { authorization } });
    assertEquals(codeOf(answer), [401, "unauthorized"], authorization);
    assertEquals(answer.headers["www-authenticate"], "Bearer");
  }
  assertEquals(codeOf(await send(`/v1/sessions?token=${TOKENS.one}`)), [401, "unauthorized"]);
  assertEquals((await send("/v1/sessions", { headers: { authorization: `bearer ${TOKENS.one}` } })).status, 200);
});

test("R14 a body of more than 2 MiB is refused, whether or not it says so", async () => {
  const fits = JSON.stringify({ command: `: ${"x".repeat(1_000_000)}` });
  assertEquals((await send("/v1/exec", { method: "POST", headers: json, body: fits })).status, 200);
  const body = JSON.stringify({ command: `: ${"x".repeat(3_000_000)}` });
  for (const headers of [json, { ...json, "transfer-encoding": "chunked" }]) {
    assertEquals(codeOf(await send("/v1/exec", { method: "POST", headers, body })), [413, "too-large"]);
  }
  assertEquals((await send("/healthz")).status, 200);
});

test("R14 what is no JSON is 400, what is no route 404, what is no method of a route 405", async () => {
  for (const body of ["", "{", "nonsense", '{"command":"true"}}']) {
    assertEquals(codeOf(await send("/v1/exec", { method: "POST", headers: json, body })), [400, "bad-json"], body);
  }
  assertEquals(codeOf(await send("/v1/nowhere", { headers: bearer })), [404, "not-found"]);
  const wrong = await send("/v1/exec", { headers: bearer });
  assertEquals([...codeOf(wrong), wrong.headers.allow], [405, "method-not-allowed", "POST, OPTIONS"]);
  const options = await send("/v1/sessions", { method: "OPTIONS", headers: bearer });
  assertEquals([options.status, options.headers.allow], [204, "GET, HEAD, DELETE, OPTIONS"]);
  const head = await send("/healthz", { method: "HEAD" });
  assertEquals([head.status, head.body], [200, ""]);
});

test("every answer keeps browsers strict", async () => {
  for (const path of ["/healthz", "/v1/sessions", "/nowhere"]) {
    const { headers } = await send(path);
    assertMatch(String(headers["content-security-policy"]), /default-src 'none'.*frame-ancestors 'none'/);
    assertEquals(headers["x-content-type-options"], "nosniff", path);
    assertEquals(headers["x-frame-options"], "DENY");
    assertEquals(headers["referrer-policy"], "no-referrer");
    assertEquals(headers["cache-control"], "no-store");
    assertEquals(headers["access-control-allow-origin"], undefined);
  }
});
