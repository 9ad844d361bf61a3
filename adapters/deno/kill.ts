/**
 * Deno's kill(2), as far as this process may use it.
 *
 * @module
 */

import type { SignalName, SignalOutcome } from "../../mod.ts";
import type { Kill } from "../linux/proc.ts";
import { nodeKill } from "../node/kill.ts";
import { isGranted } from "./permissions.ts";
import { type DenoChildProcess, denoGlobal } from "./types.ts";

const SHELLS: readonly string[] = ["sh", "/bin/sh", "bash", "/bin/bash", "/usr/bin/sh", "/usr/bin/bash"];
const SHELL_NAME = /(^|\/)(ba|da|k|z)?sh$/;

/** Whether whole process groups can be signalled: Deno wants `--allow-run` for it, or a shell that it may run. */
export function canKillGroups(): boolean {
  return isGranted({ name: "run" }) || allowedShell("sh") !== undefined;
}

/**
 * Makes the kill(2) for a child.
 *
 * Deno sends signals by number of process only if everything may be run. Where just a shell may be, that shell sends
 * them, which takes a millisecond or two; where no shell may be, only the child itself can be reached.
 *
 * @param program what the child runs: if it is a shell, that one
 * @param child the child, if Deno started it
 */
export function killFor(program: string, child?: DenoChildProcess): Kill {
  return (pid, signal) => {
    if (isGranted({ name: "run" })) return nodeKill(pid, signal);
    const shell = allowedShell(program);
    if (shell !== undefined) return killThrough(shell, pid, signal);
    return child !== undefined && pid === child.pid && signal !== 0 ? killChild(child, signal) : "refused";
  };
}

function allowedShell(program: string): string | undefined {
  const candidates = SHELL_NAME.test(program) ? [program, ...SHELLS] : SHELLS;
  return candidates.find((command) => isGranted({ name: "run", command }));
}

function killThrough(shell: string, pid: number, signal: SignalName | 0): SignalOutcome {
  const name = signal === 0 ? "0" : signal.slice("SIG".length);
  const command = new (denoGlobal().Command)(shell, {
    args: ["-c", 'kill -s "$0" -- "$1"', name, String(pid)],
    clearEnv: true,
    env: { LC_ALL: "C" }, // for the message below
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  });
  const { code, stderr } = command.outputSync();
  if (code === 0) return "sent";
  return new TextDecoder().decode(stderr).includes("No such process") ? "gone" : "refused";
}

function killChild(child: DenoChildProcess, signal: SignalName): SignalOutcome {
  try {
    child.kill(signal);
    return "sent";
  } catch {
    return "gone"; // it needs no permission, so there is no other reason
  }
}
