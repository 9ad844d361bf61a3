/**
 * The client against a server that is really served on this runtime.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { existsSync } from "node:fs";
import {
  type AttachEnd,
  type Attachment,
  type AttachOptions,
  type Client,
  ClientError,
  type ClientExecOptions,
  type ClientOptions,
  type ClientSocketConstructor,
  createClient,
} from "../../adapters/client.ts";
import type { Outcome } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { eventually, processesWith, uniqueSleep } from "./agent.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { freshFolder, posix, proc, terminal } from "./machine.ts";

/** Node 20 has none. */
const WebSocket = (globalThis.WebSocket ?? (await import("ws")).WebSocket) as ClientSocketConstructor;

/** A served instance, closed at the end of the test, and its clients. */
async function serve(): Promise<
  { served: Served; client: Client; clientOf: (options: Partial<ClientOptions>) => Client }
> {
  const served = await serveHttp();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  const clientOf = (options: Partial<ClientOptions>): Client =>
    createClient({ url: served.url, token: TOKENS.one, WebSocket, ...options });
  return { served, client: clientOf({}), clientOf };
}

/** Starts a session. */
async function start(client: Client, command: string, pty = false): Promise<string> {
  const { details, text } = await client.exec({ command, pty, background: true });
  if (details.status !== "running") throw new Error(text);
  return details.sessionId;
}

/** Everything a session prints until its end. */
async function outputOf(
  client: Client,
  id: string,
): Promise<readonly [text: string, exit: Outcome | null | undefined]> {
  let text = "";
  for await (const event of client.output(id)) {
    if (event.type === "output") text += event.text;
    if (event.type === "end") return [text, event.exit];
  }
  return [text, undefined];
}

test("R14 the client answers what the library answers", { skip: posix }, async () => {
  const { client } = await serve();
  const run = await client.exec({ command: "echo hi; exit 3" });
  assertEquals([run.details.status, "exitCode" in run.details && run.details.exitCode], ["completed", 3]);
  const wrong = await client.exec({ command: "", cmd: "x" } as never);
  assertEquals([wrong.isError, wrong.details.status === "failed" && wrong.details.reason], [true, "invalid"]);
  const id = await start(client, "read line; echo got $line");
  assertEquals((await client.sessions()).map(({ sessionId }) => sessionId), [id]);
  assertEquals((await client.session(id)).status, "running");
  await client.process({ action: "write", sessionId: id, data: "it\n" });
  const end = await client.process({ action: "poll", sessionId: id, until: "exit", timeout: 30_000 });
  assertEquals("output" in end.details && end.details.output, "got it\n");
  assertEquals((await client.log(id, { limit: 1 })).lines.map(({ text }) => text), ["got it"]);
  await client.remove(id);
  assertEquals(await client.sessions(), []);
});

test("R14 a session of another scope is unknown in every call", { skip: posix }, async () => {
  const { client, clientOf } = await serve();
  const id = await start(client, "sleep 60");
  const other = clientOf({ token: TOKENS.two });
  const calls: readonly (() => Promise<unknown>)[] = [
    () => other.session(id),
    () => other.log(id),
    () => other.remove(id),
    () => outputOf(other, id),
    () => attach(other, id),
  ];
  for (const call of calls) {
    const { code, status } = await assertRejects(call, ClientError);
    assertEquals([code, status], ["unknown-session", 404]);
  }
  assertEquals((await client.session(id)).status, "running");
});

test("a wrong token is unauthorized, in every kind of call", async () => {
  const { clientOf } = await serve();
  const client = clientOf({ token: "wrong" });
  for (const call of [() => client.sessions(), () => outputOf(client, "a"), () => attach(client, "a")]) {
    assertEquals((await assertRejects(call, ClientError)).code, "unauthorized");
  }
});

