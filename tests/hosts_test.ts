/**
 * H1–H6: who runs a command, where, with which environment, and what the policies see of it.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { test } from "node:test";
import {
  type DirectoryStatus,
  type ExecConfig,
  type ExecParams,
  type ExecRequest,
  OffstageError,
  type Place,
  type Spawner,
  type SpawnSpec,
  type Verdict,
  type WrappingHost,
} from "../mod.ts";
import { act, type Bench, notStarted, open } from "./fakes/bench.ts";
import { createFakeSpawner, type FakeSpawner } from "./fakes/spawner.ts";

interface Elsewhere {
  readonly spawner: FakeSpawner;
  readonly directories: Map<string, DirectoryStatus>;
  readonly programs: Set<string>;
}

/** A spawner of another place: `/remote` in a machine with sh alone. */
function elsewhere(): Elsewhere {
  const directories = new Map<string, DirectoryStatus>();
  const programs = new Set(["sh"]);
  const place: Place = {
    cwd: () => Promise.resolve("/remote"),
    home: () => "/remote/home",
    directoryStatus: (path) => Promise.resolve(directories.get(path) ?? "ok"),
    hasProgram: (name) => Promise.resolve(programs.has(name)),
  };
  return { spawner: Object.assign(createFakeSpawner(), { place }), directories, programs };
}

/** This machine's environment; `SHELL` is bash. */
const HOST_ENVIRONMENT = { API_KEY: "k", HOME: "/home/me", NODE_OPTIONS: "--x" };
const MARKERS = ["OPENCLAW_SHELL", "OFFSTAGE_SESSION_ID"];

/** Starts a command in the background, and gives what its host was told. */
async function started(bench: Bench, on: FakeSpawner, params: Partial<ExecParams> = {}): Promise<SpawnSpec> {
  const pending = bench.agent.exec({ command: "make", background: true, ...params });
  await bench.clock.advance(0);
  const { details, text } = await pending;
  assertEquals(details.status, "running", text);
  return on.last.spec;
}

/** Names of the variables that a command was given, without those that are always there and those of its text. */
function variables({ env }: SpawnSpec): readonly string[] {
  const isOwn = (name: string): boolean => MARKERS.includes(name) || name.startsWith("OFFSTAGE_COMMAND_");
  return Object.keys(env).filter((name) => !isOwn(name)).sort();
}

test("H1 a command runs on the spawner of its host and on no other, and list names the host", async () => {
  for (const host of ["gateway", "sandbox", "node"] as const) {
    const spawners = { sandbox: createFakeSpawner(), node: createFakeSpawner() };
    const bench = open({ host }, { sandbox: spawners.sandbox, nodes: { builder: spawners.node } });
    const all = { ...spawners, gateway: bench.spawner };
    await started(bench, all[host]);
    assertEquals(Object.values(all).flatMap(({ children }) => children).length, 1);
    const { sessions } = await act(bench.agent, { action: "list" });
    assertEquals(sessions.map((session) => session.host), [host === "node" ? "builder" : host]);
  }
});

test("H1 a host that wraps another is given this machine's spawner", async () => {
  const given: Spawner[] = [];
  const wrapped = createFakeSpawner();
  const wrap = (inner: Spawner): Spawner => {
    given.push(inner);
    return wrapped;
  };
  const bench = open({}, { sandbox: wrap, nodes: { builder: wrap } });
  assertEquals(given, [bench.spawner, bench.spawner]);
  await started(bench, wrapped);
});

test("H2 a host that is none is refused when it is given: what was meant for it does not run on this machine", () => {
  const broken = [() => undefined, () => ({}), async () => await createFakeSpawner()];
  for (const host of broken as unknown as readonly WrappingHost[]) {
    for (
      const [key, hosts] of [["sandbox", { sandbox: host }], ["nodes.builder", { nodes: { builder: host } }]] as const
    ) {
      const error = assertThrows(() => open({}, hosts), OffstageError);
      assertEquals(error.problems.map((problem) => problem.key), [key]);
    }
  }
});

