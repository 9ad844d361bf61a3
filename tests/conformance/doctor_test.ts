/**
 * `offstage doctor` tells what works here, and is right.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { diagnose, report } from "../../adapters/cli/doctor.ts";
import { posix, proc, terminal } from "./machine.ts";
import { sandbox } from "./sandbox.ts";

test("E39 doctor tells the runtime, the shell and whether the orphan guard is on", { skip: posix }, async () => {
  const diagnosis = await diagnose();
  assertMatch(diagnosis.runtime, /^(?:node|deno|bun) \d+\.\d+/);
  assertMatch(diagnosis.shell, /^(?:bash|zsh|sh|dash|ksh)$/);
  assertEquals(diagnosis.guard, "on");
  for (const [, value] of Object.entries(diagnosis)) assertStringIncludes(report(diagnosis), value);
});

test("P30 doctor knows whether the system tells who waits for input", { skip: proc || terminal }, async () => {
  const { terminals, input } = await diagnose();
  assertEquals([terminals, input], ["yes", "the system tells who waits for it"]);
});

test("R15 doctor knows whether there is a sandbox, and why there is none", { skip: sandbox }, async () => {
  assertEquals((await diagnose()).sandbox, "bubblewrap works");
  const { PATH = "" } = process.env;
  process.env["PATH"] = PATH.split(":").filter((directory) => !existsSync(`${directory}/bwrap`)).join(":");
  try {
    assertMatch((await diagnose()).sandbox, /^no: .*there is no "bwrap"/);
  } finally {
    process.env["PATH"] = PATH;
  }
});
