/**
 * Commands by the command line of a container's engine: a stub of it on the `PATH`, which records what it is told and
 * runs `exec` here, since an engine needs more than a test machine has.
 *
 * @module
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { after } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createOffstage } from "../../adapters/auto.ts";
import { container, type ContainerOptions } from "../../adapters/hosts/container.ts";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { closing, test } from "../closing.ts";
import { skipUnless } from "../skip.ts";
import {
  background,
  type Bench,
  eventually,
  kill,
  poll,
  processesCarrying,
  processesWith,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";
import { freshFolder, proc, terminal, thisRuntime } from "./machine.ts";

/** Records its arguments, a line each call, and runs what comes after `--`, or after the target. */
const STUB = `#!/bin/sh
printf '%s\\n' "$*" | cut -c 1-120 >>"\${0%/*}/calls"
[ -e "\${0%/*}/broken" ] && { echo "Error: the daemon is gone" >&2; exit "$(cat "\${0%/*}/broken")"; }
while [ "$1" != workbench ]; do shift; done
shift
[ "$1" = -- ] && shift
exec "$@"
`;

interface Stub extends AsyncDisposable {
  readonly program: string;
  readonly calls: () => readonly string[];
  /** From now on the engine fails with that code. */
  readonly fail: (code: number) => void;
}

async function openStub(): Promise<Stub> {
  const { path, ...folder } = await freshFolder();
  mkdirSync(`${path}/bin`);
  const program = `${path}/bin/docker`;
  writeFileSync(program, STUB);
  chmodSync(program, 0o755);
  return {
    ...folder,
    program,
    calls: () => readFileSync(`${path}/bin/calls`, "utf8").trimEnd().split("\n"),
    fail: (code) => writeFileSync(`${path}/bin/broken`, `${code}`),
  };
}

async function open(options: Partial<ContainerOptions> = {}): Promise<Bench & { readonly stub: Stub }> {
  const stub = closing(await openStub());
  const host = container({ engine: "docker", target: "workbench", program: stub.program, ...options });
  const offstage = createOffstage({
    nodes: { box: host },
    tools: { exec: { host: "node", killGraceMs: 500 } },
  });
  return closing({ offstage, agent: offstage.agent("tester"), stub, [Symbol.asyncDispose]: () => offstage.close() });
}

test("the engine is told to exec, with a terminal where one is wanted, and nothing of the command", {
  skip: proc || terminal,
}, async () => {
  const { agent, stub } = await open({ user: "www" });
  const env = { TOKEN: "a secret" };
  assertEquals((await runToEnd(agent, { command: "echo $TOKEN", env })).details.output, "a secret\n");
  assertEquals((await runToEnd(agent, { command: "tty | cut -c 1-8", pty: true })).details.output, "/dev/pts\n");
  const calls = stub.calls();
  assert(calls.every((call) => call.startsWith("exec -i ") && call.includes("--user www ")), calls.join("\n"));
  assertEquals(calls.filter((call) => call.startsWith("exec -i -t --detach-keys")).length, 1);
  assert(!calls.join().includes("secret"));
});

test("kubectl's way, with the directory of the container and one of the call", { skip: proc }, async () => {
  const { agent, stub } = await open({
    engine: "kubectl",
    container: "app",
    options: ["--namespace", "web"],
    cwd: "/usr",
  });
  assertEquals((await runToEnd(agent, { command: "pwd" })).details.output, "/usr\n");
  assertEquals((await runToEnd(agent, { command: "pwd", workdir: "bin/.." })).details.output, "/usr\n");
  assert(stub.calls().every((call) => call.startsWith("--namespace web exec -i -c app workbench -- /bin/sh -c ")));
});

test("E34 a kill ends the tree in there, and not the engine's client alone", { skip: proc }, async () => {
  const { agent } = await open();
  const sleep = uniqueSleep();
  const { id } = await background(agent, { command: `trap '' TERM; setsid ${sleep} & ${sleep}; ${sleep}` });
  await eventually(() => processesWith(sleep).length === 2, "both run");
  await kill(agent, id);
  await eventually(() => processesWith(sleep).length === 0, "both have ended");
});

test("an engine that fails is told from a command that does", { skip: proc }, async () => {
  for (
    const [code, message] of [[125, /engine could not do it/], [126, /\/bin\/sh cannot be run/], [
      127,
      /no \/bin\/sh/,
    ]] as const
  ) {
    const { agent, stub } = await open();
    assertEquals((await runToEnd(agent, { command: `exit ${code}` })).details.exitCode, code);
    const other = await open();
    other.stub.fail(code);
    const { text, details } = await other.agent.exec({ command: "true" });
    assertEquals(details.status, "failed");
    assertMatch(text, message);
    assertMatch(text, /Cannot reach docker workbench: Error: the daemon is gone/);
    assert(stub.calls().length > 0);
  }
});

test("host-lost: an engine that goes away, with everything in there", { skip: proc }, async () => {
  const mark = Math.random().toString();
  process.env["CONTAINER_TEST_MARK"] = mark; // every process of the stub carries it
  const { agent } = await open();
  try {
    const { id } = await background(agent, { command: "exec sleep 600" });
    for (const pid of processesCarrying(`CONTAINER_TEST_MARK=${mark}`)) process.kill(pid, "SIGKILL");
    const ended = await poll(agent, id, { until: "exit", timeout: 30_000 });
    assertEquals([ended.status, ended.reason], ["failed", "host-lost"]);
  } finally {
    delete process.env["CONTAINER_TEST_MARK"];
  }
});

const GAPS: NonNullable<SpawnerCasesOptions["gaps"]> = {
  "environment": "an engine adds its own variables",
  "signal-names": "shells do not tell a death by SIGPIPE from code 141",
  "stdin-state": "the script around a command holds its stdin open",
  "release": "the exit is told on the streams that are let go of",
  "input-reader": "nobody looks who waits for input over there",
};

if (proc === false) {
  const stub = await openStub();
  after(() => stub[Symbol.asyncDispose]());
  const spawner = container({ engine: "docker", target: "workbench", program: stub.program })(
    (await thisRuntime()).spawner,
  );
  for (const { name, skip, run } of await spawnerCases({ create: () => spawner, cwd: "/", gaps: GAPS })) {
    test(`container, ${name}`, { skip: skip === undefined ? false : skipUnless(false, skip) }, run);
  }
}
