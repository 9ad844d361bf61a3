/**
 * What is measured: each scenario does the same work bare and through Offstage, and gives numbers.
 *
 * `node bench/scenarios.ts bulk ours` prints the numbers of one side as JSON. Each side has a process of its own, so that
 * its memory can be seen; but what a spawn takes grows with the memory of the process that spawns (Linux copies the page
 * tables at a fork, some 25 µs a MiB), so the two sides of a start take turns in one process: `true both`.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { createOffstage } from "../adapters/auto.ts";
import { createHttpApp } from "../adapters/http.ts";
import { listenHere } from "../adapters/http/serve/auto.ts";
import { bubblewrap } from "../adapters/hosts/bubblewrap.ts";
import { bwrapArguments } from "../adapters/hosts/bubblewrap/policy.ts";
import { systemEntries } from "../adapters/hosts/bubblewrap/view.ts";
import type { Agent, Offstage, PollDetails } from "../mod.ts";
import { bareSpawn } from "./bare.ts";
import { barePty } from "./bare_pty.ts";
import { createClient, type Post } from "./http_client.ts";
import { overSsh } from "./over_ssh.ts";
import { attachEcho, idlePolls, libraryEcho, viewers } from "./viewers.ts";

type Numbers = Readonly<Record<string, number>>;
type Side = () => Promise<Numbers>;

/** Both sides of a scenario, each to be run in a process of its own. */
interface Apart {
  readonly bare: Side;
  readonly ours: Side;
}

/** Both sides of a scenario, to be run in turns in one process. */
interface Together {
  readonly both: () => Promise<{ readonly bare: Numbers; readonly ours: Numbers }>;
}

const SHELL = ["bash", "--norc", "-c"] as const;
const BULK_BYTES = 256 * 2 ** 20;
const BULK = `head -c ${BULK_BYTES} /dev/zero | tr '\\0' x | fold -w 119`;
const STAMPS = "python3 -uc 'import time\nfor i in range(300):\n  print(time.time_ns()); time.sleep(0.01)'";
const IDLE = "sleep 60 & wait";
const ROUNDS = 200;
const TURN = 20;

const SCENARIOS: Readonly<Record<string, Apart | Together>> = {
  /** `true`, one after the other. */
  true: {
    both: () => withAgent((agent) => inTurns(bareTrue, () => agent.exec({ command: "true" }))),
  },
  /** `true` through the library and by `POST /v1/exec`, on a connection that is kept. */
  http: {
    both: () =>
      withAgent((agent, offstage) =>
        withServer(offstage, (post) => inTurns(() => agent.exec({ command: "true" }), () => post({ command: "true" })))
      ),
  },
  /** `true` in a sandbox; bare, bwrap is given the same arguments by hand. */
  bubblewrap: { both: sandboxed },
  /** `true` by way of a local sshd; bare, by hand over an open connection. */
  ssh: { both: () => overSsh(inTurns) },
  /** A command of 30 ms, without the orphan guard and with it, and what the guard holds while nothing happens. */
  guard: { both: () => withAgent((bare) => withAgent((agent) => guarded(bare, agent)), false) },
  /** 256 MiB of lines. */
  bulk: {
    bare: () => rate(async () => (await bareSpawn([...SHELL, BULK], () => {})).done),
    ours: () => withAgent((agent) => rate(() => agent.exec({ command: BULK, yieldMs: 120_000, stdin: "closed" }))),
  },
  /** `true` in a terminal. */
  ptyTrue: {
    both: () =>
      withAgent((agent) => inTurns(() => barePty("true", () => {}), () => agent.exec({ command: "true", pty: true }))),
  },
  /** 256 MiB through a terminal. */
  ptyBulk: {
    bare: () => rate(() => barePty(BULK, () => {})),
    ours: () => withAgent((agent) => rate(() => agent.exec({ command: BULK, pty: true, yieldMs: 120_000 }))),
  },
  /** Lines of `seq 1 20000` in a terminal that do not arrive, over 200 runs. */
  ptyTail: {
    bare: () => lost(async (take) => await barePty("seq 1 20000", take)),
    ours: () =>
      withAgent((agent) =>
        lost(async (take) => {
          const { details } = await agent.exec({ command: "seq 1 20000", pty: true });
          if ("output" in details) take(new TextEncoder().encode(details.output.trimEnd().split("\n").at(-1)));
        })
      ),
  },
  /** Time from a program's print to its sight. */
  wake: {
    bare: async () => {
      const delays: number[] = [];
      await (await bareSpawn([...SHELL, STAMPS], (bytes) => delays.push(...delaysIn(new TextDecoder().decode(bytes)))))
        .done;
      return percentiles(delays);
    },
    ours: () => withAgent(wakeThroughPoll),
  },
  /** `log` and `poll` on a session that holds 200 000 characters, little or much having been dropped before. */
  paging: { bare: () => Promise.resolve({}), ours: () => withAgent(paging) },
  /** Memory of 500 commands that do nothing. */
  idle: {
    bare: () => memoryOf(500, bareTrue, () => bareSpawn([...SHELL, IDLE], () => {}), (child) => child.kill()),
    ours: () =>
      withAgent((agent) =>
        memoryOf(
          500,
          () => agent.exec({ command: "true" }),
          async () => void await agent.exec({ command: IDLE, background: true, stdin: "closed" }),
          () => {},
        )
      ),
  },
  /** 500 viewers over HTTP of a session that prints 1 MB/s. */
  viewers: { bare: () => Promise.resolve({}), ours: viewers },
  /** A key and its echo, by the library and over a WebSocket. */
  attach: { bare: libraryEcho, ours: attachEcho },
  /** 100 polls over HTTP that wait for a session that prints nothing, and none. */
  idlePolls: { both: idlePolls },
};

