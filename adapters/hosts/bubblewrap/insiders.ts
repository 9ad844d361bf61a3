/**
 * Who is who in a sandbox, as Linux's `/proc` shows it from outside: the bwrap that was started waits for its child, the
 * first process of the sandbox, which reaps what is orphaned there, and whose first child is the command.
 *
 * @module
 */

import { numbersIn, readText } from "../../linux/proc_files.ts";
import { isDead, type ProcStat, readStat } from "../../linux/process_table.ts";

/** The processes of a sandbox by which it is got hold of. */
export interface Insiders {
  /** bwrap's own, which is process 1 in there. Its end is that of all others. */
  readonly init: ProcStat;
  /** The command; `undefined` while it has not been started. */
  readonly command: ProcStat | undefined;
}

/** The number of the command within the sandbox. */
const COMMAND_PID = 2;

/**
 * Finds them.
 *
 * @param outer process id of the bwrap that was started
 * @param known what was found before
 * @returns `undefined` while bwrap has not got that far, or when it is over
 */
export function findInsiders(outer: number, known: Insiders | undefined): Insiders | undefined {
  if (known?.command !== undefined && now(known.init) !== undefined) return known;
  const pids = pidsFrom(outer);
  const init = known !== undefined && now(known.init) !== undefined ? known.init : childOf(outer, pids, () => true);
  if (init === undefined) return undefined;
  return { init, command: childOf(init.pid, pids, ({ pid }) => innerPid(pid) === COMMAND_PID) };
}

/** A process as it is now; `undefined` if it has ended. */
export function now({ pid, start }: ProcStat): ProcStat | undefined {
  const stat = readStat(pid);
  return stat?.start === start && !isDead(stat) ? stat : undefined;
}

/** The process group of the command: an interactive shell makes one of its own, which is that of its terminal then. */
export function groupOf({ init, command }: Insiders): number {
  return (command === undefined ? undefined : now(command))?.group ?? init.group;
}

/** Every process there is, those first that were probably started next: numbers are given out in turn. */
function pidsFrom(pid: number): readonly number[] {
  const sorted = [...numbersIn("/proc")].sort((one, other) => one - other);
  const next = sorted.findIndex((each) => each > pid);
  return next < 0 ? sorted : [...sorted.slice(next), ...sorted.slice(0, next)];
}

function childOf(
  parent: number,
  pids: readonly number[],
  isWanted: (stat: ProcStat) => boolean,
): ProcStat | undefined {
  for (const pid of pids) {
    const stat = readStat(pid);
    if (stat?.parent === parent && !isDead(stat) && isWanted(stat)) return stat;
  }
  return undefined;
}

/** The number of a process within the innermost namespace it is in. */
function innerPid(pid: number): number | undefined {
  const [, inner] = /^NSpid:.*\s(\d+)$/m.exec(readText(`/proc/${pid}/status`) ?? "") ?? [];
  return inner === undefined ? undefined : Number(inner);
}
