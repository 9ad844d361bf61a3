/**
 * R15: what bwrap is told, and what is carried past it; without starting anything.
 *
 * @module
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { test } from "node:test";
import { bwrapArguments, type Policy, SYSTEM_FILES } from "../adapters/hosts/bubblewrap/policy.ts";
import { launched } from "../adapters/hosts/bubblewrap/launch.ts";
import { bubblewrap, type BubblewrapOptions } from "../adapters/hosts/bubblewrap.ts";
import { carryEnvironment } from "../adapters/hosts/carried_environment.ts";
import { unfoldExit } from "../adapters/hosts/shell_status.ts";
import { type Exit, OffstageError, type SignalName } from "../mod.ts";

const PLAIN: Policy = {
  system: [{ from: "/usr", to: "/usr", writable: false }, { path: "/bin", target: "usr/bin" }],
  binds: [{ from: "/srv/work", to: "/srv/work", writable: true }],
  links: [],
  network: false,
  forbidsNamespaces: true,
};

function argumentsOf(policy: Partial<Policy> = {}, inTerminal = false): string {
  return bwrapArguments({ ...PLAIN, ...policy }, "/srv/work/a", inTerminal).join(" ");
}

test("R15 the whole policy, in order", () => {
  assertEquals(bwrapArguments(PLAIN, "/srv/work/a", false), [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--unshare-net"],
    ...["--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"],
    ...["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--proc", "/proc"],
    ...["sys", "sysrq-trigger", "irq", "bus", "fs"].flatMap((
      name,
    ) => ["--ro-bind-try", `/proc/${name}`, `/proc/${name}`]),
    ...["--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/run", "--dir", "/var/tmp"],
    ...["--bind", "/srv/work", "/srv/work", "--chdir", "/srv/work/a", "--"],
  ]);
});

/** What a difference in the policy adds, and what it takes away. */
const DIFFERENCES: readonly (readonly [change: Partial<Policy>, added: string, gone: string])[] = [
  [{ network: true }, "", "--unshare-net"],
  [{ forbidsNamespaces: false }, "", "--disable-userns"],
  [{ binds: [{ from: "/srv/work", to: "/srv/work", writable: false }] }, "--ro-bind /srv/work /srv/work", "--bind"],
  [{ binds: [{ from: "/opt/a", to: "/b", writable: true }] }, "--bind /opt/a /b", "/srv/work /srv/work"],
  [{ links: [{ path: "/work", target: "/srv/work" }] }, "--symlink /srv/work /work", ""],
  [{ system: [] }, "", "--ro-bind /usr"],
];

test("R15 each part of the policy is an argument of its own", () => {
  for (const [change, added, gone] of DIFFERENCES) {
    const words = ` ${argumentsOf(change)} `;
    assert(words.includes(added), `${JSON.stringify(change)} adds ${added}`);
    assert(gone === "" || !words.includes(` ${gone} `), `${JSON.stringify(change)} takes ${gone} away`);
  }
});

test("R15 a bind inside another comes after it, however they were given", () => {
  const [git, work, srv] = ["/srv/work/.git", "/srv/work", "/srv"].map((path) => ({
    from: path,
    to: path,
    writable: false,
  }));
  assert(git !== undefined && work !== undefined && srv !== undefined);
  for (const binds of [[git, work, srv], [srv, work, git], [work, git, srv]]) {
    const places = [srv, work, git].map(({ to }) => argumentsOf({ binds }).indexOf(`--ro-bind ${to} ${to}`));
    assertEquals(places, [...places].sort((one, other) => one - other));
    assert(places.every((place) => place > 0));
  }
});

test("R15 with a terminal the session is kept, for job control needs its terminal", () => {
  assert(!argumentsOf({}, true).includes("--new-session"));
  assert(argumentsOf({}, false).includes("--new-session"));
});

test("R15 no file of /etc that is bound holds secrets", () => {
  for (const file of SYSTEM_FILES) assert(!/shadow|private|ssh|sudo|key|secret|cred/.test(file), file);
  assert(!SYSTEM_FILES.includes("/etc/ssl") && !SYSTEM_FILES.includes("/etc/pki"));
});

