/**
 * Runs the tests on every runtime: `node tests/run.mjs [runtime …] [part of a file name …]`.
 *
 * A runtime is `deno`, `bun`, `node` (all of them) or one such as `node24`. The Node that runs this file gets the
 * compiled tests, which is how packages from npm run; the others get the TypeScript as it is. Each test file is a
 * process of its own. The last line says `N passed, N failed`, summed over the runtimes.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runFile } from "./run_file.mjs";
import { describeSkips, readReport } from "./runner_output.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const RUNTIMES = join(root, ".ci", "runtimes");
/** Files at a time. More would make the tests that watch real processes wait for a processor. */
const CONCURRENCY = 2;
const OWN_MAJOR = Number.parseInt(process.versions.node, 10);

/**
 * @typedef {object} Runtime
 * @property {string} id what it is called on the command line
 * @property {import("./runner_output.mjs").Runner} runner
 * @property {string} program
 * @property {readonly string[]} args what comes before the test file
 * @property {boolean} [compiled] it gets the compiled tests
 */

/** @type {string | undefined} */
let cannotInstall;

/** @type {readonly Runtime[]} */
const ALL = [
  { id: `node${OWN_MAJOR}`, runner: "node", program: process.execPath, args: ["--test-reporter=spec"], compiled: true },
  ...[22, 24, 26].filter((major) => major !== OWN_MAJOR).map(pinnedNode),
  { id: "deno", runner: "deno", program: installed("deno", "deno"), args: ["test", "-A", "--no-check"] },
  // Bun would end a test after 5 s; a file that hangs is ended by runFile().
  { id: "bun", runner: "bun", program: installed("bun", "bin/bun.exe"), args: ["test", "--timeout", "600000"] },
];

/**
 * @typedef {object} Row what became of one runtime
 * @property {string} runtime
 * @property {number} files
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {number} seconds
 */

/** Lines of a failed file's report that are told once more at the end: the runners put what failed there. */
const TOLD_AGAIN = 40;

/** @type {string[]} */
const failures = [];

await main(process.argv.slice(2));

/** @param {readonly string[]} words */
async function main(words) {
  const names = new Set(ALL.flatMap(({ id, runner }) => [id, runner]));
  const unnamed = !words.some((word) => names.has(word));
  const parts = words.filter((word) => !names.has(word));
  const files = testFiles().filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));

  /** @type {Row[]} */
  const rows = [];
  /** @type {string[]} */
  const leftOut = [];
  for (const runtime of ALL.filter(({ id, runner }) => unnamed || words.includes(id) || words.includes(runner))) {
    const missing = runtime.program.startsWith(RUNTIMES) ? installPinned() : undefined;
    if (missing === undefined) rows.push(await runOn(runtime, files));
    else leftOut.push(`${runtime.id} is left out: ${missing}`);
  }

  if (failures.length > 0) console.log(`\nFailed:\n  ${failures.join("\n  ")}`);
  console.table(Object.fromEntries(rows.map(({ runtime, ...counts }) => [runtime, counts])));
  for (const line of leftOut) console.log(line);
  const passed = rows.reduce((sum, row) => sum + row.passed, 0);
  const failed = rows.reduce((sum, row) => sum + row.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

/**
 * Runs the files on one runtime and prints a line for each, with the runner's whole report where something failed.
 *
 * @param {Runtime} runtime
 * @param {readonly string[]} files
 * @returns {Promise<Row>}
 */
async function runOn(runtime, files) {
  const startedAt = performance.now();
  const version = spawnSync(runtime.program, ["--version"], { encoding: "utf8" }).stdout?.split("\n")[0];
  console.log(`\n${runtime.id}: ${version ?? runtime.program}${runtime.compiled ? ", compiled" : ""}`);
  const row = { runtime: runtime.id, files: files.length, passed: 0, failed: 0, skipped: 0, seconds: 0 };
  const stopped = version === undefined ? "does not start" : runtime.compiled && !compile() ? "type errors" : undefined;
  if (stopped !== undefined) {
    failures.push(`${runtime.id}: ${stopped}`);
    return { ...row, files: 0, failed: 1 };
  }

  const queue = [...files];
  const work = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const target = runtime.compiled ? join(".build", file.replace(/\.ts$/, ".js")) : file;
      const run = await runFile([runtime.program, ...runtime.args, `./${target}`], root);
      const { passed, failed, skipped } = readReport(runtime.runner, run.output, run.endedWell);
      row.passed += passed;
      row.failed += failed;
      row.skipped += skipped.length;
      const counts = `${passed} passed` + (failed > 0 ? `, ${failed} FAILED (${run.ending})` : "");
      console.log(`  ${file}: ${counts}, ${(run.ms / 1000).toFixed(1)} s`);
      for (const line of describeSkips(skipped)) console.log(`    ${line}`);
      if (failed === 0) continue;
      const report = run.output.trimEnd().replaceAll(/^/gm, "  | ");
      failures.push(`${runtime.id}: ${file}\n${report.split("\n").slice(-TOLD_AGAIN).join("\n")}`);
      console.log(report);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { ...row, seconds: Math.round((performance.now() - startedAt) / 1000) };
}

/** @returns {string[]} paths from the root, sorted */
function testFiles() {
  const files = readdirSync(join(root, "tests"), { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith("_test.ts")).map((file) => `tests/${file.replaceAll("\\", "/")}`).sort();
}

/**
 * Compiles everything into `.build` and puts what is not compiled beside it.
 *
 * @returns {boolean} whether there were no type errors
 */
function compile() {
  rmSync(join(root, ".build"), { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tests"], { cwd: root, stdio: "inherit" });
  if (status === 0) {
    for (const folder of [join("tests", "fixtures"), join("adapters", "http", "page")]) {
      cpSync(join(root, folder), join(root, ".build", folder), { recursive: true });
    }
  }
  return status === 0;
}

/**
 * Installs the pinned Node versions when they are not there.
 *
 * @returns {string | undefined} why they cannot be used
 */
function installPinned() {
  if (cannotInstall !== undefined) return cannotInstall;
  const platform = `${process.platform}-${process.arch}`;
  if (platform !== "linux-x64") return `the pinned Node versions are for linux-x64, this is ${platform}`;
  if (existsSync(join(RUNTIMES, "node_modules"))) return undefined;
  console.log("\nInstalling the other Node versions into .ci/runtimes …");
  const install = ["ci", "--prefix", RUNTIMES, "--no-audit", "--no-fund"];
  const { status, stderr } = spawnSync("npm", install, { stdio: ["ignore", "inherit", "pipe"], encoding: "utf8" });
  if (status === 0) return undefined;
  const errors = (stderr ?? "").split("\n").filter((line) => line.startsWith("npm error")).slice(0, 5);
  cannotInstall = ["npm could not install it", ...errors].join("\n  ");
  return cannotInstall;
}

/**
 * @param {number} major
 * @returns {Runtime}
 */
function pinnedNode(major) {
  const program = join(RUNTIMES, "node_modules", `node${major}`, "bin", "node");
  return { id: `node${major}`, runner: "node", program, args: ["--test-reporter=spec"] };
}

/**
 * The executable itself, not its link in `.bin`, which is a script on Windows.
 *
 * @param {string} name of the package
 * @param {string} file in it
 */
function installed(name, file) {
  const path = join(root, "node_modules", name, file);
  return process.platform === "win32" && !path.endsWith(".exe") ? `${path}.exe` : path;
}
