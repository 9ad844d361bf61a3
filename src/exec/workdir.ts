/**
 * Where a command runs: the caller's words become an absolute directory that exists.
 *
 * @module
 */
import type { DirectoryStatus, Runtime } from "../runtime.ts";

/**
 * Makes an absolute path of what the caller gave; pure.
 *
 * @param workdir omitted or empty is `cwd`; `~` and `~/x` start at `home`, a relative path at `cwd`
 */
export function resolveWorkdir(workdir: string | undefined, cwd: string, home: () => string | undefined): string {
  const wanted = workdir ?? "";
  if (wanted === "") return cwd;
  const start = /^~(?=$|[/\\])/.test(wanted) ? home() : undefined;
  const expanded = start === undefined ? wanted : start + wanted.slice(1);
  const absolute = /^([/\\]|[A-Za-z]:[/\\])/.test(expanded) ? expanded : `${cwd}/${expanded}`;
  return tidy(absolute);
}

const TROUBLE: Readonly<Record<Exclude<DirectoryStatus, "ok">, string>> = {
  "missing": "does not exist",
  "not-a-directory": "is not a directory",
  "not-permitted": "may not be entered (permission denied)",
};

/** Why a command cannot run in a directory, naming it; `undefined` if it can. */
export async function workdirTrouble(runtime: Runtime, directory: string): Promise<string | undefined> {
  const status = await runtime.directoryStatus(directory);
  return status === "ok" ? undefined : `working directory ${TROUBLE[status]}: ${directory}`;
}

/** Takes `.` and doubled slashes out. `..` stays: after a symbolic link only the system knows where it leads. */
function tidy(path: string): string {
  const parts = path.split("/").filter((part, index) => index === 0 || (part !== "" && part !== "."));
  return parts.length === 1 && parts[0] === "" ? "/" : parts.join("/");
}