async function sandboxed(): ReturnType<Together["both"]> {
  const workspace = process.cwd();
  const scene = {
    system: systemEntries(false),
    binds: [{ from: workspace, to: workspace, writable: true }],
    links: [],
  };
  const policy = { ...scene, network: false, forbidsNamespaces: true };
  const argv = ["bwrap", ...bwrapArguments(policy, workspace, false), ...SHELL, "true"];
  const bare = async (): Promise<void> => await (await bareSpawn(argv, () => {})).done;
  const offstage = createOffstage({ sandbox: bubblewrap({ workspace }) });
  const agent = offstage.agent("bench");
  const numbers = await inTurns(bare, () => agent.exec({ command: "true" }));
  await offstage.close();
  return numbers;
}

async function bareTrue(): Promise<void> {
  await (await bareSpawn([...SHELL, "true"], () => {})).done;
}

async function withAgent<T>(
  measure: (agent: Agent, offstage: Offstage) => Promise<T>,
  orphanGuard = true,
): Promise<T> {
  const offstage = createOffstage({ tools: { exec: { maxSessions: 10_000, killGraceMs: 100, orphanGuard } } });
  const numbers = await measure(offstage.agent("bench"), offstage);
  await offstage.close();
  return numbers;
}

/** Serves an instance on this runtime. */
async function withServer<T>(offstage: Offstage, measure: (post: Post) => Promise<T>): Promise<T> {
  const token = "a-token-of-the-bench";
  const listen = await listenHere();
  const server = await listen(
    (host) => createHttpApp(offstage, { ...host, tokens: new Map([[token, "bench"]]) }),
    { hostname: "127.0.0.1", port: 0 },
  );
  return await measure(createClient(`http://127.0.0.1:${server.port}/v1/exec`, token));
}

async function eachOf(rounds: number, run: () => Promise<unknown>): Promise<Numbers> {
  for (let round = 0; round < rounds / 10; round++) await run(); // warm up
  const begin = performance.now();
  for (let round = 0; round < rounds; round++) await run();
  return { ms: (performance.now() - begin) / rounds };
}

/** The median time of each of two, which take turns of {@linkcode TURN} runs. */
async function inTurns(bare: () => Promise<unknown>, ours: () => Promise<unknown>): ReturnType<Together["both"]> {
  const turn = async (run: () => Promise<unknown>): Promise<readonly number[]> => {
    const times: number[] = [];
    for (let index = 0; index < TURN; index++) {
      const begin = performance.now();
      await run();
      times.push(performance.now() - begin);
    }
    return times;
  };
  await turn(bare); // warm up
  await turn(ours);
  const times = { bare: [] as number[], ours: [] as number[] };
  while (times.ours.length < ROUNDS) {
    times.bare.push(...await turn(bare));
    times.ours.push(...await turn(ours));
  }
  return { bare: { ms: percentile(times.bare, 0.5) }, ours: { ms: percentile(times.ours, 0.5) } };
}

async function guarded(bare: Agent, agent: Agent): ReturnType<Together["both"]> {
  const nap = (who: Agent) => (): Promise<unknown> => who.exec({ command: "sleep 0.03" });
  const times = await inTurns(nap(bare), nap(agent));
  const children = execFileSync("ps", ["-o", "pid=,comm=", "--ppid", `${process.pid}`], { encoding: "utf8" });
  const pid = /^ *(\d+) sh$/m.exec(children)?.[1];
  const [, held = ""] = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
  return { bare: times.bare, ours: { ...times.ours, heldKib: Number(held) } };
}

