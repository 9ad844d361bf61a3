/**
 * opencode-pty's sessions, which are terminals; on Bun. Nobody is told of an end but a model, so it is looked for.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SHELL } from "../scenarios/bare.ts";
import { load, type Peer } from "./peer.ts";

interface Manager {
  spawn(options: object): { readonly id: string };
  get(id: string): { readonly status: string } | null;
  read(id: string): { readonly totalLines: number; readonly lines: readonly string[] } | null;
  write(id: string, text: string): boolean;
}

/** Time between two looks, ms. */
const LOOK_MS = 1;

/** Opens it. */
export async function open(): Promise<Peer> {
  const file = "src/plugin/pty/manager.ts";
  const { manager } = await load<{ readonly manager: Manager }>("opencode-pty", "opencode-pty", file);
  const [shell, ...flags] = SHELL;
  const start = (command: string): string =>
    manager.spawn({ command: shell, args: [...flags, command], parentSessionId: "bench" }).id;
  const sizeOf = (id: string): string => {
    const { totalLines = 0, lines = [] } = manager.read(id) ?? {};
    return `${totalLines} ${lines.at(-1)?.length}`;
  };
  return {
    runInTerminal: async (command) => {
      const id = start(command);
      while (manager.get(id)?.status === "running") await sleep(LOOK_MS);
    },
    open: (command, heard) => {
      const id = start(command);
      let seen = sizeOf(id);
      const look = setInterval(() => {
        const size = sizeOf(id);
        if (size !== seen) heard();
        seen = size;
      }, LOOK_MS);
      look.unref();
      return Promise.resolve({ write: (text) => manager.write(id, text) });
    },
  };
}