test("E29 a host that throws whatever it likes starts nothing, and the answer says why", async () => {
  const capabilities = (): never => {
    throw { toString: null };
  };
  const bench = open({}, { sandbox: Object.assign(createFakeSpawner(), { capabilities }) });
  const { details, text } = await notStarted(bench.agent.exec({ command: "make", pty: true }));
  assertEquals([details.reason, bench.spawner.children.length], ["spawn-error", 0]);
  assertStringIncludes(text, "its host failed");
});

test("H2 H3 a command that may be elevated leaves the sandbox, another scope's may not", async () => {
  const sandbox = createFakeSpawner();
  const elevated = { enabled: true, allowed: (scope: string): boolean => scope === "tester" };
  const bench = open({}, { sandbox, elevated });
  await started(bench, bench.spawner, { elevated: true });
  assertEquals(sandbox.children.length, 0);
  const { details, text } = await notStarted(bench.offstage.agent("other").exec({ command: "make", elevated: true }));
  assertEquals([details.reason, details.problems.map(({ key }) => key)], ["invalid", ["elevated"]]);
  assertStringIncludes(text, "elevated.allowed");
});

test("H3 a default of on elevates where that is allowed, and is simply off where it is not", async () => {
  const elevated = { enabled: true, allowed: (scope: string): boolean => scope === "tester", default: true };
  const hostOf = async (
    { scope = "tester", ...params }: Partial<ExecParams> & { readonly scope?: string } = {},
    over: { readonly elevated?: Partial<typeof elevated>; readonly exec?: ExecConfig } = {},
  ): Promise<string> => {
    const asked: ExecRequest[] = [];
    const { offstage, clock } = open(over.exec, {
      sandbox: createFakeSpawner(),
      nodes: { builder: createFakeSpawner() },
      elevated: { ...elevated, ...over.elevated },
      authorize: (request) => (asked.push(request), { allow: true }),
    });
    const pending = offstage.agent(scope).exec({ command: "make", background: true, ...params });
    await clock.advance(0);
    const { text } = await pending;
    const [request] = asked;
    return request === undefined ? text : `${request.host}${request.elevated ? ", elevated" : ""}`;
  };
  assertEquals(await hostOf(), "gateway, elevated");
  assertEquals(await hostOf({ host: "auto" }), "gateway, elevated");
  assertEquals(await hostOf({}, { exec: { host: "node" } }), "node, elevated");
  assertEquals(await hostOf({ elevated: false }), "sandbox");
  assertEquals(await hostOf({ host: "sandbox" }), "sandbox");
  assertEquals(await hostOf({ scope: "other" }), "sandbox");
  assertEquals(await hostOf({}, { elevated: { enabled: false } }), "sandbox");
  assertEquals(await hostOf({}, { elevated: { default: false } }), "sandbox");
  assertEquals(await hostOf({}, { exec: { sandboxRequired: true } }), "sandbox");
  assertStringIncludes(await hostOf({ scope: "other", elevated: true }), "elevated.allowed");
});

test("H2 what is refused starts nowhere, and the answer names the setting that would allow it", async () => {
  const sandbox = createFakeSpawner();
  const bench = open({}, { sandbox });
  const { details, text } = await notStarted(bench.agent.exec({ command: "make", host: "gateway" }));
  assertEquals([details.reason, details.problems.map(({ key }) => key)], ["invalid", ["host"]]);
  assertStringIncludes(text, "tools.exec.host");
  assertEquals([sandbox.children.length, bench.spawner.children.length], [0, 0]);
});

test("H5 authorize sees the host, the node and the directory there; what it does to the request changes nothing", async () => {
  const asked: ExecRequest[] = [];
  const authorize = (request: ExecRequest): Verdict => {
    asked.push(request);
    for (const part of [request, request.env, request.limits ?? {}]) {
      assert(!Reflect.set(part, "LEVEL", "9") && !Reflect.set(part, "command", "rm") && Object.isFrozen(part));
    }
    return { allow: true };
  };
  const { spawner } = elsewhere();
  const bench = open({ host: "node" }, { nodes: { builder: spawner }, authorize });
  const spec = await started(bench, spawner, { workdir: "src", env: { LEVEL: "3" }, limits: { outputBytes: 64 } });
  const [{ host, node, cwd, elevated } = {} as ExecRequest] = asked;
  assertEquals([host, node, cwd, elevated], ["node", "builder", "/remote/src", false]);
  assertEquals([spec.cwd, spec.env["LEVEL"], spec.env["OFFSTAGE_COMMAND_1"]], ["/remote/src", "3", "make"]);
});

