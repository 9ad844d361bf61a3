/**
 * What is particular about the Bun adapter: the memory of its chunks, the gaps of bun-pty, shutdown and the bridge. What
 * every spawner promises is in `conformance/spawner_test.ts`.
 *
 * @module
 */

import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { bridgeChildProcess } from "../adapters/bun/bridge.ts";
import { bunRuntime } from "../adapters/bun/runtime.ts";
import { createBunSpawner } from "../adapters/bun/spawner.ts";
import { type BunGlobal, bunGlobal } from "../adapters/bun/types.ts";
import { OffstageError } from "../mod.ts";
import { openTestBench } from "./conformance/machine.ts";
import { runtimeName, skipUnless } from "./skip.ts";
import { closing, test } from "./closing.ts";

const skip = skipUnless(runtimeName === "bun" && process.platform !== "win32", "this is about Bun on POSIX");

test("S4 pipes: a small chunk has memory of its own, and no more of it than it needs", { skip }, async () => {
  const bench = closing(openTestBench(bunRuntime().spawner, "pipes"));
  const run = await bench.sh("for i in 1 2 3; do echo $i; sleep 0.05; done");
  await run.finish();
  assertEquals(run.text(), "1\n2\n3\n");
  assertEquals(new Set(run.chunks.map(({ buffer }) => buffer)).size, run.chunks.length);
  assertEquals(run.chunks.filter((bytes) => bytes.buffer.byteLength > 2 * bytes.length), []);
});

test("bun-pty: a code that a signal may have made up is reported as unknown", { skip }, async () => {
  const bench = closing(openTestBench(bunRuntime({ pty: "bun-pty" }).spawner, "terminal"));
  assertEquals(await (await bench.sh("exit 1")).finish(), { code: 1 });
  const run = await bench.start(["sleep", "60"]);
  run.child.signal("SIGKILL", "group");
  assertEquals(await run.finish(), { code: null });
});

test("bun-pty: bytes that are no text are refused", { skip }, async () => {
  const bench = closing(openTestBench(bunRuntime({ pty: "bun-pty" }).spawner, "terminal"));
  const run = await bench.start(["cat"]);
  const error = await assertRejects(() => run.write(Uint8Array.of(0xff)), OffstageError);
  assertEquals(error.code, "unsupported");
});

test("E6 a Bun without terminals says why when they are asked of it", { skip }, async () => {
  const { version, spawn } = bunGlobal();
  const old: BunGlobal = { version, spawn };
  assertMatch(String((await createBunSpawner(old, "terminal").capabilities()).pty), /since 1\.3\.5/);
  assertEquals(await createBunSpawner(old).capabilities(), { pty: true, signals: true, groups: true }); // bun-pty
});

test("the Bun adapter refuses other runtimes", { skip: skipUnless(runtimeName !== "bun", "this is Bun") }, () => {
  assertEquals(assertThrows(() => bunRuntime(), OffstageError).code, "unsupported");
});

test("case 48 a signal to the host is answered by ending sessions, then ends the host", { skip }, async () => {
  const script = `
    const { bunRuntime } = await import(${JSON.stringify(new URL("../adapters/bun/runtime.ts", import.meta.url).href)});
    bunRuntime().onShutdown(async () => { await new Promise((r) => setTimeout(r, 20)); console.log("ended"); });
    setInterval(() => {}, 1000);
    console.log("ready");`;
  const host = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  host.stdout.on("data", (bytes) => {
    text += bytes;
    if (text === "ready\n") host.kill("SIGTERM");
  });
  assertEquals(await once(host, "close"), [null, "SIGTERM"]);
  assertEquals(text, "ready\nended\n");
});

test("B1 B2 a bridge forwards signals, onSignal first, until the child ends", { skip }, async () => {
  const { Bun } = globalThis as unknown as { readonly Bun: BridgedSpawn };
  const child = Bun.spawn(["bash", "-c", "trap 'echo HUP; exit 3' HUP; echo ready; while :; do sleep 0.05; done"]);
  const reader = child.stdout.getReader();
  await reader.read();
  const told: string[] = [];
  const before = process.listenerCount("SIGHUP");
  const bridge = bridgeChildProcess(child, {
    signals: ["SIGHUP"],
    onSignal: (signal) => {
      told.push(signal);
      throw new Error("hook");
    },
  });
  process.kill(process.pid, "SIGHUP");
  assertEquals(await child.exited, 3);
  await sleep(0);
  assertEquals([told, process.listenerCount("SIGHUP")], [["SIGHUP"], before]);
  bridge.detach();
  bridgeChildProcess(child).detach();
  assertEquals(process.listenerCount("SIGHUP"), before);
});

/** What the test of the bridge uses of Bun: a child as users have it. */
interface BridgedSpawn {
  spawn(argv: readonly string[]): Parameters<typeof bridgeChildProcess>[0] & {
    readonly stdout: ReadableStream<Uint8Array>;
  };
}
