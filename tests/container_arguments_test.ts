/**
 * What the engines of containers are told.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { container, type ContainerOptions } from "../adapters/hosts/container.ts";
import { containerArguments } from "../adapters/hosts/container/arguments.ts";
import { OffstageError } from "../mod.ts";

const SHELL = ["script", "offstage", "worker"];
const RUN = ["/bin/sh", "-c", ...SHELL];
const KEYS = ["--detach-keys", "ctrl-^,ctrl-_,ctrl-^,ctrl-_,ctrl-^"];

const TABLE: readonly (readonly [ContainerOptions, inTerminal: boolean, argv: readonly string[]])[] = [
  [{ engine: "docker", target: "web" }, false, ["docker", "exec", "-i", "web", ...RUN]],
  [{ engine: "docker", target: "web" }, true, ["docker", "exec", "-i", "-t", ...KEYS, "web", ...RUN]],
  [
    { engine: "docker", target: "web", user: "1000:1000", options: ["--context", "staging"] },
    false,
    ["docker", "--context", "staging", "exec", "-i", "--user", "1000:1000", "web", ...RUN],
  ],
  [
    { engine: "podman", target: "web", program: "/opt/podman", user: "www" },
    true,
    ["/opt/podman", "exec", "-i", "-t", ...KEYS, "--user", "www", "web", ...RUN],
  ],
  [{ engine: "kubectl", target: "deploy/web" }, false, ["kubectl", "exec", "-i", "deploy/web", "--", ...RUN]],
  [
    { engine: "kubectl", target: "web-0", container: "app", options: ["--namespace", "web"] },
    true,
    ["kubectl", "--namespace", "web", "exec", "-i", "-t", "-c", "app", "web-0", "--", ...RUN],
  ],
];

for (const [options, inTerminal, argv] of TABLE) {
  test(`argv of ${JSON.stringify(options)}${inTerminal ? " in a terminal" : ""}`, () => {
    assertEquals(containerArguments(options, SHELL, inTerminal), argv);
  });
}

const WRONG: readonly (readonly [key: string, options: ContainerOptions])[] = [
  ["engine", { engine: "lxc" as "docker", target: "web" }],
  ["target", { engine: "docker", target: "--privileged" }],
  ["target", { engine: "docker", target: "" }],
  ["container", { engine: "docker", target: "web", container: "app" }],
  ["user", { engine: "kubectl", target: "web", user: "root" }],
  ["user", { engine: "docker", target: "web", user: "-v" }],
  ["cwd", { engine: "docker", target: "web", cwd: "relative" }],
];

for (const [key, options] of WRONG) {
  test(`${JSON.stringify(options)} is refused, by ${key}`, () => {
    const error = assertThrows(() => container(options), OffstageError);
    assertEquals(error.problems.map((problem) => problem.key), [key]);
  });
}
