/**
 * What the package exports is what `public_surface.txt` says, so that a change of it is seen in review.
 *
 * To take over a wanted change: `UPDATE_SURFACE=1 node --test tests/public_surface_test.ts`.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { readJson, readText, root } from "./project.ts";

const SNAPSHOT = "tests/public_surface.txt";

const { exports } = readJson("deno.json") as { readonly exports: Readonly<Record<string, string>> };
const entries = Object.entries(exports);

test("the public surface is the one of public_surface.txt", () => {
  const surface = entries.map(([name, path]) => {
    const names = exportedNames(readText(path)).map((exported) => `  ${exported}\n`);
    return `${name.replace(".", "offstage")}\n${names.join("")}`;
  }).join("\n");
  if (process.env["UPDATE_SURFACE"] === "1") writeFileSync(join(root, SNAPSHOT), surface);
  assertEquals(surface.split("\n"), readText(SNAPSHOT).split("\n"));
});

test("mod.ts and tools.ts are nothing but explicit named exports", () => {
  const rest = `${readText("mod.ts")}${readText("tools.ts")}`
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .replace(/^\/\/.*$/gm, "")
    .replace(/^export (?:type )?\{[^}]*\} from "[^"]+";$/gm, "");
  assertEquals(rest.trim(), "");
});

/** Names a module exports, sorted, types marked as such. */
function exportedNames(source: string): readonly string[] {
  if (/^export \*/m.test(source)) throw new Error("Cannot list the names behind `export *`");
  const lists = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, type, names]) =>
    (names ?? "").split(",").map((name) => name.trim().replace(/^.* as /, type ?? "")).filter((name) => name !== "")
      .map((name) => name.startsWith("type ") ? name : `${type ?? ""}${name}`)
  );
  const declared = [...source.matchAll(/^export (?:async )?(function|const|class|interface|type) (\w+)/gm)]
    .map(([, kind, name]) => kind === "interface" || kind === "type" ? `type ${name}` : String(name));
  return [...new Set([...lists, ...declared])].sort();
}
