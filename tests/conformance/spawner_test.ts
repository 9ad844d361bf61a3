/**
 * This runtime's spawner keeps the contract of `offstage/testing`, and what only our own spawners promise beyond it.
 *
 * @module
 */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { OffstageError, type SpawnSpec } from "../../mod.ts";
import { runtimeName, skipUnless } from "../skip.ts";
import { openTestBench, posix, proc, terminal, thisRuntime } from "./machine.ts";
import { closing, test } from "../closing.ts";

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

/** What Node's pipes cannot do, see their module. */
const NODE_PIPES_GAP = runtimeName === "node" ? "Node tells a death by a real-time signal as code 0" : undefined;

const own: Subject = { name: runtimeName, create: async () => (await thisRuntime()).spawner, gaps: {} };

async function subjects(): Promise<readonly Subject[]> {
  if (runtimeName !== "bun") return [own];
  const { bunRuntime } = await import("../../adapters/bun.ts");
  const create = () => bunRuntime({ pty: "bun-pty" }).spawner;
  return [own, { name: "bun with bun-pty", create, gaps: BUN_PTY_GAPS }];
}

/** What cannot be started, and what is to be changed about it. */
const NOT_STARTED: readonly (readonly [argv: SpawnSpec["argv"], cwd: string, message: RegExp])[] = [
  [["no-such-program"], "/", /"no-such-program": there is no such program/],
  [["/etc/passwd"], "/", /"\/etc\/passwd".* may not be executed/],
  [["true"], "/no/such", /in "\/no\/such": the working directory does not exist/],
  [["true"], "/etc/passwd", /in "\/etc\/passwd": it is not a directory/],
  [["true", "x".repeat(140_000)], "/", /140000 bytes of at most 131071/],
];

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

  for (const way of ["pipes", "terminal"] as const) {
    const linux = proc || (way === "terminal" && terminal);

    test(`E29 ${name}, ${way}: what cannot be started is an error that says what is wrong`, {
      skip: linux,
    }, async () => {
      const bench = closing(openTestBench(await create(), way));
      for (const [argv, cwd, message] of NOT_STARTED) {
        const error = await assertRejects(() => bench.start(argv, { cwd }), OffstageError);
        assertEquals(error.code, "spawn-failed");
        assertMatch(error.message, message);
      }
    });

    const hidden = way === "pipes" ? NODE_PIPES_GAP : gaps["terminal-signal-names"];
    test(`E27 ${name}, ${way}: the code is unknown after a real-time signal, which has no name`, {
      skip: linux || (hidden !== undefined && skipUnless(false, hidden)),
    }, async () => {
      const bench = closing(openTestBench(await create(), way));
      assertEquals(await (await bench.sh("kill -40 $$")).finish(), { code: null });
    });
  }
}
