/**
 * A session's output as server-sent events, really served on this runtime.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { PING_MS } from "../../adapters/http/streams.ts";
import type { Outcome } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import fc from "../property.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import {
  bytesOf,
  eventually,
  lateReader,
  lazyClient,
  type OutputData,
  readEvents,
  type Received,
  serveWatched,
  start,
} from "./http_streams.ts";
import { freshFolder, proc, terminal } from "./machine.ts";

/** Bound of a test that waits for something, ms. */
const LONG = { timeout: 60_000 };

function toClose<T extends { close(): Promise<void> }>(served: T): T {
  closing({ [Symbol.asyncDispose]: () => served.close() });
  return served;
}

async function serve(...given: Parameters<typeof serveHttp>): Promise<Served> {
  return toClose(await serveHttp(...given));
}

function dataOf(
  { data = "null" }: Received,
): OutputData & { readonly exit: Outcome | null; readonly from: number; readonly to: number } {
  return JSON.parse(data);
}

/** The bytes of all output events, which must follow one another from `at` on, gaps told. */
function joined(events: readonly Received[], at = 0): Uint8Array {
  const bytes: number[] = [];
  for (const received of events) {
    if (received.event === "end") break;
    const { offset, from, to } = dataOf(received);
    assertEquals(offset ?? from, at);
    if (received.event === "output") bytes.push(...bytesOf(received));
    at = received.event === "output" ? offset + bytesOf(received).length : to;
    assertEquals(received.id, `${at}`);
  }
  return new Uint8Array(bytes);
}

const decoder = new TextDecoder();

test(
  "R14 output comes as it is printed, with stream and offset; [145] the end has the exit",
  LONG,
  async () => {
    const served = await serve();
    const id = await start(served, { command: "echo out; read x; echo é >&2; exit 3", stdin: "open" });
    const reading = await readEvents(served, `/v1/sessions/${id}/output`);
    assertEquals(reading.response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assertEquals(await reading.next(), { comment: "ping" });
    assertEquals(await reading.next(), {
      event: "output",
      id: "4",
      data: '{"offset":0,"stream":"stdout","text":"out\\n"}',
    });
    await served.offstage.agent("one").process({ action: "submit", sessionId: id });
    const [output, end, ...more] = await reading.rest();
    assertEquals(output, { event: "output", id: "7", data: '{"offset":4,"stream":"stderr","text":"é\\n"}' });
    const exit = { status: "completed", ok: false, exitCode: 3, signal: null, reason: "exit", limit: null };
    assertEquals([end?.event, end?.id, JSON.parse(end?.data ?? ""), more], ["end", "7", { exit }, []]);
  },
);

test(
  "a stream that is cut anywhere and resumed by the id of its last event gives the whole, byte for byte",
  LONG,
  async () => {
    const served = await serve();
    const folder = closing(await freshFolder());
    const command = "{ head -c 9000 /dev/urandom; printf 'añ🙂\\r\\n%.0s' $(seq 3000); } | tee all; echo end >&2";
    await served.offstage.agent("one").exec({ command: ":" }); // the tools are loaded
    const id = await start(served, { command, workdir: folder.path });
    const whole = await readEvents(served, `/v1/sessions/${id}/output?encoding=base64`);
    const events = await whole.rest();
    const all = joined(events);
    const printed = readFileSync(join(folder.path, "all"));
    assertEquals(all.length, printed.length + 4);
    const stdout = events.filter((event) => event.event === "output" && dataOf(event).stream === "stdout");
    assertEquals(Buffer.concat(stdout.map(bytesOf)).equals(printed), true);
    const cuts = fc.array(fc.nat(events.length), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(cuts, async (lengths) => {
        const got: Received[] = [];
        for (const length of [...lengths, Infinity]) {
          const last = got.at(-1)?.id;
          const headers = last === undefined ? {} : { "last-event-id": last };
          const reading = await readEvents(served, `/v1/sessions/${id}/output?encoding=base64&since=0`, headers);
          for (let taken = 0; taken < length; taken++) {
            const event = await reading.event();
            if (event === undefined) break;
            if (event.event !== "end") got.push(event);
          }
          await reading.leave();
        }
        assertEquals(Buffer.from(joined(got)).equals(Buffer.from(all)), true);
      }),
      { numRuns: 15 },
    );
    const text = await (await readEvents(served, `/v1/sessions/${id}/output`)).rest();
    const plain = text.flatMap((event) =>
      event.event === "output" && dataOf(event).stream === "stdout" ? [dataOf(event).text] : []
    );
    assertEquals(plain.join(""), decoder.decode(printed)); // what is no character is U+FFFD
  },
);

test("since takes any offset, and follow=false ends at what there is now", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "printf 0123456789; sleep 60" });
  const path = `/v1/sessions/${id}/output`;
  await eventually(() => served.offstage.agent("one").session(id)?.end === 10);
  for (let since = 0; since <= 10; since++) {
    const events = await (await readEvents(served, `${path}?follow=false&since=${since}`)).rest();
    assertEquals(decoder.decode(joined(events, since)), "0123456789".slice(since));
    assertEquals(events.some(({ event }) => event === "end"), false);
  }
});

