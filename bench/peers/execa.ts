/**
 * execa: output is read to a string, as it does by default.
 *
 * @module
 */
import { SHELL } from "../scenarios/bare.ts";
import { load, type Peer } from "./peer.ts";

interface Execa {
  execa(file: string, args: readonly string[], options: object): Promise<unknown>;
}

/** Opens it. */
export async function open(): Promise<Peer> {
  const { execa } = await load<Execa>("execa", "execa", "index.js");
  const [shell, ...flags] = SHELL;
  const run = (command: string): Promise<unknown> =>
    execa(shell, [...flags, command], { stdin: "ignore", reject: false, maxBuffer: 2 ** 30 });
  return {
    run,
    start: (command) => {
      void run(command);
      return Promise.resolve();
    },
  };
}
