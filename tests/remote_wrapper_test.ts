/**
 * What is sent to another machine arrives as it is, through whichever shell is there: quoting, arguments, variables.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "./property.ts";
import { overseerScript, overseerStarter } from "../adapters/hosts/remote/overseer_script.ts";
import { NEWLINE_VARIABLE, quote } from "../adapters/hosts/remote/quoting.ts";
import { launchText, wrapperArguments } from "../adapters/hosts/remote/wrapper.ts";
import type { SpawnSpec } from "../mod.ts";
import { skipUnless } from "./skip.ts";

const posix = skipUnless(process.platform === "linux", "the shells and programs are those of Linux");
const SHELLS = ["dash", "bash", "ksh", "zsh"].map((name) => `/usr/bin/${name}`).filter(existsSync);

/** Any text without NUL; what cannot be a UTF-8 string cannot be an argument either. */
const text = fc.string({ unit: "binary", maxLength: 40 }).map((all) => all.replaceAll("\0", "")).filter(isWellFormed);
const awkward = fc.constantFrom(...[
  "'",
  "''",
  "\n",
  "\\",
  "$HOME",
  "`id`",
  "!",
  "-n",
  "\x1e",
  "\x7f",
  "\x01",
  "é",
  "a b",
  "",
]);
const word = fc.oneof(text, awkward, fc.array(awkward).map((parts) => parts.join("")));
const name = fc.oneof(
  fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/),
  fc.constantFrom(
    "with-dash",
    "-option",
    "with.dot",
    "1st",
    "IFS",
    "PPID",
    "UID",
    "RANDOM",
    "PS4",
    "BASH_ENV",
    "OPTIND",
    "f()",
    "tag",
    "pid",
    "lead",
    "way",
    "offstage_nl",
  ),
).filter((each) => !["PATH", "_", "PWD", "OLDPWD", "SHLVL"].includes(each) && !/^(?:LD|DYLD)_|^LC_|^LANG$/.test(each));

/** A program that prints what it was given: its arguments, and its environment. */
const TELL = [
  "perl",
  "-e",
  'print join("\\0", "args", @ARGV, "env", map { "$_=$ENV{$_}" } sort keys %ENV), "\\0"',
  "--",
];

function run(
  shell: string,
  spec: Partial<SpawnSpec>,
): { readonly stdout: string; readonly stderr: string; readonly status: number | null } {
  const whole = {
    argv: ["true"],
    cwd: "/",
    env: {},
    stdin: "closed",
    sessionId: "s",
    scope: "tester",
    ...spec,
  } as SpawnSpec;
  return spawnSync(shell, ["-c", ...wrapperArguments("pipes")], {
    input: launchText(whole, "tag", {}),
    env: { PATH: process.env["PATH"] },
    encoding: "utf8",
    maxBuffer: 2 ** 24,
  });
}

function isWellFormed(all: string): boolean {
  return !/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(all);
}

test("a quoted word is one word on one line, whatever is in it", { skip: posix }, () => {
  for (const shell of SHELLS) {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 200 }), (words) => {
        const quoted = words.map(quote);
        assert(quoted.every((each) => !each.includes("\n")));
        const script = `${NEWLINE_VARIABLE}='\n'\nprintf '%s\\0' ${quoted.join(" ")}`;
        const { stdout } = spawnSync(shell, ["-s"], { input: script, encoding: "utf8" });
        assertEquals(stdout, words.map((each) => `${each}\0`).join(""));
      }),
      { numRuns: 15 },
    );
  }
});

test("E1 E3 arguments and variables arrive byte for byte, through every shell", {
  skip: posix || skipUnless(existsSync("/usr/bin/perl"), "there is no perl"),
}, () => {
  for (const shell of SHELLS) {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), fc.dictionary(name, word, { maxKeys: 8 }), (args, env) => {
        const { stdout, stderr, status } = run(shell, { argv: [...TELL, ...args] as [string, ...string[]], env });
        assertEquals(status, 0, stderr);
        const printed = stdout.slice(stdout.indexOf("args\0")).split("\0").slice(1, -1);
        assertEquals(printed.slice(0, args.length), args);
        for (const [key, value] of Object.entries(env)) {
          assert(printed.includes(`${key}=${value}`), `${shell}: ${key}=${JSON.stringify(value)} of ${printed}`);
        }
      }),
      { numRuns: 12 },
    );
  }
});

test("the end is told with the code, the signal, and whether others are left", { skip: posix }, () => {
  const end = (script: string): string | undefined =>
    run("/bin/sh", { argv: ["sh", "-c", script] }).stderr.split("\x1e").find((part) => part.startsWith("offstage:end:"))
      ?.slice("offstage:".length);
  assertEquals(end("exit 7"), "end:tag:7::");
  assertEquals(end("exit 143"), "end:tag:143::");
  assertEquals(end("ulimit -c 0; kill -SEGV $$"), "end:tag:139:SEGV:");
  assertEquals(end("kill -KILL $$"), "end:tag:137:KILL:");
  assertEquals(end("sleep 1 >/dev/null 2>&1 & exit 3"), "end:tag:3::y");
});

test("what cannot be started is told, and why", { skip: posix }, () => {
  const told = (spec: Partial<SpawnSpec>): string | undefined =>
    run("/bin/sh", spec).stderr.match(/offstage:(\w+:tag:[\w-]+)/)?.[1];
  assertEquals(told({ cwd: "/no/such" }), "fail:tag:missing");
  assertEquals(told({ cwd: "/etc/passwd" }), "fail:tag:not-a-directory");
  assertEquals(told({ argv: ["no-such-program"] }), "fail:tag:no-program");
  assertEquals(told({ argv: ["/etc/passwd"] }), "fail:tag:not-executable");
});

test("the scripts can be given to any login shell in single quotes", () => {
  for (
    const part of [...wrapperArguments("pipes"), ...wrapperArguments("terminal"), overseerStarter(overseerScript("m"))]
  ) {
    assert(!/['!\n]/.test(part), part);
    assert(!/\\(?:['\\]|$)/.test(part), `fish would change ${part}`);
  }
});

test("[53] nothing of a command is in the script's arguments", () => {
  const all = wrapperArguments("pipes").join(" ");
  for (const common of ["sleep", "node", "python", "npm"]) assert(!all.includes(common));
  assertStringIncludes(
    new TextDecoder().decode(launchText(
      {
        argv: ["sh", "-c", "a secret"],
        cwd: "/",
        env: { TOKEN: "another" },
        stdin: "open",
        sessionId: "s",
        scope: "tester",
      },
      "tag",
      {},
    )),
    "'a secret'",
  );
});
