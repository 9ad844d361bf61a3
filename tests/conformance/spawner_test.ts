/**
 * This runtime's spawner keeps the contract of `offstage/testing`.
 *
 * @module
 */
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { runtimeName, skipUnless } from "../skip.ts";
import { posix, proc, thisRuntime } from "./machine.ts";

/** A spawner of this runtime, and what it is known not to do. */
interface Subject {
  readonly name: string;
  readonly create: SpawnerCasesOptions["create"];
  readonly gaps: NonNullable<SpawnerCasesOptions["gaps"]>;
}

/** What `bun-pty` cannot do, see its module. */
const BUN_PTY_GAPS: Subject["gaps"] = {
  "terminal-signal-names": "bun-pty tells every death by signal as code 1",
  "terminal-late-output": "bun-pty stops reading 20 ms after the exit",
  "terminal-tail": "bun-pty stops reading 20 ms after the exit",
  "terminal-binary": "bun-pty passes text only",
  "terminal-backpressure": "bun-pty does not tell when a write is taken",
  "terminal-release": "bun-pty closes a terminal only when its child ends",
};

const own: Subject = { name: runtimeName, create: async () => (await thisRuntime()).spawner, gaps: {} };

async function subjects(): Promise<readonly Subject[]> {
  if (runtimeName !== "bun") return [own];
  const { bunRuntime } = await import("../../adapters/bun.ts");
  const create = () => bunRuntime({ pty: "bun-pty" }).spawner;
  return [own, { name: "bun with bun-pty", create, gaps: BUN_PTY_GAPS }];
}

const noInspector = proc === false ? {} : { inspector: proc };

for (const { name, create, gaps } of posix === false ? await subjects() : []) {
  const cases = await spawnerCases({
    create,
    cwd: process.cwd(),
    path: process.env["PATH"] ?? "",
    gaps: { ...noInspector, ...gaps },
    ...(existsSync("/proc/self/fd") && { descriptors: () => readdirSync("/proc/self/fd").length }),
  });
  for (const { name: behaviour, skip, run } of cases) {
    test(`${name}, ${behaviour}`, { skip: skip === undefined ? false : skipUnless(false, skip) }, run);
  }
}