async function rate(run: () => Promise<unknown>): Promise<Numbers> {
  let stallMs = 0;
  let last = performance.now();
  const tick = setInterval(() => {
    stallMs = Math.max(stallMs, performance.now() - last);
    last = performance.now();
  }, 1);
  const begin = performance.now();
  await run();
  const seconds = (performance.now() - begin) / 1_000;
  clearInterval(tick);
  return { mbPerS: BULK_BYTES / 1e6 / seconds, peakMb: process.resourceUsage().maxRSS / 1024, stallMs };
}

async function lost(run: (take: (bytes: Uint8Array) => void) => Promise<unknown>): Promise<Numbers> {
  let runs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    let tail = "";
    await run((bytes) => (tail = (tail + new TextDecoder().decode(bytes)).slice(-64)));
    if (!tail.trimEnd().endsWith("20000")) runs += 1;
  }
  return { runs };
}

/** How long ago the stamps in a text were printed, ms. */
function delaysIn(text: string): readonly number[] {
  const now = performance.timeOrigin + performance.now();
  return (text.match(/\d+/g) ?? []).map((stamp) => now - Number(stamp) / 1e6);
}

function percentiles(delays: readonly number[]): Numbers {
  return { p50Ms: percentile(delays, 0.5), p99Ms: percentile(delays, 0.99) };
}

function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

async function wakeThroughPoll(agent: Agent): Promise<Numbers> {
  const delays: number[] = [];
  const { details } = await agent.exec({ command: STAMPS, background: true, stdin: "closed" });
  const sessionId = "sessionId" in details ? details.sessionId ?? "" : "";
  for (;;) {
    const poll = (await agent.process({ action: "poll", sessionId, timeout: 30_000 })).details as PollDetails;
    delays.push(...delaysIn(poll.output));
    if (poll.status !== "running") return percentiles(delays);
  }
}

async function paging(agent: Agent): Promise<Numbers> {
  const numbers: Record<string, number> = {};
  for (const [name, megabytes] of [["", 0.3], ["After50Mb", 50], ["After500Mb", 500]] as const) {
    const command = `head -c ${megabytes * 1e6} /dev/zero | tr '\\0' x | fold -w 79; sleep 60`;
    const { details } = await agent.exec({ command, background: true, stdin: "closed" });
    const sessionId = "sessionId" in details ? details.sessionId ?? "" : "";
    await agent.process({ action: "poll", sessionId, until: "idle:500", timeout: 30_000 });
    const ask = (call: Parameters<Agent["process"]>[0]) => async (): Promise<void> => void await agent.process(call);
    numbers[`log${name}Ms`] = (await eachOf(50, ask({ action: "log", sessionId })))["ms"] ?? 0;
    numbers[`poll${name}Ms`] = (await eachOf(50, ask({ action: "poll", sessionId, since: 0 })))["ms"] ?? 0;
    await agent.process({ action: "kill", sessionId });
  }
  return numbers;
}

async function memoryOf<T>(
  count: number,
  once: () => Promise<unknown>,
  start: () => Promise<T>,
  end: (started: T) => void,
): Promise<Numbers> {
  const collect = (globalThis as { gc?: () => void }).gc ?? (() => {});
  const settled = async (): Promise<NodeJS.MemoryUsage> => {
    for (let times = 0; times < 3; times++) { // pages are given back after a collection, not in it
      await sleep(500);
      collect();
    }
    return process.memoryUsage();
  };
  await eachOf(count, once); // the heap has the size that this many starts need: what is measured is what stays
  const before = await settled();
  const started: T[] = [];
  for (let index = 0; index < count; index++) started.push(await start());
  const after = await settled();
  started.forEach(end);
  const kibEach = (bytes: (usage: NodeJS.MemoryUsage) => number): number =>
    (bytes(after) - bytes(before)) / 1024 / count;
  return { heldKib: kibEach((usage) => usage.heapUsed + usage.external), residentKib: kibEach((usage) => usage.rss) };
}

const [name = "", side = ""] = process.argv.slice(2);
const run = (SCENARIOS[name] as Readonly<Record<string, () => Promise<unknown>>> | undefined)?.[side];
if (run === undefined) {
  throw new Error(`Usage: scenarios.ts <${Object.keys(SCENARIOS).join("|")}> <bare|ours, or both in turns>`);
}
console.log(JSON.stringify(await run()));
process.exit(0);
