/**
 * Commands in a container that runs already, by the command line of its engine.
 *
 * @module
 */
import type { Problem, WrappingHost } from "../../mod.ts";
import { containerArguments } from "./container/arguments.ts";
import { invalidOptions, unknownOptions } from "./options.ts";
import { clientEnvironment } from "./remote/client_environment.ts";
import type { Client, Connection } from "./remote/overseer.ts";
import { createRemoteSpawner } from "./remote/spawner.ts";

export type { WrappingHost } from "../../mod.ts";

/** Options of {@linkcode container}. */
export interface ContainerOptions {
  /** Whose command line is used. */
  readonly engine: "docker" | "podman" | "kubectl";
  /** Name or id of the container; for kubectl the pod, or what it takes for one (`deploy/web`). */
  readonly target: string;
  /** Which container of the pod, for kubectl. @default the pod's first, or the one it names as its default */
  readonly container?: string;
  /** Who runs the commands, as `user` or `user:group`; kubectl has no say in that. @default the container's user */
  readonly user?: string;
  /** Arguments before `exec`, e.g. `["--context", "staging"]` or `["--namespace", "web"]`. @default {[]} */
  readonly options?: readonly string[];
  /** Directory that commands run in unless a call says otherwise, absolute. @default the container's own */
  readonly cwd?: string;
  /** Name or path of the program. @default the engine's name */
  readonly program?: string;
}

const KNOWN = {
  engine: true,
  target: true,
  container: true,
  user: true,
  options: true,
  cwd: true,
  program: true,
} as const;

/**
 * A host for `createOffstage({ nodes })`, or `sandbox`, that is a running container.
 *
 * It takes a `/bin/sh` in there, and `stty` for terminals. Variables of a command are not in the arguments of any process.
 * When this process dies, or the engine breaks the connection, what was started in there is ended.
 *
 * @param options which container
 * @throws {OffstageError} `invalid`
 *
 * @example
 * ```ts
 * import { container } from "offstage/container";
 * import { createOffstage } from "offstage/node";
 *
 * const sandbox = container({ engine: "docker", target: "workbench" });
 * await using offstage = createOffstage({ sandbox });
 * const run = await offstage.agent("agent-1").exec({ command: "cat /etc/os-release" });
 * console.log(run.text);
 * ```
 */
export function container(options: ContainerOptions): WrappingHost {
  const problems = problemsOf(options);
  if (problems.length > 0) throw invalidOptions("Cannot make this host", problems);
  return (inner) => createRemoteSpawner({ name: options.engine, inner, client: clientOf(options), cwd: options.cwd });
}

/** Codes of the engines' own, where no command has been started: docker-run(1), podman-exec(1), and a shell's. */
const MEANINGS: Readonly<Record<number, string>> = {
  125: "the engine could not do it",
  126: "/bin/sh cannot be run in the container",
  127: "there is no /bin/sh in the container",
};

function clientOf(options: ContainerOptions): Client {
  return {
    target: `${options.engine} ${options.target}`,
    connect: (): Connection => ({
      env: clientEnvironment(),
      command: (shell, use) => containerArguments(options, shell, use === "terminal"),
      explain: (code) => MEANINGS[code ?? 0] ?? "",
      close: () => {},
    }),
  };
}

function problemsOf(given: ContainerOptions): readonly Problem[] {
  const { engine, target, container, user, cwd } = given;
  const problems: Problem[] = [...unknownOptions(given, KNOWN)];
  const addUnless = (isRight: boolean, key: string, message: string): void => {
    if (!isRight) problems.push({ key, message });
  };
  const isName = (name: unknown): boolean => typeof name === "string" && /^[^-\s\0][^\s\0]*$/.test(name);
  addUnless(["docker", "podman", "kubectl"].includes(engine), "engine", "must be docker, podman or kubectl");
  addUnless(isName(target), "target", "must be the name of a container");
  addUnless(container === undefined || isName(container), "container", "must be the name of a container of the pod");
  addUnless(container === undefined || engine === "kubectl", "container", "is for kubectl: target names the container");
  addUnless(user === undefined || isName(user), "user", "must be a user's name or number");
  addUnless(user === undefined || engine !== "kubectl", "user", "cannot be chosen with kubectl");
  addUnless(cwd === undefined || cwd.startsWith("/"), "cwd", "must be an absolute path");
  return problems;
}
