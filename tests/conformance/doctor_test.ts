/**
 * `offstage doctor` tells what works here, and is right.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { diagnose, type Diagnosis, report } from "../../adapters/cli/doctor.ts";
import type { Finding } from "../../adapters/cli/doctor/finding.ts";
import { closing, test } from "../closing.ts";
import { offstage } from "./cli.ts";
import { freshFolder, posix, proc, terminal } from "./machine.ts";
import { sandbox } from "./sandbox.ts";

function found({ findings }: Diagnosis, topic: string): Finding {
  const finding = findings.find((each) => each.topic === topic);
  assert(finding !== undefined, `nothing about ${topic}`);
  return finding;
}

test("E39 doctor tells the runtime, the shell and whether the orphan guard is on", { skip: posix }, async () => {
  const diagnosis = await diagnose();
  assertMatch(diagnosis.runtime, /^(?:node|deno|bun) \d+\.\d+/);
  assertEquals(found(diagnosis, "runtime").state, "ok");
  assertMatch(found(diagnosis, "shell").text, /^(?:bash|zsh|sh|dash|ksh)$/);
  assertEquals(found(diagnosis, "orphan guard"), { topic: "orphan guard", state: "ok", text: "on" });
  const [text = ""] = report(diagnosis).split("\nSettings\n");
  for (const { topic, text: told } of diagnosis.findings) {
    assertEquals(text.split("\n").filter((line) => line.slice(2).startsWith(`${topic} `)).length, 1, topic);
    assertStringIncludes(text, told.split("\n")[0] ?? "");
  }
});

test("P30 doctor knows whether the system tells who waits for input", { skip: proc || terminal }, async () => {
  const diagnosis = await diagnose();
  assertEquals(found(diagnosis, "input").text, "the system tells who waits for it");
  assertMatch(found(diagnosis, "terminals").text, /^yes, (?:by \S*node-pty \d|of bun itself)/);
});

test("doctor knows the packages of the front ends and their versions", { skip: posix }, async () => {
  const diagnosis = await diagnose();
  assertMatch(found(diagnosis, "serve").text, /^yes, by hono \d+\.\d+\.\d+/);
  assertMatch(found(diagnosis, "mcp").text, /^yes, by @modelcontextprotocol\/server \d/);
  assertMatch(found(diagnosis, "nats").text, /^yes, by @nats-io\/transport-node \d/);
  assertMatch(found(diagnosis, "page").text, /^with terminals, by @xterm\/xterm \d/);
});

test("R15 doctor knows whether there is a sandbox, and why there is none", { skip: sandbox }, async () => {
  assertEquals(found(await diagnose(), "sandbox").text, "bubblewrap works");
  const { PATH = "" } = process.env;
  process.env["PATH"] = PATH.split(":").filter((directory) => !existsSync(`${directory}/bwrap`)).join(":");
  try {
    const { state, text } = found(await diagnose(), "sandbox");
    assertMatch(text, /^no: .*there is no "bwrap"/);
    assertEquals(state, "missing");
    assertEquals(found(await diagnose({ sandboxRequired: true }), "sandbox").state, "problem");
  } finally {
    process.env["PATH"] = PATH;
  }
});

test("C1 doctor tells the settings of a file, each with where it came from", { skip: posix }, async () => {
  const { path } = closing(await freshFolder());
  const file = join(path, "agent.json");
  writeFileSync(file, JSON.stringify({ tools: { exec: { maxSessions: 7, orphanGuard: false }, other: {} } }));
  const env = { OPENCLAW_BASH_YIELD_MS: "5000", OPENCLAW_BASH_JOB_TTL_MS: "soon" };
  const { stdout, code } = await offstage(["doctor", "--config", file], { env });
  assertEquals(code, 0);
  assertMatch(stdout, /^ {2}maxSessions +7 \(option\)$/m);
  assertMatch(stdout, /^ {2}backgroundMs +5000 \(OPENCLAW_BASH_YIELD_MS\)$/m);
  assertMatch(stdout, /^ {2}cleanupMs +1800000 \(default\)$/m);
  assertMatch(
    stdout,
    /^- configuration +OPENCLAW_BASH_JOB_TTL_MS has no effect on cleanupMs: it is not a whole number$/m,
  );
  assertMatch(stdout, /^- orphan guard +off: the setting orphanGuard is false$/m);
});

test("doctor puts a wrong configuration first, tells the rest all the same, and exits with 1", {
  skip: posix,
}, async () => {
  const { path } = closing(await freshFolder());
  const file = join(path, "agent.json");
  writeFileSync(file, JSON.stringify({ tools: { exec: { backgroundMS: 5 } } }));
  const { stdout, code } = await offstage(["doctor", "--config", file]);
  assertEquals(code, 1);
  assertMatch(stdout, /^! configuration +.*backgroundMS.*backgroundMs/);
  assertMatch(stdout, /^ {2}shell +\w+$/m);
  const absent = await offstage(["doctor", "--config", join(path, "none.json")]);
  assertEquals([absent.stdout, absent.code], ["", 125]);
  assertMatch(absent.stderr, /^offstage: Cannot read .*none\.json/);
});

test("doctor knows which programs reach other machines and containers", { skip: posix }, async () => {
  const { path } = closing(await freshFolder());
  const { PATH = "" } = process.env;
  const others = PATH.split(":").filter((directory) =>
    !["ssh", "docker", "podman", "kubectl"].some((name) => existsSync(`${directory}/${name}`))
  );
  for (const name of ["docker", "ssh"]) writeFileSync(`${path}/${name}`, "", { mode: 0o755 });
  try {
    process.env["PATH"] = [path, ...others].join(":");
    assertEquals(found(await diagnose(), "other hosts").text, "by ssh, docker");
  } finally {
    process.env["PATH"] = PATH;
  }
});
