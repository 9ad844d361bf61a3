/**
 * The orphan guard: ends the commands of a host that died without a chance to do so itself (spec E39).
 *
 * One small `sh` per instance reads on its stdin which process groups there are. The end of that stdin means that the
 * host is dead, by whatever cause: then it ends them. Uses only built-ins that Node, Deno and Bun share.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import type { Writable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { makeRoom } from "../listener_room.ts";
import { GUARD_SCRIPT } from "./guard_script.ts";
import type { GuardStatus, OrphanGuard } from "../../mod.ts";

/** Calls `act` when the host exits in an orderly way; returns how to prevent that. */
export type AtExit = (act: () => void) => () => void;

/** Age of a command for which the guard is started, ms: most are over by then, and a program may run only such. */
const STARTED_FROM_MS = 20;

/**
 * Age from which the guard is told of a command, ms, unless it has gone to the background before: telling of each would
 * add a tenth to their time. The younger ones, up to a second, it finds by the instance's mark.
 */
const TOLD_FROM_MS = 300;

/** The shell is ended after that long with nothing to guard, ms: an instance that is left open needs none for ever. */
const IDLE_END_MS = 15_000;

/** Whoever ends the guard more often than this within that time, ms, is stronger; it is tried again when that is over. */
const MOST_DEATHS = 5;
const DEATHS_WITHIN_MS = 10_000;

/** What kept it from being started may be over after that time, ms, such as a want of descriptors. */
const START_AGAIN_MS = 500;

/** What the guard of a runtime needs to know. */
export interface OrphanGuardOptions {
  /** Why `sh` may not be started; `undefined` if it may. Default: it may. */
  readonly forbidden?: () => string | undefined;
  /** Calls back while the host exits. Default: the `exit` event of `process`. */
  readonly atExit?: AtExit;
}

interface Command {
  readonly pid: number;
  readonly since: number;
}

/**
 * Makes the guard of one instance. Its shell is started with the first command that lives for
 * {@linkcode STARTED_FROM_MS} or goes to the background, and again whenever it is ended by somebody else; it ends with
 * the instance, or {@linkcode IDLE_END_MS} after the last command.
 */
export function createOrphanGuard(options: OrphanGuardOptions = {}): OrphanGuard {
  const { forbidden = () => undefined, atExit = atProcessExit } = options;
  const instance = [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  const untold = new Map<string, Command>(); // by session, oldest first
  const told = new Map<string, Command>();
  let shell: Writable | undefined; // its stdin
  let deaths: readonly number[] = [];
  let lastDeath = "";
  let failure: string | undefined; // of the last start
  let ending: ReturnType<typeof setTimeout> | undefined;
  let waking: ReturnType<typeof setTimeout> | undefined;
  let retrying: ReturnType<typeof setTimeout> | undefined;
  let stopListening = (): void => {};

  function trouble(): string | undefined {
    deaths = deaths.filter((at) => at > performance.now() - DEATHS_WITHIN_MS);
    return forbidden() ?? failure ?? (deaths.length >= MOST_DEATHS ? lastDeath : undefined);
  }

  /** Starts the shell if there is none. */
  function run(): void {
    if (shell === undefined && trouble() === undefined) start();
  }

  /** Puts another shell in the place of one that is dead: at once, or when it is worth another try. */
  function revive(): void {
    if (told.size === 0) return;
    clearTimeout(retrying);
    run();
    if (shell === undefined && failure === undefined) retrying = setTimeout(revive, DEATHS_WITHIN_MS).unref();
  }

  function startAgainLater(): void {
    clearTimeout(retrying);
    retrying = setTimeout(() => {
      failure = undefined;
      revive();
    }, START_AGAIN_MS).unref();
  }

  /** Starts the shell and tells it of everything. */
  function start(): void {
    let input: Writable | undefined;
    const die = (how: string): void => {
      if (shell !== input) return; // it was ended on purpose
      shell = undefined;
      deaths = [...deaths, performance.now()];
      lastDeath = `sh ${how}`;
      revive();
    };
    const fail = (error: unknown): void => {
      if (shell !== input) return;
      shell = undefined;
      failure = `sh cannot be started: ${error instanceof Error ? error.message : error}`;
      startAgainLater();
    };
    try {
      const child = spawn("sh", ["-c", GUARD_SCRIPT, "offstage-guard", instance, "/proc"], {
        cwd: "/",
        env: { PATH: "/usr/local/bin:/usr/bin:/bin" }, // nothing of the host's, and no mark of a session it may be in
        detached: true, // what ends the host's group must not end its guard
        stdio: ["pipe", "ignore", "ignore"],
      });
      child.once("error", fail);
      child.once("exit", (code, signal) => die(`keeps ending, the last time by ${signal ?? `exit code ${code}`}`));
      child.unref();
      input = shell = child.stdin ?? undefined; // there is none when no descriptor was left for it
    } catch (error) {
      return fail(error);
    }
    input?.on("error", () => {}); // the shell is dead, which its exit tells
    (input as (Writable & { unref?(): void }) | undefined)?.unref?.(); // a pipe to a guard must not keep its host alive
    for (const [sessionId, { pid }] of told) input?.write(`+ ${pid} ${sessionId}\n`);
  }

  function restLater(): void {
    clearTimeout(ending);
    ending = setTimeout(() => told.size + untold.size === 0 && endShell(), IDLE_END_MS).unref();
  }

  function endShell(): void {
    shell?.end("q\n");
    shell = undefined;
  }

  function tell(sessionId: string): void {
    const command = untold.get(sessionId) ?? told.get(sessionId);
    if (command === undefined) return;
    untold.delete(sessionId);
    told.set(sessionId, command);
    if (shell === undefined) run(); // which tells of everything
    else shell.write(`+ ${command.pid} ${sessionId}\n`);
  }

  function tellAll(): void {
    for (const sessionId of [...untold.keys()]) tell(sessionId);
  }

  /** One timer for all: many quick commands in a row set it once in a while. */
  function wakeLater(): void {
    waking = setTimeout(() => {
      const ages = [...untold].map(([sessionId, { since }]) => [sessionId, performance.now() - since] as const);
      for (const [sessionId, age] of ages) if (age >= TOLD_FROM_MS) tell(sessionId);
      if (ages.some(([, age]) => age >= STARTED_FROM_MS)) run();
      if (untold.size > 0) return wakeLater();
      waking = undefined;
      stopListening();
      if (shell !== undefined) restLater();
    }, shell === undefined ? STARTED_FROM_MS : TOLD_FROM_MS).unref();
  }

  return {
    instance,
    watch: (pid, sessionId) => {
      untold.set(sessionId, { pid, since: performance.now() });
      if (waking !== undefined) return;
      stopListening = atExit(tellAll);
      wakeLater();
    },
    tell,
    release: (sessionId) => {
      const command = told.get(sessionId);
      untold.delete(sessionId);
      if (command === undefined) return;
      told.delete(sessionId);
      shell?.write(`- ${command.pid} ${sessionId}\n`);
      if (told.size === 0) restLater();
    },
    status: (): GuardStatus => {
      const why = trouble();
      if (why !== undefined) return `off: ${why}`;
      return shell === undefined ? "idle" : "on";
    },
    close: () => {
      clearTimeout(ending);
      clearTimeout(waking);
      clearTimeout(retrying);
      stopListening();
      untold.clear();
      told.clear();
      endShell();
    },
  };
}

/** The way of `node:process`. */
export function atProcessExit(act: () => void): () => void {
  const giveBack = makeRoom();
  process.on("exit", act);
  return () => {
    process.off("exit", act);
    giveBack();
  };
}
