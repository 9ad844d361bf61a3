/**
 * What a started child and its process group can be asked and told.
 *
 * @module
 */

import process from "node:process";
import { createTreeInspector, type GroupLeader, groupSignal } from "../linux/proc.ts";
import { killWindowsTree } from "./kill.ts";
import type { Child } from "../../mod.ts";

/** The part of a {@linkcode Child} that deals with processes. */
export type ProcessControl = Pick<Child, "signal" | "groupAnswers" | "inspector">;

/**
 * The process side of a child, the same however its input and output are connected.
 *
 * On Windows, which has no groups and no signals that a process could answer, every signal ends the child's tree.
 *
 * @param leader the child
 * @param stdin what its descriptor 0 points at, see `stdinOf`; `undefined` when it has none
 */
export function controlOf(leader: GroupLeader, stdin: string | undefined): ProcessControl {
  const { pid, kill } = leader;
  const hasExited = (): boolean => leader.exitedAt?.() !== undefined;
  if (process.platform === "win32") return { signal: () => hasExited() ? "gone" : killWindowsTree(pid) };
  const inspector = createTreeInspector(stdin === undefined ? leader : { ...leader, stdin });
  return {
    signal: (name, target) => {
      if (target === "group") return groupSignal(leader, name);
      return hasExited() ? "gone" : kill(pid, name); // the number may be a stranger's by now
    },
    groupAnswers: () => kill(-pid, 0) !== "gone",
    ...(inspector !== undefined && { inspector }),
  };
}
