/**
 * The repository's own files, for the tests that guard its shape.
 *
 * @module
 */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root of the repository, also for a test that was compiled into `.build`. */
export const root: string = findRoot(dirname(fileURLToPath(import.meta.url)));

/** Folders that are made, not written. */
const GENERATED = new Set(["node_modules", "dist", ".build", ".git", ".peers"]);

/** Text of a file, by its path from the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** A JSON file, by its path from the root. */
export function readJson(path: string): unknown {
  return JSON.parse(readText(path));
}

/** Whether there is such a file. */
export function exists(path: string): boolean {
  return existsSync(join(root, path));
}

/** Files of a folder and the folders in it that end so, as sorted paths from the root with `/`. */
export function listFiles(folder: string, ending: string): readonly string[] {
  if (!exists(folder)) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return GENERATED.has(entry.name) ? [] : listFiles(path, ending);
    return path.endsWith(ending) ? [path] : [];
  }).sort();
}

/**
 * What a formatted TypeScript file imports or re-exports: statements start in the first column, so that examples in
 * comments are not taken for code.
 */
export function importsOf(source: string): readonly string[] {
  const statements = source.matchAll(/^(?:import\s[^"(]*|import\s?|export\s[^"=;(]*\sfrom\s)"([^"]+)"/gm);
  const dynamic = source.matchAll(/^(?!\s*(?:\*|\/\/)).*?\bimport\(\s*"([^"]+)"/gm);
  return [...statements, ...dynamic].map((match) => match[1] ?? "");
}

function findRoot(folder: string): string {
  if (
    existsSync(join(folder, "deno.json")) && existsSync(join(folder, "package.json")) &&
    existsSync(join(folder, "bunfig.toml"))
  ) {
    return folder;
  }
  const parent = dirname(folder);
  if (parent === folder) throw new Error("Cannot find the root of the repository");
  return findRoot(parent);
}
