/**
 * Which shell runs a command, and how the command's text gets to it.
 *
 * The text travels in environment variables, never in the arguments: those are visible to `pkill -f` and `ps`, and one of
 * them holds no more than 128 KiB. A fixed wrapper in the arguments takes the text out of the environment and evaluates it.
 *
 * @module
 */

import { OffstageError } from "../errors.ts";
import type { Problem } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { MAX_STRING_BYTES } from "./environment.ts";
import { limitScript } from "./limit_script.ts";

/** How a shell is to be talked to. */
export type ShellKind = "bash" | "zsh" | "sh" | "dash" | "ksh" | "pwsh" | "powershell";

/** A shell that can be run. */
export interface Shell {
  /** Program name or path. */
  readonly path: string;
  /** How it is to be talked to. */
  readonly kind: ShellKind;
}

/** What the choice of a shell depends on. */
export interface ShellChoice {
  /** The configured shell, a name or a path; it is used or refused, never replaced. */
  readonly option?: string | undefined;
  /** The host's environment, for `SHELL`. */
  readonly environment: Readonly<Record<string, string>>;
  /** Kind of machine. */
  readonly platform: "posix" | "windows";
  /** Whether a program of that name or path can be run. */
  hasProgram(nameOrPath: string): Promise<boolean>;
}

/** What to start, and what to add to its environment. */
export interface ShellCommand {
  /** Program and arguments; the command's text is not in them. */
  readonly argv: readonly [string, ...string[]];
  /** Variables that carry the text. The shell unsets them before the command starts. */
  readonly env: Readonly<Record<string, string>>;
}

/** The longest command, in bytes of UTF-8. Linux takes 2 MiB of arguments and environment in all, the host's included. */
export const MAX_COMMAND_BYTES: number = 1_048_576;

const VARIABLE = "OFFSTAGE_COMMAND_";
const FIRST_VARIABLE = `${VARIABLE}1`;

/** Room for `OFFSTAGE_COMMAND_12=` in {@linkcode MAX_STRING_BYTES}. */
const POSIX_PIECE_BYTES = MAX_STRING_BYTES - 32;

/** Windows takes 32767 UTF-16 units a variable; a unit is at least one byte of UTF-8. */
const WINDOWS_PIECE_BYTES = 32_000;

/** A UTF-16 unit is at most three bytes of UTF-8: a pair of them is a character of four. */
const MAX_BYTES_PER_UNIT = 3;

/** Shells by program name. Others are refused: fish, csh and nu do not understand the wrapper, busybox needs an applet's name. */
const KINDS: Readonly<Record<string, ShellKind>> = {
  bash: "bash",
  zsh: "zsh",
  sh: "sh",
  dash: "dash",
  ash: "sh",
  ksh: "ksh",
  ksh93: "ksh",
  mksh: "ksh",
  pwsh: "pwsh",
  powershell: "powershell",
};

/**
 * No startup files. bash sources `~/.bashrc` even for `-c` when its stdin is a socket (Node's pipes are) and `SHLVL` is
 * unset, as for a command from rshd. The others read none for `-c`, apart from zsh's `.zshenv`.
 */
const NO_STARTUP_FILES: Readonly<Partial<Record<ShellKind, readonly string[]>>> = {
  bash: ["--norc"],
  zsh: ["-f"],
};

/**
 * Chooses the shell: the option, else `SHELL` if it is one of bash, zsh, sh, dash and ksh, else bash, else sh. On Windows
 * the option, else pwsh, else powershell.
 *
 * @param choice what it depends on
 * @throws {OffstageError} `invalid` for an option that is no shell we can talk to, `spawn-failed` when the option, or
 * any shell at all, cannot be run
 */
export async function chooseShell(choice: ShellChoice): Promise<Shell> {
  if (choice.option !== undefined && choice.option !== "") return await optionShell(choice.option, choice);
  for (const path of candidates(choice)) {
    const kind = kindOf(path);
    if (kind !== undefined && await choice.hasProgram(path)) return { path, kind };
  }
  throw new OffstageError(
    "spawn-failed",
    "No shell was found: install bash or sh, or set tools.exec.shell to the path of one",
  );
}

/**
 * What is wrong with a command as such: it is blank, holds a NUL, or is too long.
 *
 * @param command the command's text
 */
export function commandProblem(command: string): Problem | undefined {
  const message = commandMessage(command);
  return message === undefined ? undefined : { key: "command", message };
}

/**
 * What to start so that a shell runs a command as it would with `-c`.
 *
 * @param shell the shell
 * @param command the command's text, checked by {@linkcode commandProblem}
 * @param options `mergeStreams`: stderr is the same descriptor as stdout, so that the order of output is true. `close`:
 * descriptors the command must not have; only bash can close those above 9 by their numbers. `limits`: what it is held to;
 * PowerShell cannot set them, see {@linkcode setsLimits}
 */
export function shellCommand(
  shell: Shell,
  command: string,
  options: {
    readonly mergeStreams: boolean;
    readonly close?: readonly number[];
    readonly limits?: Limits | undefined;
  },
): ShellCommand {
  const { mergeStreams, close = [], limits } = options;
  const pieces = split(command, isPowerShell(shell) ? WINDOWS_PIECE_BYTES : POSIX_PIECE_BYTES);
  if (pieces.length === 1 && !mergeStreams && close.length === 0 && limits === undefined) {
    return { argv: plainArgv(shell), env: { [FIRST_VARIABLE]: command } };
  }
  const env = Object.fromEntries(pieces.map((piece, index) => [`${VARIABLE}${index + 1}`, piece]));
  return { argv: argvFor(shell, Object.keys(env), mergeStreams, close, limits), env };
}

const knownArgv = new WeakMap<Shell, ShellCommand["argv"]>();

