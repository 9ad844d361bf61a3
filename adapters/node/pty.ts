/**
 * Commands in a pseudo-terminal, over node-pty.
 *
 * node-pty tells the exit only when its socket closes, closes that socket 200 ms after the exit although others may
 * still print, and closes it too early for a child that lets go of its terminal before it exits (which the kernel then
 * sends SIGHUP). Under Node 20 and early 22 the end of the output is lost besides, because their libuv takes a partial
 * read after a hang-up for the end (libuv issue 4992). All of it comes from the hang-up of the terminal. So this side
 * holds the slave open as well until the exit is known: until then there is no hang-up; afterwards one comes as soon as
 * nobody else holds it, and what is left in the kernel then is read by hand.
 *
 * @module
 */

import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { constants as osConstants } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { GroupLeader, Kill } from "../linux/proc.ts";
import { isCooked } from "../linux/terminal_mode.ts";
import { controlOf } from "./control.ts";
import { codeOf, foreseeSpawnFailure, spawnFailure, stdinClosed } from "./failures.ts";
import { loadNodePty, type NodePty, type NodePtyTerminal } from "./node_pty.ts";
import type { PtyLoader } from "./pty_loader.ts";
import { OffstageError } from "../../mod.ts";
import type { Child, Exit, OutputSink, SignalName, SpawnSpec } from "../../mod.ts";

/**
 * Reads and writes of a descriptor that never block. They throw an error with `code` `EAGAIN` when nothing can be done
 * now, and any other error when nothing can be done any more.
 */
export interface DescriptorIo {
  /** Reads into `bytes`; returns how many were read, 0 at the end. */
  read(descriptor: number, bytes: Uint8Array): number;
  /** Writes a part of `bytes` or all of it; returns how many were written. */
  write(descriptor: number, bytes: Uint8Array): number;
  /** Whether there is something to read. Absent where the runtime has read it by the time it tells an exit. */
  isUnread?(descriptor: number): boolean;
}

/** What a {@linkcode PtyBackend} is made of. */
export interface PtyBackendOptions {
  /** Modules with node-pty's interface, best first. */
  readonly loaders: readonly PtyLoader[];
  /** The runtime's kill(2). */
  readonly kill: Kill;
  /**
   * How to read and write a descriptor that the runtime did not open itself.
   *
   * @default `node:fs`
   */
  readonly io?: DescriptorIo;
  /**
   * Whether the terminal of that path is in its normal mode.
   *
   * @default stty(1)
   */
  readonly isCooked?: (path: string) => Promise<boolean | undefined>;
}

/** Starts commands in pseudo-terminals. */
export interface PtyBackend {
  /** Whether there are terminals: `true`, or the reason why not. The module is loaded on the first call. */
  available(): Promise<true | string>;
  /**
   * Starts a command in a terminal of size `spec.terminal`, as the leader of its own session.
   *
   * Two variables cannot be kept out of the environment: `PWD` is always `spec.cwd`, and a missing `TERM` is `xterm`.
   *
   * @throws {OffstageError} `unsupported` when there are no terminals, `spawn-failed` when nothing was started
   */
  spawn(spec: SpawnSpec, sink: OutputSink): Promise<Child>;
}

/** The back-end over node-pty. */
export interface NodePtyBackend extends PtyBackend {
  /** Descriptors of the terminals that are open in this process: node-pty does not mark them close-on-exec. */
  masters(): readonly number[];
}

/** What differs between runtimes. */
type System = Required<Omit<PtyBackendOptions, "loaders">>;

const DEFAULT_COLS = 120;
const DEFAULT_ROWS = 30;
const DRAIN_BYTES = 65_536;
const WRITE_RETRY_MS = 5; // a full terminal cannot be waited for: libuv would spin until it takes the rest

const FILE_IO: DescriptorIo = { read: readSync, write: writeSync };

/** The open ones of this process, whichever instance they belong to: a child is given those of all. */
const masters = new Set<number>();

/**
 * Makes the terminal back-end of a runtime.
 *
 * @param options the modules to try, and what differs between runtimes
 */
export function createPtyBackend(options: PtyBackendOptions): NodePtyBackend {
  const system: System = { kill: options.kill, io: options.io ?? FILE_IO, isCooked: options.isCooked ?? isCooked };
  let loading: Promise<NodePty | string> | undefined;
  const load = (): Promise<NodePty | string> => loading ??= loadNodePty(options.loaders);
  return {
    masters: () => [...masters],
    available: async () => {
      const pty = await load();
      return typeof pty === "string" ? pty : true;
    },
    spawn: async (spec, sink) => {
      const pty = await load();
      if (typeof pty === "string") throw new OffstageError("unsupported", `Cannot open a terminal: ${pty}`);
      const terminal = open(pty, spec);
      const { fd } = terminal;
      if (fd === undefined) return attach(terminal, spec, sink, system);
      masters.add(fd);
      terminal._socket.once("close", () => masters.delete(fd));
      return attach(terminal, spec, sink, system);
    },
  };
}

