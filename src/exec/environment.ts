/**
 * The environment of a command: what it inherits, what it may not override, what is always set.
 *
 * @module
 */

import type { InheritPolicy } from "../config.ts";
import type { Problem } from "../errors.ts";
import type { HostName } from "./route.ts";

/** Variables by which a program can be made to run somebody else's code. Names are compared case-insensitively. */
export interface InjectionTable {
  /** Beginnings of names. */
  readonly prefixes: readonly string[];
  /** Whole names. */
  readonly names: readonly string[];
}

/**
 * The injection variables: loaders (`LD_`, `DYLD_`, glibc), shells, and the language runtimes and git commands that run
 * code named by the environment. Extend it with a spread.
 *
 * @example One more name
 * ```ts
 * const table = { ...INJECTION_VARIABLES, names: [...INJECTION_VARIABLES.names, "R_PROFILE"] };
 * ```
 */
export const INJECTION_VARIABLES: InjectionTable = {
  prefixes: ["LD_", "DYLD_", "BASH_FUNC_"],
  // deno-fmt-ignore
  names: [
    "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "PROMPT_COMMAND", "ZDOTDIR",
    "GCONV_PATH", "GLIBC_TUNABLES",
    "NODE_OPTIONS", "NODE_PATH",
    "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME",
    "PERL5LIB", "PERL5OPT", "PERL5DB",
    "RUBYLIB", "RUBYOPT",
    "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
    "DOTNET_STARTUP_HOOKS",
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PROXY_COMMAND",
    "LUA_INIT", "PHPRC", "PHP_INI_SCAN_DIR",
  ],
};

/** Linux' limit for one argument or one `NAME=value`: `MAX_ARG_STRLEN` (128 KiB) less its NUL. In bytes. */
export const MAX_STRING_BYTES: number = 131_071;

/** What the environment of one command is made of. */
export interface EnvironmentOptions {
  /** The host's own environment. */
  readonly host: Readonly<Record<string, string>>;
  /** What is inherited of it on this machine: a sandbox or a node inherits nothing. Injection variables never are. */
  readonly policy: InheritPolicy;
  /** The caller's variables, checked by {@linkcode environmentProblems}. */
  readonly env: Readonly<Record<string, string>>;
  /** The command gets a terminal. */
  readonly terminal: boolean;
  /** Without a terminal: ask programs for plain text and no pager. */
  readonly plainTerminal: boolean;
  /** Id of the session. */
  readonly sessionId: string;
  /** By which the orphan guard finds it. Default: it is not to be found. */
  readonly instance?: string | undefined;
  /** The host it runs on. A node has an environment of its own, to which its spawner adds this one. */
  readonly where: HostName;
  /** Carries the command's text to the shell, see `shellCommand`. Default: nothing. */
  readonly command?: Readonly<Record<string, string>> | undefined;
  /** What the host may not pass on. Default: {@linkcode INJECTION_VARIABLES}. */
  readonly injection?: InjectionTable | undefined;
}

/** A sandbox knows nothing of the host: the usual system directories, and a home that exists everywhere and holds nothing. */
const SANDBOX_VARIABLES: Readonly<Record<string, string>> = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/tmp",
};

/** For a command on pipes: no colours, no cursor movements, nothing that waits for a person at a keyboard. */
const PLAIN_VARIABLES: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
};

/**
 * Our terminal is an xterm whatever the host was started in, so the host's own `TERM` (`dumb`, `screen`,
 * `xterm-kitty` or none at all) never describes it; only the caller's does.
 */
const TERMINAL_VARIABLES: Readonly<Record<string, string>> = { TERM: "xterm-256color" };

/**
 * Whether a variable can make a program run somebody else's code.
 *
 * @param name its name, in any case
 * @param table the variables to look for
 */
export function isInjectionVariable(name: string, table: InjectionTable = INJECTION_VARIABLES): boolean {
  return injectionTest(table)(name);
}

/**
 * Everything that is wrong with a caller's variables, one problem a key.
 *
 * @param env what the caller gave, not yet checked
 * @param where `realHost`: it is for a real host (not a sandbox), where `PATH` and injection variables are refused
 * @param table the injection variables
 */
export function environmentProblems(
  env: Readonly<Record<string, unknown>>,
  where: { readonly realHost: boolean },
  table: InjectionTable = INJECTION_VARIABLES,
): readonly Problem[] {
  return Object.entries(env).flatMap(([name, value]) => {
    const message = nameProblem(name) ?? valueProblem(name, value) ??
      (where.realHost ? overrideProblem(name, table) : undefined);
    return message === undefined ? [] : [{ key: `env.${name}`, message }];
  });
}

/**
 * Puts a command's environment together. From weakest to strongest: the host's variables that the policy lets through,
 * the defaults for a terminal or for pipes, the caller's variables, the session's markers and the command's text.
 *
 * @param options what it is made of
 * @returns the whole environment of the command
 */
export function buildEnvironment(options: EnvironmentOptions): Record<string, string> {
  return addOwn(baseOf(options), options);
}

/**
 * Makes a {@linkcode buildEnvironment} that knows what it made of the host's variables the last time: hardly ever have
 * they changed from one command to the next.
 */
export function createEnvironmentBuilder(): typeof buildEnvironment {
  let known: { readonly options: EnvironmentOptions; readonly base: Readonly<Record<string, string>> } | undefined;
  return (options) => {
    if (known === undefined || !haveSameBase(known.options, options)) {
      const host = Object.isFrozen(options.host) ? options.host : compact(options.host);
      known = { options: { ...options, host }, base: compact(baseOf(options)) };
    }
    return addOwn({ ...known.base }, options);
  };
}

