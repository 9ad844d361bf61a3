/**
 * One point of a growth, in a process of its own: `node bench/growth/main.ts output 1048576` prints what it took as JSON.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { timed } from "../scenarios/turns.ts";
import { background, withAgent, withSite } from "../scenarios/agents.ts";
import { bareSpawn, SHELL } from "../scenarios/bare.ts";
import { heldBytes, IDLE, settledMemory } from "../scenarios/idle.ts";
import { bareTrue } from "../scenarios/starts.ts";
import { readMs } from "../scenarios/reading.ts";
import type { Numbers } from "../scenarios/turns.ts";
import { viewersOf } from "../scenarios/viewers.ts";

const MIB = 2 ** 20;
const LISTS = 5;
const LINE = "x".repeat(79);

const GROWTHS: Readonly<Record<string, (size: number) => Promise<Numbers>>> = { output, sessions, viewers, lines };

/** So many bytes through one session. Its memory is that of streams, too: a bare reader's grows with what comes at once. */
async function output(bytes: number): Promise<Numbers> {
  const command = `yes ${LINE} | head -c ${bytes}`;
  if (side === "bare") {
    await (await bareSpawn([...SHELL, command], () => {})).done;
    return { peakMib: peakMib() };
  }
  const bare = besideBare();
  return await withAgent(async (agent) => {
    const ms = await timed(async () => {
      const { details } = await agent.exec({ command, yieldMs: 120_000, timeout: 600, stdin: "closed" });
      if (details.status === "running") {
        await agent.process({ action: "poll", sessionId: details.sessionId, until: "exit", timeout: 120_000 });
      }
    });
    return { ms, peak: peakMib() / (bare["peakMib"] ?? NaN) };
  });
}

/** The same of the baseline, in a process of its own. */
function besideBare(): Numbers {
  const argv = [...process.execArgv, ...process.argv.slice(1, 4), "bare"];
  return JSON.parse(execFileSync(process.execPath, argv, { encoding: "utf8" })) as Numbers;
}

function peakMib(): number {
  return process.resourceUsage().maxRSS / 1024;
}

/** So many sessions that do nothing. What a spawn takes grows with what the process holds, so a bare one's is told, too. */
async function sessions(count: number): Promise<Numbers> {
  if (side === "bare") {
    const children: { kill(): void }[] = [];
    for (let time = 0; time < 100; time++) await bareTrue(); // warm up
    const startMs = await timed(async () => {
      for (let index = 0; index < count; index++) children.push(await bareSpawn([...SHELL, IDLE], () => {}));
    });
    children.forEach((child) => child.kill());
    return { startMs };
  }
  const bare = besideBare();
  return await withAgent(async (agent) => {
    for (let time = 0; time < 100; time++) await agent.exec({ command: "true" }); // warm up
    const before = heldBytes(await settledMemory());
    const startMs = await timed(async () => {
      for (let index = 0; index < count; index++) {
        await agent.exec({ command: IDLE, background: true, stdin: "closed" });
      }
    });
    const heldMib = (heldBytes(await settledMemory()) - before) / MIB;
    const lists: number[] = [];
    while (lists.length < LISTS) lists.push(await timed(() => agent.process({ action: "list" })));
    const killMs = await timed(() => agent.killAll());
    return { start: startMs / (bare["startMs"] ?? NaN), heldMib, listMs: Math.min(...lists), killMs };
  });
}

/** So many viewers over HTTP of a session that prints 256 KiB. */
function viewers(count: number): Promise<Numbers> {
  return withSite(async (site) => {
    const { agent } = site;
    const id = await background(agent, `echo; read x; yes ${LINE} | head -c ${MIB / 4}`);
    const before = heldBytes(await settledMemory());
    const all = viewersOf(site, id, count);
    await all.ready;
    const heldMib = (heldBytes(await settledMemory()) - before) / MIB;
    const ms = await timed(async () => {
      await agent.process({ action: "submit", sessionId: id });
      const { wrong = 0 } = await all.done;
      if (wrong > 0) throw new Error(`${wrong} bytes are neither sent nor told`);
    });
    return { ms, heldMib };
  });
}

/** So many lines of 80 characters, all held. */
function lines(count: number): Promise<Numbers> {
  return withAgent(async (agent) => {
    const before = heldBytes(await settledMemory());
    const sessionId = await background(agent, `yes ${LINE} | head -n ${count}; ${IDLE}`, { stdin: "closed" });
    const bytes = count * (LINE.length + 1);
    while ((agent.session(sessionId)?.end ?? 0) < bytes) {
      await agent.process({ action: "poll", sessionId, timeout: 10_000 });
    }
    const heldMib = (heldBytes(await settledMemory()) - before) / MIB;
    const tailMs = await readMs(agent, { action: "log", sessionId });
    const middleMs = await readMs(agent, { action: "log", sessionId, offset: Math.floor(count / 2), limit: 200 });
    const grepMs = await timed(() => agent.process({ action: "log", sessionId, grep: "no such line" }));
    return { heldMib, tailMs, middleMs, grepMs };
  }, { maxOutputChars: 1e9 });
}

const [name = "", size = "", side = "ours"] = process.argv.slice(2);
const run = GROWTHS[name];
if (run === undefined || !(Number(size) > 0)) {
  throw new Error(`Usage: main.ts <${Object.keys(GROWTHS).join("|")}> <size>`);
}
console.log(JSON.stringify(await run(Number(size))));
process.exit(0);
