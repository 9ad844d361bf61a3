/**
 * A session on a WebSocket, really served on this runtime.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { createConnection, type Socket } from "node:net";
import { closing, test } from "../closing.ts";
import { raw } from "./http_raw.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { attach, type Attached, eventually, ofType, serveWatched, start } from "./http_streams.ts";
import { terminal } from "./machine.ts";

/** Bound of a test that waits for something, ms. */
const LONG = { timeout: 60_000 };
const ON_TERMINAL = { ...LONG, skip: terminal };

async function serve(...given: Parameters<typeof serveHttp>): Promise<Served> {
  const served = await serveHttp(...given);
  closing({ [Symbol.asyncDispose]: () => served.close() });
  return served;
}

const encoder = new TextEncoder();

function type(client: Attached, text: string): void {
  client.send(encoder.encode(text));
}

function errorOf(client: Attached): unknown {
  return ofType(client, "error")?.["code"];
}

/** A client that asks for an upgrade with these headers, and reads nothing by itself. */
function upgraded(served: Served, id: string, headers: Readonly<Record<string, string>>): Socket {
  const { hostname, port } = new URL(served.url);
  const socket = createConnection(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  const all = {
    "Host": `${hostname}:${port}`,
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version": "13",
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`GET /v1/sessions/${id}/attach HTTP/1.1\r\n${head}\r\n`);
  return socket;
}

/** The frames after the headers of an upgrade: text as text, bytes by their number. A server's frames are not masked. */
function framesOf(received: Buffer): readonly (string | number)[] {
  const frames: (string | number)[] = [];
  let at = received.indexOf("\r\n\r\n") + 4;
  while (at + 2 <= received.length) {
    const [code = 0, short = 0] = [received.readUInt8(at) & 15, received.readUInt8(at + 1)];
    const [length, head] = short < 126
      ? [short, 2]
      : short === 126
      ? [received.readUInt16BE(at + 2), 4]
      : [Number(received.readBigUInt64BE(at + 2)), 10];
    if (code === 1) frames.push(received.toString("utf8", at + head, at + head + length));
    if (code === 2) frames.push(length);
    at += head + length;
  }
  return frames;
}

test("R14 who logs in by his first message sees the session, types into it and is told its end", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "echo hi; read x; echo got $x >&2; exit 3", stdin: "open" });
  const client = await attach(served, id);
  await client.until(() => client.text() === "hi\n");
  assertEquals(client.messages[0], {
    type: "hello",
    sessionId: id,
    name: "echo hi",
    pty: false,
    start: 0,
    readonly: false,
  });
  type(client, "word\n");
  assertEquals((await client.closed).code, 1000);
  const exit = { status: "completed", ok: false, exitCode: 3, signal: null, reason: "exit", limit: null };
  assertEquals([client.text(), client.messages.at(-1)], ["hi\ngot word\n", { type: "exit", exit }]);
  const late = await attach(served, id, { since: 3 });
  await late.closed;
  assertEquals([ofType(late, "hello")?.["start"], late.text(), ofType(late, "exit")?.["exit"]], [
    3,
    "got word\n",
    exit,
  ]);
});

test(
  "who asks for bytes from within a character on is told where that begins: he counts from there",
  LONG,
  async () => {
    const served = await serve();
    const id = await start(served, { command: "printf 'a🙂é'" });
    await served.offstage.agent("one").process({ action: "poll", sessionId: id, until: "exit", timeout: 30_000 });
    const seen = async (since: number): Promise<unknown> => {
      const client = await attach(served, id, { since });
      await client.closed;
      return [ofType(client, "hello")?.["start"], client.text()];
    };
    assertEquals(await Promise.all([0, 1, 2, 4, 5, 6, 7, 9].map(seen)), [
      [0, "a🙂é"],
      [1, "🙂é"],
      [1, "🙂é"],
      [1, "🙂é"],
      [5, "é"],
      [5, "é"],
      [7, ""],
      [7, ""],
    ]);
  },
);

test("a terminal has its size, every viewer is told a new one, and keys come in order", ON_TERMINAL, async () => {
  const served = await serve();
  const id = await start(served, {
    command: 'stty -echo; while read line; do stty size; echo "[$line]"; done',
    pty: true,
  });
  const [one, other] = [await attach(served, id), await attach(served, id, { cols: 100, rows: 25 })];
  await Promise.all([one, other].map((client) => client.until(() => ofType(client, "hello") !== undefined)));
  assertEquals(ofType(one, "hello")?.["pty"], true);
  one.send({ type: "resize", cols: 91, rows: 11 });
  const isSmall = ({ messages }: Attached): boolean =>
    messages.some((message) => !(message instanceof Uint8Array) && message["cols"] === 91 && message["rows"] === 11);
  await Promise.all([one, other].map((client) => client.until(() => isSmall(client))));
  const letters = Array.from({ length: 200 }, (_, index) => String.fromCharCode(97 + index % 26));
  for (const letter of letters) type(one, letter);
  type(other, "");
  type(one, "\r");
  const wanted = `11 91\r\n[${letters.join("")}]\r\n`;
  await Promise.all([one, other].map((client) => client.until(() => client.text().includes(wanted))));
  one.close();
  other.close();
});

