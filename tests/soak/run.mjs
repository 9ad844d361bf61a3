/**
 * Random load with an oracle, on every runtime, one after the other: `npm run soak [-- minutes] [runtime …] [--seed N]`.
 *
 * Minutes are those of all runtimes together, 10 unless said otherwise. Runtimes are `node20` (the Node that runs this,
 * compiled), `node24`, `deno` and `bun`; default: all. Commands of every kind run in sixteen scopes of one instance, are
 * read, typed into, killed and watched over HTTP, while faults come upon them; every byte and every end is compared with
 * what a generator knows. At last one more process is killed by SIGKILL in the middle of it, and all it had started has
 * to be gone. Ends with the counts; the exit status is 1 if anything was lost. `--op N` does only what the Nth operation
 * of that seed did, again and again.
 *
 * @module
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { toldHelp } from "../header_help.mjs";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Program and arguments of each runtime; only the machine's own Node gets the compiled worker. */
const RUNTIMES = {
  node20: [process.execPath, ".build/tests/soak/worker.js"],
  node24: [".ci/runtimes/node_modules/node24/bin/node", "tests/soak/worker.ts"],
  deno: ["node_modules/deno/deno", "run", "-A", "--no-check", "tests/soak/worker.ts"],
  bun: ["node_modules/bun/bin/bun.exe", "tests/soak/worker.ts"],
};

/** Descriptors of a worker: what it needs fits, and holding all the others is no great thing. */
const DESCRIPTORS = 700;
/** How long the process that is killed has been at it, ms. */
const KILLED_AFTER_MS = 5_000;
/** Time in which everything of a dead host has to be gone: two seconds, and a busy machine's time to notice, ms. */
const GONE_WITHIN_MS = 10_000;
/** A worker that takes that much longer than its load hangs, ms. */
const HANGS_AFTER_MS = 300_000;

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130)); // its worker goes with it

if (toldHelp(process.argv, import.meta.url)) process.exit();
const options = readOptions(process.argv.slice(2));
console.log(
  `soak: ${options.minutes} min on ${options.runtimes.join(", ")}, one after the other; --seed ${options.seed}`,
);
if (options.runtimes.includes("node20")) compile();
const rows = {};
let lost = 0;
for (const runtime of options.runtimes) {
  const ms = (options.minutes * 60_000) / options.runtimes.length;
  const { tally, slope, losses, goneMs } = await soakOn(runtime, ms);
  lost += losses;
  rows[runtime] = {
    commands: tally.commands,
    "refused by a fault": tally.refused,
    "MB checked": Number((tally.bytes / 1e6).toFixed(1)),
    "MB dropped, told": Number((tally.dropped / 1e6).toFixed(1)),
    "exits checked": tally.exits,
    events: tally.events,
    ...tally.viewers && Object.fromEntries(Object.entries(tally.viewers).map(([kind, n]) => [`viewers: ${kind}`, n])),
    ...Object.fromEntries(Object.entries(tally.faults).sort().map(([kind, n]) => [`fault: ${kind}`, n])),
    "host killed, all gone after, ms": goneMs,
    "heap, bytes per command": Math.round(slope),
    losses,
  };
}
printTable(rows);
console.log(lost === 0 ? "Nothing was lost or left behind." : `${lost} lost or left behind: told above`);
process.exitCode = lost === 0 ? 0 : 1;

/** @param {string} runtime @param {number} ms */
async function soakOn(runtime, ms) {
  console.log(
    `\n${runtime}: ${
      spawnSync(resolve(root, RUNTIMES[runtime][0]), ["--version"], { encoding: "utf8" }).stdout
        ?.split("\n")[0] ?? ""
    }`,
  );
  const run = await runWorker(runtime, ms);
  const goneMs = options.op === undefined ? await killHost(runtime, run.lose) : NaN;
  return { tally: run.tally, slope: run.slope, losses: run.losses(), goneMs };
}

/** Runs a worker to its end. */
async function runWorker(runtime, ms) {
  const worker = startWorker(runtime, { seed: options.seed, forMs: ms, onlyOp: options.op });
  let tally;
  let slope = NaN;
  let losses = 0;
  const lose = ({ op, doing, what }) => {
    losses += 1;
    console.log(`LOST  ${runtime} --seed ${options.seed}${op === null ? "" : ` --op ${op}`}: ${doing}: ${what}`);
  };
  const hanging = setTimeout(() => worker.child.kill("SIGKILL"), ms + HANGS_AFTER_MS);
  for await (const line of worker.lines) {
    const said = parsed(line);
    if (said.loss !== undefined) lose(said.loss);
    else if (said.tally !== undefined) ({ tally, slope } = said);
    else if (said.text !== undefined) console.log(`  ${said.text}`);
  }
  clearTimeout(hanging);
  const how = await worker.exited;
  worker.tidy();
  if (tally === undefined) lose({ op: null, doing: "the worker", what: `ended without its counts, by ${how}` });
  else if (how !== "exit code 0") lose({ op: null, doing: "the worker", what: `ended by ${how}` });
  const empty = {
    commands: 0,
    refused: 0,
    bytes: 0,
    dropped: 0,
    exits: 0,
    events: 0,
    viewers: {},
    faults: {},
    heap: [],
  };
  return { tally: tally ?? empty, slope, lose, losses: () => losses };
}

