/**
 * The baseline: this runtime's own spawn with the smallest reader that drops the data.
 *
 * @module
 */

/** A started baseline command. */
export interface BareChild {
  /** Resolves when it has exited and its output is at the end. */
  readonly done: Promise<void>;
  /** Ends it. */
  kill(): void;
}

/** Starts a command and gives each chunk of its stdout to `onChunk`. */
export type BareSpawn = (argv: readonly string[], onChunk: (bytes: Uint8Array) => void) => Promise<BareChild>;

/** How the baseline is given a command: as Offstage gives it by default, but for its own script. */
export const SHELL = ["bash", "--norc", "-c"] as const;

/** The baseline of the runtime this runs on. */
export const bareSpawn: BareSpawn = "Bun" in globalThis ? bunSpawn : "Deno" in globalThis ? denoSpawn : nodeSpawn;

async function nodeSpawn(argv: readonly string[], onChunk: (bytes: Uint8Array) => void): Promise<BareChild> {
  const { spawn } = await import("node:child_process");
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], detached: true });
  child.stdout.on("data", onChunk);
  child.stderr.on("data", () => {});
  return {
    done: new Promise((resolve) => child.on("close", () => resolve())),
    kill: () => void child.kill("SIGKILL"),
  };
}

interface Reading {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
}

async function drain({ stdout, stderr }: Reading, onChunk: (bytes: Uint8Array) => void): Promise<void> {
  const read = async (stream: ReadableStream<Uint8Array>, take: (bytes: Uint8Array) => void): Promise<void> => {
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) take(part.value);
  };
  await Promise.all([read(stdout, onChunk), read(stderr, () => {})]);
}

function bunSpawn(argv: readonly string[], onChunk: (bytes: Uint8Array) => void): Promise<BareChild> {
  const { Bun } = globalThis as unknown as {
    readonly Bun: {
      spawn(
        argv: readonly string[],
        options: object,
      ): Reading & { readonly exited: Promise<number>; kill(signal: string): void };
    };
  };
  const child = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "pipe", detached: true });
  const done = Promise.all([child.exited, drain(child, onChunk)]).then(() => {});
  return Promise.resolve({ done, kill: () => child.kill("SIGKILL") });
}

function denoSpawn(argv: readonly string[], onChunk: (bytes: Uint8Array) => void): Promise<BareChild> {
  interface Process extends Reading {
    readonly status: Promise<unknown>;
    kill(signal: string): void;
  }
  const { Deno } = globalThis as unknown as {
    readonly Deno: { readonly Command: new (program: string, options: object) => { spawn(): Process } };
  };
  const [program = "", ...args] = argv;
  const child = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "piped", detached: true })
    .spawn();
  const done = Promise.all([child.status, drain(child, onChunk)]).then(() => {});
  return Promise.resolve({ done, kill: () => child.kill("SIGKILL") });
}
