/**
 * What the Deno adapter does with fewer permissions than all. Each probe runs in a terminal, where Deno would ask for
 * what is missing and wait: that it comes to an end shows that it was never asked.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { execFileSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { denoRuntime } from "../adapters/deno/runtime.ts";
import type { Outcome, Probe } from "./fixtures/deno_probe.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "deno" && process.platform === "linux", "this is about Deno on Linux");
const PROGRAM = fileURLToPath(new URL("./fixtures/deno_probe.ts", import.meta.url));
const SHELL = "/bin/sh";

async function probe(...flags: readonly string[]): Promise<Probe> {
  let text = "";
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const child = await denoRuntime().spawner.spawn({
    argv: [process.execPath, "run", "--no-check", ...flags, PROGRAM, SHELL],
    cwd: process.cwd(),
    env: { PATH: process.env.PATH ?? "", HOME: "/home/probe", PROBE_OWN: "x", OTHER: "y", NO_COLOR: "1", TERM: "dumb" },
    stdin: "open",
    sessionId: "deno-permissions-test",
    scope: "tester",
    terminal: { cols: 80, rows: 24 },
  }, {
    chunk: (_stream, bytes) => {
      text += new TextDecoder().decode(bytes);
      if (text.includes("Allow?")) child.signal("SIGKILL", "group");
    },
    end,
  });
  assertEquals([await child.exited, await ended], [{ code: 0 }, undefined], text);
  return JSON.parse(text.slice(text.indexOf('{"'))) as Probe; // Deno itself writes to a terminal before that
}

const ECHO: Outcome = { exit: { code: 3 }, text: "hi\n" };
/** The output ends only when all of the group has. */
const KILLED: Outcome = { exit: { signal: "SIGKILL" }, text: "up\n" };

test("Deno without permissions: every refusal names the flag that is missing", { skip }, async () => {
  const found = await probe();
  assertEquals(found.capabilities.groups, false);
  assertMatch(String(found.capabilities.pty), /without --allow-ffi --allow-read --allow-write --allow-sys=uid$/);
  assertEquals([found.variables, found.home], [[], null]);
  const refused = 'refused: Cannot run "/bin/sh": Deno does not allow it without --allow-run=/bin/sh';
  assertEquals([found.echo, found.killed, found.terminal], [refused, refused, refused]);
  assertStringIncludes(found.portOpen, "--allow-net=127.0.0.1:1,[::1]:1");
});

test("Deno --allow-run=/bin/sh: commands on pipes run, and E21 their groups end", { skip }, async () => {
  const found = await probe(`--allow-run=${SHELL}`);
  assertEquals(found.capabilities.groups, true);
  assertEquals([found.echo, found.programs], [ECHO, [true, false, false]]);
  assertEquals(found.killed, KILLED);
  assertEquals(found.directories, ["ok", "ok"]); // it may not look: the spawn has the last word
  assertMatch(String(found.missingDirectory), /^spawn-failed: .*"\/no\/such": the working directory does not exist$/);
  assertMatch(String(found.preload), /^refused: .* without all of --allow-run$/);
  assertMatch(String(found.terminal), /^refused: Cannot open a terminal: .* --allow-ffi /);
});

test("Deno without a shell: a child that is none can still be ended, alone", { skip }, async () => {
  const found = await probe(`--allow-run=${process.execPath}`);
  assertEquals(found.capabilities.groups, false);
  assertEquals(found.lonely, { exit: { signal: "SIGKILL" }, text: "up\n" });
});

test("Deno --allow-run: programs are looked for through the shell where files may not be read", { skip }, async () => {
  const found = await probe("--allow-run");
  assertEquals([found.echo, found.programs], [ECHO, [true, true, false]]);
});

test("Deno --allow-env=…: the environment is what may be read, by known and given names", { skip }, async () => {
  const found = await probe("--allow-env=HOME,PATH,PROBE_OWN,OTHER");
  assertEquals([found.variables, found.home], [["HOME", "PATH", "PROBE_OWN"], "/home/probe"]);
  assertEquals((await probe("--allow-env")).variables.includes("OTHER"), true);
});

test("Deno --allow-read without all the rest: /proc is out of reach, which stops nothing", { skip }, async () => {
  const found = await probe(`--allow-run=${SHELL}`, "--allow-read", "--allow-env", "--allow-net");
  assertEquals(found.directories, ["ok", "missing"]);
  assertEquals([found.echo, found.portOpen], [ECHO, "false"]);
  assertEquals(found.killed, KILLED);
});

test("Deno with the flags that are asked for opens terminals", { skip }, async () => {
  const flags = ["--allow-ffi", "--allow-read", "--allow-write", "--allow-sys=uid"];
  const found = await probe(`--allow-run=${SHELL}`, ...flags);
  assertEquals(found.capabilities.pty, true);
  assertEquals(found.terminal, { exit: { code: 0 }, text: "terminal\r\n" });
  // A native library starts programs past --allow-run, so the adapter checks it
  assertMatch(String((await probe(...flags)).terminal), /^refused: .*--allow-run=\/bin\/sh$/);
});

test("Deno --allow-all: nothing is missing", { skip }, async () => {
  const found = await probe("--allow-all");
  assertEquals(found.capabilities, { pty: true, signals: true, groups: true });
  assertEquals([found.echo, found.programs], [ECHO, [true, true, false]]);
});

test("Deno: what is revoked is not taken for granted any more", { skip }, () => {
  const permissions = new URL("../adapters/deno/permissions.ts", import.meta.url).href;
  const program = `
    const { isGranted } = await import(${JSON.stringify(permissions)});
    const all = () => [{ name: "run" }, { name: "run", command: "sh" }, { name: "read", path: "/" }].map(isGranted);
    const before = all();
    Deno.permissions.revokeSync({ name: "run" });
    await Deno.permissions.revoke({ name: "read" });
    console.log(JSON.stringify([before, all()]));
  `;
  const printed = execFileSync(process.execPath, ["eval", program], { encoding: "utf8" });
  assertEquals(JSON.parse(printed), [[true, true, true], [false, false, false]]);
});
