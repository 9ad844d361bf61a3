/** E3, E22–E24 and H6: what a command's environment is made of, and what a caller may not override. */

import { test } from "node:test";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "./property.ts";
import {
  buildEnvironment,
  createEnvironmentBuilder,
  environmentProblems,
  INJECTION_VARIABLES,
  isInjectionVariable,
  MAX_STRING_BYTES,
} from "../src/exec/environment.ts";
import type { EnvironmentOptions } from "../src/exec/environment.ts";

const HOST = { PATH: "/bin", HOME: "/home/me", TERM: "xterm-kitty", PAGER: "less", API_KEY: "k", LD_PRELOAD: "/x.so" };
const MARKERS = { OPENCLAW_SHELL: "exec", OFFSTAGE_SESSION_ID: "amber-otter-7k3f" };

function build(options: Partial<EnvironmentOptions> = {}): Record<string, string> {
  return buildEnvironment({
    host: HOST,
    policy: "all",
    env: {},
    terminal: false,
    plainTerminal: false,
    sessionId: MARKERS.OFFSTAGE_SESSION_ID,
    where: "gateway",
    ...options,
  });
}

const HOSTS = ["gateway", "sandbox", "node"] as const;
const real = { realHost: true };
const sandboxed = { realHost: false };

function keys(env: Record<string, unknown>, where: { readonly realHost: boolean } = real): readonly string[] {
  return environmentProblems(env, where).map(({ key }) => key);
}

test("E22 a command inherits everything but the injection variables, and gets the markers", () => {
  const { LD_PRELOAD: _, ...inherited } = HOST;
  assertEquals(build(), { ...inherited, ...MARKERS });
});

test("E22 the caller's variables beat the host's, and the markers beat both", () => {
  const env = { API_KEY: "mine", OFFSTAGE_SESSION_ID: "forged", OPENCLAW_SHELL: "forged", NEW: "" };
  const built = build({ env, host: { ...HOST, OPENCLAW_SHELL: "outer" } });
  assertEquals(built["API_KEY"], "mine");
  assertEquals(built["NEW"], "");
  assertEquals({ ...built, ...MARKERS }, built);
});

test("E22 the policy decides what is inherited (case 121)", () => {
  assertEquals(build({ policy: "none" }), MARKERS);
  assertEquals(build({ policy: { allow: ["PATH", "HO?E"] } }), { PATH: "/bin", HOME: "/home/me", ...MARKERS });
  assertEquals(build({ policy: { deny: ["*_KEY", "TERM", "PAGER"] } }), { PATH: "/bin", HOME: "/home/me", ...MARKERS });
  assertEquals(build({ policy: { allow: ["*"], deny: ["[A-Z]*", "P*", "HOME", "TERM"] } }), {
    API_KEY: "k",
    ...MARKERS,
  });
  assertEquals(build({ policy: { allow: [] } }), MARKERS);
  assertEquals(build({ policy: { allow: ["path", "PAT", "ATH"] } }), MARKERS);
});

test("E22 the caller's variables are not subject to the policy", () => {
  assertEquals(build({ policy: "none", env: { API_KEY: "k" } }), { API_KEY: "k", ...MARKERS });
  assertEquals(build({ policy: { deny: ["*"] }, env: { API_KEY: "k" } }), { API_KEY: "k", ...MARKERS });
});

test("E22 no policy lets an injection variable through (case 122)", () => {
  const host = { ...HOST, NODE_OPTIONS: "--x", "BASH_FUNC_ls%%": "() { :; }", bash_env: "/x", DYLD_X: "1" };
  for (const policy of ["all", { allow: ["*"] }] as const) {
    assertEquals(Object.keys(build({ host, policy })).filter((name) => isInjectionVariable(name)), []);
  }
});

