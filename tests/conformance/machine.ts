/**
 * What a conformance test needs of the machine, and this machine with one thing changed.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import {
  createOffstage,
  type ExecConfig,
  type OutputSink,
  type Runtime,
  type Spawner,
  type SpawnSpec,
} from "../../mod.ts";
import { type Bench as SpawnerBench, openBench, type Way } from "../../adapters/testing/bench.ts";
import { runtimeName, skipUnless } from "../skip.ts";
import { type Bench, tryOut } from "./agent.ts";

/** `skip` of a test whose commands are written for a POSIX shell. */
export const posix: string | false = skipUnless(
  process.platform !== "win32",
  "the commands are written for a POSIX shell",
);

/** `skip` of a test that looks into `/proc`. */
export const proc: string | false = posix || skipUnless(existsSync("/proc/self/stat"), "there is no /proc");

/** `skip` of a test that needs a terminal. */
export const terminal: string | false = posix || skipUnless(await hasTerminals(), "this runtime has no terminals");

/** How a command's streams are connected, for what must hold either way and needs `/proc`. */
export const CONNECTIONS = [
  { how: "pipes", pty: false, skip: proc },
  { how: "a terminal", pty: true, skip: proc || terminal },
] as const;

/** A fresh folder, removed when it is disposed of. */
export async function freshFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "offstage-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** `skip` of a test that runs a program, perhaps one of which more than its presence is asked. */
export async function needs(program: string, check: string = `command -v ${program}`): Promise<string | false> {
  if (posix !== false) return posix;
  return skipUnless((await tryOut({ command: check })).ok, `there is no ${program}`);
}

async function hasTerminals(): Promise<boolean> {
  return (await tryOut({ command: ":", pty: true })).pty;
}

/** The runtime object of the runtime that the test runs on. */
export async function thisRuntime(): Promise<Runtime> {
  switch (runtimeName) {
    case "node":
      return (await import("../../adapters/node.ts")).nodeRuntime();
    case "deno":
      return (await import("../../adapters/deno.ts")).denoRuntime();
    case "bun":
      return (await import("../../adapters/bun.ts")).bunRuntime();
  }
}

/** Like {@linkcode open}, with something about starting commands changed. */
export async function openWith(
  change: (spawner: Spawner, spec: SpawnSpec, sink: OutputSink) => ReturnType<Spawner["spawn"]>,
  exec: ExecConfig = {},
): Promise<Bench> {
  const runtime = await thisRuntime();
  const { spawner } = runtime;
  return openOn({ ...runtime, spawner: { ...spawner, spawn: (spec, sink) => change(spawner, spec, sink) } }, exec);
}

/** Like {@linkcode open}, on a given runtime. */
export function openOn(runtime: Runtime, exec: ExecConfig = {}): Bench {
  const offstage = createOffstage({ runtime, tools: { exec } });
  return { offstage, agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() };
}

/** A bench for one spawner, as the cases of `offstage/testing` have it: for what only that spawner does. */
export function openTestBench(spawner: Spawner, way: Way): SpawnerBench & AsyncDisposable {
  const bench = openBench({ spawner, way, cwd: "/", path: process.env["PATH"] ?? "", starts: 200, limitMs: 30_000 });
  return { ...bench, [Symbol.asyncDispose]: bench.close };
}
