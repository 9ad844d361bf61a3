/**
 * A sandbox for commands on Linux, made by bubblewrap (`bwrap`): the workspace, the system's programs, and nothing else
 * of the machine.
 *
 * @module
 */

import { isAbsolute, resolve } from "node:path";
import { OffstageError, type Problem, type Spawner, type SpawnSpec, type WrappingHost } from "../../mod.ts";
import { inheritedDescriptors } from "../linux/inherited_descriptors.ts";
import { sandboxedChild } from "./bubblewrap/child.ts";
import { launched, SHARED_SIGNALS } from "./bubblewrap/launch.ts";
import { type Bind, bwrapArguments, type Scene } from "./bubblewrap/policy.ts";
import { steadyBinds } from "./bubblewrap/nested.ts";
import { demandPermissions, probeBwrap, probeReset } from "./bubblewrap/probe.ts";
import {
  isVisibleDirectory,
  isVisibleProgram,
  isWithin,
  programOutside,
  realPath,
  systemEntries,
  workspaceStatus,
} from "./bubblewrap/view.ts";
import { carryEnvironment } from "./carried_environment.ts";
import { invalidOptions, unknownOptions } from "./options.ts";

export type { WrappingHost } from "../../mod.ts";

/** More of the host that commands see. */
export interface ExtraBind {
  /** An absolute path on the host. */
  readonly path: string;
  /** Where commands see it. @default the same path */
  readonly at?: string;
  /** Whether they may change it. @default {false} */
  readonly writable?: boolean;
}

/** Options of {@linkcode bubblewrap}. */
export interface BubblewrapOptions {
  /** The directory that commands work in, absolute. They see it under the same path, and `workdir` has to be in it. */
  readonly workspace: string;
  /** Whether commands may use the network of the host, its loopback included. @default {false} */
  readonly network?: boolean;
  /** Whether the workspace is theirs to read only. @default {false} */
  readonly readOnly?: boolean;
  /**
   * More of the host that commands see, each an absolute path (read-only, under the same path) or an {@linkcode ExtraBind}.
   * One inside the workspace takes precedence there, so `.git` can be made read-only.
   *
   * @default {[]}
   */
  readonly extraBinds?: readonly (string | ExtraBind)[];
  /** Name or path of bwrap. @default {"bwrap"} */
  readonly program?: string;
}

const KNOWN = { workspace: true, network: true, readOnly: true, extraBinds: true, program: true } as const;

/** Home directory of sandboxed commands: the sandbox's own `/tmp`, as in their `HOME`. */
const HOME = "/tmp";
const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"; // theirs unless the call says otherwise

/**
 * A sandbox for `createOffstage({ sandbox })`.
 *
 * A command sees `/usr` and the few files of `/etc` that programs need, all read-only, a `/tmp`, `/proc` and `/dev` of its
 * own, and the workspace. It sees no other process, no network unless `network` is set, and nothing of the host's
 * environment. Whatever it has started ends with it, and with this process.
 *
 * Each start runs `bwrap`; where there is none, or it may not make namespaces, nothing is run and the answer says why.
 *
 * @param options what commands get
 * @throws {OffstageError} `invalid` if a path is not absolute, or the workspace is the whole file system
 *
 * @example
 * ```ts
 * import { bubblewrap } from "offstage/bubblewrap";
 * import { createOffstage } from "offstage/node";
 *
 * await using offstage = createOffstage({ sandbox: bubblewrap({ workspace: "/srv/work" }) });
 * const run = await offstage.agent("agent-1").exec({ command: "ls /home" });
 * console.log(run.text);
 * ```
 */
export function bubblewrap(options: BubblewrapOptions): WrappingHost {
  const problems = problemsOf(options);
  if (problems.length > 0) throw invalidOptions("Cannot make this sandbox", problems);
  return (inner) => createSandbox(inner, options);
}

