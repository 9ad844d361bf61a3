/**
 * One peer at one task, in a process of its own: `node bench/peers/main.ts execa quick` prints what it took as JSON.
 *
 * @module
 */
import process from "node:process";
import { quantile } from "../report/statistics.ts";
import { linesOf } from "../scenarios/bulk.ts";
import { heldBytes, IDLE, settledMemory } from "../scenarios/idle.ts";
import { inTurns, type Numbers, timed } from "../scenarios/turns.ts";
import { open as openBare } from "./bare.ts";
import type { OpenPeer, Peer } from "./peer.ts";

type Task = (peer: Peer, bare: Peer) => Promise<unknown> | undefined;
type Run = (command: string) => Promise<unknown>;

const BULK_BYTES = 64 * 2 ** 20;
const TERMINAL_BYTES = 8 * 2 ** 20;
const KEYS = 40;
const IDLE_COUNT = 100;

/** What is not possible with a peer is undefined. */
const TASKS: Readonly<Record<string, Task>> = {
  quick: ({ run }, bare) => inTurnsWith(run, bare.run),
  quickInTerminal: ({ runInTerminal }, bare) => inTurnsWith(runInTerminal, bare.runInTerminal),
  many: ({ run }) => run && many(run),
  bulk: ({ run }) => run && rate(run, BULK_BYTES),
  terminalBulk: ({ runInTerminal }) => runInTerminal && rate(runInTerminal, TERMINAL_BYTES),
  echo: ({ open }) => open && echo(open),
  idle: ({ start }) => start && idle(start),
};

/** `true`, in turns with the baseline; less often if it takes long. */
async function inTurnsWith(run: Run | undefined, bare: Run | undefined): Promise<unknown> {
  if (run === undefined || bare === undefined) return undefined;
  const once = await timed(() => run("true"));
  return await inTurns(() => bare("true"), () => run("true"), once > 50 ? 20 : 100);
}

/** 100 × `sleep 1` at once. */
async function many(run: Run): Promise<Numbers> {
  await run("true");
  return { ms: await timed(() => Promise.all(Array.from({ length: 100 }, () => run("sleep 1")))) };
}

async function rate(run: Run, bytes: number): Promise<Numbers> {
  await run("true");
  const ms = await timed(() => run(linesOf(bytes)));
  return { mbPerS: bytes / 1e3 / ms, peakMib: process.resourceUsage().maxRSS / 1024 };
}

async function echo(open: NonNullable<Peer["open"]>): Promise<Numbers> {
  let heard = (): void => {};
  const next = (): Promise<void> => new Promise((resolve) => heard = resolve);
  const ready = next();
  const terminal = await open("stty raw -echo; echo ready; exec cat", () => heard());
  await ready;
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    times.push(
      await timed(async () => {
        const echoed = next();
        void terminal.write(key % 10 === 9 ? "\n" : "k");
        await echoed;
      }),
    );
  }
  return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

/** Memory of commands that do nothing, KiB each. */
async function idle(start: Run): Promise<Numbers> {
  for (let time = 0; time < 10; time++) await start("true"); // warm up
  const before = heldBytes(await settledMemory());
  for (let index = 0; index < IDLE_COUNT; index++) await start(IDLE);
  return { heldKib: (heldBytes(await settledMemory()) - before) / 1024 / IDLE_COUNT };
}

const [name = "", task = ""] = process.argv.slice(2);
const { open } = await import(`./${name}.${import.meta.url.endsWith("js") ? "js" : "ts"}`) as {
  readonly open: OpenPeer;
};
const print = process.stdout.write.bind(process.stdout);
let peer: Peer = {};
const loadMs = await timed(async () => peer = await open());
const numbers = task === "load" ? { ms: loadMs } : await TASKS[task]?.(peer, await openBare());
print(`\n${JSON.stringify(numbers ?? {})}\n`, () => process.exit(0));
