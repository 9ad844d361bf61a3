/**
 * A real `nats-server` on loopback, and a way to it that can be cut.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { skipUnless } from "../skip.ts";
import { eventually } from "./agent.ts";
import { freshFolder, proc } from "./machine.ts";

const PROGRAMS: readonly string[] = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];

const program = PROGRAMS.find((path) => existsSync(path));

/** `skip` of a test that needs a server: it looks at processes here, too. */
export const natsServer: string | false = proc || skipUnless(program !== undefined, "there is no nats-server");

/** How often it is tried to listen. */
const ATTEMPTS = 20;

/**
 * A port below those that systems give to connections: one who connects again and again to a port among those, while
 * nobody listens there, is once given that very port, is connected with itself, and the server cannot come back.
 */
function somePort(): number {
  return 20_000 + Math.floor(Math.random() * 10_000);
}

/** A server. */
export interface NatsServer extends AsyncDisposable {
  /** Its address. */
  readonly url: string;
  /** Its port. */
  readonly port: number;
  /** Ends it, as a crash would. */
  stop(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @param settings lines of its configuration
 */
export async function openNatsServer(settings = ""): Promise<NatsServer> {
  const folder = await freshFolder();
  writeFileSync(`${folder.path}/config`, `${settings}\n`);
  let process: ChildProcess | undefined;
  let port = somePort();
  let hasListened = false;

  /** Whether it listens: nobody else may have its port. */
  async function listens(): Promise<boolean> {
    const started = spawn(
      program ?? "nats-server",
      ["-a", "127.0.0.1", "-p", `${port}`, "-c", `${folder.path}/config`, "--ports_file_dir", folder.path],
      { stdio: "ignore" },
    );
    process = started;
    let hasEnded = false;
    started.once("exit", () => hasEnded = true);
    const file = `${folder.path}/nats-server_${started.pid}.ports`;
    const isThere = (): boolean => existsSync(file) && readFileSync(file, "utf8").includes("}");
    await eventually(() => hasEnded || isThere(), "nats-server listens");
    return !hasEnded;
  }

  async function start(): Promise<void> {
    for (let attempt = 1; !(await listens()); attempt++) {
      if (attempt === ATTEMPTS) throw new Error(`nats-server does not listen to port ${port}`);
      if (!hasListened) port = somePort();
      await sleep(100);
    }
    hasListened = true;
  }

  async function stop(): Promise<void> {
    if (process === undefined) return;
    process.kill("SIGKILL");
    if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
    process = undefined;
  }

  await start();
  return {
    get port() {
      return port;
    },
    get url() {
      return `nats://127.0.0.1:${port}`;
    },
    start,
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A way to a server that can be cut. */
export interface Line extends AsyncDisposable {
  /** Address of its near end. */
  readonly url: string;
  /** Cuts all connections, and takes no new ones. */
  cut(): void;
  /** Takes connections again. */
  mend(): void;
  /** Where connections from now on lead to. */
  lead(port: number): void;
  /** Lets nothing pass, and tells nobody. */
  freeze(): void;
}

/** Lays a line to a port of this machine. */
export async function openLine(port: number): Promise<Line> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  const server = createServer((near) => {
    near.on("error", () => {});
    if (isCut) return void near.destroy();
    const far = connect(port, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    far.on("error", () => {});
    near.pipe(far);
    far.pipe(near);
    near.on("close", () => (far.destroy(), pairs.delete(pair)));
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("There is no free port");
  const cut = (): void => {
    isCut = true;
    for (const [near, far] of pairs) {
      near.destroy();
      far.destroy();
    }
  };
  return {
    url: `nats://127.0.0.1:${address.port}`,
    cut,
    mend: () => void (isCut = false),
    lead: (other) => void (port = other),
    freeze: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        near.pause();
        far.pause();
      }
    },
    [Symbol.asyncDispose]: async () => {
      cut();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
