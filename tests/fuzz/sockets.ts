/**
 * Requests and WebSocket frames that are none, byte by byte, to an app that is served on this runtime: the server lives,
 * others are served meanwhile, nothing runs that nobody may run, and nothing is left open or given away.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { requestLine } from "../../adapters/cli/serve_log.ts";
import { createHttpApp, type RequestRecord } from "../../adapters/http.ts";
import { listenHere } from "../../adapters/http/serve/auto.ts";
import { runtimeName } from "../skip.ts";
import { type Frames, frames, handshake, isBroken, wireOf } from "./frames.ts";
import { type RawRequest, rawRequests, requestBytes, SECRETS } from "./requests.ts";
import { type OpenPart, type Part, target } from "./target.ts";
import { openWorld, type World } from "./world.ts";

/** The part. */
export const sockets: Part = { name: "sockets", runs: 6_000, open };

/** Nothing comes any more if nothing has come for that long, ms. No check depends on it: it is when we go away. */
const QUIET_MS = 40;

/** Far more than an answer takes, ms. */
const BOUND_MS = 20_000;

/** Connections that begin a request and never end it, while everything else goes on. */
const SLOW_CLIENTS = 40;

/** Descriptors of connections that clients of this process keep for their next request, both sides. */
const KEPT = 4;

interface Server {
  readonly world: World;
  readonly port: number;
  /** What has gone wrong in the server, or behind its back. */
  readonly thrown: unknown[];
}

async function open(): Promise<OpenPart> {
  const world = await openWorld();
  const listen = await listenHere();
  const thrown: unknown[] = [];
  const note = (error: unknown): void => void thrown.push(error);
  process.on("uncaughtException", note);
  process.on("unhandledRejection", note);
  const logged = (record: RequestRecord): void => {
    const line = requestLine(record, "text") + requestLine(record, "json");
    // deno-lint-ignore no-control-regex -- what would let a client write lines of his own
    if (/[\x00-\x1f\x7f-\x9f]/.test(line) || line.includes(SECRETS.token)) note(new Error(`logged: ${line}`));
  };
  const tokens = new Map([[SECRETS.token, "tester"], [SECRETS.other, "other"]]);
  const listening = await listen(
    (host) => createHttpApp(world.offstage, { tokens, ...host, onError: note, onRequest: logged }),
    { hostname: "127.0.0.1", port: 0 },
  );
  const server: Server = { world, port: listening.port, thrown };
  await served(server);
  const descriptors = descriptorCount();
  const slow = Array.from({ length: SLOW_CLIENTS }, (_, index) => dial(server.port, SLOW[index % SLOW.length] ?? ""));
  return {
    targets: [
      target("requests", 2, rawRequests, (request) => requested(server, request)),
      target("frames", 1, frames, (sent) => framed(server, sent)),
    ],
    [Symbol.asyncDispose]: async () => {
      slow.forEach((socket) => socket.destroy());
      try {
        await eventually(() => descriptorCount() <= descriptors + KEPT, "descriptors are left open");
        assertEquals(
          world.agent.sessions().filter(({ outcome }) => outcome === undefined).length,
          2,
          "sessions are left",
        );
      } finally {
        process.off("uncaughtException", note);
        process.off("unhandledRejection", note);
        await world.offstage.close();
        await listening.close();
      }
    },
  };
}

/** What slow clients have sent when they fall asleep. */
const SLOW = [
  "",
  "G",
  "GET / HTTP/1.1\r\nHost: local",
  "POST /v1/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
];

/** Sends a request and looks at what comes back. */
async function requested(server: Server, request: RawRequest): Promise<void> {
  const { world } = server;
  await world.ready();
  const before = world.footprint();
  const answer = await exchange(
    server.port,
    requestBytes(request),
    request.cut,
    (text) => /\r\n\r\n[^]*\}$/.test(text),
  );
  assertDiscreet(server, answer);
  for (const [, status] of answer.matchAll(/^HTTP\/1\.[01] (\d{3})/gm)) {
    assert(Number(status) < 500 || ["501", "505"].includes(status ?? ""), answer.slice(0, 500));
  }
  if (request.authorized !== true) assertEquals(world.footprint(), before, "it has done something without a token");
  await served(server);
}