test("E22 without a terminal programs are asked for plain text, unless the caller sets it otherwise (case 99)", () => {
  const plain = build({ plainTerminal: true, env: { PAGER: "more", NO_COLOR: "" } });
  assertEquals(plain["TERM"], "dumb");
  assertEquals(plain["GIT_PAGER"], "cat");
  assertEquals(plain["MANPAGER"], "cat");
  assertEquals(plain["GIT_TERMINAL_PROMPT"], "0");
  assertEquals(plain["PAGER"], "more");
  assertEquals(plain["NO_COLOR"], "");
  assertEquals(build({ plainTerminal: false })["TERM"], HOST.TERM);
});

test("E6 with a terminal TERM is ours whatever the host's is, unless the caller sets it (case 99)", () => {
  for (const host of [{}, { TERM: "dumb" }, { TERM: "screen" }]) {
    const built = build({ host, terminal: true, plainTerminal: true });
    assertEquals(built, { TERM: "xterm-256color", ...MARKERS });
  }
  assertEquals(build({ terminal: true, env: { TERM: "vt100" } })["TERM"], "vt100");
});

test("E22 what is remembered of the last command's environment changes none of the next, whatever has changed", () => {
  const name = fc.constantFrom("PATH", "HOME", "LD_PRELOAD", "TERM", "A", "__proto__");
  const variables = fc.array(fc.tuple(name, fc.constantFrom("", "1", "2"))).map((pairs) => Object.fromEntries(pairs));
  const options = fc.record({
    host: variables,
    env: variables,
    policy: fc.constantFrom<EnvironmentOptions["policy"]>("all", "none"),
    terminal: fc.boolean(),
    plainTerminal: fc.boolean(),
    where: fc.constantFrom(...HOSTS),
    sessionId: fc.constantFrom("one", "two"),
  });
  fc.assert(fc.property(fc.array(options, { maxLength: 6 }), (calls) => {
    const builder = createEnvironmentBuilder();
    for (const call of calls) {
      assertEquals(Object.entries(builder(call)).sort(), Object.entries(buildEnvironment(call)).sort());
    }
  }));
});

test("E22 a variable that is set, changed or taken away between two commands is seen by the second", () => {
  const builder = createEnvironmentBuilder();
  const host: Record<string, string> = { A: "1" };
  const options = {
    host,
    policy: "all",
    env: {},
    terminal: false,
    plainTerminal: false,
    sessionId: "id",
    where: "gateway",
  } as const;
  const seen = (): unknown => builder(options)["A"] ?? builder(options)["B"];
  assertEquals(seen(), "1");
  host["A"] = "2";
  assertEquals(seen(), "2");
  delete host["A"];
  host["B"] = "3";
  assertEquals(seen(), "3");
  delete host["B"];
  assertEquals(seen(), undefined);
});

test("H6 a sandbox gets nothing of the host", () => {
  const built = build({ where: "sandbox", env: { PATH: "/opt/bin", LD_PRELOAD: "/y.so" } });
  assertEquals(built, { PATH: "/opt/bin", HOME: "/tmp", LD_PRELOAD: "/y.so", ...MARKERS });
  assertStringIncludes(build({ where: "sandbox" })["PATH"] ?? "", "/usr/bin");
  assertEquals(build({ where: "sandbox", terminal: true })["TERM"], "xterm-256color");
});

test("H6 a node is given the caller's variables and the markers, and nothing of this machine", () => {
  assertEquals(build({ where: "node", env: { LEVEL: "3" } }), { LEVEL: "3", ...MARKERS });
});

test("E24 the list has every name of the rule, and any case matches", () => {
  const names =
    "BASH_ENV ENV SHELLOPTS BASHOPTS PS4 IFS PROMPT_COMMAND ZDOTDIR GCONV_PATH GLIBC_TUNABLES NODE_OPTIONS " +
    "NODE_PATH PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5LIB PERL5OPT PERL5DB RUBYLIB RUBYOPT JAVA_TOOL_OPTIONS " +
    "_JAVA_OPTIONS JDK_JAVA_OPTIONS DOTNET_STARTUP_HOOKS GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_EXTERNAL_DIFF " +
    "GIT_PROXY_COMMAND LUA_INIT PHPRC PHP_INI_SCAN_DIR";
  assertEquals([...INJECTION_VARIABLES.names].sort(), names.split(" ").sort());
  for (const name of [...names.split(" "), "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_FUNC_x%%"]) {
    assert(isInjectionVariable(name) && isInjectionVariable(name.toLowerCase()), name);
  }
  for (const name of ["PATH", "HOME", "LD", "ENVIRONMENT", "MY_LD_PRELOAD", "GIT_SSH_VARIANT"]) {
    assert(!isInjectionVariable(name), name);
  }
});

