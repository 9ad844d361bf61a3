/**
 * What becomes of a sandbox whose host dies, and what it gets of what its host was started with (E39, R15). Each host is a
 * process of its own on the runtime the test runs on.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { closing, test } from "../closing.ts";
import type { HostPlan } from "../fixtures/host.ts";
import { runtimeName } from "../skip.ts";
import { eventually, processesWith, uniqueSleep } from "./agent.ts";
import { proc, terminal } from "./machine.ts";
import { folderOutside, sandbox } from "./sandbox.ts";

/** Beside the compiled tests lie compiled fixtures. */
const hostProgram = fileURLToPath(
  new URL(`../fixtures/host.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
);
const runtimeArgs = { node: [], bun: [], deno: ["run", "-A", "--no-check"] }[runtimeName];

/** Starts a host by way of a shell's script, which is given the host's arguments, and waits until its commands are up. */
async function start(plan: Omit<HostPlan, "end">, script = 'exec "$@"'): Promise<ChildProcess> {
  const text = JSON.stringify({ ...plan, end: "stay" });
  const argv = ["-c", script, "bash", process.execPath, ...runtimeArgs, hostProgram, text];
  const child = spawn("bash", argv, { stdio: ["ignore", "pipe", "inherit"] });
  closing({ [Symbol.asyncDispose]: () => Promise.resolve(void child.kill("SIGKILL")) });
  const [chunk] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  assertEquals(String(chunk), "up\n");
  return child;
}

for (const orphanGuard of [true, false]) {
  test(`E39 a host that dies by SIGKILL leaves nothing in its sandboxes, ${orphanGuard ? "with" : "without"} a guard`, {
    skip: sandbox || proc || terminal,
  }, async () => {
    const { path: workspace } = closing(await folderOutside());
    const [deaf, stray] = [uniqueSleep(), uniqueSleep()];
    const command = `trap '' TERM HUP; setsid setsid env -i ${stray} & echo up; ${deaf}; ${deaf}`;
    const host = await start({
      exec: { orphanGuard },
      workspace,
      commands: [{ command }, { command, pty: true }],
    });
    const all = 1 + 2; // the host itself, which has the commands among its arguments
    await eventually(() => [deaf, stray].every((text) => processesWith(text).length === all), "all of them run");
    host.kill("SIGKILL");
    const left = (): number => [deaf, stray, workspace].flatMap(processesWith).length;
    await eventually(() => left() === 0, "nothing is left");
  });
}

test("R15 a command gets no descriptor that its host was started with", { skip: sandbox || proc }, async () => {
  const { path } = closing(await folderOutside());
  const workspace = `${path}/work`;
  await mkdir(workspace);
  writeFileSync(`${path}/secret`, "a secret");
  const command = "ls -l /proc/self/fd >descriptors; cat /proc/self/fd/77/secret >read; echo up; exec sleep 600";
  await start({ exec: {}, workspace, commands: [{ command }] }, `exec 77<${path}; exec "$@"`);
  const seen = readFileSync(`${workspace}/descriptors`, "utf8");
  assertStringIncludes(seen, " 2 -> ");
  assert(!seen.includes(" 77 -> "), seen);
  assertEquals(readFileSync(`${workspace}/read`, "utf8"), "");
});
