/**
 * The HTTP front end under many: viewers of one session, keys over a WebSocket, polls that wait.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { createOffstage } from "../adapters/auto.ts";
import { createHttpApp } from "../adapters/http.ts";
import { listenHere } from "../adapters/http/serve/auto.ts";
import type { Agent } from "../mod.ts";

type Numbers = Readonly<Record<string, number>>;

const TOKEN = "token-of-the-bench";
const VIEWERS = 500;
const STALLED = 200;
const POLLS = 100;
const KEYS = 300;

/** 1 MB/s for 5 s, in blocks that say when they were printed. */
const STAMPED = `python3 -uc 'import sys, time
sys.stdin.readline()
begin = time.time()
for i in range(500):
  time.sleep(max(0, begin + i / 100 - time.time()))
  sys.stdout.write("T%d " % (time.time() * 1000) + "x" * 9984 + "\\n")'`;

/** An instance that is served. */
interface Site {
  readonly agent: Agent;
  readonly url: string;
}

/** Serves while something is measured. */
async function served<T>(measure: (site: Site) => Promise<T>): Promise<T> {
  const offstage = createOffstage({ tools: { exec: { killGraceMs: 100 } } });
  const listen = await listenHere();
  const options = { tokens: new Map([[TOKEN, "bench"]]) };
  const server = await listen((host) => createHttpApp(offstage, { ...options, ...host }), {
    hostname: "127.0.0.1",
    port: 0,
  });
  const result = await measure({ agent: offstage.agent("bench"), url: `http://127.0.0.1:${server.port}` });
  await offstage.close();
  await server.close();
  return result;
}

async function background(agent: Agent, command: string, pty = false): Promise<string> {
  const { details } = await agent.exec({ command, background: true, pty });
  if (details.status !== "running") throw new Error(`It does not run: ${command}`);
  return details.sessionId;
}

/** Viewers in a process of their own; `ready` once all are connected, `done` with what they got. */
function viewersOf({ url }: Site, sessionId: string, count: number, ...mode: readonly string[]): {
  readonly ready: Promise<unknown>;
  readonly done: Promise<Numbers>;
  leave(): void;
} {
  const path = `${url}/v1/sessions/${sessionId}/output`;
  const child = spawn("node", ["bench/viewers_client.mjs", path, TOKEN, `${count}`, ...mode], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Uint8Array) => text += new TextDecoder().decode(chunk));
  return {
    ready: once(child.stdout, "data"),
    done: once(child, "close").then(() => JSON.parse(text.split("\n")[1] || "{}")),
    leave: () => child.stdin.end(),
  };
}

/** Memory that is held after a collection, where it can be asked for. */
async function held(): Promise<number> {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(force: boolean): void } };
  for (let times = 0; times < 3; times++) {
    await sleep(300);
    gc?.();
    Bun?.gc(true);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024;
}

/** 500 viewers of a session that prints 1 MB/s, and 200 who do not read what comes. */
export function viewers(): Promise<Numbers> {
  return served(async (site) => {
    const { agent } = site;
    const id = await background(agent, STAMPED);
    const all = viewersOf(site, id, VIEWERS);
    const probe = viewersOf(site, id, 1); // what the others see late they may just be late to read
    await Promise.all([all.ready, probe.ready]);
    const before = process.cpuUsage();
    await agent.process({ action: "submit", sessionId: id });
    const { wrong = 0, bytes = 0, skipped = 0, viewers = 0, p99Ms: allP99Ms = 0 } = await all.done;
    const { p50Ms = 0, p99Ms = 0 } = await probe.done;
    const { user, system } = process.cpuUsage(before);
    const wanted = (agent.session(id)?.end ?? 0) * viewers;
    return {
      wrong: wrong + Math.abs(wanted - bytes - skipped),
      skippedPercent: 100 * skipped / wanted,
      p50Ms,
      p99Ms,
      allP99Ms,
      cpuS: (user + system) / 1e6,
      stalledKib: await stalled(site),
    };
  });
}