test("a viewer who only looks changes nothing, by his query or by his first message", ON_TERMINAL, async () => {
  const served = await serve();
  const id = await start(served, { command: "stty -echo; echo go; read x; echo got $x; stty size", pty: true });
  const lookers = [
    await attach(served, id, { readonly: true }),
    await attach(served, id, {}, { query: "?readonly=true" }),
  ];
  for (const looker of lookers) {
    await looker.until(() => looker.text().includes("go"));
    assertEquals(ofType(looker, "hello")?.["readonly"], true);
    type(looker, "his\r");
    await looker.until(() => errorOf(looker) === "readonly");
    looker.send({ type: "resize", cols: 90, rows: 20 });
  }
  const client = await attach(served, id);
  type(client, "ours\r");
  await client.closed;
  assertEquals(client.text(), "go\r\ngot ours\r\n30 120\r\n");
  for (const looker of lookers) assertEquals([(await looker.closed).code, looker.text()], [1000, client.text()]);
});

test("R14 a wrong token closes with 4401, an unknown or foreign session with 4404", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "echo secret; sleep 60" });
  const closedBy = async (...given: Parameters<typeof attach>): Promise<unknown> => {
    const client = await attach(...given);
    const { code } = await client.closed;
    assertEquals(client.messages, []);
    return code;
  };
  assertEquals(await closedBy(served, id, { token: "wrong" }), 4401);
  assertEquals(await closedBy(served, id, { type: "resize", cols: 10, rows: 10 }), 4401);
  assertEquals(await closedBy(served, id, encoder.encode("ls\n")), 4401);
  assertEquals(await closedBy(served, id, { token: TOKENS.two }), 4404);
  assertEquals(await closedBy(served, "none"), 4404);
  const guesser = await attach(served, id, { token: "wrong" });
  guesser.send({ type: "auth", token: TOKENS.one }); // there is one try
  assertEquals([(await guesser.closed).code, guesser.messages], [4401, []]);
  const admin = await attach(served, id, { token: TOKENS.admin });
  await admin.until(() => admin.text() === "secret\n");
  admin.close();
});

test("a client that can send headers logs in by them, and is refused as others are", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "echo hi; sleep 60" });
  const upgrade = async (headers: Readonly<Record<string, string>>): Promise<string> => {
    const socket = await upgraded(served, id, headers);
    let got = "";
    for await (const chunk of socket) {
      got += new TextDecoder("latin1").decode(chunk as Uint8Array);
      if (!got.startsWith("HTTP/1.1 101") || got.includes("hi\n")) break;
    }
    return got.slice(9, 12);
  };
  const protocol = { "Sec-WebSocket-Protocol": "offstage.v1" };
  assertEquals(await upgrade({ ...protocol, Authorization: `Bearer ${TOKENS.one}` }), "101");
  assertEquals(await upgrade({ ...protocol, Authorization: "Bearer wrong" }), "401");
  assertEquals(await upgrade({ "Sec-WebSocket-Protocol": "other" }), "400");
  assertEquals(await upgrade({}), "400");
  assertEquals(await upgrade({ ...protocol, Origin: "http://evil.example" }), "403");
  const plain = await raw(`${served.url}/v1/sessions/${id}/attach`, {
    headers: { authorization: `Bearer ${TOKENS.one}` },
  });
  assertEquals(plain.status, 400);
});

test("what cannot be typed is told: no stdin, no terminal to resize, no message we know", LONG, async () => {
  const served = await serve();
  const id = await start(served, { command: "sleep 60", stdin: "closed" });
  const refused = async (message: object | Uint8Array | string): Promise<unknown> => {
    const client = await attach(served, id);
    client.send(message);
    await client.until(() => errorOf(client) !== undefined);
    client.close();
    return errorOf(client);
  };
  assertEquals(await refused(encoder.encode("x")), "not-typed");
  assertEquals(await refused({ type: "resize", cols: 80, rows: 24 }), "no-terminal");
  assertEquals(await refused({ type: "resize", cols: 0, rows: 24 }), "bad-message");
  assertEquals(await refused("{"), "bad-message");
  const big = await attach(served, id);
  big.send(new Uint8Array(2 ** 20 + 1));
  assertEquals((await big.closed).code, 1009);
});

