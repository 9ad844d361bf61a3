/**
 * What of the host's files can be seen in the sandbox, looked up from outside, before anything is started.
 *
 * @module
 */

import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import type { DirectoryStatus } from "../../../mod.ts";
import { codeOf } from "../../node/failures.ts";
import { findProgram } from "../../node/programs.ts";
import {
  type Bind,
  type Link,
  NETWORK_FILES,
  OWN_DIRECTORIES,
  type Scene,
  SYSTEM_DIRECTORIES,
  SYSTEM_FILES,
} from "./policy.ts";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"; // where this process has no PATH

/**
 * The system directories and files that this machine has.
 *
 * @param network whether those for a network are wanted too
 */
export function systemEntries(network: boolean): readonly (Bind | Link)[] {
  const files = [...SYSTEM_FILES, ...(network ? NETWORK_FILES : [])].filter(isThere);
  return [
    ...SYSTEM_DIRECTORIES.flatMap((path) => linkAt(path) ?? (isThere(path) ? readOnly(path) : [])),
    ...files.map(readOnly),
  ];
}

/** The path without its symbolic links; `undefined` if there is nothing. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Whether a path is that directory or something in it; neither has symbolic links. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/**
 * Whether a command may run in a directory of the host's: it has to be in the workspace, wherever links lead. Of what is
 * outside nothing is told, not even whether it exists.
 *
 * @param path absolute
 * @param workspace without symbolic links
 */
export function workspaceStatus(path: string, workspace: string): DirectoryStatus {
  try {
    const real = realpathSync.native(path);
    if (!isWithin(real, workspace)) return "outside";
    return statSync(`${real}/.`).isDirectory() ? "ok" : "not-a-directory";
  } catch (error) {
    const code = codeOf(error);
    const parent = dirname(path);
    // A link that leads nowhere may lead to a secret
    const above = parent === path || linkAt(path) !== undefined ? "outside" : workspaceStatus(parent, workspace);
    if (above !== "ok") return above;
    if (code === "ENOTDIR") return "not-a-directory";
    return code === "EACCES" || code === "EPERM" ? "not-permitted" : "missing";
  }
}

/** Whether a command of the sandbox can be started in a directory, as it sees it. */
export function isVisibleDirectory(path: string, scene: Scene): boolean {
  if (OWN_DIRECTORIES.includes(path)) return true;
  const host = hostPath(path, scene);
  return host !== undefined && statSync(host, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Whether the sandbox has a program.
 *
 * @param nameOrPath as execvp(3) takes it
 * @param searchPath the command's `PATH`
 * @param cwd the directory in which it runs
 */
export function isVisibleProgram(nameOrPath: string, searchPath: string, cwd: string, scene: Scene): boolean {
  const directories = nameOrPath.includes("/") ? [dirname(nameOrPath)] : searchPath.split(":");
  const name = nameOrPath.slice(nameOrPath.lastIndexOf("/") + 1);
  return directories.some((directory) => {
    const host = hostPath(isAbsolute(directory) ? directory : join(cwd, directory), scene);
    const program = host === undefined ? undefined : findProgram(join(host, name), undefined, "/");
    return program !== undefined && hostPath(program, scene) !== undefined;
  });
}

/**
 * Finds a program to be run outside the sandbox, but none that commands can have put there: the `PATH` of a program that
 * npm has started begins with a directory of the project.
 *
 * @param name looked up on the host's `PATH`; a path is taken as it is
 */
export function programOutside(name: string, { binds }: Scene): string | undefined {
  if (name.includes("/")) return findProgram(name, undefined, "/");
  const isTheirs = (path: string): boolean => binds.some(({ from }) => isWithin(realPath(path) ?? path, from));
  const directories = (process.env.PATH ?? SYSTEM_PATH).split(":").filter((directory) => !isTheirs(directory));
  const program = findProgram(name, directories.join(":"), "/");
  return program !== undefined && !isTheirs(program) ? program : undefined;
}

/** Where on the host something is that commands see, all links followed; `undefined` if they do not. */
function hostPath(path: string, { system, binds }: Scene): string | undefined {
  const all = [...system.flatMap((entry) => "target" in entry ? [] : entry), ...binds];
  const real = realPath(path);
  // What is bound elsewhere than it is has no such path on the host
  const moved = all.find(({ from, to }) => from !== to && isWithin(path, to));
  if (moved !== undefined) return realPath(moved.from + path.slice(moved.to.length));
  return real !== undefined && all.some(({ from }) => isWithin(real, from)) ? real : undefined;
}

function readOnly(path: string): Bind {
  return { from: path, to: path, writable: false };
}

function linkAt(path: string): Link | undefined {
  try {
    return { path, target: readlinkSync(path) };
  } catch {
    return undefined; // it is something else, or nothing
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined && realPath(path) !== undefined;
}