/** Kills a worker by SIGKILL in the middle of its load; how long it took until everything of it was gone, ms. */
async function killHost(runtime, lose) {
  // No faults: a host that dies just after its guard was killed leaves what it ran
  const worker = startWorker(runtime, { seed: options.seed + 1, forMs: 600_000, faults: false });
  let instance;
  for await (const line of worker.lines) {
    instance = parsed(line).instance;
    if (instance !== undefined) break;
  }
  await sleep(KILLED_AFTER_MS);
  const before = livingOf(instance).length;
  worker.child.kill("SIGKILL");
  const killedAt = performance.now();
  while (livingOf(instance).length > 0 && performance.now() - killedAt < GONE_WITHIN_MS) await sleep(20);
  const ms = Math.round(performance.now() - killedAt);
  const left = livingOf(instance);
  if (before === 0) lose({ op: null, doing: "the host to be killed", what: "had nothing running" });
  if (left.length > 0) {
    lose({ op: null, doing: "a killed host", what: `still there after ${ms} ms: ${left.join("; ")}` });
  }
  worker.tidy();
  return ms;
}

/** @param {object} given options of the soak, but for its folder */
function startWorker(runtime, given) {
  const folder = mkdtempSync(join(tmpdir(), "offstage-soak-"));
  const words = [...RUNTIMES[runtime], JSON.stringify({ ...given, folder })];
  const child = spawn("sh", ["-c", `ulimit -n ${DESCRIPTORS}; exec "$@"`, "sh", ...words], {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill("SIGTERM"));
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(signal === null ? `exit code ${code}` : String(signal)));
  });
  const tidy = () => rmSync(folder, { recursive: true, force: true });
  return { child, lines: createInterface({ input: child.stdout }), exited, tidy };
}

/** Live processes of an instance: its commands, and its guard. */
function livingOf(instance) {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
    try {
      const read = (file) => readFileSync(`/proc/${pid}/${file}`, "latin1");
      const command = read("cmdline").replaceAll("\0", " ").trim();
      const isIts = command.includes(`offstage-guard ${instance}`) ||
        read("environ").split("\0").includes(`OFFSTAGE_INSTANCE=${instance}`);
      return isIts && !/^State:\s+[ZX]/m.test(read("status")) ? [`${pid} ${command}`] : [];
    } catch {
      return []; // it has ended since
    }
  });
}

function printTable(rows) {
  const names = [...new Set(Object.values(rows).flatMap(Object.keys))].filter((name) => name !== "losses");
  const table = Object.fromEntries([...names, "losses"].map((name) => [
    name,
    Object.fromEntries(Object.entries(rows).map(([runtime, row]) => [runtime, row[name] ?? 0])),
  ]));
  console.log();
  console.table(table);
}

/** A line of a worker: JSON, or something that a library has printed. */
function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { text: line };
  }
}

function readOptions(words) {
  const value = (name) => {
    const at = words.indexOf(name);
    return at < 0 ? undefined : Number(words.splice(at, 2)[1]);
  };
  const seed = value("--seed") ?? Math.floor(Math.random() * 1e6);
  const op = value("--op");
  const minutes = Number(words.find((word) => /^[\d.]+$/.test(word)) ?? 10);
  const named = words.filter((word) => !/^[\d.]+$/.test(word));
  const unknown = named.filter((word) => !(word in RUNTIMES));
  if (unknown.length > 0 || !Number.isInteger(seed) || !(minutes > 0)) {
    console.error(`npm run soak [-- minutes] [${Object.keys(RUNTIMES).join("|")} …] [--seed N] [--op N]`);
    process.exit(2);
  }
  const runtimes = named.length === 0 ? Object.keys(RUNTIMES) : named;
  const missing = runtimes.filter((name) =>
    RUNTIMES[name][0].startsWith(".ci") && !existsSync(join(root, RUNTIMES[name][0]))
  );
  if (missing.length > 0) console.log(`left out, not installed: ${missing.join(", ")}`);
  return { seed, op, minutes, runtimes: runtimes.filter((name) => !missing.includes(name)) };
}

function compile() {
  rmSync(join(root, ".build"), { recursive: true, force: true });
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tests"], { cwd: root, stdio: "inherit" });
}