test("E24 the list can be extended", () => {
  const table = { prefixes: [...INJECTION_VARIABLES.prefixes, "my_"], names: ["R_PROFILE"] };
  assert(isInjectionVariable("r_profile", table) && isInjectionVariable("MY_X", table));
  assertEquals(environmentProblems({ R_PROFILE: "x" }, real, table).length, 1);
  assertEquals(build({ host: { R_PROFILE: "x", ENV: "y" }, injection: table }), { ENV: "y", ...MARKERS });
});

test("E23 on a real host PATH and injection variables are refused, all of them named (case 123)", () => {
  const env = {
    path: "/x",
    OK: "1",
    BASH_ENV: "/x",
    "BASH_FUNC_ls%%": "() { :; }",
    node_options: "-r x",
    Ld_Audit: "x",
  };
  assertEquals(keys(env), ["env.path", "env.BASH_ENV", "env.BASH_FUNC_ls%%", "env.node_options", "env.Ld_Audit"]);
  assertEquals(keys(env, sandboxed), []);
  assertEquals(keys({ OK: "1", TERM: "x", EMPTY: "" }), []);
});

test("E3 wrong names and values are refused and named, on any host", () => {
  const env = { "A=B": "x", "N\0": "x", "": "x", NUL: "a\0b", NUMBER: 1, NULL: null, LIST: [], FINE: "x=y" };
  for (const where of [real, sandboxed]) {
    assertEquals(keys(env, where), [
      "env.A=B",
      "env.N\0",
      "env.",
      "env.NUL",
      "env.NUMBER",
      "env.NULL",
      "env.LIST",
    ]);
  }
  assertStringIncludes(
    environmentProblems({ NUMBER: 1 }, real)[0]?.message ?? "",
    "NUMBER must be a string, not number",
  );
});

test("a variable too long for the kernel is refused with both numbers (case 65)", () => {
  const longest = "€".repeat((MAX_STRING_BYTES - "BIG=".length) / 3);
  assertEquals(keys({ BIG: longest }), []);
  const [problem] = environmentProblems({ BIG: `${longest}x` }, sandboxed);
  assertEquals(problem?.key, "env.BIG");
  assertStringIncludes(problem?.message ?? "", "131072 bytes");
  assertStringIncludes(problem?.message ?? "", "131071");
});

test("E22 markers win and injection variables stay out for any host, policy and caller", () => {
  const names = fc.oneof(
    fc.string(),
    fc.constantFrom("PATH", "LD_X", "NODE_OPTIONS", "TERM", "OFFSTAGE_SESSION_ID", "__proto__", "constructor"),
  );
  const variables = fc.dictionary(names, fc.string());
  const glob = fc.string({ unit: fc.constantFrom("*", "?", "A", "_", "[", "\\", ".", "$"), maxLength: 6 });
  const policy = fc.oneof(
    fc.constantFrom("all" as const, "none" as const),
    fc.record({ allow: fc.array(glob), deny: fc.array(glob) }, { requiredKeys: [] }),
  );
  fc.assert(
    fc.property(
      variables,
      policy,
      variables,
      fc.boolean(),
      fc.constantFrom(...HOSTS),
      (host, rule, env, terminal, where) => {
        const built = build({ host, policy: rule, env, terminal, plainTerminal: true, where });
        assertEquals({ ...built, ...env, ...MARKERS }, built);
        const added = Object.keys(built).filter((name) => !Object.hasOwn(env, name));
        assertEquals(added.filter((name) => isInjectionVariable(name)), []);
      },
    ),
  );
});
