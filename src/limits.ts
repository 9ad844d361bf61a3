/**
 * Resource limits of a command: what can be limited, what is a sensible limit, and who has the last word.
 *
 * @module
 */
import * as v from "valibot";
import { check } from "./validate.ts";

/** What can be limited. */
export type LimitName = "memoryBytes" | "cpuSeconds" | "processes" | "openFiles" | "outputBytes";

/**
 * Limits of a command. One that is left out is not set; one that the host's own limits undercut leaves those in force.
 *
 * The kernel holds a process, not the whole tree, to `memoryBytes`, `cpuSeconds` and `openFiles`; children inherit them.
 * They are a guard against accidents: root may raise its own limits. To limit a whole tree takes a container or a cgroup.
 */
export interface Limits {
  /**
   * Address space of each process, bytes (`ulimit -v`, in whole KiB); at least 16 MiB. Programs reserve more than they
   * use: node does not start below a few GiB.
   */
  readonly memoryBytes?: number;
  /** CPU time of each process, seconds (`ulimit -t`); it ends by SIGXCPU, 5 s of CPU time later by SIGKILL. */
  readonly cpuSeconds?: number;
  /**
   * Processes and threads of the user on the whole machine, those outside the command counted as well (`ulimit -u`): with
   * that many, none can be started. The kernel does not hold root to it; the answer warns then.
   */
  readonly processes?: number;
  /** Descriptors open in each process (`ulimit -n`); at least 16. */
  readonly openFiles?: number;
  /** Bytes the command may print, all its streams and processes together: past them it is ended, and nothing more is logged. */
  readonly outputBytes?: number;
}

/**
 * How it is known that a limit ended a command. `counted`: we counted and ended it. `signal`: SIGXCPU, or the shell's code
 * for it, 152. `output`: probable only, it failed and the end of its output has the system's words for that limit.
 */
export type LimitEvidence = "counted" | "signal" | "output";

/** The limit that ended a command. */
export interface LimitEnd {
  /** Which. */
  readonly name: LimitName;
  /** How that is known. */
  readonly evidence: LimitEvidence;
}

interface Rule {
  readonly least: number;
  /** What the least is for, where it is not simply 1. */
  readonly because?: string;
}

/** The least of each. Measured with bash, dash, zsh, ksh93 and mksh on glibc: 12 MiB and 13 descriptors run shell and small programs. */
const RULES: Readonly<Record<LimitName, Rule>> = {
  memoryBytes: { least: 16_777_216, because: "the least a shell and small programs start with" },
  cpuSeconds: { least: 1 },
  processes: { least: 1 },
  openFiles: { least: 16, because: "the least a shell works with" },
  outputBytes: { least: 1 },
};

/** Every limit there is, in the order in which answers name them. */
export const LIMIT_NAMES: readonly LimitName[] = Object.keys(RULES) as LimitName[];

const KNOWN = {
  keys: LIMIT_NAMES,
  aliases: {
    ram: "memoryBytes",
    addressspace: "memoryBytes",
    nproc: "processes",
    pids: "processes",
    threads: "processes",
    nofile: "openFiles",
    fds: "openFiles",
    descriptors: "openFiles",
    stdout: "outputBytes",
  },
};

/**
 * The schema of {@linkcode Limits}, for settings and parameters alike: unknown keys are refused with the nearest known
 * one, and a number below the least that works is refused, not clamped.
 *
 * @param number what counts as a number there
 */
export function limitsSchema(number: v.GenericSchema<unknown, number>): v.GenericSchema<unknown, Limits> {
  const entries = Object.fromEntries(LIMIT_NAMES.map((name) => [name, v.optional(limitSchema(RULES[name], number))]));
  return v.pipe(
    v.unknown(),
    v.rawTransform<unknown, Limits>(({ dataset: { value: input }, addIssue, NEVER }) => {
      const checked = check<Limits>(entries, input, KNOWN);
      if (checked.ok) return checked.value;
      for (const { key, message } of checked.problems) {
        const path = { type: "unknown", origin: "value", input, key, value: undefined } as const;
        addIssue(key === "" ? { message } : { message, path: [path] });
      }
      return NEVER;
    }),
  );
}

function limitSchema(
  { least, because }: Rule,
  number: v.GenericSchema<unknown, number>,
): v.GenericSchema<unknown, number> {
  const expected = `expected a whole number of at least ${least}${because === undefined ? "" : `, ${because}`}`;
  const isTaken = (value: number): boolean => Number.isSafeInteger(value) && value >= least;
  return v.pipe(number, v.check(isTaken, ({ input }) => `${expected}, but received ${input}`));
}

/** Limits in force, and what the caller ought to know about them. */
export interface LimitsInForce {
  /** The limits; `undefined` if there is none. */
  readonly limits: Limits | undefined;
  /** Which of those asked for were lowered. */
  readonly warnings: readonly string[];
}

/** A call that asks for no limits. */
const UNASKED: Limits = {};

/** A command without limits. */
const UNLIMITED: LimitsInForce = { limits: undefined, warnings: [] };

/**
 * Puts the settings and a call together: what is configured is in force for every command, and the most a call may ask for.
 *
 * @param configured `tools.exec.limits`
 * @param asked the call's `limits`
 */
export function limitsInForce(configured: Limits, asked: Limits = UNASKED): LimitsInForce {
  if (asked === UNASKED && Object.keys(configured).length === 0) return UNLIMITED;
  const limits: { [Name in LimitName]?: number } = {};
  const warnings: string[] = [];
  for (const name of LIMIT_NAMES) {
    const [most = Infinity, wanted = most] = [configured[name], asked[name]];
    if (wanted > most) warnings.push(`limits.${name} is ${most}, not ${wanted}: tools.exec.limits allows no more`);
    if (Math.min(wanted, most) !== Infinity) limits[name] = Math.min(wanted, most);
  }
  return Object.keys(limits).length === 0 ? UNLIMITED : { limits: Object.freeze(limits), warnings };
}

/** Limits in a few words: `memoryBytes 268435456, openFiles 64`. */
export function limitsText(limits: Limits): string {
  return LIMIT_NAMES.flatMap((name) => limits[name] === undefined ? [] : [`${name} ${limits[name]}`]).join(", ");
}
