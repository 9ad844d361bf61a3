/**
 * What the core weighs.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./report/results.ts";
import { BUN } from "./runtimes.ts";
import type { Numbers } from "./scenarios/turns.ts";

/**
 * What the import of the core loads, and what there is, minified and compressed: a bundler splits the one from the other
 * as the engines do.
 */
export function sizes(): Numbers {
  const folder = mkdtempSync(join(tmpdir(), "offstage-size-"));
  const options = ["--minify", "--splitting", "--target=node", "--format=esm", "--external", "valibot"];
  execFileSync(BUN, ["build", "mod.ts", ...options, "--outdir", folder], { cwd: root });
  const texts = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  rmSync(folder, { recursive: true });
  const imported = new Set(["mod.js"]);
  for (const name of imported) { // visits what is added meanwhile
    for (const [, file = ""] of (texts.get(name) ?? "").matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) {
      imported.add(file);
    }
  }
  const kib = (names: Iterable<string>): number =>
    gzipSync([...names].map((name) => texts.get(name)).join("\n"), { level: 9 }).length / 1024;
  return { importedKib: kib(imported), allKib: kib(texts.keys()) };
}
