/**
 * Breaks the core in one place after the other and says where no fast test notices:
 * `npm run mutate [-- part of a file name …] [--every N] [--seed N] [--budget MS] [--jobs N] [--json FILE] [--again FILE]`.
 *
 * Default: every third place of `src/output`, `src/session` and `src/terminal`, beginning at the seedth; `--every 1`
 * takes all of them. A place is tried with the tests that reach it: first the cheapest, as many as take `--budget` ms
 * (1000), then, unless it may survive, the others. `--json` keeps what became of each mutant, and `--again` tries those
 * that survived then once more. Tests are those of `tests/*_test.ts` that start no process. What survives for a reason
 * stands in `survivors.json`; anything else that survives, or less than 85 % caught in a folder, is exit code 1. Ctrl-C
 * reports what has been tried by then.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import * as modules from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { toldHelp } from "../header_help.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

// The sources with mutants in them are handed to Node by hooks that Node 20 does not have
const pinned = join(root, ".ci", "runtimes", "node_modules", "node24", "bin", "node");
const program = "registerHooks" in modules ? process.execPath : pinned;

if (toldHelp(process.argv, import.meta.url)) process.exit();
if (program === pinned && !existsSync(pinned)) {
  console.error("This needs Node 24: run it there, or install the pinned one with npm ci --prefix .ci/runtimes");
  process.exitCode = 1;
} else {
  process.on("SIGINT", () => {}); // it is the other one's, which reports before it ends
  const { status } = spawnSync(program, [join(here, "mutate.ts"), ...process.argv.slice(2)], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
