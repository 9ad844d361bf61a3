/**
 * Calls over HTTP, to an app that is served on the loopback: whatever comes, it is answered in one shape, never by an
 * error of the server's.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { createHttpApp } from "../../adapters/http.ts";
import { listenHere } from "../../adapters/http/serve/auto.ts";
import { bytesOf, damaged, inputOf, type JsonCall, jsonExecCalls, jsonProcessCalls, parsed } from "./calls.ts";
import { type AnyAnswer, assertAnswer, assertProblems, idsOf, judged } from "./parameters.ts";
import { type OpenPart, type Part, target } from "./target.ts";
import { execVerdict, processVerdict, type Verdict } from "./verdict.ts";
import { openWorld, type World } from "./world.ts";

/** The part. */
export const http: Part = { name: "http", runs: 25_000, open };

const TOKEN = "token-of-the-tester";

interface RouteCall {
  readonly method: string;
  readonly path: readonly string[];
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: JsonCall | undefined;
}

const WORDS = [
  ..."v1 sessions exec process events ack activity suspend mcp metrics healthz openapi.json output log screen write keys"
    .split(" "),
  ..."submit paste resize kill clear attach <pipe> <terminal> . .. %2f ..%2f %00 %ff %zz % * __proto__ a%20b 💥".split(
    " ",
  ),
  "x".repeat(3_000),
];

/** Paths of one in two begin as those of a session do. */
const path: fc.Arbitrary<readonly string[]> = fc.tuple(
  fc.constantFrom([], ["v1"], ["v1", "sessions"], ["v1", "sessions", "<pipe>"], ["v1", "sessions", "<terminal>"]),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 2 }),
).map(([begin, end]) => [...begin, ...end]);

const NAMES = [
  "since",
  "offset",
  "limit",
  "grep",
  "stream",
  "bytes",
  "raw",
  "follow",
  "encoding",
  "timeout",
  "until",
  "x",
  "__proto__",
];
const VALUES = [
  "",
  "0",
  "1",
  "-1",
  "1.5",
  "1e9",
  "99999999999999999999",
  "true",
  "false",
  "text",
  "(",
  "stdout",
  "\0",
  "💥",
  "%",
  "exit",
];

const routeCalls: fc.Arbitrary<RouteCall> = fc.record({
  method: fc.constantFrom("GET", "GET", "POST", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "QUERY"),
  path,
  query: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...VALUES)), { maxLength: 2 }),
  body: fc.option(damaged(jsonProcessCalls), { nil: undefined }),
}, { noNullPrototype: true });

async function open(): Promise<OpenPart> {
  const world = await openWorld();
  const listen = await listenHere();
  const thrown: unknown[] = [];
  const server = await listen(
    (host) =>
      createHttpApp(world.offstage, {
        tokens: new Map([[TOKEN, "tester"]]),
        ...host,
        onError: (error) => thrown.push(error),
      }),
    { hostname: "127.0.0.1", port: 0 },
  );
  const origin = `http://127.0.0.1:${server.port}`;
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const response = await fetch(origin + path, { ...init, headers, signal: AbortSignal.timeout(20_000) });
    assertEquals(thrown.splice(0), [], "an error of the server's");
    assert(response.status < 500, `${response.status} ${path}`);
    return response;
  };
  const tool = (name: string, verdictOf: (input: unknown) => Verdict) => async ({ damage, ...call }: JsonCall) => {
    await world.ready();
    const body = bytesOf(inputOf(call, idsOf(world)), damage);
    const json = parsed(body);
    await judged(world, json === undefined ? "invalid" : verdictOf(json.value), async () => {
      const response = await send(`/v1/${name}`, { method: "POST", body });
      assertEquals(response.status, json === undefined ? 400 : 200);
      return await answerOf(response);
    });
  };
  return {
    targets: [
      target("exec", 3, damaged(jsonExecCalls), tool("exec", execVerdict)),
      target("process", 4, damaged(jsonProcessCalls), tool("process", processVerdict)),
      target("routes", 3, routeCalls, async (call) => {
        await world.ready();
        await called(world, call, send);
      }),
    ],
    [Symbol.asyncDispose]: async () => {
      await world.offstage.close();
      await server.close();
    },
  };
}

/** The answer of a tool; a refusal of the server's as one that is invalid. */
async function answerOf(response: Response): Promise<AnyAnswer> {
  const answer = await response.json();
  if (response.status === 200) return answer;
  assertRefusal(answer);
  const { code, message } = answer.error;
  const problems = answer.error.problems ?? [{ key: "", message }];
  return { text: message, isError: true, details: { status: "failed", reason: "invalid", message: code, problems } };
}

/** Something on any route. What it does to a session is for the tools; here it is answered. */
async function called(
  world: World,
  { method, path, query, body }: RouteCall,
  send: (path: string, init: RequestInit) => Promise<Response>,
): Promise<void> {
  const ids = idsOf(world);
  const isFollowed = path.includes("output") || path.includes("events"); // these streams have no end
  const words = path.map((word) => ids[word] ?? word).join("/");
  const search = new URLSearchParams(query.map(([name, value]) => [name, value]));
  if (isFollowed) search.append("follow", "false");
  const takesBody = method !== "GET" && method !== "HEAD" && body !== undefined;
  const response = await send(`/${words}?${search}`, {
    method,
    ...(takesBody && { body: bytesOf(inputOf(body, ids), body.damage) }),
  });
  if (response.headers.get("content-type")?.startsWith("text/event-stream")) return await response.body?.cancel();
  const text = await response.text();
  if (method === "HEAD" || response.status === 204) return assertEquals(text, "");
  if (response.status >= 400 && !words.startsWith("mcp")) assertRefusal(JSON.parse(text));
  else if (response.status === 200 && text.startsWith('{"text"')) assertAnswer(JSON.parse(text));
}

/** The one shape of a refusal. */
function assertRefusal(body: { readonly error?: Record<string, unknown> }): void {
  const { code, message, hint, problems } = body.error ?? {};
  assert([code, message, hint].every((text) => typeof text === "string"), JSON.stringify(body).slice(0, 500));
  assert(JSON.stringify(body).length < 100_000, "a refusal is bounded");
  assert(!/\bat .*:\d+:\d+|node_modules/.test(JSON.stringify(body)), "no trace of a stack");
  if (code === "invalid") assertProblems(problems as Parameters<typeof assertProblems>[0]);
}
