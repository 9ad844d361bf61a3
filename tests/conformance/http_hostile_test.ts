/**
 * Requests that no ordinary client writes, byte by byte; and clients that do not do their part when the server ends.
 *
 * @module
 */
import { assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningDetails } from "../../mod.ts";
import { runtimeName } from "../skip.ts";
import { type Served, serveHttp, TOKENS } from "./http_server.ts";
import { posix } from "./machine.ts";
import { serveProgram } from "./serve_program.ts";

const ADMIN = "token-of-admin-1234567890";

const HANDSHAKE: Readonly<Record<string, string>> = {
  "Connection": "Upgrade",
  "Upgrade": "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
  "Sec-WebSocket-Protocol": "offstage.v1",
};

/** Waits for a release, prints more than any socket takes, and stays. */
const FLOOD = "read _; yes | head -c 16000000; echo finished; exec sleep 86400";

let served: Served;
before(async () => {
  served = await serveHttp();
});
after(() => served.close());

function dial(url: string, text: string): Socket {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {}); // the server may cut it
  socket.write(text);
  return socket;
}

/** What comes back for some bytes, as soon as `pattern` is in it or the other side has closed. */
function exchange(url: string, text: string, pattern: RegExp): Promise<string> {
  const socket = dial(url, text);
  return new Promise((resolve) => {
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes;
      if (pattern.test(answer)) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
  });
}

const requestOf = (line: string, headers: Readonly<Record<string, string>>, body = ""): string =>
  [
    `${line} HTTP/1.1`,
    "Host: localhost",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body,
  ]
    .join("\r\n");

const OFFER = { "Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQAAP__" };

test("a request that offers HTTP/2 is answered as if it did not", async () => {
  assertMatch(await exchange(served.url, requestOf("GET /healthz", OFFER), /\}/), /^HTTP\/1\.1 200 /);
  if (runtimeName === "deno") return; // its server refuses such an offer with a body
  const body = JSON.stringify({ command: "echo it ran" });
  const headers = {
    ...OFFER,
    "Authorization": `Bearer ${TOKENS.one}`,
    "Content-Type": "application/json",
    "Content-Length": String(body.length),
  };
  const answer = await exchange(served.url, requestOf("POST /v1/exec", headers, body), /\}$/);
  assertMatch(answer, /^HTTP\/1\.1 200 [^]*it ran/);
});

test("what is not a whole WebSocket handshake is refused with 400", async () => {
  for (const name of Object.keys(HANDSHAKE)) {
    const { [name]: _, ...rest } = HANDSHAKE;
    const answer = await exchange(served.url, requestOf("GET /v1/sessions/x/attach", rest), /\r\n\r\n/);
    // Bun says that of a wrong version itself
    assertMatch(answer, /^HTTP\/1\.1 (?:400|426) /, `without ${name}`);
  }
});

test("HTTP/1.0 without a host is no error of the server's", async () => {
  const answer = await exchange(served.url, "GET /healthz HTTP/1.0\r\n\r\n", /\}/);
  assertMatch(answer, /^HTTP\/1\.\d (?:200|403) /);
});

/** A short message of a client's WebSocket, its mask all zeros. */
function frameOf(opcode: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);
}

test("clients that send nothing more, or read nothing, do not hold up the end of the server", {
  skip: posix,
}, async () => {
  const server = serveProgram(["--log", "off"], { OFFSTAGE_TOKENS: `*:${ADMIN}` });
  const clients: Socket[] = [];
  try {
    const url = await server.url;
    const headers = { "Authorization": `Bearer ${ADMIN}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ command: FLOOD, background: true });
    const started = await fetch(`${url}/v1/exec`, { method: "POST", headers, body });
    const { sessionId } = (await started.json() as { readonly details: RunningDetails }).details;
    const session = `/v1/sessions/${sessionId}`;
    clients.push(dial(url, "GET / HT"));
    clients.push(dial(url, requestOf("POST /v1/exec", { ...headers, "Content-Length": "30" }, '{"command"')));
    for (const path of [`${session}/output`, `${session}/attach`]) {
      const client = dial(url, requestOf(`GET ${path}`, { ...headers, ...(path.endsWith("attach") && HANDSHAKE) }));
      clients.push(client);
      await new Promise((resolve) => client.once("data", resolve));
      client.pause();
      if (path.endsWith("attach")) client.write(frameOf(2, "\n"));
    }
    for (let found = false; !found; await sleep(20)) {
      found = (await (await fetch(`${url}${session}/log?grep=finished`, { headers })).text()).includes(`"matches":1`);
    }
    server.kill("SIGTERM");
    assertEquals(await server.ended, [0, null]);
  } finally {
    for (const client of clients) client.destroy();
    server.kill("SIGKILL");
    await server.ended;
  }
});
