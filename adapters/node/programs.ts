/**
 * Finds programs as the system would.
 *
 * @module
 */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import process from "node:process";

const EXTENSIONS: readonly string[] = process.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""];
const DEFAULT_PATH = "/usr/local/bin:/bin:/usr/bin"; // what execvp(3) uses when PATH is not set

/**
 * The path of the program that would run, as execvp(3) looks for it.
 *
 * @param nameOrPath a name to look up, or a path, which is taken as it is
 * @param searchPath the value of `PATH`
 * @param cwd what relative paths start from
 * @returns `undefined` when there is none, or it may not be executed
 */
export function findProgram(nameOrPath: string, searchPath: string | undefined, cwd: string): string | undefined {
  const isPath = nameOrPath.includes("/") || (process.platform === "win32" && nameOrPath.includes("\\"));
  const directories = isPath ? [""] : (searchPath ?? DEFAULT_PATH).split(delimiter);
  for (const directory of directories) {
    for (const extension of EXTENSIONS) {
      const path = resolve(cwd, directory, nameOrPath + extension);
      if (isExecutable(path)) return path;
    }
  }
  return undefined;
}

function isExecutable(path: string): boolean {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false; // most directories of a PATH
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
