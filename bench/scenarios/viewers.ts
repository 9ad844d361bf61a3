/**
 * The HTTP front end under many: viewers of one session, polls that wait.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { background, type Site, withSite } from "./agents.ts";
import { heldBytes, settledMemory } from "./idle.ts";
import type { Both, Numbers } from "./turns.ts";

const VIEWERS = 500;
const STALLED = 200;
const POLLS = 100;

/** 1 MB/s for 5 s, in blocks that say when they were printed. */
const STAMPED = `python3 -uc 'import sys, time
sys.stdin.readline()
begin = time.time()
for i in range(500):
  time.sleep(max(0, begin + i / 100 - time.time()))
  sys.stdout.write("T%d " % (time.time() * 1000) + "x" * 9984 + "\\n")'`;

/** Viewers in a process of their own; `ready` once all are connected, `done` with what they got. */
export function viewersOf({ url, token }: Site, sessionId: string, count: number, ...mode: readonly string[]): {
  readonly ready: Promise<unknown>;
  readonly done: Promise<Numbers>;
  leave(): void;
} {
  const path = `${url}/v1/sessions/${sessionId}/output`;
  const child = spawn("node", ["bench/scenarios/viewers_client.mjs", path, token, `${count}`, ...mode], {
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

/** 500 viewers of a session that prints 1 MB/s, and 200 who do not read what comes. */
export function viewers(): Promise<Numbers> {
  return withSite(async (site) => {
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
  const before = heldBytes(await settledMemory());
  const { ready, leave } = viewersOf(site, id, STALLED, "stall");
  await ready;
  await agent.process({ action: "submit", sessionId: id });
  while ((agent.session(id)?.end ?? 0) < 20_000_000) await sleep(50);
  const after = heldBytes(await settledMemory());
  leave();
  return (after - before) / 1024 / STALLED;
}

/** What 100 polls cost that wait over HTTP, beside a server that does nothing: CPU time of 5 s. */
export function idlePolls(): Promise<Both> {
  return withSite(async ({ agent, url, token }) => {
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
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
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
