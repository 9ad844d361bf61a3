/**
 * The part of a runtime object that is not about starting commands, within what Deno allows.
 *
 * @module
 */

import process from "node:process";
import type { DirectoryStatus, Runtime } from "../../mod.ts";
import { createOrphanGuard } from "../linux/orphan_guard.ts";
import { codeOf } from "../node/failures.ts";
import { createSystem, DELETED_CWD, isEnterable } from "../node/system.ts";
import { isGranted, isNotCapable, missingFlags, notAllowed } from "./permissions.ts";
import { atDenoExit, createDenoShutdown } from "./shutdown.ts";
import { denoGlobal, type DenoPermission } from "./types.ts";

/**
 * Variables that are looked for one by one when this process may not read the whole environment, because then their
 * names cannot be listed.
 */
export const COMMON_VARIABLES: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "TZ", "TERM", "COLORTERM", "EDITOR", "VISUAL"],
  ...["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"],
  ...["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "DISPLAY"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"],
  ...["SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "ProgramFiles"],
  ...["OPENCLAW_BASH_YIELD_MS", "OPENCLAW_BASH_JOB_TTL_MS", "OPENCLAW_BASH_MAX_OUTPUT_CHARS"],
  ...["OPENCLAW_BASH_PENDING_MAX_OUTPUT_CHARS", "OPENCLAW_PROCESS_INPUT_WAIT_IDLE_MS"],
  ...["PI_BASH_YIELD_MS", "PI_BASH_JOB_TTL_MS", "PI_BASH_MAX_OUTPUT_CHARS"],
];

const CAN_LOOK_UP: readonly DenoPermission[] = [
  { name: "read" },
  { name: "env", variable: "PATH" },
  { name: "sys", kind: "uid" }, // Deno wants it before it tells whether a file may be executed
];

/** node:child_process, by which the guard is started, reads the environment too. */
const NEEDED_BY_GUARD: readonly DenoPermission[] = [{ name: "run", command: "sh" }, { name: "env" }];

function guardForbidden(): string | undefined {
  const flags = missingFlags(NEEDED_BY_GUARD);
  return flags === "" ? undefined : `Deno was started without ${flags}`;
}

/**
 * Everything a {@linkcode Runtime} has beside its name and its spawner. What may not be asked is answered as well as
 * can be: the spawn that follows has the last word.
 *
 * @param variables names to look for when only some of the environment may be read
 */
export function createDenoSystem(variables: readonly string[]): Omit<Runtime, "name" | "spawner"> {
  const system = createSystem();
  return {
    ...system,
    environment: () => readEnvironment(variables),
    cwd,
    home: () => isGranted({ name: "sys", kind: "homedir" }) ? system.home() : readVariable("HOME"),
    directoryStatus: (path) => Promise.resolve(directoryStatus(path)),
    hasProgram: async (nameOrPath) => {
      // One shell is said to be there in any case: its spawn is refused with the flag that would allow it
      if (!isGranted({ name: "run", command: nameOrPath })) return nameOrPath === "sh";
      if (!isGranted({ name: "run" })) return true; // allowed by name, so somebody knows that it is there
      return CAN_LOOK_UP.every(isGranted) ? await system.hasProgram(nameOrPath) : isKnownToShell(nameOrPath);
    },
    portOpen: async (port) => {
      const hosts = [`127.0.0.1:${port}`, `[::1]:${port}`];
      const flags = missingFlags(hosts.map((host) => ({ name: "net", host })));
      if (flags !== "") throw notAllowed(`ask whether port ${port} is open`, flags);
      return await system.portOpen(port);
    },
    guard: () => createOrphanGuard({ forbidden: guardForbidden, atExit: atDenoExit }),
    onShutdown: createDenoShutdown(),
  };
}

function readEnvironment(variables: readonly string[]): Readonly<Record<string, string>> {
  if (isGranted({ name: "env" })) return denoGlobal().env.toObject();
  const pairs = variables.map((name) => [name, readVariable(name)] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function readVariable(name: string): string | undefined {
  return isGranted({ name: "env", variable: name }) ? denoGlobal().env.get(name) : undefined;
}

function cwd(): string {
  try {
    return process.cwd();
  } catch (error) {
    return isNotCapable(error) ? readVariable("PWD") ?? "/" : DELETED_CWD;
  }
}

/** Synchronous, as on Node: the spawn that follows blocks on the same path. */
function directoryStatus(path: string): DirectoryStatus {
  if (!isGranted({ name: "read", path }) || isEnterable(path)) return "ok";
  try {
    return denoGlobal().statSync(`${path}/.`).isDirectory ? "ok" : "not-a-directory";
  } catch (error) {
    if (isNotCapable(error)) return "ok"; // /proc, /dev and the like take all permissions
    const code = codeOf(error);
    if (code === "ENOTDIR") return "not-a-directory";
    return code === "EACCES" || code === "EPERM" ? "not-permitted" : "missing";
  }
}

/** Asks a shell, which may look at files where this process may not. */
function isKnownToShell(nameOrPath: string): boolean {
  const path = readVariable("PATH");
  const command = new (denoGlobal().Command)("sh", {
    args: ["-c", 'command -v "$0"', nameOrPath],
    clearEnv: true,
    env: path === undefined ? {} : { PATH: path },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  });
  try {
    return command.outputSync().code === 0;
  } catch {
    return true; // no sh, as on Windows
  }
}
