/**
 * Looks at a command's processes for its gateway, and signals to those that were seen.
 *
 * @module
 */
import type { Child, InputReader, SignalName } from "../../../mod.ts";
import * as check from "./checks.ts";
import type { LookAnswer, LookQuestion } from "./protocol.ts";

/** Looks at one command's processes. */
export interface NodeLooks {
  /** Looks. */
  look(child: Child | undefined, what: LookQuestion["what"]): Promise<LookAnswer>;
  /** Signals exactly the process that was seen then; nobody, if that is too long ago. */
  signal(look: number, pid: number, name: SignalName): void;
}

/** The looks whose processes can still be signalled: the latest. */
const LOOKS = 16;

/** Nothing has been looked at. */
export function createNodeLooks(): NodeLooks {
  const looks = new Map<number, ReadonlyMap<number, InputReader>>();
  let last = 0;

  async function look(child: Child | undefined, what: LookQuestion["what"]): Promise<LookAnswer> {
    const number = ++last;
    if (what === "cooked") return { look: number, processes: [], isCooked: await child?.isCooked?.() };
    const seen: readonly InputReader[] | "unknown" = what === "tree"
      ? await child?.inspector?.tree() ?? []
      : await readers(child);
    if (seen === "unknown") return { look: number, processes: [], isHidden: true };
    looks.set(number, new Map(seen.map((one) => [one.pid, one])));
    for (const old of looks.keys()) if (old <= last - LOOKS) looks.delete(old);
    return {
      look: number,
      processes: seen.map(({ pid, name, inGroup, relays, sleep }) => ({ pid, name, inGroup, relays, sleep })),
    };
  }

  return { look, signal: (look, pid, name) => void looks.get(look)?.get(pid)?.signal(name) };
}

/**
 * The answer with as many processes as a message has room for: first those outside the group, for a signal to the group
 * does not reach them. Who ends a tree looks again until nobody is left.
 */
export function fittingLook(answer: LookAnswer, mostBytes: number): LookAnswer {
  if (check.encode(answer).length <= mostBytes) return answer;
  let processes = [...answer.processes].sort((one, other) => Number(one.inGroup) - Number(other.inGroup));
  while (processes.length > 0 && check.encode({ ...answer, processes }).length > mostBytes) {
    processes = processes.slice(0, Math.floor(processes.length / 2));
  }
  return { ...answer, processes };
}

async function readers(child: Child | undefined): Promise<readonly InputReader[] | "unknown"> {
  const reader = await child?.inspector?.reader();
  return reader === undefined || reader === "unknown" ? reader ?? [] : [reader];
}
