/**
 * What `import "offstage"` loads, and what it leaves until it is used.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { posix } from "node:path";
import { test } from "node:test";
import { readText } from "./project.ts";

/** Rooms that are needed once there is a command, so not for an import. */
const ON_USE = ["src/output/", "src/process/", "src/session/session.ts", "src/exec/exec.ts", "src/terminal/watch.ts"];

for (const entry of ["mod.ts", "tools.ts"]) {
  test(`importing ${entry} loads nothing that only a running command or the process tool needs`, () => {
    assertEquals(loadedBy(entry).filter((file) => ON_USE.some((path) => file.startsWith(path))), []);
  });
}

test("importing the core loads no shape of the tools for a framework", () => {
  const loaded = loadedBy("mod.ts");
  assertEquals(loadedBy("tools.ts").filter((file) => file.startsWith("src/tools/") && loaded.includes(file)), []);
});

/** Every file that is evaluated before an import of `entry` is done: types are not, nor what is imported dynamically. */
function loadedBy(entry: string): readonly string[] {
  const found = new Set([entry]);
  // A Set visits what is added while it is walked
  for (const file of found) {
    const statements = readText(file).matchAll(/^(?:import|export) (?!type\b)[^"=;(]*?from "(\.[^"]+)"/gm);
    for (const [, name = ""] of statements) found.add(posix.join(posix.dirname(file), name));
  }
  return [...found];
}
