/**
 * A fleet over NATS on loopback: throughput, keystrokes, and many sessions at once. Prints its figures as JSON:
 * `node bench/nats.ts`.
 *
 * The node and the server are processes of their own; the gateway is this one.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { hostRuntime } from "../adapters/auto.ts";
import { nats } from "../adapters/hosts/nats.ts";
import type { Child, OutputSink, Spawner, SpawnSpec } from "../mod.ts";
import { openNatsServer } from "../tests/conformance/nats_server.ts";

/** What is measured. */
export interface NatsFigures {
  /** 256 MiB from a command to a sink of this process, MB/s: the best of three. */
  readonly megabytesPerSecond: number;
  /** The same on a pipe of this process. */
  readonly pipeMegabytesPerSecond: number;
  /** From a key to its echo in a terminal, ms. */
  readonly keystrokeP50Ms: number;
  /** The 99th of 100. */
  readonly keystrokeP99Ms: number;
  /** Sessions at once, on 20 nodes. */
  readonly sessions: number;
  /** How many of them had every byte right. */
  readonly sessionsRight: number;
  /** How long all of them took, ms. */
  readonly sessionsMs: number;
}

const BULK_BYTES = 268_435_456;
const KEYS = 500;
const NODES = 20;
const SESSIONS_A_NODE = 50;
const LINES = 2_000;

let sessionCount = 0;

/** A command whose output goes to `take`. */
async function start(
  spawner: Spawner,
  argv: SpawnSpec["argv"],
  take: (bytes: Uint8Array) => void,
  terminal = false,
): Promise<{ readonly child: Child; readonly done: Promise<void> }> {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const sink: OutputSink = { chunk: (_stream, bytes) => take(bytes), end };
  const child = await spawner.spawn({
    argv,
    cwd: "/",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin" },
    stdin: terminal ? "open" : "closed",
    sessionId: `bench-${process.pid}-${sessionCount++}`,
    scope: "bench",
    ...(terminal && { terminal: { cols: 80, rows: 24 } }),
  }, sink);
  return { child, done: Promise.all([child.exited, ended]).then(() => {}) };
}

async function throughput(spawner: Spawner): Promise<number> {
  let best = 0;
  for (let round = 0; round < 3; round++) {
    let bytes = 0;
    const began = performance.now();
    const { done } = await start(
      spawner,
      ["head", "-c", `${BULK_BYTES}`, "/dev/zero"],
      (piece) => bytes += piece.length,
    );
    await done;
    if (bytes !== BULK_BYTES) throw new Error(`${bytes} bytes came`);
    best = Math.max(best, BULK_BYTES / 1_000 / (performance.now() - began));
  }
  return best;
}

/** Types one key after the other, each after the echo of the one before. */
async function keystrokes(spawner: Spawner): Promise<readonly number[]> {
  let heard = (): void => {};
  const echo = (): Promise<void> => new Promise((resolve) => heard = resolve);
  const ready = echo(); // before the start: what it prints may come with the answer
  const { child, done } = await start(spawner, ["sh", "-c", "stty raw -echo; printf r; exec cat"], () => heard(), true);
  await ready;
  const times: number[] = [];
  for (let key = 0; key < KEYS; key++) {
    const echoed = echo();
    const began = performance.now();
    await Promise.all([child.write(Uint8Array.of(97 + key % 26)), echoed]);
    times.push(performance.now() - began);
  }
  child.signal("SIGKILL", "group");
  await done;
  return times.sort((one, other) => one - other);
}

/** Many sessions on many nodes at once; resolves with how many were right. */
async function many(spawners: readonly Spawner[]): Promise<number> {
  const wanted = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join("");
  const right = await Promise.all(
    spawners.flatMap((spawner) =>
      Array.from({ length: SESSIONS_A_NODE }, async () => {
        const pieces: Uint8Array[] = [];
        const { done } = await start(spawner, ["seq", `${LINES}`], (piece) => void pieces.push(piece));
        await done;
        return new TextDecoder().decode(await new Blob(pieces as BlobPart[]).arrayBuffer()) === wanted;
      })
    ),
  );
  return right.filter((isRight) => isRight).length;
}

/** Measures everything. */
export async function measureNats(): Promise<NatsFigures> {
  const server = await openNatsServer();
  const extension = import.meta.url.slice(-2); // of the sources, or of what they were compiled to
  const main = fileURLToPath(new URL(`../adapters/cli/main.${extension}`, import.meta.url));
  const runtimeArgs = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
  const nodes = Array.from(
    { length: NODES },
    (_, index) =>
      spawn(process.execPath, [
        ...runtimeArgs,
        main,
        "node",
        "--nats",
        server.url,
        "--id",
        `n${index}`,
        "--lease",
        "120",
      ], {
        stdio: ["ignore", "pipe", "inherit"],
      }),
  );
  await Promise.all(nodes.map((node) => once(node.stdout, "data")));
  const directory = nats({ url: server.url });
  const spawners = await Promise.all(
    nodes.map(async (_, index) => (await directory.choose(`n${index}`, "bench")).spawner),
  );
  try {
    const [spawner] = spawners as [Spawner];
    say(`${NODES} nodes are there`);
    const pipe = await throughput(hostRuntime().spawner);
    say(`pipe: ${Math.round(pipe)} MB/s`);
    const bulk = await throughput(spawner);
    say(`nats: ${Math.round(bulk)} MB/s`);
    const keys = await keystrokes(spawner);
    say("keystrokes are measured");
    const began = performance.now();
    const sessionsRight = await many(spawners);
    return {
      megabytesPerSecond: Math.round(bulk),
      pipeMegabytesPerSecond: Math.round(pipe),
      keystrokeP50Ms: round(keys[Math.floor(KEYS * 0.5)]),
      keystrokeP99Ms: round(keys[Math.floor(KEYS * 0.99)]),
      sessions: NODES * SESSIONS_A_NODE,
      sessionsRight,
      sessionsMs: Math.round(performance.now() - began),
    };
  } finally {
    await directory.close();
    for (const node of nodes) node.kill("SIGTERM");
    await Promise.all(nodes.map((node) => node.exitCode === null ? once(node, "exit") : undefined));
    await server[Symbol.asyncDispose]();
  }
}

/** How far it is, beside the figures. */
function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function round(ms = Infinity): number {
  return Math.round(ms * 100) / 100;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(await measureNats())}\n`);
}
