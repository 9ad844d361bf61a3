/**
 * Rules of the house that no linter knows.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { exists, listFiles, readText, root } from "./project.ts";

/** A file longer than this has a second reason to change. */
const LONGEST = 300;

const shipped = [...["mod.ts", "tools.ts"].filter(exists), ...listFiles("src", ".ts"), ...listFiles("adapters", ".ts")];

test(`no source file has more than ${LONGEST} lines`, () => {
  const lengths = shipped.map((file) => ({ file, lines: readText(file).trimEnd().split("\n").length }));
  assertEquals(lengths.filter(({ lines }) => lines > LONGEST), []);
});

test("every source file starts by saying what it is for", () => {
  assertEquals(
    shipped.filter((file) => !/^(?:#!.*\n)?\/\*\*\n(?: \*.*\n)+? \* @module\n \*\/\n/.test(readText(file))),
    [],
  );
});

test("the top level is small: what stands there is looked for there", () => {
  const folders = [".ci", ".github", "adapters", "bench", "examples", "skills", "src", "tests"];
  const entry = ["mod.ts", "tools.ts"];
  const texts = ["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"];
  const configs = [
    ".gitattributes",
    ".gitignore",
    "bunfig.toml",
    "deno.json",
    "package-lock.json",
    "package.json",
    "tsconfig.json",
  ];
  const made = [".build", ".git", "dist", "node_modules"];
  const known = new Set([...folders, ...entry, ...texts, ...configs, ...made]);
  assertEquals(readdirSync(root).filter((name) => !known.has(name) && !name.endsWith(".tgz")), []);
});

test("file names are in snake_case", () => {
  assertEquals(shipped.filter((file) => !/^[a-z0-9_/]+\.ts$/.test(file)), []);
});

test("no file names a path that only one machine has", () => {
  const local = /(?<![\w.$}])\/(?:work|tmp\/rt)\/|\/Users\/\w|\b[A-Z]:\\Users\\/;
  const found = listFiles(".", "").filter((file) => file !== "tests/house_rules_test.ts").flatMap((file) =>
    readText(file).split("\n").flatMap((line, index) => local.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])
  );
  assertEquals(found, []);
});

test("shipped code silences no type error and leaves nothing to do", () => {
  const hatch = /@ts-(?:ignore|expect-error|nocheck)|deno-lint-ignore(?! no-control-regex)|\bTODO\b|\bFIXME\b|\bXXX\b/;
  const found = shipped.flatMap((file) =>
    readText(file).split("\n").flatMap((line, index) => hatch.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])
  );
  assertEquals(found, []);
});

test("types of Bun and Deno are nobody's dependency: no file refers to them or declares globals", () => {
  const found = shipped.filter((file) =>
    /@types\/(?:bun|deno)|from "bun"|reference (?:types|lib)=|^\s*declare (?:global|module)\b/m.test(readText(file))
  );
  assertEquals(found, []);
});