/** The part of an environment that is not of one command alone. */
function baseOf(options: EnvironmentOptions): Record<string, string> {
  const { terminal, plainTerminal, where } = options;
  const variables: Record<string, string> = {};
  if (where === "sandbox") addAll(variables, SANDBOX_VARIABLES);
  else if (where === "gateway" && options.policy !== "none") addAll(variables, options.host, inheritanceTest(options));
  addAll(variables, terminal ? TERMINAL_VARIABLES : plainTerminal ? PLAIN_VARIABLES : {});
  return variables;
}

function haveSameBase(one: EnvironmentOptions, other: EnvironmentOptions): boolean {
  return one.where === other.where && one.terminal === other.terminal && one.plainTerminal === other.plainTerminal &&
    one.policy === other.policy && one.injection === other.injection && areSame(one.host, other.host);
}

/**
 * A copy that itself is quick to copy: V8 keeps an object that was filled name by name in a form in which a spread of it
 * takes ten times as long.
 */
function compact(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return JSON.parse(JSON.stringify(variables));
}

/** Whether two sets of variables are the same; if they are one object, it is frozen. `for … in` is the quickest way through many names. */
function areSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  if (one === other) return true;
  let more = 0;
  for (const name in one) {
    if (one[name] !== other[name]) return false;
    more += 1;
  }
  for (const _ in other) more -= 1;
  return more === 0;
}

/** Adds what is of one command alone. */
function addOwn(variables: Record<string, string>, options: EnvironmentOptions): Record<string, string> {
  addAll(variables, options.env);
  variables["OPENCLAW_SHELL"] = "exec";
  variables["OFFSTAGE_SESSION_ID"] = options.sessionId;
  if (options.instance !== undefined) variables["OFFSTAGE_INSTANCE"] = options.instance;
  addAll(variables, options.command ?? {});
  return variables;
}

/** One by one into the one object: a spread of spreads takes Deno five times as long, and every command has this done. */
function addAll(
  variables: Record<string, string>,
  more: Readonly<Record<string, string>>,
  isWanted: (name: string) => boolean = () => true,
): void {
  for (const name of Object.keys(more)) if (isWanted(name)) variables[name] = more[name] as string;
  const oddName = "__proto__"; // to which an assignment makes no variable
  if (!Object.hasOwn(more, oddName) || !isWanted(oddName)) return;
  Object.defineProperty(variables, oddName, {
    value: more[oddName],
    configurable: true,
    enumerable: true,
    writable: true,
  });
}

/** Tells which of the host's variables a command inherits. */
function inheritanceTest({ policy, injection = INJECTION_VARIABLES }: EnvironmentOptions): (name: string) => boolean {
  const isInjection = injection === INJECTION_VARIABLES ? isUsualInjection : injectionTest(injection);
  if (policy === "all" || policy === "none") return (name) => !isInjection(name);
  const allow = policy.allow?.map(globPattern);
  const deny = (policy.deny ?? []).map(globPattern);
  const isAllowed = (name: string): boolean => allow === undefined || allow.some((pattern) => pattern.test(name));
  return (name) => !isInjection(name) && isAllowed(name) && !deny.some((pattern) => pattern.test(name));
}

/** Puts a table into a form in which many names can be looked up. */
function injectionTest({ prefixes, names }: InjectionTable): (name: string) => boolean {
  const beginnings = prefixes.map((prefix) => prefix.toUpperCase());
  const known = new Set(names.map((name) => name.toUpperCase()));
  return (name) => {
    const upper = name.toUpperCase();
    return known.has(upper) || beginnings.some((beginning) => upper.startsWith(beginning));
  };
}

/** What the usual table says of the host's own names: they are few, and come again with every command. */
const usualVerdicts = new Map<string, boolean>();

function isUsualInjection(name: string): boolean {
  const known = usualVerdicts.get(name);
  if (known !== undefined) return known;
  const verdict = isInjectionVariable(name);
  usualVerdicts.set(name, verdict);
  return verdict;
}

function globPattern(glob: string): RegExp {
  const literal = glob.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("*", ".*").replaceAll("?", ".")}$`, "su");
}

function nameProblem(name: string): string | undefined {
  if (name === "") return "An environment variable needs a name";
  if (name.includes("=")) return `The name ${JSON.stringify(name)} must not hold "="`;
  if (name.includes("\0")) return `The name ${JSON.stringify(name)} must not hold a NUL`;
  return undefined;
}

function valueProblem(name: string, value: unknown): string | undefined {
  if (typeof value !== "string") {
    return `The value of ${name} must be a string, not ${value === null ? "null" : typeof value}`;
  }
  if (value.includes("\0")) return `The value of ${name} must not hold a NUL`;
  const bytes = new TextEncoder().encode(`${name}=${value}`).length;
  if (bytes <= MAX_STRING_BYTES) return undefined;
  return `${name} and its value are ${bytes} bytes, the limit for one variable is ${MAX_STRING_BYTES}: put it in a file`;
}

function overrideProblem(name: string, table: InjectionTable): string | undefined {
  if (name.toUpperCase() !== "PATH" && !isInjectionVariable(name, table)) return undefined;
  return `${name} cannot be overridden outside a sandbox: it decides which code runs; set it inside the command if it is needed`;
}
