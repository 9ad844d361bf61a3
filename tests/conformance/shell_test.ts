/**
 * Which shell runs a command, that it reads nobody's startup files, and that the command gets to it unchanged
 * (E1, E20; cases 53, 94, 103).
 *
 * @module
 */
import { existsSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ExecParams } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { background, open, pollToEnd, runToEnd } from "./agent.ts";
import { CONNECTIONS, freshFolder, posix } from "./machine.ts";
import { closing, test } from "../closing.ts";

const SHELLS = ["bash", "dash", "sh", "zsh", "ksh"] as const;

/** Where a program is, as the host's own search path says. */
function find(name: string): string | undefined {
  const folders = (process.env.PATH ?? "").split(":");
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function needs(...names: readonly string[]): string | false {
  const missing = names.filter((name) => find(name) === undefined);
  return posix || skipUnless(missing.length === 0, `${missing.join(", ")} is not installed`);
}

/** Changes the host's own environment until it is disposed of; `undefined` takes a variable out. */
function hostEnvironment(changes: Readonly<Record<string, string | undefined>>): AsyncDisposable {
  const before = Object.keys(changes).map((name) => [name, process.env[name]] as const);
  const apply = (entries: Iterable<readonly [string, string | undefined]>): void => {
    for (const [name, value] of entries) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  apply(Object.entries(changes));
  return { [Symbol.asyncDispose]: () => Promise.resolve(apply(before)) };
}

/** Runs a command with the shell that is chosen in that host environment. */
async function chosenWith(
  environment: Readonly<Record<string, string | undefined>>,
  shell?: string,
): Promise<{ readonly shell: string; readonly text: string; readonly output: string }> {
  const host = hostEnvironment(environment);
  try {
    const bench = closing(open(shell === undefined ? {} : { shell }));
    const { details, text } = await runToEnd(bench.agent, { command: "echo ran" });
    return { shell: details.shell, text, output: details.output };
  } finally {
    await host[Symbol.asyncDispose]();
  }
}

// the choice

test("E20 without any wish it is bash, which the answer need not mention [103]", { skip: needs("bash") }, async () => {
  assertEquals(await chosenWith({ SHELL: undefined }), { shell: "bash", text: "ran", output: "ran\n" });
});

for (const name of ["zsh", "dash", "sh", "ksh"]) {
  test(`E20 SHELL=${name} is used, and the answer names it [103]`, { skip: needs(name) }, async () => {
    const { shell, text } = await chosenWith({ SHELL: find(name) });
    assertEquals([shell, text], [name, `ran\n[ran in ${name}]`]);
  });
}

for (const login of ["/usr/bin/fish", "/usr/sbin/nologin", "/bin/false", "/no/such/zsh", "", "/usr/bin/tcsh"]) {
  test(`E20 SHELL=${JSON.stringify(login)} is passed over for bash [103]`, { skip: needs("bash") }, async () => {
    assertEquals((await chosenWith({ SHELL: login })).shell, "bash");
  });
}

test(
  "E20 where there is no bash it is sh, and both answers say so [103]",
  { skip: needs("dash", "sleep") },
  async () => {
    const folder = closing(await freshFolder());
    for (const [name, target] of [["sh", "dash"], ["sleep", "sleep"]] as const) {
      await symlink(find(target) ?? "", join(folder.path, name));
    }
    closing(hostEnvironment({ SHELL: undefined, PATH: folder.path }));
    const bench = closing(open());
    const { details, text } = await runToEnd(bench.agent, { command: "echo {1..3}" });
    assertEquals([details.shell, details.output, text], ["sh", "{1..3}\n", "{1..3}\n[ran in sh]"]);
    const run = await background(bench.agent, { command: "sleep 60" });
    assertEquals(run.details.shell, "sh");
    assertStringIncludes(run.text, "[ran in sh]");
  },
);

test("E20 the option beats SHELL, by name and by path [103]", { skip: needs("bash", "dash") }, async () => {
  const SHELL = find("bash");
  assertEquals((await chosenWith({ SHELL }, "dash")).shell, "dash");
  assertEquals((await chosenWith({ SHELL }, find("dash"))).shell, "dash");
});

test("E20 an option that cannot be used is an error that says so, never another shell", { skip: posix }, async () => {
  for (const shell of ["fish", "/usr/sbin/nologin", "/no/such/bash"]) {
    const bench = closing(open({ shell }));
    const { isError, text, details } = await bench.agent.exec({ command: "echo ran" });
    assertEquals([isError, details.status], [true, "failed"]);
    assertStringIncludes(text, shell);
  }
});

for (const { how, pty, skip } of CONNECTIONS) {
  test(`E20 bash is bash and dash is dash on ${how} [103]`, { skip: skip || needs("bash", "dash") }, async () => {
    const command = "echo {1..3}; [[ a == a ]] && echo ok; printf '\\x41\\n'";
    const outputOf = async (shell: string): Promise<string> => {
      const bench = closing(open({ shell }));
      return (await runToEnd(bench.agent, { command, pty })).details.output;
    };
    assertEquals(await outputOf("bash"), "1 2 3\nok\nA\n");
    const dash = await outputOf("dash");
    assertStringIncludes(dash, "{1..3}");
    assertStringIncludes(dash, "not found");
    assertStringIncludes(dash, "\\x41");
  });
}

// no startup files

const STARTUP_FILES = [".bashrc", ".bash_profile", ".profile", ".zshenv", ".zshrc", ".zprofile", ".kshrc", ".shrc"];

/** Ways to connect stdin: bash takes a socket for rshd's and would read `.bashrc` there. */
const STDINS: readonly Partial<ExecParams>[] = [{}, { stdin: "open" }, { stdin: "closed" }, { pty: true }];

for (const name of SHELLS) {
  test(`E20 ${name} reads no startup file, whatever its stdin is`, { skip: needs(name) }, async () => {
    const home = closing(await freshFolder());
    for (const file of STARTUP_FILES) await writeFile(join(home.path, file), "echo STARTUP\n");
    const startup = join(home.path, ".bashrc");
    closing(hostEnvironment({ SHLVL: undefined, ENV: startup, BASH_ENV: startup, ZDOTDIR: home.path }));
    const bench = closing(open({ shell: name }));
    for (const params of STDINS) {
      const { details } = await runToEnd(bench.agent, {
        command: "echo only this",
        env: { HOME: home.path },
        yieldMs: 20_000,
        ...params,
      });
      assertEquals([details.output, details.shell], ["only this\n", name], JSON.stringify(params));
    }
  });
}

// the way to the shell

for (const name of SHELLS) {
  test(`E1 nothing of the way to ${name} is left for the command to see`, { skip: needs(name) }, async () => {
    const bench = closing(open({ shell: name }));
    const command = "env | grep -c OFFSTAGE_COMMAND; set | grep -ac '^OFFSTAGE_COMMAND'; echo $#";
    const { details } = await runToEnd(bench.agent, { command });
    assertEquals(details.output, "0\n0\n0\n");
  });

  test(`E1 the way to ${name} reads nothing of the command's stdin [94]`, { skip: needs(name) }, async () => {
    const bench = closing(open({ shell: name }));
    const { id } = await background(bench.agent, { command: 'read -r first; echo "<$first>"; cat; exit 5' });
    await bench.agent.process({ action: "write", sessionId: id, data: "P\nrest\n", eof: true });
    const { output, last } = await pollToEnd(bench.agent, id);
    assertEquals([output, last.exitCode], ["<P>\nrest\n", 5]);
  });
}

/** Commands that a careless wrapper changes, with what they print under any POSIX shell. */
const VERBATIM: readonly (readonly [command: string, output: string])[] = [
  ["echo 'a  b' \"c\" d\\ e", "a  b c d e\n"],
  ["echo '$HOME' `echo tick` \"$(echo sub)\"", "$HOME tick sub\n"],
  ["echo last # comment", "last\n"],
  ["echo a; # comment\n", "a\n"],
  ["cat <<X\nhere\nX", "here\n"],
  ["cat <<'X'\n$HOME `no`\nX\necho after", "$HOME `no`\nafter\n"],
  ["for i in 1 2\ndo echo $i\ndone", "1\n2\n"],
  ["echo one & wait", "one\n"],
  ['(echo sub; exit 3) || echo "code $?"', "sub\ncode 3\n"],
  ["printf '%s\\n' '€😀' \"it's\"", "€😀\nit's\n"],
  ["echo back\\\\slash; echo end\\", "back\\slash\nend\n"],
  ["! false && echo negated", "negated\n"],
  ["\n\n  echo indented\n\n", "indented\n"],
  ["{ echo braces; }", "braces\n"],
  ["exec echo replaced", "replaced\n"],
];

for (const { how, pty, skip } of CONNECTIONS) {
  test(`E1 a command reaches bash on ${how} byte for byte`, { skip: skip || needs("bash") }, async () => {
    const bench = closing(open({ shell: "bash" }));
    await Promise.all(VERBATIM.map(async ([command, expected]) => {
      const { details } = await runToEnd(bench.agent, { command, pty });
      const output = command.includes("end\\") ? details.output.replace("end\\", "end") : details.output;
      assertEquals(output, expected, JSON.stringify(command));
    }));
  });
}

test("E1 a syntax error is shown with the user's own line and nothing of ours", { skip: needs("bash") }, async () => {
  const bench = closing(open({ shell: "bash" }));
  const { details } = await runToEnd(bench.agent, { command: "echo fine\nif then fi" });
  assertEquals([details.status, details.ok], ["completed", false]);
  assertStringIncludes(details.output, "if then fi");
  assert(!/OFFSTAGE|unset|eval "/.test(details.output), details.output);
});
