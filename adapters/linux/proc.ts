/**
 * Looks at processes through Linux's `/proc`: which ones belong to a session, which one waits for input, and whether
 * a process group may be signalled. Uses only built-ins that Node, Deno and Bun share.
 *
 * @module
 */

import process from "node:process";
import { type InputClaim, sleepOf, waitsForInput } from "./input_reader.ts";
import { numbersIn, openReserve, readLink, readText } from "./proc_files.ts";
import { inTurns, isDead, lookAtProcesses, type ProcStat, readStat, seeingAll, sessionIdsOf } from "./process_table.ts";
import type { InputReader, SignalName, SignalOutcome, TreeInspector, TreeProcess } from "../../mod.ts";

export { type ProcStat, readStat } from "./process_table.ts";

/**
 * The runtime's kill(2). `pid` may be negative (a process group); signal `0` only asks whether somebody is there.
 * Nobody there (ESRCH) is `gone`, not permitted (EPERM) is `refused`.
 */
export type Kill = (pid: number, signal: SignalName | 0) => SignalOutcome;

/** A child that leads, or should lead, its own process group. */
export interface GroupLeader {
  /** Its process id. */
  readonly pid: number;
  /** The session's id, which the child's environment carries as `OFFSTAGE_SESSION_ID`. */
  readonly sessionId: string;
  /** The runtime's kill(2). */
  readonly kill: Kill;
  /**
   * When the runtime reported its exit, on the clock of `performance.now()`; `undefined` while it has not. Until then
   * the kernel keeps the pid for the child, so its number is proof enough; afterwards the number may be somebody else's.
   * Without this function the exit counts as not reported.
   */
  readonly exitedAt?: () => number | undefined;
}

/** What {@linkcode createTreeInspector} needs to know about a child. */
export interface TreeQuery extends GroupLeader {
  /** What the child's descriptor 0 points at, see {@linkcode stdinOf}. Without it, who waits for input is unknown. */
  readonly stdin?: string;
}

const MS_PER_TICK = 10; // USER_HZ is 100 on every architecture that Node, Deno and Bun run on
// Pids are handed out in turn, so one comes round only after tens of thousands of others. Where there is no /proc to
// ask, a group is still taken for the child's own this long after the child's death.
const PID_REUSE_MS = 30_000;

const UNIX98_PTY_MAJOR = 136; // Linux Documentation/admin-guide/devices.txt: its minor numbers are the names in /dev/pts

/**
 * Whether a process leads its own process group, which must be so before that group is signalled.
 *
 * @returns `undefined` when that cannot be told: the process is gone, or there is no `/proc`
 */
export function leadsItsGroup(pid: number): boolean | undefined {
  const stat = readStat(pid);
  return stat === undefined ? undefined : stat.group === pid;
}

/**
 * What a process's descriptor 0 points at, e.g. `socket:[123]` or `/dev/pts/4`. To be asked right after the spawn,
 * before the program can have put something else there.
 *
 * @returns `undefined` when the process is gone, or there is no `/proc`
 */
export function stdinOf(pid: number): string | undefined {
  return readLink(`/proc/${pid}/fd/0`);
}

/**
 * Signals the process group of a child, once it is proved to be the child's own.
 *
 * A child that turns out to lead no group gets the signal alone. After the child's exit the group's number may have
 * been given away: it is signalled only if a member carries the session's id or is older than that exit.
 *
 * @returns `gone` when nobody is there, `refused` when the system or the missing proof forbids it
 */
export function groupSignal(leader: GroupLeader, signal: SignalName): SignalOutcome {
  const { pid, kill } = leader;
  if (leader.exitedAt?.() === undefined) {
    // Without /proc: the pid is the child's, so a group of that number cannot but be its own
    if (leadsItsGroup(pid) === false) return kill(pid, signal);
    const outcome = kill(-pid, signal);
    return outcome === "gone" ? kill(pid, signal) : outcome;
  }
  if (kill(-pid, 0) === "gone") return "gone";
  if (!hasProc()) return isRecent(leader) ? kill(-pid, signal) : "refused";
  const members = numbersIn("/proc").flatMap((each) => readStat(each) ?? []).filter((stat) => stat.group === pid);
  return isOwnGroup(leader, members) ? kill(-pid, signal) : "refused";
}

/**
 * The terminal that a process was started in, e.g. `/dev/pts/4`. Unlike descriptor 0 it stays what it was, whatever the
 * program has opened meanwhile: a shell may have got to its `</dev/tty` before anybody asks.
 *
 * @returns `undefined` when it has none, the process is gone, or there is no `/proc`
 */
