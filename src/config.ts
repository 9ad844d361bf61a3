/**
 * Configuration: what the user wrote, the environment's overrides and the defaults become one frozen object.
 *
 * @module
 */
import * as v from "valibot";
import { listProblems, OffstageError, type Problem } from "./errors.ts";
import { type Limits, limitsSchema } from "./limits.ts";
import { check } from "./validate.ts";

/** Which of the host's environment variables a command inherits. Patterns know `*` and `?`. */
export type InheritPolicy =
  | "all"
  | "none"
  | { readonly allow?: readonly string[]; readonly deny?: readonly string[] };

/** Where commands run unless a call says otherwise. */
export type ConfiguredHost = "auto" | "sandbox" | "gateway" | "node";

/**
 * The settings of `tools.exec`. Numbers out of range are clamped; a wrong type or an unknown key is an error.
 *
 * A value given here beats its environment variable, which beats the default.
 */
export interface ExecConfig {
  /** Time `exec` waits before it answers `running`, ms. Env `OPENCLAW_BASH_YIELD_MS`. @default {10000} */
  readonly backgroundMs?: number;
  /** Life span of a command without its own `timeout`, seconds; 0 is none. @default {1800} */
  readonly timeoutSeconds?: number;
  /** Older name of `timeoutSeconds`. */
  readonly timeoutSec?: number;
  /** How long a finished session is kept, ms. Env `OPENCLAW_BASH_JOB_TTL_MS`. @default {1800000} */
  readonly cleanupMs?: number;
  /** Whether the end of a background session makes an event, unless an answer has told it. @default {true} */
  readonly notifyOnExit?: boolean;
  /** Whether a success without output makes one too. @default {false} */
  readonly notifyOnExitEmptySuccess?: boolean;
  /** Output held per session, characters. Env `OPENCLAW_BASH_MAX_OUTPUT_CHARS`. @default {200000} */
  readonly maxOutputChars?: number;
  /** Output one poll delivers per stream, characters. Env `OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS`. @default {30000} */
  readonly pendingMaxOutputChars?: number;
  /** Silence after which an open stdin counts as waited for, ms. Env `OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS`. @default {15000} */
  readonly inputWaitIdleMs?: number;
  /** Size of one answer to the model, characters. @default {30000} */
  readonly maxResultChars?: number;
  /** Live background sessions per scope; with that many, `exec` refuses to start another. @default {64} */
  readonly maxSessions?: number;
  /** Time between SIGTERM and SIGKILL, ms. @default {5000} */
  readonly killGraceMs?: number;
  /** Shell to run commands with, name or path. Default: `$SHELL` if it is a POSIX shell, else bash, else sh. */
  readonly shell?: string;
  /** Which host variables commands inherit. @default {"all"} */
  readonly inheritEnv?: InheritPolicy;
  /** Whether commands on pipes are told that there is no terminal (`TERM=dumb`, `PAGER=cat` …). @default {true} */
  readonly plainTerminal?: boolean;
  /** Whether a line that comes several times in a row is told once, as `line × 3`. @default {false} */
  readonly foldRepeats?: boolean;
  /** Whether sessions are ended even if the host dies by SIGKILL. @default {true} */
  readonly orphanGuard?: boolean;
  /** Where commands run; `auto` is the sandbox if there is one, else `gateway`: this machine. @default {"auto"} */
  readonly host?: ConfiguredHost;
  /** Refuse to run anything outside the sandbox. @default {false} */
  readonly sandboxRequired?: boolean;
  /**
   * Time after which a background session is ended if nobody has called `process` on it, ms; 0 is never. What it prints
   * does not count, nor does `list`; a poll that waits does, for as long as it waits. What a shell has left behind is
   * ended with its session. @default {0}
   */
  readonly idleEndMs?: number;
  /** Finished sessions kept per scope. @default {50} */
  readonly maxFinished?: number;
  /** Output of all finished sessions together, characters. @default {20000000} */
  readonly maxFinishedChars?: number;
  /** Resource limits of every command, and the most a call's own `limits` may ask for. Not clamped. Default: none. */
  readonly limits?: Limits;
}

/** Every setting with its value in force: see {@linkcode ExecConfig} for what each means. */
export interface Settings extends Required<Omit<ExecConfig, "timeoutSec" | "shell">> {
  /** Shell to run commands with; `undefined` means that it is chosen. */
  readonly shell: string | undefined;
}

/** What there is to know of a number. */
export interface NumberSetting {
  /** Its default. */
  readonly fallback: number;
  /** The least it can be. */
  readonly min: number;
  /** The most it can be. */
  readonly max: number;
  /** Fractions are fine (seconds), else the value is a whole number. */
  readonly fractional?: true;
  /** Environment overrides, the first one that is set wins. */
  readonly env?: readonly string[];
}

/** Settings that are numbers. */
export type NumberKey = { [K in keyof Settings]: Settings[K] extends number ? K : never }[keyof Settings];

