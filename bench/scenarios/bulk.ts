/**
 * Much output.
 *
 * @module
 */
import process from "node:process";
import type { ExecAnswer } from "../../mod.ts";
import { withAgent } from "./agents.ts";
import { bareSpawn, SHELL } from "./bare.ts";
import { barePty } from "./bare_pty.ts";
import type { Numbers } from "./turns.ts";

const BYTES = 256 * 2 ** 20;
const TAIL_RUNS = 200;

/** Prints so many bytes in lines of 120. */
export function linesOf(bytes: number): string {
  return `head -c ${bytes} /dev/zero | tr '\\0' x | fold -w 119`;
}

/** 256 MiB in all, read by the baseline from so many commands at once. */
export function bareBulk(commands: number): Promise<Numbers> {
  const run = async (command: string): Promise<void> => (await bareSpawn([...SHELL, command], () => {})).done;
  return warm(run, () => rate(commands, run));
}

/** 256 MiB in all through `exec`, from so many sessions at once. */
export function bulk(commands: number): Promise<Numbers> {
  return withAgent((agent) => {
    const start = (command: string): Promise<ExecAnswer> => agent.exec({ command, yieldMs: 120_000, stdin: "closed" });
    return warm(start, () =>
      rate(commands, async (command) => {
        const { details } = await start(command);
        const { sessionId = "" } = details as { readonly sessionId?: string };
        if ((agent.session(sessionId)?.end ?? 0) < BYTES / commands) throw new Error("It did not read all");
      }));
  });
}

/** 256 MiB through a bare terminal. */
export function bareTerminalBulk(): Promise<Numbers> {
  const run = (command: string): Promise<unknown> => barePty(command, () => {});
  return warm(run, () => rate(1, run));
}

/** 256 MiB through `exec` in a terminal. */
export function terminalBulk(): Promise<Numbers> {
  return withAgent((agent) => {
    const run = (command: string): Promise<unknown> => agent.exec({ command, pty: true, yieldMs: 120_000 });
    return warm(run, () => rate(1, run));
  });
}

/** Runs of `seq 1 20000` in a bare terminal whose last line does not arrive, of 200. */
export function bareTail(): Promise<Numbers> {
  return cutShort(async () => {
    let tail = "";
    await barePty("seq 1 20000", (bytes) => tail = (tail + new TextDecoder().decode(bytes)).slice(-64));
    return tail;
  });
}

/** The same through `exec`. */
export function tail(): Promise<Numbers> {
  return withAgent((agent) =>
    cutShort(async () => {
      const { details } = await agent.exec({ command: "seq 1 20000", pty: true, yieldMs: 120_000 });
      return "output" in details ? details.output : "";
    })
  );
}

/** Measures once what the first command loads is there: that is a figure of its own. */
async function warm(run: (command: string) => Promise<unknown>, measure: () => Promise<Numbers>): Promise<Numbers> {
  await run("true");
  return await measure();
}

async function rate(commands: number, run: (command: string) => Promise<unknown>): Promise<Numbers> {
  const command = linesOf(BYTES / commands);
  let stallMs = 0;
  let last = performance.now();
  const tick = setInterval(() => {
    stallMs = Math.max(stallMs, performance.now() - last);
    last = performance.now();
  }, 1);
  const begin = performance.now();
  await Promise.all(Array.from({ length: commands }, () => run(command)));
  const seconds = (performance.now() - begin) / 1_000;
  clearInterval(tick);
  return { mbPerS: BYTES / 1e6 / seconds, peakMib: process.resourceUsage().maxRSS / 1024, stallMs };
}

async function cutShort(run: () => Promise<string>): Promise<Numbers> {
  let runs = 0;
  for (let round = 0; round < TAIL_RUNS; round++) {
    if (!(await run()).trimEnd().endsWith("20000")) runs += 1;
  }
  return { runs };
}
