/**
 * Where a command runs: the caller's words become an absolute directory that exists.
 *
 * @module
 */
import { OffstageError } from "../errors.ts";
import type { DirectoryStatus, Place } from "../runtime.ts";

/**
 * The absolute path of the directory that the caller means, which is there and may be entered.
 *
 * @param workdir empty is the place's own; `~` and `~/x` start at its home, a relative path at its own
 * @param place where the command is to run
 * @throws {OffstageError} as {@linkcode checkWorkdir}
 */
export async function findWorkdir(workdir: string, place: Place): Promise<string> {
  const directory = await resolveWorkdir(workdir, place);
  await checkWorkdir(directory, place);
  return directory;
}

/**
 * Looks at a directory that a command is to run in, or could not be started in.
 *
 * @param directory its absolute path
 * @param place where the command is to run
 * @throws {OffstageError} `spawn-failed` if it is not there or may not be entered, `refused` if the host keeps commands
 * out of it; the message names it
 */
export async function checkWorkdir(directory: string, place: Place): Promise<void> {
  const status = await place.directoryStatus(directory);
  if (status === "ok") return;
  throw new OffstageError(
    status === "outside" ? "refused" : "spawn-failed",
    `working directory ${TROUBLE[status]}: ${directory}`,
  );
}

async function resolveWorkdir(wanted: string, place: Place): Promise<string> {
  const cwd = await place.cwd();
  if (wanted === "") return cwd;
  const start = /^~(?=$|[/\\])/.test(wanted) ? await place.home() : undefined;
  const expanded = start === undefined ? wanted : start + wanted.slice(1);
  const absolute = /^([/\\]|[A-Za-z]:[/\\])/.test(expanded) ? expanded : `${cwd}/${expanded}`;
  return tidy(absolute);
}

const TROUBLE: Readonly<Record<Exclude<DirectoryStatus, "ok">, string>> = {
  "missing": "does not exist",
  "not-a-directory": "is not a directory",
  "not-permitted": "may not be entered (permission denied)",
  "outside": "is not in the workspace that commands are kept to",
};

/** Takes `.` and doubled slashes out. `..` stays: after a symbolic link only the system knows where it leads. */
function tidy(path: string): string {
  const parts = path.split("/").filter((part, index) => index === 0 || (part !== "" && part !== "."));
  return parts.length === 1 && parts[0] === "" ? "/" : parts.join("/");
}
