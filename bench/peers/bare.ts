/**
 * The runtime's own spawn and a bare terminal, with the smallest reader.
 *
 * @module
 */
import { bareSpawn, SHELL } from "../scenarios/bare.ts";
import { barePty, openBarePty } from "../scenarios/bare_pty.ts";
import type { Peer } from "./peer.ts";

/** Opens it. */
export function open(): Promise<Peer> {
  return Promise.resolve({
    run: async (command) => (await bareSpawn([...SHELL, command], () => {})).done,
    runInTerminal: (command) => barePty(command, () => {}),
    open: (command, heard) => openBarePty(command, () => heard()),
    start: (command) => bareSpawn([...SHELL, command], () => {}),
  });
}
