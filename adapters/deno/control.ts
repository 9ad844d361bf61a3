/**
 * What a started child and its process group can be asked and told, with or without a readable `/proc`.
 *
 * @module
 */

import { type GroupLeader, stdinOf } from "../linux/proc.ts";
import { controlOf, type ProcessControl } from "../node/control.ts";
import { isGranted } from "./permissions.ts";
import { denoGlobal } from "./types.ts";

// Without /proc nothing tells whether a group is still the child's. Its number is given away only after tens of
// thousands of other processes, so for this long after the child's death it is taken for the child's own.
const PID_REUSE_MS = 30_000;

/**
 * The process side of a child.
 *
 * @param leader the child, just started
 * @param stdin whether its input is open, so that it may come to wait for it
 */
export function denoControl(leader: GroupLeader, stdin: boolean): ProcessControl {
  if (!canReadProc()) return blindControl(leader);
  return controlOf(leader, stdin ? stdinOf(leader.pid) : undefined);
}

let procIsReadable: boolean | undefined;

/** Deno wants all permissions for `/proc`, but says so only when it is read; short of `--allow-read` it asks the user. */
function canReadProc(): boolean {
  return isGranted({ name: "read", path: "/proc" }) && (procIsReadable ??= isReadable("/proc/self/stat"));
}

function isReadable(path: string): boolean {
  try {
    denoGlobal().statSync(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * While the child has not been reaped its number is taken, so a group of that number can only be the child's own (E21).
 */
function blindControl({ pid, kill, exitedAt = () => undefined }: GroupLeader): ProcessControl {
  return {
    signal: (name, target) => {
      const exited = exitedAt();
      if (exited === undefined) {
        const isSent = target === "group" && kill(-pid, name) === "sent";
        return isSent ? "sent" : kill(pid, name);
      }
      if (target === "child") return "gone";
      return performance.now() - exited < PID_REUSE_MS ? kill(-pid, name) : "refused";
    },
    groupAnswers: () => kill(-pid, 0) !== "gone",
  };
}
