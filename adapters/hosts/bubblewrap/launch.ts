/**
 * What stands before bwrap where it cannot be started as it is.
 *
 * @module
 */

import { OffstageError, type SpawnSpec } from "../../../mod.ts";

/**
 * Signals that reach bwrap together with the command in a terminal, by a key or from us. Only the command is to act on
 * them: if bwrap did, that would be the end of everything in the sandbox.
 */
export const SHARED_SIGNALS: readonly string[] = ["HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "ALRM"];

/**
 * Arguments that start a sandbox with signals ignored and descriptors closed.
 *
 * @param sandbox bwrap, its arguments and the command's
 * @param ignored names of signals, without `SIG`
 * @param inherited descriptors that the command would be given although they are others', such as terminals outside
 * @param findBash the path of bash, asked for if there is something to be closed
 * @throws {OffstageError} `unsupported` when there is no bash, which alone can close any descriptor
 */
export function launched(
  sandbox: SpawnSpec["argv"],
  ignored: readonly string[],
  inherited: readonly number[],
  findBash: () => string | undefined,
): SpawnSpec["argv"] {
  if (ignored.length === 0 && inherited.length === 0) return sandbox;
  const script = [
    ...(ignored.length === 0 ? [] : [`trap '' ${ignored.join(" ")}`]),
    `exec "$@" ${inherited.map((descriptor) => `${descriptor}>&-`).join(" ")}`.trim(),
  ].join("; ");
  if (inherited.length === 0) return ["/bin/sh", "-c", script, "sh", ...sandbox];
  const bash = findBash();
  if (bash === undefined) {
    throw new OffstageError(
      "unsupported",
      `Cannot run anything in the sandbox: it takes bash to keep the descriptors ${inherited.join(", ")} from it`,
    );
  }
  return [bash, "--norc", "-c", script, "bash", ...sandbox];
}
