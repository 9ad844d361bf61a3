/**
 * `package.json` and `deno.json` describe the same package.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { test } from "node:test";
import { VERSION } from "../adapters/version.ts";
import { exists, listFiles, readJson, readText } from "./project.ts";

interface NpmManifest {
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

interface JsrManifest {
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
  readonly compilerOptions: Readonly<Record<string, boolean>>;
}

const npm = readJson("package.json") as NpmManifest;
const jsr = readJson("deno.json") as JsrManifest;

test("both manifests have one version and one license", () => {
  assertEquals(jsr.version, npm.version);
  assertEquals(jsr.license, npm.license);
  assertEquals(VERSION, npm.version);
});

test("both manifests have the same entry points, each the build of the other's source", () => {
  const built = Object.fromEntries(
    Object.entries(jsr.exports).map(([name, source]) => {
      const stem = source.replace(/^\.\/(.*)\.ts$/, "./dist/$1");
      return [name, { types: `${stem}.d.ts`, default: `${stem}.js` }];
    }),
  );
  assertEquals<unknown>(npm.exports, { ...built, "./package.json": "./package.json" });
});

test("every entry point and command has its source, and a module comment", () => {
  const commands = Object.values(npm.bin).map((path) => path.replace(/^dist\/(.*)\.js$/, "$1.ts"));
  for (const path of [...Object.values(jsr.exports), ...commands]) {
    assert(exists(path), `${path} is missing`);
    assertStringIncludes(readText(path), "@module", path);
  }
});

test("valibot is the only dependency, and every peer is optional", () => {
  assertEquals(Object.keys(npm.dependencies), ["valibot"]);
  const optional = Object.keys(npm.peerDependencies).map((name) => [name, { optional: true }]);
  assertEquals<unknown>(npm.peerDependenciesMeta, Object.fromEntries(optional));
});

test("what is optional is the same for both", () => {
  for (const [name, range] of Object.entries(npm.optionalDependencies)) {
    assertEquals(jsr.imports[name], `npm:${name}@${range}`, name);
    const folder = jsr.imports[`${name}/`];
    if (folder !== undefined) assertEquals(folder, `npm:/${name}@${range}/`, name);
  }
});

test("the stand-in for @std/assert has a version that the real range admits", () => {
  const { version } = readJson("tests/std_assert/package.json") as { readonly version: string };
  assertEquals((readJson("tests/std_assert/deno.json") as { readonly version: string }).version, version);
  assertEquals(jsr.imports["@std/assert"], `jsr:@std/assert@^${version}`);
});

test("Deno checks types as strictly as tsc", () => {
  const { compilerOptions } = readJson("tsconfig.json") as { readonly compilerOptions: Record<string, unknown> };
  for (const [name, value] of Object.entries(jsr.compilerOptions)) assertEquals(compilerOptions[name], value, name);
});

test("lock files name no registry", () => {
  const locks = listFiles(".", "package-lock.json");
  assertEquals(locks, [".ci/runtimes/package-lock.json", "package-lock.json"]);
  for (const lock of locks) assertEquals(readText(lock).match(/"resolved": "https?:/g), null, lock);
});

test("both registries get the texts that the README leads to", () => {
  const { files } = readJson("package.json") as { readonly files: readonly string[] };
  const { publish } = readJson("deno.json") as { readonly publish: { readonly include: readonly string[] } };
  for (const file of ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"]) {
    assert(exists(file), file);
    assertEquals([files.includes(file), publish.include.includes(file)], [true, true], file);
  }
  assertEquals([files.includes("skills"), publish.include.includes("skills/**/*.md")], [true, true]);
});

test("the newest version of the changelog is this one", () => {
  const versions = [...readText("CHANGELOG.md").matchAll(/^## \[(.+?)\]/gm)].map(([, version]) => version);
  assertEquals(versions.slice(0, 2), ["Unreleased", npm.version]);
});

test("the license is MIT and the text is there", () => {
  assertEquals(npm.license, "MIT");
  assertMatch(readText("LICENSE"), /^MIT License\n\nCopyright \(c\) \d{4} the Offstage authors$/m);
});