test("the admin sees all scopes, and acts in the one that he names", { skip: posix }, async () => {
  const { client, clientOf } = await serve();
  const admin = clientOf({ token: TOKENS.admin });
  const asTwo = clientOf({ token: TOKENS.admin, scope: "two" });
  const one = await start(client, "sleep 60");
  const two = await start(asTwo, "sleep 61");
  assertEquals((await admin.sessions()).map(({ sessionId }) => sessionId).toSorted(), [one, two].toSorted());
  assertEquals((await asTwo.sessions()).map(({ sessionId, scope }) => [sessionId, scope]), [[two, "two"]]);
  const refused = await assertRejects(() => clientOf({ scope: "two" }).sessions(), ClientError);
  assertEquals(refused.status, 403);
});

/** Starts a command in the foreground, and aborts the call once it runs. */
async function abortRunning(client: Client, command: string, options: ClientExecOptions = {}): Promise<void> {
  const folder = closing(await freshFolder());
  const stop = new AbortController();
  const call = client.exec({ command: `: > ${folder.path}/runs; ${command}`, yieldMs: 120_000 }, {
    signal: stop.signal,
    ...options,
  });
  const error = assertRejects(() => call, ClientError);
  await eventually(() => existsSync(`${folder.path}/runs`), "the command runs");
  stop.abort("enough");
  const { name, code, cause } = await error;
  assertEquals([name, code, cause], ["AbortError", "aborted", "enough"]);
}

test("R13 an exec that is aborted goes on in the background", { skip: posix }, async () => {
  const { client } = await serve();
  await abortRunning(client, "sleep 60");
  await eventually(async () => (await client.sessions()).some(({ status }) => status === "running"), "it is listed");
});

test("E32 with abortOnDisconnect the command is ended", { skip: proc }, async () => {
  const { client } = await serve();
  const sleeper = uniqueSleep();
  await abortRunning(client, sleeper, { abortOnDisconnect: true });
  await eventually(() => processesWith(sleeper).length === 0, "it is ended");
  assertEquals(await client.sessions(), []);
});

test("a session's output is followed from its beginning to its end", { skip: posix }, async () => {
  const { client } = await serve();
  const id = await start(client, "for i in 1 2 3; do echo line $i; sleep 0.1; done; exit 7");
  const [text, exit] = await outputOf(client, id);
  assertEquals([text, exit?.exitCode, exit?.ok], ["line 1\nline 2\nline 3\n", 7, false]);
  assertEquals((await outputOf(client, id))[0], text);
  const rest: string[] = [];
  for await (const event of client.output(id, { since: 7, follow: false })) {
    if (event.type === "output") rest.push(event.text);
  }
  assertEquals(rest.join(""), "line 2\nline 3\n");
});

test("output that is cut off again and again is whole, and in bytes it is exact", { skip: posix }, async () => {
  const { client, clientOf } = await serve();
  const id = await start(client, "for i in 1 2 3 4 5 6 7 8 9; do head -c 5000 /dev/urandom; sleep 0.05; done");
  let connections = 0;
  const cutting = clientOf({
    fetch: async (url, init) => {
      const { status, headers, body } = await fetch(url, init);
      connections += 1;
      return new Response(body && cutAfter(body, 15_000), { status, headers });
    },
  });
  const pieces = await bytesOf(cutting, id);
  assert(connections > 2, `${connections} connections`);
  assertEquals(pieces, await bytesOf(client, id));
  assertEquals(pieces.length, 45_000);
});

async function bytesOf(client: Client, id: string): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const event of client.output(id, { bytes: true })) {
    if (event.type === "output") found.push(...event.bytes);
  }
  return found;
}

/** The same, but it breaks once so many bytes have been read: more than the largest event has. */
function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let left = bytes;
  return new ReadableStream({
    pull: async (controller) => {
      const { value } = left > 0 ? await reader.read() : {};
      if (value === undefined) return controller.error(new Error("cut"));
      controller.enqueue(value.subarray(0, left));
      left -= value.length;
    },
    cancel: () => reader.cancel(),
  }, { highWaterMark: 0 });
}

test("S9 events come as they happen, and once acknowledged not again", { skip: posix }, async () => {
  const { client } = await serve();
  const first = (async () => {
    for await (const event of client.events()) return event;
    return undefined;
  })();
  const id = await start(client, "echo oh no; exit 4");
  const event = await first;
  assert(event?.type === "exit");
  assertEquals(event.sessionId, id);
  assertEquals(await client.ackEvents(event.id), 1);
  assertEquals(await client.ackEvents(event.id), 0);
});

