/**
 * Commands in a real container of podman keep the contract of `offstage/testing` on every runtime, but for what its
 * engine cannot do.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { after, test } from "node:test";
import { container } from "../../adapters/hosts/container.ts";
import { spawnerCases, type SpawnerCasesOptions } from "../../adapters/testing.ts";
import { skipUnless } from "../skip.ts";
import { thisRuntime } from "./machine.ts";
import { openPodmanContainer, podman } from "./podman_container.ts";

const GAPS: NonNullable<SpawnerCasesOptions["gaps"]> = {
  "environment": "an engine adds its own variables",
  "signal-names": "shells do not tell a death by SIGPIPE from code 141",
  "stdin-state": "the script around a command holds its stdin open",
  "late-output": "podman closes the streams of a command when that ends",
  "unread-input": "podman may lose what is printed last by a command that has not read all of its input",
  "terminal-backpressure": "podman takes more in advance than a terminal holds, and reads no output meanwhile",
  "release": "the exit is told on the streams that are let go of",
  "input-reader": "nobody looks who waits for input over there",
};

if (podman === false) {
  const box = await openPodmanContainer();
  after(() => box[Symbol.asyncDispose]());
  const spawner = container(box.options)((await thisRuntime()).spawner);
  const cases = await spawnerCases({
    create: () => spawner,
    cwd: "/",
    starts: 12, // one takes a quarter of a second
    gaps: GAPS,
    descriptors: () => readdirSync("/proc/self/fd").length,
  });
  for (const { name, skip, run } of cases) {
    test(`podman, ${name}`, { skip: skip === undefined ? false : skipUnless(false, skip) }, run);
  }
}
