/**
 * Commands on another machine, by the system's `ssh`.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Problem, WrappingHost } from "../../mod.ts";
import { atProcessExit } from "../linux/orphan_guard.ts";
import { invalidOptions, unknownOptions } from "./options.ts";
import { clientEnvironment } from "./remote/client_environment.ts";
import type { Client } from "./remote/overseer.ts";
import { createRemoteSpawner } from "./remote/spawner.ts";

export type { WrappingHost } from "../../mod.ts";

/** Options of {@linkcode ssh}. */
export interface SshOptions {
  /** Where to: a host, `user@host`, or a name of your `~/.ssh/config`. */
  readonly destination: string;
  /**
   * Options of ssh_config(5) by name, e.g. `{ Port: 2222, IdentityFile: "/home/me/.ssh/build" }`. They win over
   * `~/.ssh/config`, which is read as ever.
   *
   * @default {{}}
   */
  readonly options?: Readonly<Record<string, string | number>>;
  /** Directory that commands run in unless a call says otherwise, absolute. @default the home directory there */
  readonly cwd?: string;
  /** Name or path of ssh. @default {"ssh"} */
  readonly program?: string;
}

const KNOWN = { destination: true, options: true, cwd: true, program: true } as const;

/** What the connection depends on: these are not to be changed, by nobody's configuration. */
const FIXED: Readonly<Record<string, string>> = {
  BatchMode: "yes", // nobody is there to answer a question
  ControlPersist: "no",
  EscapeChar: "none",
  ForkAfterAuthentication: "no",
  LogLevel: "ERROR",
  PermitLocalCommand: "no",
  RemoteCommand: "none",
  SessionType: "default",
  StdinNull: "no",
};

/** What may be changed by {@linkcode SshOptions.options}: a dead connection is noticed after 15 seconds. */
const USUAL: Readonly<Record<string, string>> = {
  ClearAllForwardings: "yes",
  ConnectTimeout: "15",
  ServerAliveCountMax: "3",
  ServerAliveInterval: "5",
};

const OURS: ReadonlySet<string> = new Set(
  [...Object.keys(FIXED), "ControlMaster", "ControlPath", "RequestTTY"].map((name) => name.toLowerCase()),
);

/**
 * A host for `createOffstage({ nodes })` on the far side of an SSH connection.
 *
 * There is one connection, made with the first command and shared by all; it is closed after a minute without one. A POSIX
 * shell is all it takes on the other side; where that is Linux, processes that leave their command's group are found too.
 * Commands get the environment that `ssh` would give them, and the variables of the call. When the connection breaks, or
 * this process dies, what runs there is ended as soon as the other side notices; the sessions have failed with the reason
 * `host-lost`.
 *
 * Keys or an agent have to be set up: nobody is asked for a password. The server's limit `MaxSessions` (10, as a rule)
 * is that of commands at a time that share the connection; more have connections of their own.
 *
 * @param options where to, and how
 * @throws {OffstageError} `invalid`
 *
 * @example
 * ```ts
 * import { createOffstage } from "offstage/node";
 * import { ssh } from "offstage/ssh";
 *
 * await using offstage = createOffstage({ nodes: { builder: ssh({ destination: "builder" }) } });
 * const run = await offstage.agent("agent-1").exec({ command: "uname -a", host: "node" });
 * console.log(run.text);
 * ```
 */
export function ssh(options: SshOptions): WrappingHost {
  const problems = problemsOf(options);
  if (problems.length > 0) throw invalidOptions("Cannot make this host", problems);
  return (inner) => createRemoteSpawner({ name: "ssh", inner, client: sshClient(options), cwd: options.cwd });
}

function sshClient({ destination, options = {}, program = "ssh" }: SshOptions): Client {
  // ssh takes the first value that it is given
  const settings = [FIXED, options, USUAL].flatMap((each) => Object.entries(each))
    .flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  return {
    target: destination,
    connect: () => {
      const directory = mkdtempSync(join(tmpdir(), "offstage-")); // a socket's path may have about 100 characters
      const clear = (): void => rmSync(directory, { recursive: true, force: true });
      const stopListening = atProcessExit(clear);
      const socket = join(directory, "ssh");
      return {
        env: clientEnvironment(),
        command: (shell, use) => [
          program,
          ...[use === "terminal" ? "-tt" : "-T"],
          ...["-o", `ControlPath=${socket}`, "-o", `ControlMaster=${use === "overseer" ? "yes" : "no"}`],
          ...settings,
          ...["--", destination, remoteCommand(shell)],
        ],
        close: () => {
          stopListening();
          clear();
        },
      };
    },
  };
}

/** The login shell over there may be any: all of them take words in single quotes as they are. */
function remoteCommand(shell: readonly string[]): string {
  return ["exec", "/bin/sh", "-c", ...shell.map((word) => `'${word}'`)].join(" ");
}

function problemsOf(given: SshOptions): readonly Problem[] {
  const { destination, options = {}, cwd } = given;
  const problems: Problem[] = [...unknownOptions(given, KNOWN)];
  if (typeof destination !== "string" || !/^[^-\s\0][^\s\0]*$/.test(destination)) {
    problems.push({ key: "destination", message: "must be a host, user@host, or a name of ssh_config(5)" });
  }
  for (const [name, value] of Object.entries(options)) {
    const message = OURS.has(name.toLowerCase())
      ? "cannot be changed: the connection depends on it"
      : !/^[A-Za-z0-9]+$/.test(name) || /[\n\0]/.test(String(value))
      ? "must be an option of ssh_config(5) with its value"
      : undefined;
    if (message !== undefined) problems.push({ key: `options.${name}`, message });
  }
  if (cwd !== undefined && !cwd.startsWith("/")) problems.push({ key: "cwd", message: "must be an absolute path" });
  return problems;
}
