/**
 * The three walls: what the core may use, who may touch a child process, and what an adapter may import.
 *
 * @module
 */

import { assertEquals, assertGreater } from "@std/assert";
import { spawnSync } from "node:child_process";
import { posix } from "node:path";
import { test } from "node:test";
import { importsOf, listFiles, readText, root } from "./project.ts";
import { runtimeName, skipUnless } from "./skip.ts";

/** The rooms of `src/`, from the ground up. A room uses itself and those below; files beside the rooms are below all. */
const FLOORS = [["output", "terminal"], ["session"], ["exec", "process"], ["tools"]];
/** What puts the rooms together, so may use all of them and each other. */
const ROOF = new Set(["src/offstage.ts", "src/agent.ts"]);
/** The one file that loads an optional peer, on use. */
const SCREEN = { file: "src/terminal/screen.ts", peer: "@xterm/headless" };

const core = listFiles("src", ".ts");
const adapters = listFiles("adapters", ".ts");

test("wall 1: src/ imports only relative files and valibot", () => {
  assertGreater(core.length, 0);
  const foreign = core.flatMap((file) =>
    importsOf(readText(file))
      .filter((name) => !/^\.\.?\//.test(name) && name !== "valibot")
      .filter((name) => file !== SCREEN.file || name !== SCREEN.peer)
      .map((name) => `${file} imports "${name}"`)
  );
  assertEquals(foreign, []);
});

test("wall 1: src/ imports nothing outside src/", () => {
  const outside = core.flatMap((file) =>
    relativeImports(file).filter((target) => !target.startsWith("src/")).map((target) => `${file} imports ${target}`)
  );
  assertEquals(outside, []);
});

test("wall 1: src/ reads no clock and no random source of its own", () => {
  const impure = core.flatMap((file) =>
    code(file)
      .filter(([line]) => /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bglobalThis\b/.test(line))
      .map(([line, number]) => `${file}:${number} ${line.trim()}`)
  );
  assertEquals(impure, []);
});

test("wall 1: src/ compiles with no globals but the language's and a few web standards", {
  skip: skipUnless(runtimeName === "node", "the compiler says the same on every runtime"),
}, () => {
  const tsc = ["node_modules/typescript/bin/tsc", "-p", "tests/core_globals", "--pretty", "false"];
  const { stdout } = spawnSync(process.execPath, tsc, { cwd: root, encoding: "utf8" });
  assertEquals(stdout, "");
});

test("wall 2: a room uses only itself and the rooms below it", () => {
  const upward = core.filter((file) => !ROOF.has(file)).flatMap((file) =>
    relativeImports(file)
      .filter((target) => ROOF.has(target) || floor(target) > floor(file))
      .map((target) => `${file} imports ${target}`)
  );
  assertEquals(upward, []);
});

test("wall 2: nothing above session/ touches a child", () => {
  const touching = core
    .filter((file) => ROOF.has(file) || floor(file) > 1)
    .filter((file) => /^import [^"]*\bChild\b[^"]*"/m.test(readText(file)));
  assertEquals(touching, []);
});

test("wall 3: adapters import the public core, never a file inside src/", () => {
  const inside = adapters.flatMap((file) =>
    relativeImports(file).filter((target) => target.startsWith("src/")).map((target) => `${file} imports ${target}`)
  );
  assertEquals(inside, []);
});

/** Paths from the root of what a file imports relatively. */
function relativeImports(file: string): readonly string[] {
  return importsOf(readText(file)).filter((name) => name.startsWith(".")).map((name) =>
    posix.join(posix.dirname(file), name)
  );
}

/** Lines of a file that are not comments, with their numbers. */
function code(file: string): readonly (readonly [line: string, number: number])[] {
  const lines = readText(file).split("\n").map((line, index) => [line, index + 1] as const);
  return lines.filter(([line]) => !/^\s*(?:\/\*|\*|\/\/)/.test(line));
}

/** How high a file's room is; -1 for the files beside the rooms. */
function floor(file: string): number {
  return FLOORS.findIndex((rooms) => rooms.some((room) => file.startsWith(`src/${room}/`)));
}