/** Attaches to a session and sends frames. */
async function framed(server: Server, sent: Frames): Promise<void> {
  const { world } = server;
  await world.ready();
  const socket = dial(server.port, handshake(world.terminal.id, SECRETS.token));
  let answer = "";
  const isOpen = new Promise<void>((resolve) => {
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      if (answer.includes("hello")) resolve();
    });
    socket.on("close", () => resolve());
  });
  await isOpen;
  assert(answer.startsWith("HTTP/1.1 101"), answer.slice(0, 200));
  const closed = new Promise<true>((resolve) => void socket.on("close", () => resolve(true)));
  const wire = wireOf(sent);
  for (const part of partsOf(wire, sent.cut)) {
    socket.write(part);
    if (sent.cut !== undefined) await sleep(0);
  }
  if (isBroken(sent, runtimeName !== "deno")) { // whose server takes what is not masked
    // A server that has said goodbye may wait for us to go
    const isOver = await Promise.race([closed, eventually(() => isFarewell(answer), "still open").then(() => true)]);
    assert(isOver, "what breaks the protocol ends the connection");
  } else await Promise.race([closed, sleep(QUIET_MS)]);
  socket.destroy();
  assertDiscreet(server, answer);
  await served(server);
}

/** Whether a close frame has come: the last one a server sends. */
function isFarewell(answer: string): boolean {
  // deno-lint-ignore no-control-regex -- a frame is bytes
  return /\x88[\x02-\x7d][\x03\x0f][^]+$/.test(answer);
}

/** Nothing of ours is told to whoever asks, and nothing broke behind his back. */
function assertDiscreet({ thrown }: Server, answer: string): void {
  assertEquals(thrown.splice(0).map(String), [], "an error of the server's");
  for (const secret of Object.values(SECRETS)) assert(!answer.includes(secret), "a secret is told");
  assert(!/node_modules|\n\s+at |\.ts:\d+|\.js:\d+/.test(answer), answer.slice(0, 500));
}

/** Somebody else is served. */
async function served({ port }: Server): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(BOUND_MS) });
  assertEquals((await answer.json()).ok, true);
}

function dial(port: number, text: string): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {}); // it may be cut
  socket.write(text, "latin1");
  return socket;
}

/** What comes back until it is whole, nothing comes any more or the other side closes. */
function exchange(
  port: number,
  bytes: Uint8Array,
  cut: number | undefined,
  isWhole: (text: string) => boolean,
): Promise<string> {
  const socket = dial(port, "");
  return new Promise((resolve) => {
    let answer = "";
    const done = (): void => void socket.destroy();
    let quiet = setTimeout(done, QUIET_MS);
    socket.on("data", (data) => {
      answer += data.toString("latin1");
      clearTimeout(quiet);
      quiet = setTimeout(done, isWhole(answer) ? 1 : QUIET_MS); // a second answer may follow
    });
    socket.on("close", () => {
      clearTimeout(quiet);
      resolve(answer);
    });
    for (const part of partsOf(bytes, cut)) socket.write(part);
  });
}

function partsOf(bytes: Uint8Array, cut: number | undefined): readonly Uint8Array[] {
  if (cut === undefined) return [bytes];
  const at = cut % (bytes.length + 1);
  return [bytes.subarray(0, at), bytes.subarray(at)];
}

/** Descriptors of this process; 0 where nobody can tell. */
function descriptorCount(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}

async function eventually(holds: () => boolean, otherwise: string): Promise<void> {
  for (const until = performance.now() + BOUND_MS; !holds(); await sleep(5)) {
    assert(performance.now() < until, otherwise);
  }
}
