/**
 * The processes of a command on another machine, out of what its `/proc` says there.
 *
 * @module
 */
import { isDead, parseStat, type ProcStat } from "../../linux/process_table.ts";
import type { SignalName, SignalOutcome, TreeInspector, TreeProcess } from "../../../mod.ts";
import { bareName, type Overseer } from "./overseer.ts";

/** What is known of a command that has been started there. */
export interface Started {
  /** Its process id. */
  readonly pid: number;
  /** Its process group. */
  readonly group: number;
  /** Its session's id. */
  readonly sessionId: string;
  /** Whether its group is its own, or that of the script around it. */
  readonly ownsGroup: boolean;
}

/** A table of processes, and those in it that carry the session's id. */
interface Look {
  readonly processes: readonly ProcStat[];
  readonly carriers: ReadonlySet<number>;
}

/**
 * Reads what the overseer prints for `t`.
 *
 * @param lines the `stat` of each process, an empty line, and the paths of `environ` of those that carry the id
 */
export function readLook(lines: readonly string[]): Look {
  const border = lines.lastIndexOf("");
  // A name may hold line feeds; no line but the last of an entry ends in as many numbers
  const entries = lines.slice(0, border).join("\n").match(/^\d+ \([^]*?\) [A-Z] [-\d ]+$/gm) ?? [];
  return {
    processes: entries.map(parseStat).filter((stat) => !isDead(stat)),
    carriers: new Set(lines.slice(border + 1).map((path) => Number(path.split("/")[2]))),
  };
}

/**
 * The command, the members of its group, those that carry its session's id, those that were seen outside the group before,
 * and the descendants of all of these. Of the script around it, nobody.
 *
 * The numbers of the command and its group are kept for them while it runs. Afterwards they may be a stranger's: a group
 * with another leader is one.
 *
 * @param leader when that of the group was started; `any` while the command runs, `none` if it has ended
 */
export function treeOf(
  { processes, carriers }: Look,
  { pid, group, ownsGroup }: Started,
  leader: string,
  strays: readonly ProcStat[],
): readonly ProcStat[] {
  const waiter = processes.find((stat) => stat.pid === pid)?.parent;
  const all = processes.filter((stat) => ownsGroup || (stat.pid !== group && stat.pid !== waiter));
  const isRunning = leader === "any";
  const isGroup = isRunning || !processes.some((stat) => stat.pid === group && String(stat.start) !== leader);
  const isRoot = (stat: ProcStat): boolean =>
    (isRunning && stat.pid === pid) || (isGroup && stat.group === group) || carriers.has(stat.pid) ||
    strays.some((stray) => stray.pid === stat.pid && stray.start === stat.start);
  const found = new Set(all.filter(isRoot));
  // A Set visits what is added while it is walked, so this reaches every generation
  for (const member of found) for (const stat of all) if (stat.parent === member.pid) found.add(stat);
  return [...found];
}

/** An inspector that asks the overseer. Who waits for input it does not see. */
export function createRemoteInspector(
  overseer: Overseer,
  started: Started,
  leader: () => string,
): TreeInspector {
  let strays: readonly ProcStat[] = [];
  let latest: readonly ProcStat[] = [];

  function signal(stat: ProcStat, name: SignalName): SignalOutcome {
    if (!overseer.isAlive()) return "gone";
    if (!latest.some(({ pid, start }) => pid === stat.pid && start === stat.start)) return "gone";
    overseer.tell(`s ${bareName(name)} ${stat.pid} ${stat.start}`);
    return "sent";
  }

  async function tree(): Promise<readonly TreeProcess[]> {
    const lines = await overseer.ask(`t ${started.sessionId}`);
    latest = lines === undefined ? [] : treeOf(readLook(lines), started, leader(), strays);
    strays = latest.filter((stat) => stat.group !== started.group);
    return latest.map((stat) => ({
      pid: stat.pid,
      name: stat.name,
      inGroup: stat.group === started.group,
      signal: (name) => signal(stat, name),
    }));
  }

  return { tree, reader: () => Promise.resolve("unknown") };
}
