/**
 * `offstage/auto`: the runtime's own adapter, and a clear word where there is none.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createOffstage } from "../adapters/auto.ts";
import { importsOf, readText, root } from "./project.ts";
import { runtimeName, skipUnless } from "./skip.ts";

test("auto runs commands with the adapter of the runtime it is on", async () => {
  const offstage = createOffstage();
  const { text } = await offstage.agent("tester").exec({ command: "echo hi" });
  await offstage.close();
  assertEquals(text, "hi");
});

test("auto imports an adapter only when it has been chosen", () => {
  const source = readText("adapters/auto.ts");
  const imported = importsOf(source).filter((name) => !source.includes(`import("${name}")`));
  assertEquals(imported, ["../mod.ts"]);
});

test("auto says what to do on a runtime it does not know", {
  skip: skipUnless(runtimeName === "node", "only Node can be made to look like another runtime"),
}, () => {
  const auto = new URL(`../adapters/auto${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);
  const script = `Object.defineProperty(process, "versions", { value: {} }); await import("${auto}");`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: root,
    encoding: "utf8",
  });
  assertEquals(status, 1);
  assertStringIncludes(stderr, "this is neither Node.js, Deno nor Bun");
  assertStringIncludes(stderr, "code: 'unsupported'");
});