test("what has been dropped from the log is told as a gap, and can be asked for no more", LONG, async () => {
  const served = await serve({ tools: { exec: { maxOutputChars: 1_000 } } });
  const id = await start(served, { command: "seq 1 20000" });
  const [gap, ...rest] = await (async () => {
    await eventually(() => served.offstage.agent("one").session(id)?.outcome !== undefined);
    return await (await readEvents(served, `/v1/sessions/${id}/output?since=10`)).rest();
  })();
  const all = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("");
  assertEquals([gap?.event, dataOf(gap as Received)], ["gap", { from: 10, to: all.length - 1_000 } as never]);
  assertEquals(decoder.decode(joined([...rest], all.length - 1_000)), all.slice(-1_000));
});

test(
  "[140] [146] an idle stream stays open, and says so every 5 s: proxies cut what is silent for 15",
  LONG,
  async () => {
    assertEquals(PING_MS, 5_000);
    const served = await serve();
    const id = await start(served, { command: "sleep 60" });
    const streams = [await readEvents(served, `/v1/sessions/${id}/output`), await readEvents(served, "/v1/events")];
    for (const stream of streams) {
      for (let pings = 0; pings < 3; pings++) assertEquals(await stream.next(), { comment: "ping" });
      await stream.leave();
    }
  },
);

test("[143] who accepts compression gets the first event at once", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "echo hi; sleep 60" });
  const reading = await readEvents(served, `/v1/sessions/${id}/output`, { "accept-encoding": "gzip, br" });
  assertEquals(reading.response.headers.get("content-encoding"), null);
  assertEquals(reading.response.headers.get("cache-control"), "no-cache, no-transform");
  assertEquals((await reading.event())?.event, "output");
  await reading.leave();
});

test("[139] 200 clients that go away leave no listener and no descriptor", { ...LONG, skip: proc }, async () => {
  const served = toClose(await serveWatched());
  const id = await start(served, { command: "echo hi; sleep 60" });
  const descriptors = (): number => readdirSync("/proc/self/fd").length;
  await (await readEvents(served, "/v1/sessions/none/output")).leave(); // whatever is opened once has been opened
  const before = descriptors();
  const clients = Array.from(
    { length: 200 },
    (_, index) => lazyClient(served, index % 4 === 0 ? "/v1/events" : `/v1/sessions/${id}/output`),
  );
  await Promise.all(clients.map((client) => once(client, "readable")));
  await eventually(() => served.watchers() === 51); // viewers of one session share a listener
  for (const client of clients) client.destroy();
  await eventually(() => served.watchers() === 0);
  await eventually(() => descriptors() <= before + 2); // a connection that fetch keeps has two ends
  assertEquals((await served.request(`/v1/sessions/${id}/output`, { method: "HEAD" })).status, 200);
  assertEquals(served.watchers(), 0);
});

