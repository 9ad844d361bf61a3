/**
 * A real `sshd` on loopback, as this user, with keys of its own.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { createOffstage } from "../../adapters/auto.ts";
import { ssh, type SshOptions } from "../../adapters/hosts/ssh.ts";
import type { ExecConfig, OffstageConfig } from "../../mod.ts";
import { closing } from "../closing.ts";
import { skipUnless } from "../skip.ts";
import { type Bench, eventually } from "./agent.ts";
import { freshFolder, proc } from "./machine.ts";

const SSHD = "/usr/sbin/sshd";

/** `skip` of a test that needs a server: it looks at processes here, too. */
export const sshServer: string | false = proc || skipUnless(existsSync(SSHD), "there is no sshd");

/** A running server. */
export interface SshServer extends AsyncDisposable {
  /** What takes a client there. */
  readonly options: SshOptions;
  /** Process ids of the server's own processes for the connections there are. */
  connections(): readonly number[];
  /** The server itself. */
  readonly process: ChildProcess;
}

/** Starts a server, to be ended at the end of the test. */
export async function openSshServer(settings: readonly string[] = []): Promise<SshServer> {
  const folder = await freshFolder();
  const file = (name: string): string => `${folder.path}/${name}`;
  const port = await freePort();
  for (const name of ["host_key", "key"]) {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file(name)]);
  }
  writeFileSync(file("authorized_keys"), readFileSync(file("key.pub")));
  writeFileSync(file("known_hosts"), `[127.0.0.1]:${port} ${readFileSync(file("host_key.pub"), "utf8")}`);
  writeFileSync(
    file("config"),
    [
      `Port ${port}`,
      "ListenAddress 127.0.0.1",
      `HostKey ${file("host_key")}`,
      `AuthorizedKeysFile ${file("authorized_keys")}`,
      "PidFile none",
      "StrictModes no",
      "UsePAM no",
      "PermitRootLogin yes",
      "PasswordAuthentication no",
      "PrintMotd no",
      "MaxStartups 100",
      "SetEnv SHLVL=1", // or bash reads its startup files, which may be slow here
      ...settings,
      "",
    ].join("\n"),
  );
  chmodSync(folder.path, 0o700);
  if (!existsSync("/run/sshd")) mkdirSync("/run/sshd", { recursive: true });
  const process = spawn(SSHD, ["-D", "-e", "-f", file("config")], { stdio: "ignore" });
  await eventually(() => answers(port), "sshd listens");
  return {
    process,
    options: {
      destination: "127.0.0.1",
      options: {
        Port: port,
        IdentityFile: file("key"),
        IdentitiesOnly: "yes",
        UserKnownHostsFile: file("known_hosts"),
      },
    },
    connections: () => childrenOf(process.pid ?? -1),
    [Symbol.asyncDispose]: async () => {
      process.kill("SIGKILL");
      if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Opens an instance whose node `remote` is that server, to be closed at the end of the test. */
export function openOverSsh(
  server: Pick<SshServer, "options">,
  exec: ExecConfig = {},
  config: OffstageConfig = {},
): Bench {
  const offstage = createOffstage({
    nodes: { remote: ssh(server.options) },
    tools: { exec: { host: "node", ...exec } },
    ...config,
  });
  return { offstage, agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() };
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter((word) => word !== "").map(
    Number,
  );
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  if (address === null || typeof address === "string") throw new Error("There is no free port");
  return address.port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => (socket.destroy(), resolve(true)));
    socket.once("error", () => resolve(false));
  });
}

/** A server and an instance whose node it is, both closed at the end of the test. */
export async function openRemote(
  settings: readonly string[] = [],
  exec: ExecConfig = {},
): Promise<Bench & { readonly server: SshServer }> {
  const server = closing(await openSshServer(settings));
  return { ...closing(openOverSsh(server, exec)), server };
}
