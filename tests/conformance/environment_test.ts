/**
 * What a command finds in its environment, and what nobody finds of it elsewhere: E3, E22–E24 and section I of the cases
 * from the field.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { assert, assertArrayIncludes, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Agent, type ExecParams, INJECTION_VARIABLES, type Problem } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { background, open, pollUntil, runToEnd, tryOut } from "./agent.ts";
import { closing, test } from "../closing.ts";
import { posix, terminal as pty } from "./machine.ts";

const proc = posix || skipUnless(existsSync("/proc/self/environ"), "there is no /proc to look at a process");
const node = posix || skipUnless(await runs("node -e 1"), "there is no node on the PATH");

async function runs(command: string): Promise<boolean> {
  return (await tryOut({ command })).ok;
}

/** Does something while this process, the host, has these variables as well (or lacks those that are `undefined`). */
async function withHost<T>(variables: Readonly<Record<string, string | undefined>>, run: () => Promise<T>): Promise<T> {
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  set(variables);
  try {
    return await run();
  } finally {
    set(before);
  }
}

function set(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** The environment a command finds; values of one line only. */
async function environmentOf(
  agent: Agent,
  params: Partial<ExecParams> = {},
): Promise<Readonly<Record<string, string>>> {
  const { details } = await runToEnd(agent, { command: "env", ...params });
  const pairs = details.output.split("\n").filter((line) => line.includes("=")).map((line) => {
    const at = line.indexOf("=");
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** Compares the variables that are wanted, and no others: those are the host's own affair. */
function assertHolds(found: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): void {
  assertEquals(Object.fromEntries(Object.keys(wanted).map((name) => [name, found[name]])), wanted);
}

/** What is wrong with a call that is expected to be refused before anything starts. */
async function problemsOf(agent: Agent, env: Readonly<Record<string, unknown>>): Promise<readonly Problem[]> {
  const folder = await mkdtemp(join(tmpdir(), "offstage-env-"));
  try {
    const trace = join(folder, "started");
    const params = { command: `touch ${trace}`, env } as ExecParams;
    const { details, text, isError } = await agent.exec(params);
    assert("problems" in details && isError, text);
    assertEquals([details.status, details.reason], ["failed", "invalid"]);
    for (const { key } of details.problems) assertStringIncludes(text, key);
    assert(!existsSync(trace), "something was started");
    return details.problems;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const keysOf = (problems: readonly Problem[]): readonly string[] => problems.map(({ key }) => key);

// [121] what is inherited

const SECRETS = { OPENAI_API_KEY: "sk-host", FOO_TOKEN: "token-host", MY_SETTING: "setting" };

test("E22 by default a command inherits what the host has [121]", { skip: posix }, async () => {
  await withHost(SECRETS, async () => {
    const bench = closing(open());
    assertHolds(await environmentOf(bench.agent), SECRETS);
  });
});

test("E22 a policy keeps the host's keys from every command, on pipes as on a terminal [121]", {
  skip: pty || proc,
}, async () => {
  await withHost(SECRETS, async () => {
    for (const inheritEnv of ["none", { deny: ["*_KEY", "*_TOKEN"] }, { allow: ["PATH", "HOME", "MY_*"] }] as const) {
      const bench = closing(open({ inheritEnv }));
      for (
        const command of ["env", "cat /proc/self/environ | tr '\\0' '\\n'", "cat /proc/$$/environ | tr '\\0' '\\n'"]
      ) {
        for (const isTerminal of [false, true]) {
          const { details } = await runToEnd(bench.agent, { command, pty: isTerminal });
          assertStringIncludes(details.output, "OPENCLAW_SHELL=exec");
          for (const secret of ["sk-host", "token-host", "OPENAI", "FOO_"]) {
            assert(!details.output.includes(secret), details.output);
          }
        }
      }
      assertEquals((await environmentOf(bench.agent))["MY_SETTING"], inheritEnv === "none" ? undefined : "setting");
    }
  });
});

test("E22 what the caller sets always wins, whatever the policy [121]", { skip: posix }, async () => {
  await withHost(SECRETS, async () => {
    for (const inheritEnv of ["all", "none", { deny: ["*"] }, { allow: [] }] as const) {
      const bench = closing(open({ inheritEnv }));
      const env = { OPENAI_API_KEY: "sk-caller", EMPTY: "", SPACED: " a  b=c $HOME `id` \"'" };
      const found = await environmentOf(bench.agent, { command: "/usr/bin/env", env });
      assertHolds(found, env);
    }
  });
});

test("E22 the host's environment is read anew for each command, and never changed [121]", { skip: posix }, async () => {
  const bench = closing(open());
  await withHost({ OFFSTAGE_TEST_LATE: "one" }, async () => {
    assertEquals((await environmentOf(bench.agent))["OFFSTAGE_TEST_LATE"], "one");
  });
  const { details } = await runToEnd(bench.agent, { command: "echo ${OFFSTAGE_TEST_LATE-gone}; export LEAK=1" });
  assertEquals(details.output, "gone\n");
  assertEquals([process.env["LEAK"], process.env["OPENCLAW_SHELL"]], [undefined, undefined]);
});

test("E22 the session's markers are there and cannot be forged", { skip: posix }, async () => {
  const bench = closing(open({ inheritEnv: "none" }));
  await withHost({ OPENCLAW_SHELL: "outer", OFFSTAGE_SESSION_ID: "outer" }, async () => {
    const env = { OPENCLAW_SHELL: "forged", OFFSTAGE_SESSION_ID: "forged" };
    const { id } = await background(bench.agent, { command: "/usr/bin/env; sleep 9", env });
    const output = await pollUntil(bench.agent, id, /OPENCLAW_SHELL[^]*\n|OFFSTAGE[^]*\n/);
    assertStringIncludes(output, "OPENCLAW_SHELL=exec\n");
    assertStringIncludes(output, `OFFSTAGE_SESSION_ID=${id}\n`);
    assert(!/forged|outer/.test(output), output);
  });
});

test("E39 without the orphan guard commands carry no mark of their instance", { skip: posix }, async () => {
  const bench = closing(open({ orphanGuard: false, inheritEnv: { deny: ["OFFSTAGE_*"] } }));
  const names = Object.keys(await environmentOf(bench.agent, { command: "env" }));
  assertEquals(names.filter((name) => name.startsWith("OFFSTAGE_")), ["OFFSTAGE_SESSION_ID"]);
});

test("E37 E22 a command finds nothing in its environment of how it was started [121]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const command of ["env", `: ${"x".repeat(300_000)}\nenv`]) {
    for (const mergeStreams of [false, true]) {
      const names = Object.keys(await environmentOf(bench.agent, { command, mergeStreams }));
      const marks = names.filter((name) => name.startsWith("OFFSTAGE_") && !(name in process.env)).sort();
      assertEquals(marks, ["OFFSTAGE_INSTANCE", "OFFSTAGE_SESSION_ID"]);
    }
  }
});

// [122] the host's own injection variables

test("E22 E24 what steers the host's own programs does not reach a command [122]", { skip: posix }, async () => {
  const names = [
    ...INJECTION_VARIABLES.names,
    ...INJECTION_VARIABLES.prefixes.map((prefix) => `${prefix}OFFSTAGE_TEST`),
  ]
    .filter((name) => !["IFS", "PS4", "SHELLOPTS", "BASHOPTS"].includes(name)); // these the shell sets by itself
  const host = Object.fromEntries(names.map((name) => [name, "/offstage-test"]));
  const function_ = { "BASH_FUNC_ls%%": "() { echo HIJACK; }" };
  const found = await withHost({ ...host, ...function_ }, async () => {
    const bench = closing(open());
    assert(!(await runToEnd(bench.agent, { command: "ls /" })).details.output.includes("HIJACK"));
    return await environmentOf(bench.agent);
  });
  assertEquals(Object.values(found).filter((value) => value === "/offstage-test"), []);
  assertEquals(Object.keys(found).filter((name) => names.includes(name)), []);
});

test("E22 a command of the host's own kind runs, although the host was started with options [122]", {
  skip: node,
}, async () => {
  await withHost({ NODE_OPTIONS: "--no-such-option", NODE_PATH: "/no/such" }, async () => {
    const bench = closing(open());
    const { details, text } = await runToEnd(bench.agent, { command: "node -p 'process.env.NODE_OPTIONS'" });
    assertEquals([details.ok, details.output], [true, "undefined\n"], text);
  });
});

// [123] variables that run code

const HIJACKS: Readonly<Record<string, string>> = {
  LD_PRELOAD: "/tmp/x.so",
  LD_AUDIT: "/tmp/x.so",
  DYLD_INSERT_LIBRARIES: "/tmp/x.dylib",
  BASH_ENV: "/tmp/inj.sh",
  ENV: "/tmp/inj.sh",
  "BASH_FUNC_ls%%": "() { echo HIJACK; }",
  NODE_OPTIONS: "--require /tmp/x.js",
  PYTHONPATH: "/tmp",
  PERL5OPT: "-Mx",
  RUBYOPT: "-rx",
  GIT_SSH_COMMAND: "x",
  GLIBC_TUNABLES: "x=y",
  JAVA_TOOL_OPTIONS: "-javaagent:x",
  PATH: "/tmp",
};

test("E23 a variable that runs code is refused before anything starts, all of them by name [123]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  assertEquals(keysOf(await problemsOf(bench.agent, HIJACKS)), Object.keys(HIJACKS).map((name) => `env.${name}`));
  const names = [...INJECTION_VARIABLES.names, ...INJECTION_VARIABLES.prefixes.map((prefix) => `${prefix}X`), "PATH"];
  const all = await problemsOf(bench.agent, { FINE: "1", ...Object.fromEntries(names.map((name) => [name, "x"])) });
  assertEquals(keysOf(all), names.map((name) => `env.${name}`));
});

test("E23 it is refused in any case, on a terminal and in the background as well [123]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const name of Object.keys(HIJACKS)) {
    for (const spelt of [name, name.toLowerCase(), `${name.slice(0, 1)}${name.slice(1).toLowerCase()}`]) {
      assertEquals(keysOf(await problemsOf(bench.agent, { [spelt]: "x" })), [`env.${spelt}`]);
    }
  }
  for (const how of [{ pty: true }, { background: true }, { host: "gateway" }] as const) {
    const { details, isError } = await bench.agent.exec({ command: "echo ran", env: { BASH_ENV: "/tmp/x" }, ...how });
    assert("problems" in details && isError);
    assertEquals(keysOf(details.problems), ["env.BASH_ENV"]);
  }
});

test("E23 names that only look alike pass, and a command may set its own [123]", { skip: posix }, async () => {
  const bench = closing(open());
  const env = { MY_LD_PRELOAD: "1", PATHS: "1", NODE_ENV: "test", ENVIRONMENT: "1", PYTHONUNBUFFERED: "1" };
  const found = await environmentOf(bench.agent, { command: "PATH=$PATH:/opt/x BASH_ENV=/dev/null env", env });
  assertHolds(found, env);
  assertMatch(found["PATH"] ?? "", /:\/opt\/x$/);
  assertEquals(found["BASH_ENV"], "/dev/null");
});

test("E20 E24 no startup file runs, whichever variable or home names it [123]", { skip: posix }, async () => {
  const home = await mkdtemp(join(tmpdir(), "offstage-home-"));
  try {
    const names = [".bashrc", ".profile", ".bash_profile", ".zshenv", ".kshrc", "env.sh"];
    await Promise.all(names.map((name) => writeFile(join(home, name), "echo HIJACK\n")));
    const file = join(home, "env.sh");
    await withHost({ HOME: home, BASH_ENV: file, ENV: file, ZDOTDIR: home, SHLVL: undefined }, async () => {
      for (const shell of ["bash", "sh"]) {
        const bench = closing(open({ shell }));
        for (const params of [{}, { pty: shell === "bash" }, { stdin: "open" }] as const) {
          const { details } = await runToEnd(bench.agent, { command: "echo only this", ...params });
          assertEquals(details.output, "only this\n");
        }
      }
    });
  } finally {
    await rm(home, { recursive: true });
  }
});

test("E3 every variable that cannot be set is named, and nothing starts", { skip: posix }, async () => {
  const bench = closing(open());
  assertEquals(
    keysOf(await problemsOf(bench.agent, { FINE: "1", "A=B": "1", "C\0D": "1", E: "a\0b" })).toSorted(),
    ["env.A=B", "env.C\0D", "env.E"],
  );
  for (const value of [1, null, true, {}, ["a"]]) {
    assertEquals(keysOf(await problemsOf(bench.agent, { FINE: "1", BAD: value })), ["env.BAD"]);
  }
  const [tooLong] = await problemsOf(bench.agent, { LONG: "x".repeat(140_000) });
  assertMatch(tooLong?.message ?? "", /140005 bytes.*131071/);
});

test("E3 values are literal: nothing is expanded, trimmed or lost", { skip: posix }, async () => {
  const bench = closing(open());
  const value = " $HOME `id` $(id) \\n 'q' \"d\" é😀\ttab\nsecond line \\";
  for (const inheritEnv of ["all", "none"] as const) {
    const own = closing(open({ inheritEnv }));
    const { details } = await runToEnd(own.agent, { command: 'printf "%s" "$VALUE"', env: { VALUE: value } });
    assertEquals(details.output, value);
  }
  const { details } = await runToEnd(bench.agent, {
    command: "printf %s ${#LONG}",
    env: { LONG: "x".repeat(131_066) },
  });
  assertEquals(details.output, "131066");
});

// E22 terminals

const PLAIN = {
  TERM: "dumb",
  NO_COLOR: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
};
const FANCY = { TERM: "xterm-kitty", NO_COLOR: undefined, PAGER: "less", GIT_PAGER: "delta", MANPAGER: "most" };

test("E22 a command on pipes is told that it has no terminal, whatever the host has", { skip: posix }, async () => {
  await withHost(FANCY, async () => {
    const bench = closing(open());
    const found = await environmentOf(bench.agent);
    assertHolds(found, PLAIN);
    const env = { TERM: "vt100", PAGER: "more" };
    const own = await environmentOf(bench.agent, { env });
    assertHolds(own, { ...PLAIN, ...env });
  });
});

test("E22 plainTerminal: false leaves these variables to the host", { skip: posix }, async () => {
  await withHost(FANCY, async () => {
    const bench = closing(open({ plainTerminal: false }));
    const found = await environmentOf(bench.agent);
    assertEquals([found["TERM"], found["PAGER"], found["GIT_PAGER"]], ["xterm-kitty", "less", "delta"]);
    assertEquals(found["NO_COLOR"], undefined);
  });
});

test("E6 E22 a terminal is an xterm-256color, also on a host without TERM, unless the caller says otherwise", {
  skip: pty,
}, async () => {
  for (const TERM of [undefined, "dumb", "xterm-kitty"]) {
    await withHost({ ...FANCY, TERM }, async () => {
      const bench = closing(open());
      const found = await environmentOf(bench.agent, { pty: true });
      assertEquals([found["TERM"], found["PAGER"], found["NO_COLOR"]], ["xterm-256color", "less", undefined]);
      assertEquals((await environmentOf(bench.agent, { pty: true, env: { TERM: "vt220" } }))["TERM"], "vt220");
    });
  }
});

// [125] secrets in names and process lists

const CREDENTIAL = "abc123-very-secret";
const REVEALING = {
  "a header": `curl -s -H 'Authorization: Bearer ${CREDENTIAL}' 127.0.0.1`,
  "an address": `curl https://user:${CREDENTIAL}@127.0.0.1/x`,
  "an option": `mysql --password=${CREDENTIAL} shop`,
  "a variable": `API_KEY=${CREDENTIAL} deploy prod`,
  "an option's word": `tool --token ${CREDENTIAL} run`,
} as const;

for (const [what, call] of Object.entries(REVEALING)) {
  test(`P1 R11 a secret in ${what} is in no name and no answer [125]`, { skip: posix }, async () => {
    const bench = closing(open());
    const { details, text, id } = await background(bench.agent, { command: `${call} >/dev/null 2>&1; sleep 9` });
    const list = await bench.agent.process({ action: "list" });
    const log = await bench.agent.process({ action: "log", sessionId: id });
    const killed = await bench.agent.process({ action: "kill", sessionId: id, wait: 30_000 });
    const everything = JSON.stringify([details, text, list, log, killed]);
    assert(!everything.includes(CREDENTIAL), everything);
    assert(details.name.length > 0);
  });
}

test("E1 the text of a command is in no process's arguments [125]", { skip: proc }, async () => {
  const bench = closing(open());
  const marker = `secret-${Math.random().toString(36).slice(2)}`;
  for (const params of [{}, { pty: true }, { mergeStreams: true }]) {
    const command = `: '${marker}'; echo ready; while :; do sleep 0.1; done`;
    const { id } = await background(bench.agent, { command, background: true, ...params });
    await pollUntil(bench.agent, id, "ready");
    const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "latin1");
      } catch {
        return ""; // it has ended since
      }
    });
    assertArrayIncludes(all.map((line) => line.includes("\0-c\0")), [true]);
    assertEquals(all.filter((line) => line.includes(marker)), []);
  }
});