test("signals are ignored and descriptors closed before bwrap, and it is started as it is if there is nothing to do", () => {
  const none = (): undefined => undefined;
  assertEquals(launched(["/usr/bin/bwrap", "--", "ls"], [], [], none), ["/usr/bin/bwrap", "--", "ls"]);
  assertEquals(
    launched(["/usr/bin/bwrap", "a b"], ["INT", "HUP"], [], none),
    [
      ...["/bin/sh", "-c", `trap '' INT HUP; exec "$@"`, "sh", "/usr/bin/bwrap", "a b"],
    ] as const,
  );
  assertEquals(
    launched(["/usr/bin/bwrap"], ["INT"], [12, 7], () => "/bin/bash"),
    [
      ...["/bin/bash", "--norc", "-c", `trap '' INT; exec "$@" 12>&- 7>&-`, "bash", "/usr/bin/bwrap"],
    ] as const,
  );
  assertThrows(() => launched(["/usr/bin/bwrap"], [], [12], none), OffstageError, "12");
});

const OWN = { PATH: "/bin", HOME: "/tmp", TERM: "dumb", OFFSTAGE_SESSION_ID: "a-1", OFFSTAGE_COMMAND_2: "ls" };

test("H6 what the core sets itself is given as it is, and nothing stands before the command", () => {
  assertEquals(carryEnvironment(OWN), { env: OWN, argv: [] });
  assertEquals(carryEnvironment(OWN, ["INT", "HUP"]), { env: OWN, argv: ["/usr/bin/env", "--default-signal=INT,HUP"] });
});

test("H6 every other variable travels under a name that nothing acts on, its value not in the arguments", () => {
  const env = { ...OWN, LD_PRELOAD: "/srv/x.so", "BASH_FUNC_a%%": "() { :; }", OFFSTAGE_CARRIED_1: "mine", LANG: "C" };
  const carried = carryEnvironment(env, ["INT"]);
  assertEquals(carried.env, {
    ...OWN,
    OFFSTAGE_CARRIED_1: "LD_PRELOAD=/srv/x.so",
    OFFSTAGE_CARRIED_2: "BASH_FUNC_a%%=() { :; }",
    OFFSTAGE_CARRIED_3: "OFFSTAGE_CARRIED_1=mine",
    OFFSTAGE_CARRIED_4: "LANG=C",
  });
  const [shell, option, _script, ...words] = carried.argv;
  assertEquals([shell, option, words], ["/bin/sh", "-c", ["sh", "--default-signal=INT", "4"]]);
  assert(!carried.argv.join(" ").includes("/srv/x.so"));
});

/** An exit as it was told, what we had sent, and what was meant. */
const EXITS: readonly (readonly [told: Exit, sent: readonly SignalName[], meant: Exit])[] = [
  [{ code: 0 }, ["SIGTERM"], { code: 0 }],
  [{ code: 143 }, [], { code: 143 }],
  [{ code: 143 }, ["SIGTERM"], { signal: "SIGTERM" }],
  [{ code: 143 }, ["SIGKILL"], { code: 143 }],
  [{ code: 137 }, ["SIGTERM", "SIGKILL"], { signal: "SIGKILL" }],
  [{ code: 15 }, ["SIGTERM"], { code: 15 }],
  [{ code: null }, ["SIGTERM"], { code: null }],
  [{ signal: "SIGHUP" }, ["SIGTERM"], { signal: "SIGHUP" }],
];

test("E27 a code of 128 and a signal that we sent is that signal, and no other code is", () => {
  for (const [told, sent, meant] of EXITS) assertEquals(unfoldExit(told, new Set(sent)), meant, JSON.stringify(told));
});

/** Options that make no sense, and the keys that are named. */
const WRONG: readonly (readonly [options: BubblewrapOptions, keys: readonly string[]])[] = [
  [{ workspace: "work" }, ["workspace"]],
  [{ workspace: "" }, ["workspace"]],
  [{ workspace: "/" }, ["workspace"]],
  [{ workspace: "/srv/.." }, ["workspace"]],
  [{ workspace: "/srv/\0" }, ["workspace"]],
  [{ workspace: undefined as unknown as string }, ["workspace"]],
  [{ workspace: "~/work", extraBinds: ["data", "/opt"] }, ["workspace", "extraBinds.0"]],
  [{ workspace: "/srv", extraBinds: [{ path: "/", at: "here" }] }, ["extraBinds.0.path", "extraBinds.0.at"]],
];

test("options that would not keep anything apart are refused, every key named", () => {
  for (const [options, keys] of WRONG) {
    const error = assertThrows(() => bubblewrap(options), OffstageError);
    assertEquals([error.code, ...error.problems.map(({ key }) => key)], ["invalid", ...keys]);
  }
});
