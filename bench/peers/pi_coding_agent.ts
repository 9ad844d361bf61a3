/**
 * The bash tool of pi: commands run to their end, on pipes.
 *
 * @module
 */
import process from "node:process";
import { load, type Peer } from "./peer.ts";

interface Pi {
  createBashTool(workdir: string): { execute(id: string, params: { readonly command: string }): Promise<unknown> };
}

/** Opens it. */
export async function open(): Promise<Peer> {
  const pi = await load<Pi>("pi-coding-agent", "@earendil-works/pi-coding-agent", "dist/index.js");
  const tool = pi.createBashTool(process.cwd());
  return { run: (command) => tool.execute("bench", { command }) };
}
