/**
 * The client against a server that is made up: what it sends, what it makes of answers, and how it follows a stream.
 *
 * @module
 */
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { test } from "node:test";
import { type Client, ClientError, createClient, type OutputEvent } from "../adapters/client.ts";
import { createConnection } from "../adapters/http/client/connection.ts";
import { follow } from "../adapters/http/client/follow.ts";

/** A request as the made-up server sees it. */
interface Seen {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A client whose n-th request gets the n-th answer, or the last one. */
function clientOf(...answers: readonly (() => Response | Promise<Response>)[]): { client: Client; seen: Seen[] } {
  const seen: Seen[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { method = "GET", body } = init;
    seen.push({ url, method, headers: new Headers(init.headers), body: body ? JSON.parse(String(body)) : undefined });
    return await (answers[seen.length - 1] ?? answers.at(-1))?.() as Response;
  };
  return { client: createClient({ url: "http://server:7333/base/", token: "secret", fetch }), seen };
}

const json = (body: unknown, status = 200) => (): Response => Response.json(body, { status });

const stream = (text: string) => (): Response =>
  new Response(text, { headers: { "content-type": "text/event-stream; charset=utf-8" } });

const broken = (): Response => {
  throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
};

async function failure(call: Promise<unknown>): Promise<ClientError> {
  return await assertRejects(() => call, ClientError);
}

async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

const output = (offset: number, text: string): string =>
  `event: output\nid: ${offset + text.length}\ndata: ${JSON.stringify({ offset, stream: "stdout", text })}\n\n`;

const END = 'event: end\nid: 9\ndata: {"exit":null}\n\n';

test("R14 a call carries the token, and its parameters as they are", async () => {
  const { client, seen } = clientOf(json({ text: "hi", details: {}, isError: false }));
  assertEquals((await client.exec({ command: "echo hi" })).text, "hi");
  const [call] = seen;
  assertEquals([call?.method, call?.url, call?.body], ["POST", "http://server:7333/base/v1/exec", {
    command: "echo hi",
  }]);
  assertEquals(call?.headers.get("authorization"), "Bearer secret");
  assertEquals(call?.headers.get("content-type"), "application/json");
});

test("R13 only a caller who asks for it has his command ended when he goes away", async () => {
  const { client, seen } = clientOf(json({}));
  await client.exec({ command: "x" }, { abortOnDisconnect: true });
  await client.exec({ command: "x" }, { abortOnDisconnect: false });
  assertEquals(seen.map(({ url }) => url.split("?")[1]), ["abortOnDisconnect=true", "abortOnDisconnect=false"]);
});

test("an id is no path, and a query holds only what was given", async () => {
  const { client, seen } = clientOf(json({}));
  await client.log("../a b", { offset: -20, grep: "a&b", limit: undefined as never });
  assertEquals(seen[0]?.url, "http://server:7333/base/v1/sessions/..%2Fa%20b/log?offset=-20&grep=a%26b");
});

test("a refusal is an error with the server's code, status, hint and problems", async () => {
  const error = {
    code: "invalid",
    message: "Bad query",
    hint: "See /openapi.json",
    problems: [{ key: "offset", message: "expected a number" }],
  };
  const thrown = await failure(clientOf(json({ error }, 422)).client.sessions());
  assertEquals([thrown.name, thrown.code, thrown.status, thrown.hint], ["ClientError", "invalid", 422, error.hint]);
  assertEquals(thrown.problems, error.problems);
  assertEquals(thrown.message, "Bad query: offset: expected a number");
});

test("what does not answer as Offstage is told from what does not answer", async () => {
  const html = (): Response => new Response("<html>", { status: 502 });
  const proxy = await failure(clientOf(html).client.sessions());
  assertEquals([proxy.code, proxy.status], ["bad-answer", 502]);
  assertEquals((await failure(clientOf(() => new Response("<html>")).client.sessions())).code, "bad-answer");
  const nobody = await failure(clientOf(broken).client.sessions());
  assertEquals([nobody.code, nobody.status], ["unreachable", 0]);
  assertStringIncludes(nobody.message, "ECONNREFUSED");
});

test("no error holds the token", async () => {
  for (const answer of [broken, json({}, 401), () => new Response("x")]) {
    const error = await failure(clientOf(answer).client.sessions());
    assert(![error.message, error.stack, JSON.stringify(error)].some((text) => text?.includes("secret")));
  }
});

test("a call whose signal has fired sends nothing and rejects as an abort, with its reason", async () => {
  const { client, seen } = clientOf(json({}));
  const error = await failure(client.exec({ command: "x" }, { signal: AbortSignal.abort("enough") }));
  assertEquals([error.name, error.code, error.cause, seen.length], ["AbortError", "aborted", "enough", 0]);
});

test("an address that is none and a blank token are refused at once", () => {
  for (const url of ["", "localhost:7333", "ftp://a", "http://"]) {
    assertEquals(assertThrows(() => createClient({ url, token: "t" }), ClientError).code, "invalid");
  }
  assertThrows(() => createClient({ url: "http://a", token: " " }), ClientError, "token is blank");
});

test("R14 output comes as typed events, and its end ends the loop", async () => {
  const gap = 'event: gap\nid: 7\ndata: {"from":5,"to":7}\n\n';
  const { client } = clientOf(
    stream(`: ping\n\n${output(0, "hello")}${gap}event: news\ndata: {}\n\n${output(7, "é")}${END}`),
  );
  assertEquals<readonly OutputEvent[]>(await all(client.output("a")), [
    { type: "output", offset: 0, next: 5, stream: "stdout", text: "hello" },
    { type: "gap", from: 5, to: 7 },
    { type: "output", offset: 7, next: 8, stream: "stdout", text: "é" },
    { type: "end", exit: null },
  ]);
});

test("bytes come as bytes", async () => {
  const data = JSON.stringify({ offset: 0, stream: "stdout", base64: btoa("\xff\0") });
  const { client, seen } = clientOf(stream(`event: output\nid: 2\ndata: ${data}\n\n${END}`));
  const [first] = await all(client.output("a", { bytes: true, since: 0 }));
  assertEquals(first?.type === "output" && [...first.bytes], [255, 0]);
  assertStringIncludes(seen[0]?.url ?? "", "/output?since=0&encoding=base64");
});

test("R14 a stream that breaks goes on where it was, by Last-Event-ID", async () => {
  const cut = (): Response => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (pulls++ === 0) controller.enqueue(new TextEncoder().encode(output(0, "one")));
        else controller.error(new Error("cut"));
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const { client, seen } = clientOf(cut, broken, json({}, 503), stream(output(3, "two")), stream(output(6, "3") + END));
  const texts = (await all(client.output("a"))).map((event) => event.type === "output" ? event.text : event.type);
  assertEquals(texts, ["one", "two", "3", "end"]);
  assertEquals(seen.map(({ headers }) => headers.get("last-event-id")), [null, "3", "3", "3", "6"]);
});

test("a stream that was never there, or is refused later, ends the loop", async () => {
  const gone = json({ error: { code: "unknown-session", message: "No such session", hint: "" } }, 404);
  assertEquals((await failure(all(clientOf(broken).client.output("a")))).code, "unreachable");
  assertEquals((await failure(all(clientOf(gone).client.output("a")))).code, "unknown-session");
  const { client, seen } = clientOf(stream(output(0, "one")), gone);
  assertEquals((await failure(all(client.output("a")))).code, "unknown-session");
  assertEquals(seen.length, 2);
  assertEquals((await failure(all(clientOf(json({})).client.output("a")))).code, "bad-answer");
});

test("follow: false is over when the stream is", async () => {
  const { client, seen } = clientOf(stream(output(0, "one")));
  assertEquals((await all(client.output("a", { follow: false }))).length, 1);
  assertEquals([seen.length, seen[0]?.url.split("?")[1]], [1, "follow=false"]);
});

test("a stream that cannot be had any more is given up, after pauses that grow up to ten seconds", async () => {
  const pauses: number[] = [];
  let asked = 0;
  const connection = createConnection("http://server", {}, async () => {
    asked += 1;
    return await Promise.resolve(asked === 1 ? stream(": ping\n\n")() : broken());
  });
  const messages = follow(connection, { path: "/" }, (ms) => Promise.resolve(void pauses.push(ms)));
  assertEquals((await failure(all(messages))).code, "unreachable");
  assertEquals(asked, 11);
  const expected = [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000];
  assert(expected.every((ms, index) => Math.abs((pauses[index] ?? 0) - ms) <= ms / 4), String(pauses));
});

test("a loop over a stream ends by its signal, while it waits and between two connections", async () => {
  for (const answer of [stream(output(0, "one")), endless]) {
    const stop = new AbortController();
    const { client } = clientOf(() => answer(stop.signal));
    const loop = (async () => {
      for await (const _ of client.output("a", { signal: stop.signal })) setTimeout(() => stop.abort("enough"), 1);
    })();
    const error = await failure(loop);
    assertEquals([error.name, error.cause], ["AbortError", "enough"]);
  }
});

/** A stream that says something and then nothing, until it is aborted. */
function endless(signal: AbortSignal): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(output(0, "one")));
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test("leaving a loop closes the connection", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(output(0, "one"))),
    cancel: () => void (cancelled = true),
  });
  const { client } = clientOf(() => new Response(body, { headers: { "content-type": "text/event-stream" } }));
  for await (const _ of client.output("a")) break;
  assert(cancelled);
});

test("S10 events are those of the sessions; what else the stream says is passed over", async () => {
  const event = { type: "exit", id: "a.exit", sessionId: "a" };
  const { client, seen } = clientOf(
    stream(`event: news\ndata: {}\n\nevent: exit\nid: a.exit\ndata: ${JSON.stringify(event)}\n\n`),
    json({ acked: 1 }),
  );
  for await (const found of client.events()) {
    assertEquals<unknown>(found, event);
    break;
  }
  assertEquals(await client.ackEvents("a.exit"), 1);
  assertEquals(seen[1]?.body, { ids: ["a.exit"] });
});
