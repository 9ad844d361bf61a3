/**
 * Commands over ssh keep the contract of `offstage/testing` on every runtime, but for what ssh cannot do.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { after, test } from "node:test";
import { ssh } from "../../adapters/hosts/ssh.ts";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { skipUnless } from "../skip.ts";
import { thisRuntime } from "./machine.ts";
import { openSshServer, sshServer } from "./ssh_server.ts";

const GAPS: NonNullable<SpawnerCasesOptions["gaps"]> = {
  "environment": "a server adds its own variables",
  "signal-names": "shells do not tell a death by SIGPIPE from code 141",
  "stdin-state": "a server does not tell that a command has closed its stdin",
  "release": "the exit is told on the streams that are let go of",
  "terminal-late-output": "a server closes a terminal when its command ends",
  "terminal-backpressure": "ssh takes up to 2 MiB in advance, more than a terminal holds",
  "input-reader": "nobody looks who waits for input over there",
};

if (sshServer === false) {
  const server = await openSshServer();
  after(() => server[Symbol.asyncDispose]());
  // One host for all cases: most of the time of a connection is that of making it
  const spawner = ssh(server.options)((await thisRuntime()).spawner);
  const cases = await spawnerCases({
    create: () => spawner,
    cwd: "/",
    gaps: GAPS,
    descriptors: () => readdirSync("/proc/self/fd").length,
  });
  for (const { name, skip, run } of cases) {
    test(`ssh, ${name}`, { skip: skip === undefined ? false : skipUnless(false, skip) }, run);
  }
}
