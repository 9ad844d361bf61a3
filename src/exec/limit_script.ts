/**
 * How a shell sets the limits of the command it is about to run: a line of `ulimit`s before the command's text.
 *
 * @module
 */
import type { LimitName, Limits } from "../limits.ts";
import { AS_ROOT, REPORT_END, REPORT_START } from "../session/limit_words.ts";
import type { ShellKind } from "./shell.ts";

/** The limits that the kernel holds a process to. We count `outputBytes` ourselves. */
export type KernelLimit = Exclude<LimitName, "outputBytes">;

interface Resource {
  /** Options of `ulimit` that mean it: dash, mksh and busybox call the number of processes `-p`, the others `-u`. */
  readonly options: readonly string[];
  /** From our unit to that of `ulimit`. */
  readonly soft: (limit: number) => number;
  readonly hard: (limit: number) => number;
}

/** Between SIGXCPU, which a program may catch to tidy up, and SIGKILL, seconds. */
const CPU_GRACE_SECONDS = 5;

const same = (limit: number): number => limit;
const kibibytes = (limit: number): number => Math.floor(limit / 1_024);

/** In the order in which they are set: with the last one in force nothing more can be forked. */
const RESOURCES: Readonly<Record<KernelLimit, Resource>> = {
  memoryBytes: { options: ["v"], soft: kibibytes, hard: kibibytes },
  cpuSeconds: { options: ["t"], soft: same, hard: (seconds) => seconds + CPU_GRACE_SECONDS },
  openFiles: { options: ["n"], soft: same, hard: same },
  processes: { options: ["u", "p"], soft: same, hard: same },
};

/** Those of the limits that are the kernel's. */
export function kernelLimits(limits: Limits): readonly KernelLimit[] {
  return (Object.keys(RESOURCES) as KernelLimit[]).filter((name) => limits[name] !== undefined);
}

/**
 * The beginning of a POSIX shell's script that sets limits and reports on its stderr, in a sequence that no terminal
 * shows, those it could not set. It leaves `$?` at 0 and no variable behind. Empty if there is nothing to set.
 */
export function limitScript(limits: Limits, kind: ShellKind): string {
  const names = kernelLimits(limits);
  if (names.length === 0) return "";
  return [
    print(REPORT_START),
    ...(limits.processes === undefined ? [] : [`[ "\${EUID:-$(id -u 2>/dev/null)}" != 0 ] || ${print(` ${AS_ROOT}`)}`]),
    ...names.map((name) =>
      `{ ${setting(RESOURCES[name], limits[name] ?? 0, kind)}; } 2>/dev/null || ${print(` ${name}`)}`
    ),
    print(REPORT_END),
    "",
  ].join("; ");
}

/**
 * The soft limit goes before the hard one, which it cannot pass: so nothing is raised beyond what the host has set, not
 * even by root. Where that fails because the host's own limit is lower, all is well. zsh would raise the hard one for
 * root: there the host's is looked at first, which costs a fork or two.
 */
function setting({ options, soft, hard }: Resource, limit: number, kind: ShellKind): string {
  const set = options.map((option) =>
    `{ ulimit -S -${option} ${hard(limit)} && ulimit -H -${option} ${hard(limit)}; ulimit -S -${option} ${
      soft(limit)
    }; }`
  );
  const hosts = `$(${options.map((option) => `ulimit -H -${option}`).join(" || ")})`;
  const isLower = `case ${hosts} in [0-9]*) [ "${hosts}" -le ${soft(limit)} ];; *) false;; esac`;
  return (kind === "zsh" ? [isLower, ...set] : [...set, isLower]).join(" || ");
}

function print(text: string): string {
  return `printf '${text.replaceAll("\\", "\\\\").replaceAll("\x1b", "\\033")}' >&2`;
}