function open(pty: NodePty, spec: SpawnSpec): NodePtyTerminal {
  const foreseen = foreseeSpawnFailure(spec);
  if (foreseen !== undefined) throw foreseen;
  const { cols, rows } = spec.terminal ?? { cols: DEFAULT_COLS, rows: DEFAULT_ROWS };
  const [program, ...args] = spec.argv;
  try {
    return pty.spawn(program, args, { cols, rows, cwd: spec.cwd, env: spec.env, encoding: null });
  } catch (cause) {
    throw spawnFailure(cause, spec);
  }
}

function attach(terminal: NodePtyTerminal, spec: SpawnSpec, sink: OutputSink, { kill, io, isCooked }: System): Child {
  const { pid, fd, ptsName, _socket: socket } = terminal;
  const letGo = holdOpen(ptsName);
  if (terminal._emittedClose === false) terminal._emittedClose = true;

  let isOpen = true; // the descriptor is ours: its number must not be used once the socket may have closed it
  const finish = (): void => {
    if (!isOpen) return;
    isOpen = false;
    letGo();
    sink.end();
  };
  socket.on("data", (bytes: Uint8Array) => sink.chunk("terminal", bytes));
  socket.on("end", () => {
    if (isOpen && fd !== undefined) drain(fd, io, sink);
    finish();
  });
  socket.on("error", (error) => codeOf(error) !== "EAGAIN" && finish()); // EIO is how a terminal ends
  socket.on("close", finish);

  let isHeld = false;
  let exitedAt: number | undefined;
  const exited = new Promise<Exit>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      exitedAt = performance.now();
      letGo();
      const tell = (): void => resolve(exitOf(exitCode, signal));
      // Silence counts from here on, so it must be the program's and not the runtime's
      if (isOpen && !isHeld && fd !== undefined && io.isUnread?.(fd)) onNextEvent(socket, tell);
      else tell();
    });
  });
  const leader: GroupLeader = { pid, sessionId: spec.sessionId, kill, exitedAt: () => exitedAt };

  return {
    pid,
    exited,
    ...controlOf(leader, ptsName),
    write: createWriter((bytes) => {
      if (!isOpen || exitedAt !== undefined) throw stdinClosed();
      return fd === undefined ? (socket.write(bytes), bytes.length) : io.write(fd, bytes);
    }),
    endInput: () => Promise.resolve(),
    resize: ({ cols, rows }) => {
      if (isOpen && exitedAt === undefined) attempt(() => terminal.resize(cols, rows)); // EBADF: just ended
    },
    ...(ptsName !== undefined && { isCooked: () => isCooked(ptsName) }),
    hold: (toBeHeld) => {
      isHeld = toBeHeld;
      toBeHeld ? socket.pause() : socket.resume();
    },
    release: () => {
      finish();
      socket.destroy();
    },
  };
}

/** Opens the slave side, so that the terminal is not hung up before the returned function is called. */
function holdOpen(ptsName: string | undefined): () => void {
  let slave: number | undefined;
  if (ptsName !== undefined) {
    attempt(() => slave = openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK));
  }
  return () => {
    if (slave !== undefined) closeSync(slave);
    slave = undefined;
  };
}

function onNextEvent(socket: NodePtyTerminal["_socket"], act: () => void): void {
  for (const event of ["data", "end", "error", "close"]) socket.once(event, act);
}

/** Reads what the runtime left in a terminal that has hung up. */
function drain(descriptor: number, io: DescriptorIo, sink: OutputSink): void {
  attempt(() => {
    for (;;) {
      const bytes = new Uint8Array(DRAIN_BYTES);
      const count = io.read(descriptor, bytes); // throws EIO when there is no more
      if (count === 0) return;
      sink.chunk("terminal", bytes.slice(0, count));
    }
  });
}

/** Makes writes that follow one another and go on until everything is taken, however little that is at a time. */
function createWriter(writeSome: (bytes: Uint8Array) => number): (bytes: Uint8Array) => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  const writeAll = async (bytes: Uint8Array): Promise<void> => {
    for (let rest = bytes; rest.length > 0;) {
      try {
        rest = rest.subarray(writeSome(rest));
      } catch (error) {
        if (codeOf(error) !== "EAGAIN") throw error instanceof OffstageError ? error : stdinClosed(error);
        await delay(WRITE_RETRY_MS);
      }
    }
  };
  return (bytes) => {
    const written = last.then(() => writeAll(bytes));
    last = written.catch(() => {});
    return written;
  };
}

function exitOf(code: number, signal: number | undefined): Exit {
  if (signal === undefined || signal === 0) return { code };
  // Some numbers have a second name (SIGIOT, SIGPOLL) that comes later; a real-time signal has none
  const name = Object.entries(osConstants.signals).find(([, number]) => number === signal)?.[0];
  return name === undefined ? { code: null } : { signal: name as SignalName };
}

function attempt(action: () => unknown): void {
  try {
    action();
  } catch {
    // What it was for has ended meanwhile
  }
}
