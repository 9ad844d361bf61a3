/**
 * The table of processes as Linux's `/proc` shows it. One look at it serves everybody who asks at the same time: it
 * takes a read for each process there is, and closing many sessions asks once for each of them.
 *
 * @module
 */

import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { numbersIn, readText, shortages } from "./proc_files.ts";

/** What `/proc/<pid>/stat` says about a process. */
export interface ProcStat {
  /** Its process id. */
  readonly pid: number;
  /** Its short command name, as the kernel keeps it (at most 15 bytes). */
  readonly name: string;
  /** One letter: `R` running, `S` sleeping, `T` stopped, `Z` zombie, … */
  readonly state: string;
  /** Process id of its parent. */
  readonly parent: number;
  /** Its process group. */
  readonly group: number;
  /** Its session, which is the process id of the session's leader. */
  readonly session: number;
  /** Device number of its controlling terminal; 0 without one. */
  readonly tty: number;
  /** The foreground process group of that terminal; -1 without one. */
  readonly foreground: number;
  /** When it was started, in clock ticks since boot: with the pid this names one process. */
  readonly start: number;
}

/**
 * The live processes at one moment: no zombies, and not the host itself. It is asked once for each session that is ended,
 * so no question goes through all of them again.
 */
export interface ProcessTable {
  /** The process of that number. */
  find(pid: number): ProcStat | undefined;
  /** Members of a process group. */
  inGroup(group: number): readonly ProcStat[];
  /** Members of a session of the system's. */
  inSession(session: number): readonly ProcStat[];
  /** These, their children, the children of those, and so on. */
  withDescendants(roots: readonly ProcStat[]): readonly ProcStat[];
  /**
   * Those that carry a session's id in their environment.
   *
   * @param since only those that were started then or later, in clock ticks: nobody else's environment is read for it
   */
  carriersOf(sessionId: string, since: number): Promise<readonly ProcStat[]>;
}

const MARK = "OFFSTAGE_SESSION_ID=";
const TURN_MS = 8; // how long a scan may hold the event loop in one go
const SHORTAGE_TRIES = 20;
const SHORTAGE_PAUSE_MS = 50;

let nextLook: Promise<ProcessTable> | undefined;
let lastLook: Promise<unknown> = Promise.resolve();

/**
 * What the kernel says about a process.
 *
 * @returns `undefined` when there is no such process, or no `/proc`
 */
export function readStat(pid: number): ProcStat | undefined {
  const text = readText(`/proc/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

/** What a line of that file says. */
export function parseStat(text: string): ProcStat {
  // `pid (name) state …`: the name may hold spaces and parentheses, so its end is the last one in the line
  const nameEnd = text.lastIndexOf(")");
  const [state = "", ...numbers] = text.slice(nameEnd + 2).split(" ");
  const field = (number: number): number => Number(numbers[number - 4]); // numbered as in proc_pid_stat(5)
  return {
    pid: Number.parseInt(text),
    name: text.slice(text.indexOf("(") + 1, nameEnd),
    state,
    parent: field(4),
    group: field(5),
    session: field(6),
    tty: field(7),
    foreground: field(8),
    start: field(22),
  };
}

/**
 * Looks at every process. Whoever asks before a look has begun shares it; nobody is given one that began before the
 * question.
 */
export function lookAtProcesses(): Promise<ProcessTable> {
  if (nextLook === undefined) {
    nextLook = lastLook.then(async () => {
      await turn(); // everybody who asks in this turn of the event loop has asked
      nextLook = undefined;
      return await look();
    });
    lastLook = nextLook;
  }
  return nextLook;
}

async function look(): Promise<ProcessTable> {
  const processes: ProcStat[] = [];
  await inTurns(numbersIn("/proc"), (pid) => {
    const stat = pid === process.pid ? undefined : readStat(pid);
    if (stat !== undefined && !isDead(stat)) processes.push(stat);
  });
  const byPid = groupedBy(processes, ({ pid }) => pid);
  const byGroup = groupedBy(processes, ({ group }) => group);
  const bySession = groupedBy(processes, ({ session }) => session);
  const byParent = groupedBy(processes, ({ parent }) => parent);
  return {
    find: (pid) => byPid.get(pid)?.[0],
    inGroup: (group) => byGroup.get(group) ?? [],
    inSession: (session) => bySession.get(session) ?? [],
    withDescendants: (roots) => {
      const found = new Set(roots);
      // A Set visits what is added while it is walked, so this reaches every generation
      for (const stat of found) for (const child of byParent.get(stat.pid) ?? []) found.add(child);
      return [...found];
    },
    carriersOf: carriersIn(processes),
  };
}

/** Reads each environment at most once, and those of the youngest first: mostly they are all that is asked for. */
function carriersIn(processes: readonly ProcStat[]): ProcessTable["carriersOf"] {
  const unread = [...processes].sort((one, other) => one.start - other.start);
  const byId = new Map<string, ProcStat[]>();
  let reading: Promise<void> = Promise.resolve();
  const readSince = async (since: number): Promise<void> => {
    const first = unread.findLastIndex(({ start }) => start < since) + 1;
    await inTurns(unread.splice(first), (stat) => {
      for (const id of sessionIdsOf(stat.pid)) append(byId, id, stat);
    });
  };
  return async (sessionId, since) => {
    await (reading = reading.then(() => readSince(since)));
    return byId.get(sessionId)?.filter(({ start }) => start >= since) ?? [];
  };
}

function groupedBy(processes: readonly ProcStat[], key: (stat: ProcStat) => number): Map<number, ProcStat[]> {
  const groups = new Map<number, ProcStat[]>();
  for (const stat of processes) append(groups, key(stat), stat);
  return groups;
}

function append<Key>(groups: Map<Key, ProcStat[]>, key: Key, stat: ProcStat): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [stat]);
  else group.push(stat);
}

/** Repeats a look that has not seen everything for want of a descriptor, as long as that may be but a moment. */
export async function seeingAll<Seen>(look: () => Promise<Seen>): Promise<Seen> {
  for (let triesLeft = SHORTAGE_TRIES;; triesLeft--) {
    const before = shortages();
    const seen = await look();
    if (shortages() === before || triesLeft === 0) return seen;
    await setTimeout(SHORTAGE_PAUSE_MS);
  }
}

/** The session ids in a process's environment, mostly none or one. Empty when it cannot be read. */
export function sessionIdsOf(pid: number): readonly string[] {
  const environment = readText(`/proc/${pid}/environ`) ?? "";
  return environment.split("\0").filter((entry) => entry.startsWith(MARK)).map((entry) => entry.slice(MARK.length));
}

/** Whether a process has ended, although there still is an entry of it. */
export function isDead(stat: ProcStat): boolean {
  return stat.state === "Z" || stat.state === "X";
}

/** One turn of the event loop. Not an immediate: while there are any, Deno looks for input every 61st turn only. */
function turn(): Promise<void> {
  return setTimeout(0);
}

/** Calls `visit` for each item, letting the event loop have its turn in between. */
export async function inTurns<Item>(items: readonly Item[], visit: (item: Item) => void): Promise<void> {
  let turnStart = performance.now();
  for (const item of items) {
    if (performance.now() - turnStart > TURN_MS) {
      await turn();
      turnStart = performance.now();
    }
    visit(item);
  }
}
