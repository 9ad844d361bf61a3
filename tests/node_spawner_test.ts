/**
 * What is particular about the Node adapter: writes on Node 20, its optional terminals, and what it says about the
 * machine. What every spawner promises is in `conformance/spawner_test.ts`.
 *
 * @module
 */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createServer } from "node:net";
import process from "node:process";
import { nodeRuntime } from "../adapters/node/runtime.ts";
import { OffstageError, type SpawnSpec } from "../mod.ts";
import { openTestBench } from "./conformance/machine.ts";
import { runtimeName, skipUnless } from "./skip.ts";
import { closing, test } from "./closing.ts";

const skip = skipUnless(runtimeName === "node" && process.platform !== "win32", "this is about Node on POSIX");
const runtime = nodeRuntime();

test("case 83 pipes: a write that waits is refused when the child is released, also on Node 20", { skip }, async () => {
  const bench = closing(openTestBench(runtime.spawner, "pipes"));
  const run = await bench.start(["sleep", "60"], { stdin: "open" });
  const refused = assertRejects(() => run.write(new Uint8Array(4_194_304)), OffstageError);
  run.child.release();
  assertEquals((await refused).code, "stdin-closed");
});

test("case 118: without a terminal back-end the capabilities say why, and a spawn is refused", { skip }, async () => {
  const { spawner } = nodeRuntime({ pty: [() => Promise.reject(new Error("wrong architecture\nat x"))] });
  assertMatch(String((await spawner.capabilities()).pty), /install @lydell\/node-pty: wrong architecture$/);
  assertEquals((await nodeRuntime({ pty: [] }).spawner.capabilities()).pty, "terminals are turned off");
  const spec: SpawnSpec = {
    argv: ["true"],
    cwd: "/",
    env: {},
    stdin: "open",
    sessionId: "x",
    scope: "tester",
    terminal: { cols: 90, rows: 20 },
  };
  const error = await assertRejects(() => spawner.spawn(spec, { chunk: () => {}, end: () => {} }), OffstageError);
  assertEquals(error.code, "unsupported");
});

test("E2 a directory's status tells missing, file and directory apart", { skip }, async () => {
  assertEquals(await runtime.directoryStatus("/"), "ok");
  assertEquals(await runtime.directoryStatus("/no/such"), "missing");
  assertEquals(await runtime.directoryStatus("/etc/passwd"), "not-a-directory");
});

test("E20 programs are found by name on the PATH, and by path", { skip }, async () => {
  assertEquals(await Promise.all(["sh", "/bin/sh", "no-such-program", "/etc/passwd", "/"].map(runtime.hasProgram)), [
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("P12 a port counts as open while something listens on the loopback", { skip }, async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  assertEquals(await runtime.portOpen(port), true);
  await new Promise((resolve) => server.close(resolve));
  assertEquals(await runtime.portOpen(port), false);
});

test("E22 the environment is read anew on each call, and is one frozen object while nothing changes", { skip }, () => {
  const name = "OFFSTAGE_TEST_VARIABLE";
  const before = runtime.environment();
  assertEquals([runtime.environment() === before, Object.isFrozen(before)], [true, true]);
  try {
    process.env[name] = "1";
    assertEquals(runtime.environment()[name], "1");
    process.env[name] = "2";
    assertEquals(runtime.environment()[name], "2");
  } finally {
    delete process.env[name];
  }
  assertEquals(runtime.environment(), before);
});
