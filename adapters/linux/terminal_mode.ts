/**
 * The mode of a terminal, as stty(1) tells it: none of the runtimes can ask for it.
 *
 * @module
 */

import { execFile } from "node:child_process";
import process from "node:process";

/** It answers in a few milliseconds; on a machine where it does not, the question is not worth the wait, ms. */
const PATIENCE_MS = 3_000;

/** Not this process's own: that may begin with a directory that commands can write to. */
const SYSTEM_PATH = "/usr/bin:/bin";

/**
 * Whether a terminal is in its normal (cooked) mode, in which it keeps lines back.
 *
 * @param path its slave side, e.g. `/dev/pts/4`
 * @returns `undefined` where there is no stty, or it cannot tell
 */
export function isCooked(path: string): Promise<boolean | undefined> {
  const file = process.platform === "linux" ? "-F" : "-f"; // BSD, macOS
  return new Promise((resolve) => {
    execFile("stty", [file, path, "-a"], { timeout: PATIENCE_MS, env: { PATH: SYSTEM_PATH } }, (error, text) => {
      const [, off] = error === null ? /(?:^|\s)(-?)icanon\b/.exec(text) ?? [] : [];
      resolve(off === undefined ? undefined : off === "");
    });
  });
}