export function terminalOf(pid: number): string | undefined {
  const device = readStat(pid)?.tty ?? 0;
  // proc_pid_stat(5): the major number is in bits 15 to 8, the minor one in 31 to 20 and 7 to 0
  if (((device >> 8) & 0xfff) !== UNIX98_PTY_MAJOR) return undefined;
  return `/dev/pts/${((device >>> 20) << 8) | (device & 0xff)}`;
}

/**
 * An inspector of a child's process tree: the members of its group, whoever carries the session's id in its
 * environment, and the descendants of both. Zombies and the host itself are not part of it.
 *
 * @returns `undefined` where there is no `/proc`
 */
export function createTreeInspector(query: TreeQuery): TreeInspector | undefined {
  if (!hasProc()) return undefined;
  // Seen outside the group: with neither mark nor a living parent nobody else would know any more whose they are
  let strays: readonly ProcStat[] = [];
  const look = async () => {
    const table = await lookAtProcesses();
    const members = table.inGroup(query.pid);
    const inGroup = new Set(isOwnGroup(query, members) ? members : []);
    const child = query.exitedAt?.() === undefined ? table.find(query.pid) : undefined;
    const known = strays.flatMap((stray) => {
      const stat = table.find(stray.pid);
      return stat !== undefined && isSame(stray, stat) ? [stat] : [];
    });
    const carriers = await table.carriersOf(query.sessionId, child?.start ?? 0);
    const roots = [...(child === undefined ? [] : [child]), ...inGroup, ...known, ...carriers];
    return { tree: table.withDescendants(roots), inGroup };
  };
  return {
    tree: async () => {
      const { tree, inGroup } = await seeingAll(look);
      strays = tree.filter((stat) => !inGroup.has(stat));
      return tree.map((stat) => treeProcess(stat, inGroup.has(stat), query.kill));
    },
    reader: async () => {
      if (query.stdin === undefined) return "unknown";
      const source = { stdin: query.stdin, session: query.pid };
      const toReader = (stat: ProcStat, { relays, thread }: InputClaim): InputReader => {
        const sleep = thread === undefined ? undefined : sleepOf(stat.pid, thread);
        const process = treeProcess(stat, stat.group === query.pid, query.kill);
        return { ...process, relays, ...(sleep !== undefined && { sleep }) };
      };
      // Mostly it is the child itself, and one look is cheaper than a scan
      const child = readStat(query.pid);
      const claim = child === undefined ? undefined : waitsForInput(child, source);
      if (child !== undefined && claim?.waits === true) return toReader(child, claim);
      const table = await lookAtProcesses();
      let found: InputReader | "unknown" | undefined;
      // Nobody outside the tree has that very pipe or terminal as its input, so no proof of membership is needed
      await inTurns(table.withDescendants(table.inSession(query.pid)), (stat) => {
        if (found !== undefined && found !== "unknown") return;
        const claim = waitsForInput(stat, source);
        if (claim.waits !== false) found = claim.waits === true ? toReader(stat, claim) : claim.waits;
      });
      return found;
    },
  };
}

let procIsReadable: boolean | undefined;

/** Not there, or not permitted (Deno). Asked once: it does not change, and every start of a command wants to know. */
function hasProc(): boolean {
  procIsReadable ??= process.platform === "linux" ? openReserve() : false;
  return procIsReadable ?? true; // where no descriptor was left to find out with, it is there
}

/** A pid and its start time name one process; a pid alone may have been given away. */
function isSame(one: ProcStat, other: ProcStat): boolean {
  return one.pid === other.pid && one.start === other.start;
}

function isRecent(leader: GroupLeader): boolean {
  return performance.now() - (leader.exitedAt?.() ?? 0) < PID_REUSE_MS;
}

/** Whether a group with these members is the child's own, and not a stranger's that got the number after it. */
function isOwnGroup(leader: GroupLeader, members: readonly ProcStat[]): boolean {
  const exitedAt = leader.exitedAt?.();
  if (exitedAt === undefined) return true;
  if (members.some((stat) => stat.pid === leader.pid)) return false;
  if (members.some((stat) => sessionIdsOf(stat.pid).includes(leader.sessionId))) return true;
  const uptime = Number.parseFloat(readText("/proc/uptime") ?? "");
  // Both the uptime and the start are cut to whole ticks, so what came first can look one tick younger
  const exitTick = (uptime * 1000 - (performance.now() - exitedAt)) / MS_PER_TICK + 1;
  return members.some((stat) => stat.start <= exitTick);
}

function treeProcess(stat: ProcStat, inGroup: boolean, kill: Kill): TreeProcess {
  return {
    pid: stat.pid,
    name: stat.name,
    inGroup,
    signal: (name) => {
      const now = readStat(stat.pid);
      return now === undefined || now.start !== stat.start || isDead(now) ? "gone" : kill(stat.pid, name);
    },
  };
}