function createSandbox(inner: Spawner, options: BubblewrapOptions): Spawner {
  const { network = false, readOnly = false, program = "bwrap" } = options;
  const workspace = resolve(options.workspace);
  const extra = (options.extraBinds ?? []).map(bindOf);
  let system: Scene["system"] | undefined;

  /** The workspace without symbolic links: it may have been made, or moved, since; `undefined` if it is not there. */
  function workspaceNow(): string | undefined {
    demandPermissions();
    return realPath(workspace);
  }

  function sceneNow(): Scene {
    const real = workspaceNow();
    if (real === undefined) throw new OffstageError("spawn-failed", `The workspace does not exist: ${workspace}`);
    const links = real === workspace ? [] : [{ path: workspace, target: real }];
    system ??= systemEntries(network);
    // What is in the workspace is there under the workspace's real name
    const inPlace = extra.map((bind) =>
      isWithin(bind.to, workspace) ? { ...bind, to: real + bind.to.slice(workspace.length) } : bind
    );
    const binds = steadyBinds([{ from: workspace, to: real, writable: !readOnly }, ...inPlace]);
    return { system, binds, links, network };
  }

  const ready = onceItWorks(() => probeBwrap(inner, program, sceneNow()));
  const resetting = onceItWorks(async () => await probeReset(inner, await ready(), sceneNow()));

  return {
    name: "bubblewrap",
    place: {
      cwd: () => workspace,
      home: () => HOME,
      directoryStatus: (path) => {
        const real = workspaceNow();
        return real === undefined ? "missing" : workspaceStatus(path, real);
      },
      hasProgram: (name) => isVisibleProgram(name, SEARCH_PATH, workspace, sceneNow()),
    },
    capabilities: async () => {
      const { pty, signals, groups } = await inner.capabilities();
      return { pty: pty === true ? await resetting().then(() => true as const, reasonOf) : pty, signals, groups };
    },
    spawn: async (spec, sink) => {
      const { program, forbidsNamespaces } = await ready();
      const scene = sceneNow();
      const cwd = realPath(spec.cwd) ?? spec.cwd;
      refuseIfUnseen(spec, cwd, scene);
      const foreign = [...inheritedDescriptors(), ...inner.inherited?.() ?? []];
      const inTerminal = spec.terminal !== undefined;
      const shared = inTerminal ? SHARED_SIGNALS : [];
      const { env, argv } = carryEnvironment(spec.env, shared);
      const given = bwrapArguments({ ...scene, forbidsNamespaces }, cwd, inTerminal);
      const findBash = (): string | undefined => programOutside("bash", scene);
      const sandbox = launched([program, ...given, ...argv, ...spec.argv], shared, foreign, findBash);
      return sandboxedChild(await inner.spawn({ ...spec, argv: sandbox, cwd: "/", env }, sink));
    },
  };
}

/** What has worked once is not done again; what has failed is, for it may have been put right. */
function onceItWorks<T>(attempt: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () =>
    pending ??= attempt().catch((error) => {
      pending = undefined;
      throw error;
    });
}

/** bwrap would tell it too, but as the output of a command that has ended. */
function refuseIfUnseen({ argv: [program], env }: SpawnSpec, cwd: string, scene: Scene): void {
  if (!isVisibleDirectory(cwd, scene)) {
    throw new OffstageError("spawn-failed", `Cannot start in "${cwd}": there is no such directory in the sandbox`);
  }
  if (!isVisibleProgram(program, env["PATH"] ?? SEARCH_PATH, cwd, scene)) {
    throw new OffstageError("spawn-failed", `Cannot start "${program}": there is no such program in the sandbox`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function bindOf(extra: string | ExtraBind): Bind {
  const { path, at = path, writable = false } = typeof extra === "string" ? { path: extra } : extra;
  return { from: resolve(path), to: resolve(at), writable };
}

function problemsOf(options: BubblewrapOptions): readonly Problem[] {
  const { workspace, extraBinds = [] } = options;
  const paths: readonly (readonly [key: string, path: unknown])[] = [
    ["workspace", workspace],
    ...extraBinds.flatMap((extra, index): readonly (readonly [string, unknown])[] => {
      const key = `extraBinds.${index}`;
      if (typeof extra === "string") return [[key, extra]];
      return [[`${key}.path`, extra.path], ...(extra.at === undefined ? [] : [[`${key}.at`, extra.at] as const])];
    }),
  ];
  const ofPaths = paths.flatMap(([key, path]) => {
    const message = typeof path !== "string" || !isAbsolute(path) || path.includes("\0")
      ? "must be an absolute path"
      : resolve(path) === "/"
      ? "must not be the whole file system"
      : undefined;
    return message === undefined ? [] : [{ key, message }];
  });
  return [...unknownOptions(options, KNOWN), ...ofPaths];
}
