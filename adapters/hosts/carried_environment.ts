/**
 * How variables get to a command past the program that starts it. A host that wraps this machine's spawner runs that
 * program (`bwrap`) outside, with the environment of the command: one of `LD_PRELOAD` or `BASH_ENV` would have its way
 * there. On a command line they would be seen by every user of the machine.
 *
 * @module
 */

/** An environment that does nothing to the program that passes it on. */
export interface Carried {
  /** What that program is started with. */
  readonly env: Readonly<Record<string, string>>;
  /** What the command is to be started by, which puts its variables in their place; empty if there is nothing to do. */
  readonly argv: readonly string[];
}

/** Variables that no loader, library or shell acts on, and those by which shells get their command's text. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...["OPENCLAW_SHELL", "OFFSTAGE_SESSION_ID", "OFFSTAGE_INSTANCE"],
  ...["PATH", "HOME", "TERM", "NO_COLOR", "PAGER", "GIT_PAGER", "MANPAGER", "GIT_TERMINAL_PROMPT"],
]);
const COMMAND_TEXT = /^OFFSTAGE_COMMAND_\d+$/;

/**
 * Gives the command what was carried, by env(1): its name may be none that a shell can set. None of it is in the
 * environment of env too, for together they must not be larger than the kernel takes; and the text is as short for
 * thousands of them.
 */
const UNPACK = [
  "option=$1 count=$2 number=0 all=",
  "shift 2",
  'while [ "$number" -lt "$count" ]',
  "do number=$((number + 1))",
  'eval "pair_$number=\\$OFFSTAGE_CARRIED_$number"',
  'unset "OFFSTAGE_CARRIED_$number"',
  'all="$all \\"\\$pair_$number\\""',
  "done",
  'eval "exec /usr/bin/env $option -- $all \\"\\$@\\""',
].join("; ");

/**
 * Puts every variable that might do something into one with a name that does nothing.
 *
 * @param env the command's environment
 * @param signals names of signals, without `SIG`, that are ignored by now and are not to be for the command; that takes
 * env(1) of GNU coreutils 8.31
 */
export function carryEnvironment(
  env: Readonly<Record<string, string>>,
  signals: readonly string[] = [],
): Carried {
  const entries = Object.entries(env);
  const harmless = entries.filter(([name]) => isHarmless(name));
  const carried = entries.filter(([name]) => !isHarmless(name)).map(([name, value]) => `${name}=${value}`);
  const names = carried.map((_, index) => `OFFSTAGE_CARRIED_${index + 1}`);
  const resetting = signals.length === 0 ? [] : [`--default-signal=${signals.join(",")}`];
  if (names.length === 0) {
    return { env: Object.fromEntries(harmless), argv: resetting.length === 0 ? [] : ["/usr/bin/env", ...resetting] };
  }
  return {
    env: Object.fromEntries([...harmless, ...carried.map((pair, index) => [names[index], pair] as const)]),
    argv: ["/bin/sh", "-c", UNPACK, "sh", resetting.join(""), String(names.length)],
  };
}

function isHarmless(name: string): boolean {
  return HARMLESS.has(name) || COMMAND_TEXT.test(name);
}
