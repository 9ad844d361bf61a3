/**
 * Commands over an SSH connection to a server of this machine.
 *
 * @module
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createOffstage } from "../../adapters/auto.ts";
import { ssh } from "../../adapters/hosts/ssh.ts";
import { openSshServer } from "../../tests/conformance/ssh_server.ts";
import { bareSpawn } from "./bare.ts";
import { type Both, inTurns } from "./turns.ts";

/** `true` by hand and through Offstage: both have a connection that is open already, each its own. */
export async function overSsh(): Promise<Both> {
  const server = await openSshServer();
  const socket = `${mkdtempSync(join(tmpdir(), "offstage-"))}/ssh`;
  const { destination, options = {} } = server.options;
  const settings = [`ControlPath=${socket}`, ...Object.entries(options).map((entry) => entry.join("="))];
  const argv = ["ssh", ...settings.flatMap((setting) => ["-o", setting]), destination];
  const master = await bareSpawn([...argv, "-M", "-N"], () => {});
  while (!existsSync(socket)) await sleep(20);
  const offstage = createOffstage({ nodes: { local: ssh(server.options) }, tools: { exec: { host: "node" } } });
  const agent = offstage.agent("bench");
  const bare = async (): Promise<void> => await (await bareSpawn([...argv, "true"], () => {})).done;
  const numbers = await inTurns(bare, () => agent.exec({ command: "true" }));
  await offstage.close();
  master.kill();
  await server[Symbol.asyncDispose]();
  rmSync(dirname(socket), { recursive: true });
  return numbers;
}