test("P43 S8 killAll, activity and suspension are the library's", { skip: posix }, async () => {
  const { client, clientOf } = await serve();
  const id = await start(client, "sleep 60");
  const { active, blockers } = await client.activity();
  assertEquals([active, blockers.map(({ sessionId }) => sessionId)], [1, [id]]);
  const admin = clientOf({ token: TOKENS.admin });
  assertEquals((await assertRejects(() => client.suspend("night"), ClientError)).code, "admin-only");
  assertEquals((await admin.suspend("night")).status, "busy");
  const ended = await client.killAll();
  assertEquals(ended.map(({ sessionId, outcome }) => [sessionId, outcome.status]), [[id, "killed"]]);
  assertEquals((await admin.suspend("night")).status, "ready");
  assertEquals([await admin.resume("night"), await admin.resume("night")], [true, false]);
});

/** What an attached client has seen. */
interface Attached {
  readonly line: Attachment;
  readonly text: () => string;
  readonly sizes: readonly string[];
  readonly complaints: readonly string[];
}

async function attach(client: Client, id: string, options: Partial<AttachOptions> = {}): Promise<Attached> {
  const decoder = new TextDecoder();
  const sizes: string[] = [];
  const complaints: string[] = [];
  let text = "";
  const line = await client.attach(id, {
    onData: (bytes) => void (text += decoder.decode(bytes, { stream: true })),
    onResize: ({ cols, rows }) => sizes.push(`${cols}x${rows}`),
    onError: ({ code }) => complaints.push(code),
    ...options,
  });
  return { line, text: () => text, sizes, complaints };
}

test("R14 attached to a terminal one types, resizes and hears of the end", { skip: terminal }, async () => {
  const { client } = await serve();
  const id = await start(client, "stty size; while read -r line; do echo got $line; stty size; done; exit 5", true);
  let exit: Outcome | undefined;
  const { line, text, sizes } = await attach(client, id, { cols: 91, rows: 31, onExit: (outcome) => exit = outcome });
  assertEquals([line.hello.sessionId, line.hello.pty, line.hello.readonly], [id, true, false]);
  line.resize(77, 22);
  await eventually(() => sizes.includes("77x22"), "the size is told");
  line.write("grüße\r");
  await eventually(() => text().includes("got grüße") && text().includes("22 77"), "it answers");
  line.write(new Uint8Array([4]));
  const end = await line.ended;
  assertEquals<AttachEnd>(end, { why: "exit", exit: exit as Outcome });
  assertEquals([exit?.exitCode, line.unsent], [5, 0]);
  line.write("dropped"); // after the end it does nothing
});

test("whoever leaves, by himself or by his signal, leaves the session running", { skip: posix }, async () => {
  const { client } = await serve();
  const id = await start(client, "echo here; read line");
  const away = new AbortController();
  const one = await attach(client, id, { signal: away.signal });
  const two = await attach(client, id, { readonly: true });
  await eventually(() => one.text() === "here\n" && two.text() === "here\n", "both see it");
  two.line.write("x");
  await eventually(() => two.complaints.includes("readonly"), "who only looks is told so");
  away.abort();
  two.line.detach();
  assertEquals([await one.line.ended, await two.line.ended], [{ why: "detached" }, { why: "detached" }]);
  assertEquals((await client.session(id)).status, "running");
});

test("a session that is removed, and a server that goes, end an attachment", { skip: posix }, async () => {
  const { client, served } = await serve();
  const removed = await attach(client, await start(client, "sleep 60"));
  await client.remove(removed.line.hello.sessionId);
  assert(["exit", "gone"].includes((await removed.line.ended).why));
  const left = await attach(client, await start(client, "sleep 60"));
  await served.offstage.close();
  assert((await left.line.ended).why !== "detached");
  assertEquals((await assertRejects(() => attach(client, "amber-otter-0000"), ClientError)).code, "unknown-session");
});
