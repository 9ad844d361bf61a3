/** E1, E9, E20 and E37 on real shells: a wrapped command behaves as it would with `-c`. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { MAX_COMMAND_BYTES, shellCommand } from "../src/exec/shell.ts";
import type { Shell } from "../src/exec/shell.ts";
import { skipUnless } from "./skip.ts";

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Nothing of the runner's environment but the search path. */
const ENVIRONMENT = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

const SHELLS: readonly Shell[] = [
  { path: "bash", kind: "bash" },
  { path: "dash", kind: "dash" },
  { path: "sh", kind: "sh" },
  { path: "zsh", kind: "zsh" },
  { path: "ksh93", kind: "ksh" },
  { path: "mksh", kind: "ksh" },
];

/** The same option as `test` takes: only where the shell is installed. */
function installed({ path }: Shell): { readonly skip: string | false } {
  const found = spawnSync(path, ["-c", "exit 3"], { env: ENVIRONMENT }).status === 3;
  return { skip: skipUnless(found, `${path} is not installed`) };
}

function spawn(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Ended {
  const child = spawnSync(program, [...args], {
    env: { ...ENVIRONMENT, ...env },
    encoding: "utf8",
    maxBuffer: 8 * MAX_COMMAND_BYTES,
    timeout: 60_000,
  });
  return { code: child.status, signal: child.signal, stdout: child.stdout, stderr: child.stderr };
}

function wrapped(
  shell: Shell,
  command: string,
  env: Readonly<Record<string, string>> = {},
  mergeStreams = false,
): Ended {
  const { argv: [program, ...args], env: carried } = shellCommand(shell, command, { mergeStreams });
  return spawn(program, args, { ...env, ...carried });
}

/** Commands whose exit and stdout must be those of `-c`. */
const COMMANDS: readonly string[] = [
  "echo plain; echo $#; echo $?",
  "exit 7",
  "(exit 5)",
  "false",
  "true\nfalse\n",
  "set -e; false; echo unreached",
  "set -e\nfalse\necho unreached",
  "set -u; echo $nope; echo unreached",
  "set -- a b; echo $#",
  "trap 'echo bye' EXIT; echo first",
  "trap 'echo bye; exit 4' EXIT; exit 3",
  "f() { return 6; }; f",
  "exec sh -c 'exit 9'",
  "kill -TERM $$",
  "kill -9 $$",
  "cat <<X\nhello\nX",
  "cat <<X\nno end",
  "echo a\\",
  "# nothing but a comment",
  "  \n # comment\necho body # comment",
  "; echo x",
  "&& echo x",
  "}",
  "if then",
  "echo '",
  "echo a |",
  "nosuchcommand",
  "(exit 3) & wait $!; echo $?",
  'echo "$(echo a; echo b)" `echo c` €😀',
  "printf '%s|' 'a  b' \"c\" d\\ e",
  "env | grep OFFSTAGE; echo none",
  "set | grep -a '^OFFSTAGE'; echo none",
  "x=1; unset x; echo ${x-unset}",
  "eval 'exit 8'",
  "exec 2>/dev/null; nosuchcommand",
  "false || true && echo chained",
];

for (const shell of SHELLS) {
  const options = installed(shell);

  test(`E1 a command in ${shell.path} ends and prints as with -c`, options, () => {
    for (const command of COMMANDS) {
      const { stderr: _, ...plain } = spawn(shell.path, ["-c", command]);
      const { stderr: __, ...ours } = wrapped(shell, command);
      assertEquals(ours, plain, JSON.stringify(command));
    }
  });

  test(`E1 line numbers and the shell's own name are true in ${shell.path}`, options, () => {
    assertEquals(
      wrapped(shell, "echo $LINENO\n\necho $LINENO; echo $0").stdout,
      spawn(shell.path, [
        "-c",
        "echo $LINENO\n\necho $LINENO; echo $0",
      ]).stdout,
    );
  });

  test(`E1 a command that begins with a dash is a command in ${shell.path}`, options, () => {
    assertEquals(wrapped(shell, "-n foo").code, 127);
    assertEquals(wrapped(shell, "--version").code, 127);
  });

  test(`case 53: pkill -f for a text of the command does not find its own shell, ${shell.path}`, options, () => {
    const text = `sleep 98765${"x"}yz${process.pid}`;
    assertEquals(wrapped(shell, `pkill -f '${text}'; echo rc=$?`).stdout, "rc=1\n");
  });

  test(`E9 mergeStreams keeps the true order in ${shell.path}`, options, () => {
    const command = "for i in 1 2 3; do echo o$i; echo e$i >&2; done";
    const merged = wrapped(shell, command, {}, true);
    assertEquals(merged.stdout, "o1\ne1\no2\ne2\no3\ne3\n");
    assertEquals(merged.stderr, "");
    assertEquals(wrapped(shell, command).stderr, "e1\ne2\ne3\n");
  });

  test(`E37 a command of 1 MiB runs in ${shell.path}, every byte of it (case 65)`, options, () => {
    const [before, after] = ["cat <<'END'\n", "\nEND\n"];
    const room = MAX_COMMAND_BYTES - before.length - after.length;
    const body = "€😀x".repeat(Math.floor(room / 8)) + "x".repeat(room % 8);
    const { code, stdout, stderr } = wrapped(shell, before + body + after);
    assertEquals(stderr, "");
    assertEquals(code, 0);
    // Compared here: a failed assertEquals would print both.
    assert(stdout === `${body}\n`, "the text arrived changed");
  });
}

const bash: Shell = { path: "bash", kind: "bash" };

test("E1 a syntax error in bash shows the user's line and nothing of ours", installed(bash), () => {
  const { code, stderr } = wrapped(bash, "if then");
  assertEquals(code, 2);
  assertMatch(stderr, /line 1: `if then'/);
  assert(!stderr.includes("OFFSTAGE"));
  assertEquals(wrapped(bash, 'echo "$BASH_EXECUTION_STRING"').stdout, 'echo "$BASH_EXECUTION_STRING"\n');
});

test("E20 bash reads no startup file, not even as it would for rshd", installed(bash), () => {
  const home = mkdtempSync(join(tmpdir(), "offstage-shell-"));
  try {
    for (const name of [".bashrc", ".bash_profile", ".profile", ".zshrc"]) {
      writeFileSync(join(home, name), "echo SOURCED\n");
    }
    // No SHLVL, and a stdin that is a socket on Node: the conditions under which `bash -c` takes itself for rshd's.
    assertEquals(wrapped(bash, "echo only this", { HOME: home }).stdout, "only this\n");
  } finally {
    rmSync(home, { recursive: true });
  }
});

test("E20 bash is bash: braces, double brackets and escapes work (case 103)", installed(bash), () => {
  const { stdout } = wrapped(bash, "echo {1..3}; [[ a == a ]] && echo ok; printf '\\x41\\n'");
  assertEquals(stdout, "1 2 3\nok\nA\n");
});

test("the text is in nobody's arguments while the command runs (case 125)", installed(bash), () => {
  const secret = `s3cr3t${process.pid}`;
  const { stdout } = wrapped(bash, `: ${secret}; tr '\\0' ' ' < /proc/$$/cmdline; echo`);
  assertStringIncludes(stdout, "eval");
  assert(!stdout.includes(secret));
});