/** Defaults, ranges and environment names of every number (spec C1). */
export const NUMBERS: Readonly<Record<NumberKey, NumberSetting>> = {
  backgroundMs: { fallback: 10_000, min: 10, max: 120_000, env: ["OPENCLAW_BASH_YIELD_MS", "PI_BASH_YIELD_MS"] },
  timeoutSeconds: { fallback: 1_800, min: 0, max: Infinity, fractional: true },
  cleanupMs: {
    fallback: 1_800_000,
    min: 60_000,
    max: 10_800_000,
    env: ["OPENCLAW_BASH_JOB_TTL_MS", "PI_BASH_JOB_TTL_MS"],
  },
  maxOutputChars: {
    fallback: 200_000,
    min: 1_000,
    max: Infinity,
    env: ["OPENCLAW_BASH_MAX_OUTPUT_CHARS", "PI_BASH_MAX_OUTPUT_CHARS"],
  },
  pendingMaxOutputChars: {
    fallback: 30_000,
    min: 1_000,
    max: Infinity,
    env: ["OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS"],
  },
  inputWaitIdleMs: {
    fallback: 15_000,
    min: 1_000,
    max: 600_000,
    env: ["OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS"],
  },
  maxResultChars: { fallback: 30_000, min: 1_000, max: Infinity },
  maxSessions: { fallback: 64, min: 1, max: Infinity },
  killGraceMs: { fallback: 5_000, min: 0, max: 60_000 },
  idleEndMs: { fallback: 0, min: 0, max: Infinity },
  maxFinished: { fallback: 50, min: 1, max: Infinity },
  maxFinishedChars: { fallback: 20_000_000, min: 1_000, max: Infinity },
};

const BOOLEANS = {
  notifyOnExit: true,
  notifyOnExitEmptySuccess: false,
  plainTerminal: true,
  foldRepeats: false,
  orphanGuard: true,
  sandboxRequired: false,
} as const;

type BooleanKey = keyof typeof BOOLEANS;

const patterns = v.optional(v.array(v.string()));

const others = {
  timeoutSec: v.optional(v.number()),
  shell: v.optional(v.pipe(v.string(), v.trim(), v.nonEmpty("expected the name or path of a shell"))),
  inheritEnv: v.optional(
    v.union(
      [v.picklist(["all", "none"]), v.strictObject({ allow: patterns, deny: patterns })],
      'expected "all", "none" or { allow?: [patterns], deny?: [patterns] }',
    ),
  ),
  host: v.optional(v.picklist(["auto", "sandbox", "gateway", "node"])),
  limits: v.optional(limitsSchema(v.number())),
};

const entries = {
  ...entriesFor<NumberKey, number>(NUMBERS, v.number()),
  ...entriesFor<BooleanKey, boolean>(BOOLEANS, v.boolean()),
  ...others,
};

function entriesFor<K extends string, T>(
  table: Readonly<Record<K, unknown>>,
  type: v.GenericSchema<unknown, T>,
): Record<K, v.OptionalSchema<v.GenericSchema<unknown, T>, undefined>> {
  const keys = Object.keys(table) as K[];
  return Object.fromEntries(keys.map((key) => [key, v.optional(type)])) as Record<
    K,
    v.OptionalSchema<v.GenericSchema<unknown, T>, undefined>
  >;
}

const KNOWN = {
  prefix: "tools.exec.",
  keys: Object.keys(entries),
};

/**
 * Makes the settings in force from the user's configuration and the host's environment.
 *
 * @param config the object at `tools.exec`, unchecked
 * @param environment the host's environment, for the overrides
 * @throws {OffstageError} `invalid`, with every problem, when a key is unknown or of the wrong type
 */
export function resolveSettings(config: unknown, environment: Readonly<Record<string, string>>): Settings {
  const checked = check<ExecConfig>(entries, config, KNOWN);
  const problems = [...(checked.ok ? timeoutConflict(checked.value) : checked.problems)];
  if (!checked.ok || problems.length > 0) {
    throw new OffstageError("invalid", `Cannot use this configuration: ${listProblems(problems)}`, { problems });
  }
  const given = { ...checked.value, timeoutSeconds: checked.value.timeoutSeconds ?? checked.value.timeoutSec };
  return Object.freeze({
    ...mapTable(NUMBERS, (key, setting) => numberInForce(given[key], setting, environment)),
    ...mapTable(BOOLEANS, (key, fallback) => given[key] ?? fallback),
    shell: given.shell,
    inheritEnv: given.inheritEnv ?? "all",
    host: given.host ?? "auto",
    limits: Object.freeze({ ...given.limits }),
  });
}

function mapTable<K extends string, V, R>(
  table: Readonly<Record<K, V>>,
  value: (key: K, entry: V) => R,
): Record<K, R> {
  const entries = Object.entries<V>(table) as [K, V][];
  return Object.fromEntries(entries.map(([key, entry]) => [key, value(key, entry)])) as Record<K, R>;
}

function timeoutConflict({ timeoutSeconds, timeoutSec }: ExecConfig): readonly Problem[] {
  if (timeoutSeconds === undefined || timeoutSec === undefined || timeoutSeconds === timeoutSec) return [];
  return [{ key: "tools.exec.timeoutSec", message: "differs from timeoutSeconds, whose older name it is; keep one" }];
}

function numberInForce(
  explicit: number | undefined,
  setting: NumberSetting,
  environment: Readonly<Record<string, string>>,
): number {
  const value = explicit ?? fromEnvironment(setting, environment) ?? setting.fallback;
  const bounded = Math.min(setting.max, Math.max(setting.min, value));
  return setting.fractional || !Number.isFinite(bounded) ? bounded : Math.round(bounded);
}

function fromEnvironment(setting: NumberSetting, environment: Readonly<Record<string, string>>): number | undefined {
  const name = overridingVariable(setting, environment);
  return name === undefined ? undefined : Number(environment[name]);
}

/** The variable that sets it. One that is not a whole number counts as unset, and the older alias is asked (spec C2). */
export function overridingVariable(
  { env = [] }: NumberSetting,
  environment: Readonly<Record<string, string>>,
): string | undefined {
  return env.find((name) => /^[+-]?\d+$/.test(environment[name]?.trim() ?? ""));
}
