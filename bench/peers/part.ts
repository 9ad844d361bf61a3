/**
 * The same work done by others, beside the baseline and Offstage.
 *
 * Peers are installed when they are measured, in a folder that Git does not keep, in the versions of `versions.json`; none of
 * them is a dependency, and nothing of them is copied.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Part } from "../part.ts";
import type { Row } from "../report/figures.ts";
import { baseVersions, circumstances, type Result, root } from "../report/results.ts";
import { median, rounded } from "../report/statistics.ts";
import { measure, versionOf } from "../runtimes.ts";
import type { Both, Numbers } from "../scenarios/turns.ts";
import { FIGURES } from "./figures.ts";
import { INSTALLED } from "./peer.ts";

/** Rounds of a task, and the time after which there are no more, ms. */
const ROUNDS = 3;
const ENOUGH_MS = 10_000;

/** A task of a peer that takes longer than this is left out of its rows; the others take seconds, ms. */
const LONGEST_MS = 60_000;

/** Peers that run on another runtime than Node.js 24. */
const RUNTIME: Readonly<Record<string, string>> = { "opencode-pty": "bun" };

const VERSIONS = JSON.parse(readFileSync(join(root, "bench/peers/versions.json"), "utf8")) as Readonly<
  Record<string, Readonly<Record<string, string>>>
>;

/** The part of peers: Offstage first, by the same measure. */
export function peersPart(): Part {
  const names = Object.keys(VERSIONS);
  return { name: "peers", scenarios: ["offstage", ...names], onRequest: true, measure: measurePeer };
}

async function measurePeer(peer: string, quick: boolean): Promise<Result> {
  const runtime = RUNTIME[peer] ?? "node24";
  const versions = { ...baseVersions(), [runtime.replace(/\d+$/, "")]: versionOf(runtime), ...VERSIONS[peer] };
  const result = { ...await circumstances(), versions };
  try {
    install(peer);
    const { rows, notes } = await measureTasks(peer, runtime, quick ? 1 : ROUNDS);
    return { ...result, rows, ...(notes.length > 0 ? { note: notes.join("; ") } : {}) };
  } catch (error) {
    return { ...result, rows: [], leftOut: (error as Error).message.split("\n")[0] ?? "" };
  }
}

async function measureTasks(
  peer: string,
  runtime: string,
  rounds: number,
): Promise<{ readonly rows: readonly Row[]; readonly notes: readonly string[] }> {
  const rows: Row[] = [];
  const notes: string[] = [];
  for (const task of new Set(FIGURES.map(({ task }) => task))) {
    const figures = FIGURES.filter((figure) => figure.task === task);
    const measured: Both[] = [];
    try {
      const end = performance.now() + ENOUGH_MS;
      while (measured.length < rounds && (measured.length === 0 || performance.now() < end)) {
        measured.push(await taskRound(peer, runtime, task, figures.some((figure) => figure.beside)));
      }
    } catch (error) {
      notes.push(`${task}: ${(error as Error).message}`);
      continue;
    }
    for (const { name, value } of figures) {
      const runs = measured.map(({ bare, ours }) => value(ours, bare));
      // A task that it has no way to do
      if (runs.some(Number.isNaN)) continue;
      rows.push({ name, value: rounded(median(runs)), bound: "", met: true, runs: runs.map(rounded) });
    }
  }
  return { rows, notes };
}

/** One round of a task: a peer that takes turns with the baseline gives the numbers of both. */
async function taskRound(peer: string, runtime: string, task: string, beside: boolean): Promise<Both> {
  const run = async (name: string): Promise<Numbers | Both> =>
    await measure(runtime, "bench/peers/main.ts", [name.replaceAll("-", "_"), task], LONGEST_MS) as Numbers | Both;
  const numbers = await run(peer);
  if ("ours" in numbers) return numbers as Both;
  const isDone = Object.keys(numbers).length > 0;
  return { ours: numbers as Numbers, bare: beside && isDone ? await run("bare") as Numbers : {} };
}

/**
 * Installs a peer in the wanted version, without running scripts of its dependencies. The manifest makes its folder a
 * project of its own: without one, npm would install into ours.
 */
function install(peer: string): void {
  const dependencies = VERSIONS[peer];
  if (dependencies === undefined) return;
  const folder = join(root, INSTALLED, peer);
  const manifest = JSON.stringify({ private: true, type: "module", dependencies });
  const done = join(folder, "installed.json");
  if (existsSync(done) && readFileSync(done, "utf8") === manifest) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), manifest);
  const env = { ...process.env, npm_config_nodedir: dirname(dirname(process.execPath)) };
  const npm = (...args: readonly string[]): unknown =>
    execFileSync("npm", [...args, "--prefix", folder, "--no-audit", "--no-fund"], { cwd: folder, env, stdio: "pipe" });
  npm("install", "--ignore-scripts");
  // It ships no program for Linux: it is compiled here, against the headers of the Node that runs this
  if (peer === "node-pty") npm("rebuild", "node-pty");
  writeFileSync(done, manifest);
}
