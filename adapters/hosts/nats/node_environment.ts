/**
 * The environment of a command on a node.
 *
 * @module
 */

/** What a command is told of the machine, as ssh would tell it. The rest of the node's own environment may be secret. */
const OF_THE_MACHINE: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"],
  ...["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE"],
];

/**
 * Puts it together: what the machine says of itself, what its owner adds, and what the call brings, which wins.
 *
 * @param call the variables that came with the call
 * @param added those that the node's owner gives to all commands
 * @param own the node's environment
 * @param instance the mark by which this node's orphan guard finds its commands
 */
export function nodeEnvironment(
  call: Readonly<Record<string, string>>,
  added: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
  instance: string | undefined,
): Readonly<Record<string, string>> {
  const { OFFSTAGE_INSTANCE: _theGateways, ...brought } = call;
  return {
    ...Object.fromEntries(Object.entries(own).filter(([name]) => OF_THE_MACHINE.includes(name))),
    ...added,
    ...brought,
    ...(instance !== undefined && { OFFSTAGE_INSTANCE: instance }),
  };
}