test(
  "a slow viewer is skipped forward with a gap, and holds up neither the command nor a fast one",
  LONG,
  async () => {
    const served = await serve();
    const block = 150_000;
    const id = await start(served, {
      command: `line=$(head -c ${block - 1} /dev/zero | tr '\\0' x); while read n; do echo "$line"; done`,
      stdin: "open",
    });
    const agent = served.offstage.agent("one");
    const path = `/v1/sessions/${id}/output`;
    const slow = lazyClient(served, path);
    const fast = await readEvents(served, path);
    let received = 0;
    const BLOCKS = 120; // 18 MB: more than the sockets on the way hold
    for (let blocks = 1; blocks <= BLOCKS; blocks++) {
      await agent.process({ action: "write", sessionId: id, data: "go\n", ...(blocks === BLOCKS && { eof: true }) });
      while (received < blocks * block) {
        const event = await fast.event() as Received;
        assertEquals([event.event, dataOf(event).offset], ["output", received]);
        received = Number(event.id);
      }
    }
    assertEquals((await fast.event())?.event, "end");
    const events = await lateReader(slow);
    assertEquals(events.some(({ event }) => event === "gap"), true);
    assertEquals(joined(events).length < BLOCKS * block, true);
    assertEquals([events.at(-1)?.event, events.at(-1)?.id], ["end", `${BLOCKS * block}`]);
  },
);

test("a session that is removed ends its streams; so does a server that closes", LONG, async () => {
  const stopping = new AbortController();
  const served = await serve({}, { closing: stopping.signal });
  const [removed, kept] = [await start(served, { command: "sleep 60" }), await start(served, { command: "sleep 60" })];
  const [one, other, events] = [
    await readEvents(served, `/v1/sessions/${removed}/output`),
    await readEvents(served, `/v1/sessions/${kept}/output`),
    await readEvents(served, "/v1/events"),
  ];
  for (const reading of [one, other, events]) assertEquals(await reading.next(), { comment: "ping" });
  await served.offstage.agent("one").process({ action: "remove", sessionId: removed });
  assertEquals((await one.rest()).map(({ event }) => event), ["end"]);
  stopping.abort();
  assertEquals([await other.rest(), await events.rest()], [[], []]);
});

test("S2 a foreign session's output is not found, like an unknown one's; a wrong query is told", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "echo secret; sleep 60" });
  const ask = async (path: string, headers = {}): Promise<readonly unknown[]> => {
    const response = await served.request(path, { headers });
    const { error } = await response.json() as {
      readonly error: { readonly code: string; readonly problems?: readonly { readonly key: string }[] };
    };
    return [response.status, error.code, ...(error.problems ?? []).map(({ key }) => key)];
  };
  const path = `/v1/sessions/${id}/output`;
  assertEquals(await ask(path, { authorization: `Bearer ${TOKENS.two}` }), [404, "unknown-session"]);
  assertEquals(await ask("/v1/sessions/none/output"), [404, "unknown-session"]);
  assertEquals(await ask(path, { authorization: "" }), [401, "unauthorized"]);
  assertEquals(await ask(`${path}?since=-1&follow=maybe`), [422, "invalid", "since", "follow"]);
  assertEquals(await ask(`${path}?since=x&encoding=latin1&limit=3`), [422, "invalid", "since", "encoding", "limit"]);
  assertEquals(await ask(path, { "last-event-id": "abc" }), [422, "invalid", "since"]);
});

test(
  "what a terminal's program writes comes as it was written, sequences included",
  { ...LONG, skip: terminal },
  async () => {
    const served = await serve();
    const id = await start(served, { command: "printf '\\033[1mbold\\033[0m'", pty: true });
    const events = await (await readEvents(served, `/v1/sessions/${id}/output`)).rest();
    assertEquals(new Set(events.map((event) => dataOf(event).stream ?? event.event)), new Set(["terminal", "end"]));
    assertEquals(decoder.decode(joined(events)), "\x1b[1mbold\x1b[0m");
  },
);
