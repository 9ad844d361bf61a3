/**
 * How soon and how fast a session is read.
 *
 * @module
 */
import type { Agent, PollDetails, ProcessParams } from "../../mod.ts";
import { quantile } from "../report/statistics.ts";
import { background, withAgent } from "./agents.ts";
import { bareSpawn, SHELL } from "./bare.ts";
import { linesOf } from "./bulk.ts";
import { type Numbers, timed } from "./turns.ts";

/** Prints the time, in ns, every 10 ms. */
const STAMPS = "python3 -uc 'import time\nfor i in range(300):\n  print(time.time_ns()); time.sleep(0.01)'";
const READS = 50;

/** Time from a program's print to its sight, by the baseline's reader. */
export async function bareWake(): Promise<Numbers> {
  const delays: number[] = [];
  const see = (bytes: Uint8Array): void => void delays.push(...delaysIn(new TextDecoder().decode(bytes)));
  await (await bareSpawn([...SHELL, STAMPS], see)).done;
  return percentiles(delays);
}

/** The same by polls that wait. */
export function wake(): Promise<Numbers> {
  return withAgent(async (agent) => {
    const delays: number[] = [];
    const sessionId = await background(agent, STAMPS, { stdin: "closed" });
    for (;;) {
      const poll = (await agent.process({ action: "poll", sessionId, timeout: 30_000 })).details as PollDetails;
      delays.push(...delaysIn(poll.output));
      if (poll.status !== "running") return percentiles(delays);
    }
  });
}

/** `log` and `poll` on a session that holds 200 000 characters, little or much having been dropped before. */
export function paging(): Promise<Numbers> {
  return withAgent(async (agent) => ({
    ...await pagingAfter(agent, 0.3, ""),
    ...await pagingAfter(agent, 500, "After"),
  }));
}

async function pagingAfter(agent: Agent, megabytes: number, name: string): Promise<Numbers> {
  const sessionId = await background(agent, `${linesOf(megabytes * 1e6)}; sleep 600`, { stdin: "closed" });
  await agent.process({ action: "poll", sessionId, until: "idle:500", timeout: 30_000 });
  const numbers = {
    [`log${name}Ms`]: await readMs(agent, { action: "log", sessionId }),
    [`poll${name}Ms`]: await readMs(agent, { action: "poll", sessionId, since: 0 }),
  };
  await agent.process({ action: "kill", sessionId });
  return numbers;
}

/** What one call takes, ms: the mean of {@linkcode READS}. */
export async function readMs(agent: Agent, call: ProcessParams): Promise<number> {
  const read = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await agent.process(call);
  };
  await read(READS / 10); // warm up
  return await timed(() => read(READS)) / READS;
}

/** How long ago the stamps in a text were printed, ms. */
function delaysIn(text: string): readonly number[] {
  const now = performance.timeOrigin + performance.now();
  return (text.match(/\d+/g) ?? []).map((stamp) => now - Number(stamp) / 1e6);
}

function percentiles(delays: readonly number[]): Numbers {
  return { p50Ms: quantile(delays, 0.5), p99Ms: quantile(delays, 0.99) };
}
