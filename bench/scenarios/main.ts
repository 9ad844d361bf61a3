/**
 * What is measured: each scenario does the same work bare and through Offstage, and gives numbers.
 *
 * `node bench/scenarios/main.ts bulk1 ours` prints the numbers of one side as JSON. Each side has a process of its own, so
 * that its memory can be seen; but what a spawn takes grows with the memory of the process that spawns (Linux copies the
 * page tables at a fork, some 25 µs a MiB), so the two sides of a start take turns in one process: `true both`.
 *
 * @module
 */
import process from "node:process";
import { bareBulk, bareTail, bareTerminalBulk, bulk, tail, terminalBulk } from "./bulk.ts";
import { attachEcho, bareEcho, libraryEcho } from "./echo.ts";
import { bareIdle, idle } from "./idle.ts";
import { overSsh } from "./over_ssh.ts";
import { bareWake, paging, wake } from "./reading.ts";
import { guarded, quick, quickByHttp, quickInTerminal, sandboxed } from "./starts.ts";
import type { Both, Numbers } from "./turns.ts";
import { idlePolls, viewers } from "./viewers.ts";

/** Both sides of a scenario, each to be run in a process of its own. */
interface Apart {
  readonly bare: () => Promise<Numbers>;
  readonly ours: () => Promise<Numbers>;
}

/** Both sides of a scenario, to be run in turns in one process. */
interface Together {
  readonly both: () => Promise<Both>;
}

const nothing = (): Promise<Numbers> => Promise.resolve({});

const SCENARIOS: Readonly<Record<string, Apart | Together>> = {
  true: { both: quick },
  guard: { both: guarded },
  ptyTrue: { both: quickInTerminal },
  http: { both: quickByHttp },
  bubblewrap: { both: sandboxed },
  ssh: { both: overSsh },
  bulk1: { bare: () => bareBulk(1), ours: () => bulk(1) },
  bulk4: { bare: () => bareBulk(4), ours: () => bulk(4) },
  bulk16: { bare: () => bareBulk(16), ours: () => bulk(16) },
  ptyBulk: { bare: bareTerminalBulk, ours: terminalBulk },
  ptyTail: { bare: bareTail, ours: tail },
  ptyEcho: { bare: bareEcho, ours: libraryEcho },
  attach: { bare: libraryEcho, ours: attachEcho },
  wake: { bare: bareWake, ours: wake },
  paging: { bare: nothing, ours: paging },
  idle100: { bare: () => bareIdle(100), ours: () => idle(100) },
  idle1000: { bare: () => bareIdle(1_000), ours: () => idle(1_000) },
  idle5000: { bare: () => bareIdle(5_000), ours: () => idle(5_000) },
  viewers: { bare: nothing, ours: viewers },
  idlePolls: { both: idlePolls },
};

const [name = "", side = ""] = process.argv.slice(2);
const run = (SCENARIOS[name] as Readonly<Record<string, () => Promise<unknown>>> | undefined)?.[side];
if (run === undefined) {
  throw new Error(`Usage: main.ts <${Object.keys(SCENARIOS).join("|")}> <bare|ours, or both in turns>`);
}
console.log(JSON.stringify(await run()));
process.exit(0);
