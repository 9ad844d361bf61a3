/**
 * Terminals on Deno: node-pty, with what Deno's own file functions cannot do for it.
 *
 * @module
 */

import process from "node:process";
import { isCooked } from "../linux/terminal_mode.ts";
import type { NodePty, NodePtyTerminal } from "../node/node_pty.ts";
import { createPtyBackend, type PtyBackend } from "../node/pty.ts";
import type { PtyLoader } from "../node/pty_loader.ts";
import { killFor } from "./kill.ts";
import { type Libc, openLibc } from "./libc.ts";
import { demand, isGranted, missingFlags, notAllowed } from "./permissions.ts";
import type { DenoPermission } from "./types.ts";

// From node_modules or the import map, else from npm itself. The original node-pty does not work on Deno. Typed as plain
// strings, so that nothing looks for these before a terminal is asked for.
const PACKAGES: readonly string[] = ["@lydell/node-pty", "npm:@lydell/node-pty@^1.1.0"];

/** The modules that can open terminals on Deno, best first. */
export const DENO_PTY_LOADERS: readonly PtyLoader[] = PACKAGES.map((name) => () => import(name));

/**
 * What a terminal takes beside the permission to run the program, which the native library would not ask for: loading
 * the library, reading and writing a terminal, and telling whether a program may be executed.
 */
const NEEDED: readonly DenoPermission[] = [
  { name: "ffi" },
  { name: "read" },
  { name: "write" },
  { name: "sys", kind: "uid" },
];

/** node:child_process, by which the mode of a terminal is asked for, reads the environment too. */
const NEEDED_BY_STTY: readonly DenoPermission[] = [{ name: "run", command: "stty" }, { name: "env" }];

/**
 * Makes Deno's terminal back-end.
 *
 * @param loaders modules with node-pty's interface, best first; none: no terminals
 */
export function createDenoPtyBackend(loaders: readonly PtyLoader[] = DENO_PTY_LOADERS): PtyBackend {
  let opened: Libc | undefined;
  const libc = (): Libc => opened ??= openLibc();
  const backend = createPtyBackend({
    loaders: loaders.map((load) => async () => {
      const module = await load();
      return process.platform === "win32" ? module : holdingOpen(module, libc());
    }),
    kill: killFor("sh"),
    isCooked: (path) => NEEDED_BY_STTY.every(isGranted) ? isCooked(path) : Promise.resolve(undefined),
    io: {
      read: (descriptor, bytes) => libc().read(descriptor, bytes),
      write: (descriptor, bytes) => libc().write(descriptor, bytes),
      isUnread: (descriptor) => libc().isUnread(descriptor),
    },
  });
  return {
    available: async () => {
      const flags = missingFlags(NEEDED);
      return flags === "" ? await backend.available() : `Deno does not allow one without ${flags}`;
    },
    spawn: async (spec, sink) => {
      const [program] = spec.argv;
      demand({ name: "run", command: program }, `run "${program}"`);
      const flags = missingFlags(NEEDED);
      if (flags !== "") throw notAllowed("open a terminal", flags);
      return await backend.spawn(spec, sink);
    },
  };
}

/**
 * Makes every new terminal held open until its program's exit is known, for which the back-end would need all of Deno's
 * permissions: without it the program may get a SIGHUP when it lets go of its terminal before it exits. And keeps it out
 * of the hands of other programs.
 */
function holdingOpen(module: unknown, libc: Libc): unknown {
  const { spawn, default: inner } = module as Partial<NodePty> & { readonly default?: Partial<NodePty> };
  const open = spawn ?? inner?.spawn;
  if (open === undefined) return module;
  const held: NodePty = { spawn: (file, args, options) => holdOpen(open(file, args, options), libc) };
  return held;
}

function holdOpen(terminal: NodePtyTerminal, libc: Libc): NodePtyTerminal {
  if (terminal.fd !== undefined) libc.keepFromChildren(terminal.fd); // else later commands have this one's terminal
  const slave = terminal.ptsName === undefined ? undefined : libc.openTerminal(terminal.ptsName);
  if (slave !== undefined) terminal.onExit(() => libc.close(slave));
  return terminal;
}