/** What a shell is started with for most commands: it is the same for all of them. */
function plainArgv(shell: Shell): ShellCommand["argv"] {
  const known = knownArgv.get(shell);
  if (known !== undefined) return known;
  const argv = argvFor(shell, [FIRST_VARIABLE], false, [], undefined);
  knownArgv.set(shell, argv);
  return argv;
}

function argvFor(
  shell: Shell,
  names: readonly string[],
  mergeStreams: boolean,
  close: readonly number[],
  limits: Limits | undefined,
): ShellCommand["argv"] {
  if (isPowerShell(shell)) {
    return [shell.path, "-NoProfile", "-NonInteractive", "-Command", powershellWrapper(names.length, mergeStreams)];
  }
  const script = (limits === undefined ? "" : limitScript(limits, shell.kind)) + closing(shell.kind, close) +
    posixWrapper(shell.kind, names, mergeStreams);
  return [shell.path, ...(NO_STARTUP_FILES[shell.kind] ?? []), "-c", script];
}

/** Whether a shell can hold what it runs to limits. */
export function setsLimits(shell: Shell): boolean {
  return !isPowerShell(shell);
}

function isPowerShell({ kind }: Shell): boolean {
  return kind === "pwsh" || kind === "powershell";
}

/**
 * `eval "unset OFFSTAGE_COMMAND_1; $OFFSTAGE_COMMAND_1"`: the text is expanded before the variables go, so none of ours is
 * left to the command, not even in its own `env`. `unset` on the same line keeps line numbers true, leaves `$?` at 0, and
 * stands before a text that begins with a dash.
 *
 * bash quotes the offending line in a syntax error, where that `unset` would be a riddle. So there the text goes to the
 * variable in which bash itself keeps the text of `-c`.
 *
 * One thing differs from `-c`, in zsh alone: it counts the `eval` as job 1, so that the command's own jobs begin with %2.
 */
function posixWrapper(kind: ShellKind, names: readonly string[], mergeStreams: boolean): string {
  const merge = mergeStreams ? "exec 2>&1; " : "";
  const text = names.map((name) => `$${name}`).join("");
  const unset = `unset ${names.join(" ")}; `;
  if (kind !== "bash") return `${merge}eval "${unset}${text}"`;
  return `${merge}BASH_EXECUTION_STRING=${text}; ${unset}eval -- "$BASH_EXECUTION_STRING"`;
}

/** Closing a descriptor that is not open is no error. */
function closing(kind: ShellKind, descriptors: readonly number[]): string {
  if (kind !== "bash" || descriptors.length === 0) return "";
  return `exec ${descriptors.map((descriptor) => `${descriptor}>&-`).join(" ")}; `;
}

/**
 * The same for PowerShell, with single quotes only: Windows would have double ones escaped. `-Command` alone would end
 * with 1 for every failure; the last line ends with the program's own code.
 */
function powershellWrapper(count: number, mergeStreams: boolean): string {
  return [
    `$OffstageText = -join (1..${count} | ForEach-Object { [Environment]::GetEnvironmentVariable('${VARIABLE}' + $_) })`,
    `1..${count} | ForEach-Object { Remove-Item -LiteralPath ('Env:${VARIABLE}' + $_) }`,
    `$OffstageText = [ScriptBlock]::Create($OffstageText)`,
    `. $OffstageText${mergeStreams ? " 2>&1" : ""}`,
    `if (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 } }`,
  ].join("; ");
}

/** Pieces of at most `bytes` bytes of UTF-8, none of which ends within a character; one empty piece for an empty text. */
function split(text: string, bytes: number): readonly string[] {
  if (text.length * MAX_BYTES_PER_UNIT <= bytes) return [text];
  const encoder = new TextEncoder();
  const buffer = new Uint8Array(bytes);
  const pieces: string[] = [];
  let rest = text;
  do {
    const { read } = encoder.encodeInto(rest, buffer);
    pieces.push(rest.slice(0, read));
    rest = rest.slice(read);
  } while (rest !== "");
  return pieces;
}

async function optionShell(option: string, { hasProgram }: ShellChoice): Promise<Shell> {
  const kind = kindOf(option);
  if (kind === undefined) {
    throw new OffstageError(
      "invalid",
      `tools.exec.shell ${JSON.stringify(option)} is not a shell that can be used: choose one of ${
        Object.keys(KINDS).join(", ")
      }`,
    );
  }
  if (!await hasProgram(option)) {
    throw new OffstageError(
      "spawn-failed",
      `tools.exec.shell ${JSON.stringify(option)} cannot be run: install it, or set the path of a shell that is there`,
    );
  }
  return { path: option, kind };
}

function candidates({ environment, platform }: ShellChoice): readonly string[] {
  if (platform === "windows") return ["pwsh", "powershell"];
  const login = environment["SHELL"];
  const kind = login === undefined ? undefined : kindOf(login);
  const usable = kind === "bash" || kind === "zsh" || kind === "sh" || kind === "dash" || kind === "ksh";
  return login !== undefined && usable ? [login, "bash", "sh"] : ["bash", "sh"];
}

function kindOf(path: string): ShellKind | undefined {
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase().replace(
    /\.exe$/,
    "",
  );
  return Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
}

function commandMessage(command: string): string | undefined {
  if (command.trim() === "") return "The command is blank";
  if (command.includes("\0")) return "The command holds a NUL, which no shell can take: write it as an escape";
  if (command.length * MAX_BYTES_PER_UNIT <= MAX_COMMAND_BYTES) return undefined;
  const bytes = new TextEncoder().encode(command).length;
  if (bytes <= MAX_COMMAND_BYTES) return undefined;
  return `The command is ${bytes} bytes, the limit is ${MAX_COMMAND_BYTES}: put the data in a file and name the file`;
}
