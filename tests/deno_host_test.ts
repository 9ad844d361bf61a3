/**
 * What the Deno adapter does to the process it runs in: how that ends, what keeps it alive, and how it passes signals on.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bridgeChildProcess } from "../adapters/deno/bridge.ts";
import { denoGlobal } from "../adapters/deno/types.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "deno" && process.platform !== "win32", "this is about Deno on POSIX");

/** Starts a host of its own that ends in the given way, and cannot ask for permissions it lacks. */
function hostOf(way: "releases" | "returns" | "exits" | "stays", ...flags: readonly string[]) {
  const program = fileURLToPath(new URL("./fixtures/deno_host.ts", import.meta.url));
  const child = spawn(process.execPath, ["run", "--no-check", "--no-prompt", ...flags, program, way], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part) => text += part);
  const seen = async (part: string): Promise<void> => {
    while (!text.includes(part)) await once(child.stdout, "data");
  };
  const closed = once(child, "close");
  const ended = async () => {
    const [code, signal] = await closed;
    return { code, signal, lines: text.trim().split("\n") };
  };
  return { child, seen, ended };
}

test("case 82 pipes: nothing keeps the host alive after a release", { skip }, async () => {
  const { code, lines } = await hostOf("releases", "--allow-all").ended();
  const pids = lines[0]?.split(" ").map(Number) ?? [];
  assertEquals([code, pids.length], [0, 2]);
  for (const pid of pids) process.kill(pid, "SIGKILL"); // both live on
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(`E39 ${signal}: the end is awaited without any permission, then the host dies of it`, { skip }, async () => {
    const host = hostOf("stays");
    await host.seen("up");
    host.child.kill(signal);
    assertEquals(await host.ended(), { code: null, signal, lines: ["up", "ending", "ended"] });
  });
}

test("E39 the end comes once, at the normal end, and is begun at Deno.exit()", { skip }, async () => {
  assertEquals((await hostOf("returns").ended()).lines, ["up", "ending", "ended"]);
  assertEquals(await hostOf("exits").ended(), { code: 3, signal: null, lines: ["up", "ending"] });
});

test("B1 B2 a bridge forwards signals, onSignal first, until the child ends", { skip }, async () => {
  const { Command } = denoGlobal();
  const script = "trap 'echo HUP; exit 3' HUP; echo ready; while :; do sleep 0.05; done";
  const stdio = { stdin: "null", stdout: "piped", stderr: "null" } as const;
  const child = new Command("bash", { args: ["-c", script], env: {}, clearEnv: true, ...stdio }).spawn();
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
  assertEquals((await child.status).code, 3);
  await sleep(0);
  assertEquals([told, process.listenerCount("SIGHUP")], [["SIGHUP"], before]);
  bridge.detach();
  await reader.cancel();
});
