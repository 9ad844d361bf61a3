/**
 * What the engines of containers are told. Pure.
 *
 * @module
 */
import type { ContainerOptions } from "../container.ts";

/**
 * The keys that would take docker off a terminal, the first of which it keeps back until it has seen the next: by default
 * ^P, which shells use. It cannot be told that there are none.
 */
const DETACH_KEYS = "ctrl-^,ctrl-_,ctrl-^,ctrl-_,ctrl-^";

/**
 * Program and arguments that run `/bin/sh -c` in the container.
 *
 * @param options which container
 * @param shell the arguments after `-c`
 * @param inTerminal whether it gets a terminal
 */
export function containerArguments(
  { engine, target, container, user, options = [], program = engine }: ContainerOptions,
  shell: readonly string[],
  inTerminal: boolean,
): readonly [string, ...string[]] {
  const streams = inTerminal ? ["-i", "-t"] : ["-i"];
  const command = ["/bin/sh", "-c", ...shell];
  if (engine === "kubectl") {
    const which = container === undefined ? [] : ["-c", container];
    return [program, ...options, "exec", ...streams, ...which, target, "--", ...command];
  }
  const keys = inTerminal ? ["--detach-keys", DETACH_KEYS] : [];
  const who = user === undefined ? [] : ["--user", user];
  return [program, ...options, "exec", ...streams, ...keys, ...who, target, ...command];
}