test("H6 neither a sandbox nor a node is given anything of this machine's environment", async () => {
  const [sandbox, builder] = [createFakeSpawner(), createFakeSpawner()];
  const options = { sandbox, nodes: { builder }, environment: HOST_ENVIRONMENT };
  const policies = [{}, { inheritEnv: "all" }, { inheritEnv: { allow: ["*"] } }] as const;
  for (const exec of policies) {
    const inSandbox = await started(open({ host: "sandbox", plainTerminal: false, ...exec }, options), sandbox);
    assertEquals([variables(inSandbox), inSandbox.env["HOME"]], [["HOME", "PATH"], "/tmp"]);
    const onNode = await started(open({ host: "node", plainTerminal: false, ...exec }, options), builder);
    assertEquals(variables(onNode), []);
  }
});

test("E23 PATH and injection variables may be set in a sandbox, and are refused on this machine and on a node", async () => {
  const env = { PATH: "/x", LD_PRELOAD: "/x.so", OK: "1" };
  const sandbox = createFakeSpawner();
  const nodes = { builder: createFakeSpawner() };
  const spec = await started(open({}, { sandbox }), sandbox, { env });
  assertEquals({ ...spec.env, ...env }, spec.env);
  for (const host of ["gateway", "node"] as const) {
    const bench = open({ host }, { nodes });
    const { details } = await notStarted(bench.agent.exec({ command: "make", env }));
    assertEquals(details.problems.map(({ key }) => key), ["env.PATH", "env.LD_PRELOAD"]);
  }
});

/** What a call says of its directory, and where that is in another place. */
const DIRECTORIES: readonly (readonly [workdir: string | undefined, directory: string])[] = [
  [undefined, "/remote"],
  ["", "/remote"],
  ["src", "/remote/src"],
  ["./a/../b", "/remote/a/../b"],
  ["/opt", "/opt"],
  ["~", "/remote/home"],
  ["~/x", "/remote/home/x"],
];

test("E2 in another place directories are that place's: this machine is not asked", async () => {
  for (const [workdir, directory] of DIRECTORIES) {
    const { spawner } = elsewhere();
    const bench = open({}, { sandbox: spawner });
    bench.machine.directories.set(directory, "missing");
    const spec = await started(bench, spawner, workdir === undefined ? {} : { workdir });
    assertEquals(spec.cwd, directory);
  }
});

test("E2 H6 a directory that is not there, or is kept from commands, is told before anything starts", async () => {
  const { spawner, directories } = elsewhere();
  const bench = open({}, { sandbox: spawner });
  for (const [status, reason] of [["missing", "spawn-error"], ["outside", "refused"]] as const) {
    directories.set("/remote/../etc", status);
    const { details, text } = await notStarted(bench.agent.exec({ command: "ls", workdir: "../etc" }));
    assertEquals([details.reason, spawner.children.length], [reason, 0]);
    assertStringIncludes(text, "/remote/../etc");
  }
});

test("E20 the shell is one that the place has, whatever SHELL is here, and is looked for once", async () => {
  const { spawner, programs } = elsewhere();
  const bench = open({}, { sandbox: spawner });
  assertEquals((await started(bench, spawner)).argv[0], "sh");
  programs.add("bash").delete("sh");
  assertEquals((await started(bench, spawner)).argv[0], "sh");
  assertEquals((await started(open({}, { sandbox: spawner }), spawner)).argv[0], "bash");
});

test("E20 a configured shell has to be in that place; once it is, it is used", async () => {
  const { spawner, programs } = elsewhere();
  const bench = open({ shell: "/opt/zsh" }, { sandbox: spawner });
  bench.machine.programs.add("/opt/zsh");
  const { details, text } = await notStarted(bench.agent.exec({ command: "ls" }));
  assertEquals(details.reason, "spawn-error");
  assertStringIncludes(text, "/opt/zsh");
  programs.add("/opt/zsh");
  assertEquals((await started(bench, spawner)).argv[0], "/opt/zsh");
});