/** What a viewer costs who reads nothing of 20 MB, KiB. */
async function stalled(site: Site): Promise<number> {
  const { agent } = site;
  const id = await background(agent, "read x; head -c 20000000 /dev/zero | tr '\\0' x | fold -w 79; read x");
  const before = await held();
  const { ready, leave } = viewersOf(site, id, STALLED, "stall");
  await ready;
  await agent.process({ action: "submit", sessionId: id });
  while ((agent.session(id)?.end ?? 0) < 20_000_000) await sleep(50);
  const after = await held();
  leave();
  return (after - before) / STALLED;
}

const ECHO = "stty raw -echo; echo ready; exec cat";

/** A key typed into `cat` on a terminal by the library, until its echo is there. */
export function libraryEcho(): Promise<Numbers> {
  return served(async ({ agent }) => {
    const sessionId = await background(agent, ECHO, true);
    const view = agent.session(sessionId);
    let at = 0;
    let heard = (): void => {};
    const stop = view?.watch(() => {
      if (view.end > at) heard();
      at = view.end;
    });
    if (at === 0) await new Promise<void>((resolve) => heard = resolve);
    const numbers = await echoes(async () => {
      const echo = new Promise<void>((resolve) => heard = resolve);
      void agent.process({ action: "write", sessionId, data: "k" });
      await echo;
    });
    stop?.();
    return numbers;
  });
}

/** The same over a WebSocket. */
export function attachEcho(): Promise<Numbers> {
  return served(async ({ agent, url }) => {
    const id = await background(agent, ECHO, true);
    const { WebSocket } = "WebSocket" in globalThis ? globalThis : await import("ws") as never; // Node 20 has none
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/${id}/attach`, "offstage.v1");
    socket.binaryType = "arraybuffer";
    let heard = (_: string): void => {};
    socket.onmessage = ({ data }) => {
      if (typeof data !== "string") heard(new TextDecoder().decode(data as ArrayBuffer));
    };
    const hear = (wanted: string): Promise<void> =>
      new Promise((resolve) => heard = (text) => text.includes(wanted) && resolve());
    const ready = hear("ready");
    socket.onopen = () => socket.send(JSON.stringify({ type: "auth", token: TOKEN }));
    await ready;
    const numbers = await echoes(async () => {
      const echo = hear("k");
      socket.send(new TextEncoder().encode("k"));
      await echo;
    });
    socket.close();
    return numbers;
  });
}

async function echoes(typeOne: () => Promise<void>): Promise<Numbers> {
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    const begin = performance.now();
    await typeOne();
    times.push(performance.now() - begin);
  }
  times.sort((one, other) => one - other);
  return { p50Ms: times[KEYS / 2] ?? 0, p99Ms: times[Math.floor(KEYS * 0.99)] ?? 0 };
}

/** What 100 polls cost that wait over HTTP, beside a server that does nothing: CPU time of 5 s. */
export function idlePolls(): Promise<{ readonly bare: Numbers; readonly ours: Numbers }> {
  return served(async ({ agent, url }) => {
    const id = await background(agent, "sleep 60");
    const idle = async (): Promise<Numbers> => {
      await sleep(1_000);
      const before = process.cpuUsage();
      await sleep(5_000);
      const { user, system } = process.cpuUsage(before);
      return { cpuMs: (user + system) / 1_000 };
    };
    const bare = await idle();
    const away = new AbortController();
    const body = JSON.stringify({ action: "poll", sessionId: id, timeout: 30_000 });
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const polls = Array.from(
      { length: POLLS },
      () => fetch(`${url}/v1/process`, { method: "POST", headers, body, signal: away.signal }).catch(() => {}),
    );
    const ours = await idle();
    away.abort();
    await Promise.all(polls);
    return { bare, ours };
  });
}
