/**
 * Descriptors that this process was given by whoever started it, and gives to its own children: files, directories or
 * sockets that a sandboxed command has no business with.
 *
 * @module
 */

import { numbersIn, readLink, readText } from "./proc_files.ts";

const LAST_STANDARD = 2; // stdin, stdout and stderr, which every child gets of its own
const CLOSE_ON_EXEC = 0o2000000; // O_CLOEXEC in the octal flags of /proc/self/fdinfo, see proc_pid_fdinfo(5)

let known: readonly number[] | undefined;

/**
 * Their numbers. Found once, by the first call: what a runtime opens itself it does not pass on. Empty where there is no
 * `/proc`.
 */
export function inheritedDescriptors(): readonly number[] {
  return known ??= numbersIn("/proc/self/fd").filter((descriptor) =>
    descriptor > LAST_STANDARD && isPassedOn(descriptor)
  );
}

function isPassedOn(descriptor: number): boolean {
  const [, flags] = /^flags:\s*([0-7]+)/m.exec(readText(`/proc/self/fdinfo/${descriptor}`) ?? "") ?? [];
  if (flags === undefined || Number.parseInt(flags, 8) & CLOSE_ON_EXEC) return false;
  return readLink(`/proc/self/fd/${descriptor}`) !== "/dev/null";
}
