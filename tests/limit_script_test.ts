/**
 * The `ulimit`s on real shells: what they report, and that they never raise what the host has set.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { limitScript } from "../src/exec/limit_script.ts";
import type { Shell } from "../src/exec/shell.ts";
import type { Limits } from "../mod.ts";
import { skipUnless } from "./skip.ts";

const SHELLS: readonly Shell[] = [
  { path: "bash", kind: "bash" },
  { path: "dash", kind: "dash" },
  { path: "sh", kind: "sh" },
  { path: "zsh", kind: "zsh" },
  { path: "ksh93", kind: "ksh" },
  { path: "mksh", kind: "ksh" },
];

/** Nothing of the runner's environment but the search path. */
const ENVIRONMENT = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

/** What a script prints. */
function run({ path, kind }: Shell, script: string): { readonly stdout: string; readonly stderr: string } {
  const flags = kind === "zsh" ? ["-f"] : kind === "bash" ? ["--norc"] : [];
  return spawnSync(path, [...flags, "-c", script], { env: ENVIRONMENT, encoding: "utf8", timeout: 60_000 });
}

/** The same option as `test` takes: only where the shell is installed, and can limit what is asked here. */
function installed(shell: Shell): { readonly skip: string | false } {
  const found = run(shell, "ulimit -S -v 8388608 && echo yes").stdout === "yes\n";
  return { skip: skipUnless(found, `${shell.path} is not installed, or cannot limit memory`) };
}

/** A report without the word that depends on who runs the tests. */
function words(stderr: string): string {
  return stderr.replace(" as-root", "");
}

const NOTHING = "\x1b_offstage-limits\x1b\\";
const LIMITS: Limits = { memoryBytes: 2 ** 33, cpuSeconds: 500, processes: 900, openFiles: 90 };

for (const shell of SHELLS) {
  const { path, kind } = shell;
  const options = installed(shell);

  test(`limits are set in ${path}, soft and hard, and the report says so`, options, () => {
    const { stdout, stderr } = run(
      shell,
      `${limitScript(LIMITS, kind)}echo "$?"; for h in S H; do for o in v t n; do ulimit -$h -$o; done; ` +
        "ulimit -$h -u 2>/dev/null || ulimit -$h -p; done",
    );
    assertEquals(words(stderr), NOTHING);
    assertEquals(stdout.split("\n"), ["0", "8388608", "500", "90", "900", "8388608", "505", "90", "900", ""]);
  });

  test(`what ${path} cannot set is in the report, and the command runs all the same`, options, () => {
    const script = limitScript(LIMITS, kind).replaceAll(/(?<=ulimit -[SH] -)[vnup](?= |\))/g, "Y");
    const { stdout, stderr } = run(shell, `${script}echo "$?"; ulimit -S -t`);
    assertEquals(words(stderr), "\x1b_offstage-limits memoryBytes openFiles processes\x1b\\");
    assertEquals(stdout, "0\n500\n");
  });

  test(`a lower limit of the host stands in ${path}, without a word, for root too`, options, () => {
    const host = "ulimit -S -n 50; ulimit -H -n 60; ulimit -S -v 900000; ulimit -H -v 900000; ";
    const { stdout, stderr } = run(
      shell,
      `${host}${limitScript(LIMITS, kind)}ulimit -S -n; ulimit -H -n; ulimit -H -v`,
    );
    assertEquals([words(stderr), stdout], [NOTHING, "50\n60\n900000\n"]);
    const between = run(
      shell,
      `ulimit -S -t 502; ulimit -H -t 503; ${limitScript(LIMITS, kind)}ulimit -S -t; ulimit -H -t`,
    );
    assertEquals([words(between.stderr), between.stdout.split("\n")[0]], [NOTHING, "500"]);
    if (kind !== "zsh") assertEquals(between.stdout, "500\n503\n");
  });
}
