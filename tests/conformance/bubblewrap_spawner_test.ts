/**
 * The sandbox keeps the contract of `offstage/testing` on every runtime, but for what it says it cannot.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { bubblewrap } from "../../adapters/hosts/bubblewrap.ts";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { skipUnless } from "../skip.ts";
import { thisRuntime } from "./machine.ts";
import { sandbox } from "./sandbox.ts";

const GAPS: NonNullable<SpawnerCasesOptions["gaps"]> = {
  "pid": "the process id is that of bwrap, which is not in the sandbox",
  "signal-names": "bwrap tells a death by a signal that we did not send as code 128 and its number",
  "left-behind": "what is in a sandbox ends with its command",
  "stdin-state": "bwrap holds the command's stdin open as long as the command runs",
};

if (sandbox === false) {
  const workspace = process.cwd();
  const cases = await spawnerCases({
    create: async () => bubblewrap({ workspace, readOnly: true })((await thisRuntime()).spawner),
    cwd: workspace,
    gaps: GAPS,
    descriptors: () => readdirSync("/proc/self/fd").length,
  });
  for (const { name, skip, run } of cases) {
    test(`bubblewrap, ${name}`, { skip: skip === undefined ? false : skipUnless(false, skip) }, run);
  }
}
