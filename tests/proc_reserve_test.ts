/**
 * A host that has no descriptor left still sees what lives: a look that fails would read as "nobody is there".
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { extname } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { assertEquals } from "@std/assert";
import { proc } from "./conformance/machine.ts";
import { runtimeName } from "./skip.ts";

/** The program in a process of its own: nothing else of that has a descriptor left either. */
const program = fileURLToPath(new URL(`fixtures/no_descriptors${extname(import.meta.url)}`, import.meta.url));

test("E35 E39 P41 without a descriptor left a tree is seen and ended all the same, and the guard comes back", {
  skip: proc,
}, () => {
  const run = runtimeName === "deno" ? ["run", "-A", "--no-check", program] : [program];
  const { stdout, stderr } = spawnSync("sh", ["-c", 'ulimit -n 200; exec "$0" "$@"', process.execPath, ...run], {
    encoding: "utf8",
    timeout: 60_000,
  });
  assertEquals(JSON.parse(stdout || "{}"), {
    waited: true,
    endedWith: ["completed", 2],
    survivors: ["sleep"],
    confirmed: true,
    left: 0,
    guardsKilled: 1,
    statusMeanwhile: "off: sh cannot be started:",
    guardIsSoonBack: true,
  }, stderr);
});
