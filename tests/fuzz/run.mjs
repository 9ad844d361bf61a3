/**
 * Fuzzes everything that takes input from outside: `npm run fuzz [-- seconds] [part…] [runtime…] [--seed N]`.
 *
 * Parts are those of `parts.ts`; default: all. Runtimes are `node` (the one that runs this, compiled), `node24`, `deno` and
 * `bun`; default: `node` for everything, and each for what they do differently, the sockets. The seconds are those of the
 * whole run; with 600, the default, most machines get through all the inputs there are. The seed is 1 unless another one
 * is given: the same seed tries the same inputs. What is found is printed as small as it can be, with a line for
 * `found.ts`.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { toldHelp } from "../header_help.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const MAIN = "tests/fuzz/main.ts";

/** @type {Readonly<Record<string, readonly [string, ...string[]]>>} */
const RUNTIMES = {
  node: [process.execPath, ".build/tests/fuzz/main.js"],
  node24: [".ci/runtimes/node_modules/node24/bin/node", MAIN],
  deno: ["node_modules/deno/deno", "run", "-A", "--no-check", MAIN],
  bun: ["node_modules/bun/bin/bun.exe", MAIN],
};

/** Shares of the time. @type {Readonly<Record<string, number>>} */
const PARTS = { parameters: 4, http: 4, mcp: 2, output: 8, growth: 3, sockets: 2, settings: 1 };

process.chdir(root);
if (!toldHelp(process.argv, import.meta.url)) main(process.argv.slice(2));

/** @param {readonly string[]} words */
function main(words) {
  const seedAt = words.indexOf("--seed");
  const seed = seedAt < 0 ? "1" : words[seedAt + 1] ?? "";
  const rest = words.filter((_, index) => seedAt < 0 || (index !== seedAt && index !== seedAt + 1));
  const seconds = Number(rest.find((word) => /^\d+$/.test(word)) ?? 600);
  const names = rest.filter((word) => !/^\d+$/.test(word));
  const unknown = names.filter((name) => !(name in RUNTIMES) && !(name in PARTS));
  if (!/^-?\d+$/.test(seed) || unknown.length > 0) {
    console.error(`Not understood: ${unknown.join(", ") || `--seed ${seed}`}`);
    console.error(
      `npm run fuzz [-- seconds] [${Object.keys(PARTS).join("|")}] [${Object.keys(RUNTIMES).join("|")}] [--seed N]`,
    );
    process.exitCode = 2;
    return;
  }
  const parts = Object.keys(PARTS).filter((part) => names.includes(part) || !names.some((name) => name in PARTS));
  const named = Object.keys(RUNTIMES).filter((runtime) => names.includes(runtime));
  const runs = parts.flatMap((part) => {
    const runtimes = named.length > 0 ? named : part === "sockets" ? Object.keys(RUNTIMES) : ["node"];
    return runtimes.map((runtime) => ({
      part,
      runtime,
      weight: (PARTS[part] ?? 1) / (named.length > 0 ? 1 : runtimes.length),
    }));
  });
  if (runs.some(({ runtime }) => runtime === "node") && !compile()) return;

  const weights = runs.reduce((sum, { weight }) => sum + weight, 0);
  const failed = runs.filter(({ part, runtime, weight }) => {
    const [program, ...args] = RUNTIMES[runtime] ?? [""];
    console.log(`\n${part} on ${runtime}`);
    const { status } = spawnSync(program, [...args, String(seconds * weight / weights), seed, part], {
      stdio: "inherit",
    });
    return status !== 0;
  });
  console.log(`\n${runs.length - failed.length} passed, ${failed.length} failed (seed ${seed})`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/**
 * Compiles everything into `.build`, and puts the page beside it.
 *
 * @returns {boolean} whether there were no type errors
 */
function compile() {
  const { status } = spawnSync(process.execPath, [join("node_modules", "typescript", "bin", "tsc"), "-p", "tests"], {
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
  const page = join("adapters", "http", "page");
  cpSync(page, join(".build", page), { recursive: true });
  return status === 0;
}
