/**
 * Deaths by signal as shells tell them, and programs that run a command for us: as a code of 128 and the signal's number.
 *
 * @module
 */

import { constants } from "node:os";
import type { Exit, SignalName } from "../../mod.ts";

const BASE = 128; // POSIX, Shell Command Language, 2.8.2: greater than 128; every shell and bwrap take 128 itself

/**
 * The exit that was meant. The code alone does not tell: a program may exit with 143 as well. A signal that we have sent
 * and the code for its death are taken for that death.
 *
 * @param exit as it was told
 * @param sent the signals that were sent
 */
export function unfoldExit(exit: Exit, sent: ReadonlySet<SignalName>): Exit {
  const signal = [...sent].find((name) => exit.code === BASE + constants.signals[name]);
  return signal === undefined ? exit : { signal };
}