test(
  "a late viewer of a terminal whose beginning is gone gets its modes first, then the gap, then what is held",
  ON_TERMINAL,
  async () => {
    const served = await serve({ tools: { exec: { maxOutputChars: 1_000 } } });
    const command =
      "printf '\\033[?1049h\\033[?1h\\033[?2004h'; head -c 20000 /dev/zero | tr '\\0' x; printf end; sleep 60";
    const id = await start(served, { command, pty: true });
    const agent = served.offstage.agent("one");
    const end = "\x1b[?1049h\x1b[?1h\x1b[?2004h".length + 20_003;
    await eventually(() => agent.session(id)?.end === end);
    const client = await attach(served, id);
    await client.until(() => client.text().endsWith("end"));
    const [hello, modes, gap, ...rest] = client.messages;
    assertEquals([hello, gap], [
      { ...ofType(client, "hello"), start: end - 1_000 } as never,
      { type: "gap", from: 0, to: end - 1_000 },
    ]);
    assert(modes instanceof Uint8Array);
    assertEquals(new TextDecoder().decode(modes), "\x18\x1b[0m\x1b[?1049h\x1b[?1h\x1b[?66l\x1b[?2004h");
    assertEquals(rest.every((message) => message instanceof Uint8Array), true);
    client.close();
  },
);

test("a slow viewer is skipped forward with a gap, and holds up neither the command nor a fast one", LONG, async () => {
  const served = await serve();
  const block = 150_000;
  const id = await start(served, {
    command: `line=$(head -c ${block - 1} /dev/zero | tr '\\0' x); while read n; do echo "$line"; done`,
    stdin: "open",
  });
  const agent = served.offstage.agent("one");
  const headers = { "Sec-WebSocket-Protocol": "offstage.v1", "Authorization": `Bearer ${TOKENS.one}` };
  const slow = upgraded(served, id, headers);
  const fast = await attach(served, id);
  await fast.until(() => ofType(fast, "hello") !== undefined);
  const bytes = (): number =>
    fast.messages.reduce((sum, each) => sum + (each instanceof Uint8Array ? each.length : 0), 0);
  const BLOCKS = 120; // 18 MB: more than the sockets on the way hold
  for (let blocks = 1; blocks <= BLOCKS; blocks++) {
    await agent.process({ action: "write", sessionId: id, data: "go\n", ...(blocks === BLOCKS && { eof: true }) });
    await fast.until(() => bytes() >= blocks * block);
  }
  await fast.closed;
  assertEquals([bytes(), ofType(fast, "gap")], [BLOCKS * block, undefined]);
  const chunks: Uint8Array[] = [];
  for await (const chunk of slow) {
    chunks.push(chunk as Uint8Array);
    if (Buffer.concat(chunks.slice(-2)).includes('"type":"exit"')) break;
  }
  let at = 0;
  let gaps = 0;
  for (const frame of framesOf(Buffer.concat(chunks))) {
    if (typeof frame === "number") at += frame;
    else if (frame.includes('"gap"')) {
      const { from, to } = JSON.parse(frame) as { readonly from: number; readonly to: number };
      assertEquals(from, at);
      at = to;
      gaps += 1;
    }
  }
  assertEquals([at, gaps >= 1], [BLOCKS * block, true]);
});

test("a session that is removed closes with 4404, a server that closes with 1001", LONG, async () => {
  const stopping = new AbortController();
  const served = await serve({}, { closing: stopping.signal });
  const [removed, kept] = [await start(served, { command: "sleep 60" }), await start(served, { command: "sleep 60" })];
  const [one, other] = [await attach(served, removed), await attach(served, kept)];
  await Promise.all([one, other].map((client) => client.until(() => ofType(client, "hello") !== undefined)));
  await served.offstage.agent("one").process({ action: "remove", sessionId: removed });
  assertEquals((await one.closed).code, 4404);
  stopping.abort();
  assertEquals((await other.closed).code, 1001);
});

test("[139] viewers that go away leave nothing, whether they closed, vanished or never logged in", LONG, async () => {
  const served = await serveWatched();
  closing({ [Symbol.asyncDispose]: () => served.close() });
  const id = await start(served, { command: "echo hi; sleep 60" });
  const clients = await Promise.all(Array.from({ length: 30 }, () => attach(served, id)));
  const strangers = await Promise.all(Array.from({ length: 5 }, () => attach(served, id, "none")));
  await Promise.all(clients.map((client) => client.until(() => client.text() === "hi\n")));
  assertEquals(served.watchers(), 1);
  for (const client of [...clients, ...strangers]) client.close();
  await eventually(() => served.watchers() === 0);
  await Promise.all([...clients, ...strangers].map(({ closed }) => closed));
});
