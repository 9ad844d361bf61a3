/**
 * Whether bwrap can make a sandbox here, found out by making one.
 *
 * @module
 */

import { OffstageError, type OutputSink, type Spawner, type SpawnSpec } from "../../../mod.ts";
import { missingFlags, notAllowed } from "../../deno/permissions.ts";
import { carryEnvironment } from "../carried_environment.ts";
import { SHARED_SIGNALS } from "./launch.ts";
import { bwrapArguments, type Scene } from "./policy.ts";
import { programOutside } from "./view.ts";

/** A bwrap that works here. */
export interface Bwrap {
  /** Where it is. */
  readonly program: string;
  /** Whether it can forbid the command further user namespaces. */
  readonly forbidsNamespaces: boolean;
}

/** What bwrap says when it is not let make a namespace, or not let use the one it has made. */
const NOT_LET = /namespace|uid map|gid map|setgroups|RTM_NEW|loopback|Operation not permitted/;

const HOW_TO_LET = "Allow user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor " +
  "profile for bwrap (Ubuntu 24.04); kernel.unprivileged_userns_clone=1 (Debian 10); user.max_user_namespaces above 0; " +
  "in a container, one that may make them (docker run --privileged)";

/** What one says that does not know how to forbid namespaces, or cannot. */
const CANNOT_FORBID = /disable-userns|max_user_namespaces/;

/**
 * Finds bwrap and tries it.
 *
 * @param inner starts it
 * @param name its name or path
 * @param scene what a command will get
 * @throws {OffstageError} `unsupported`, with what is to be installed or allowed
 */
export async function probeBwrap(inner: Spawner, name: string, scene: Scene): Promise<Bwrap> {
  const program = programOutside(name, scene);
  if (program === undefined) {
    throw cannot(`there is no ${JSON.stringify(name)}. Install bubblewrap, the package that most systems have it in`);
  }
  const attempt = (forbidsNamespaces: boolean): Promise<string> =>
    complaintOf(inner, [program, ...bwrapArguments({ ...scene, forbidsNamespaces }, "/", false), "/bin/sh", "-c", ":"]);
  let complaint = await attempt(true);
  if (complaint === "") return { program, forbidsNamespaces: true };
  if (CANNOT_FORBID.test(complaint)) complaint = await attempt(false);
  if (complaint === "") return { program, forbidsNamespaces: false };
  throw cannot(`${program} says ${JSON.stringify(complaint)}. ${NOT_LET.test(complaint) ? HOW_TO_LET : ""}`.trim());
}

/**
 * Makes sure that commands can be given the signals back that are ignored while bwrap is started in a terminal.
 *
 * @throws {OffstageError} `unsupported`
 */
export async function probeReset(inner: Spawner, { program, forbidsNamespaces }: Bwrap, scene: Scene): Promise<void> {
  const { argv } = carryEnvironment({}, SHARED_SIGNALS);
  const options = bwrapArguments({ ...scene, forbidsNamespaces }, "/", false);
  const complaint = await complaintOf(inner, [program, ...options, ...argv, "/bin/sh", "-c", ":"]);
  if (complaint !== "") {
    throw new OffstageError("unsupported", `the sandbox needs env of GNU coreutils 8.31 or newer for it: ${complaint}`);
  }
}

/** What a command says that fails; empty if it does not. */
async function complaintOf(inner: Spawner, argv: SpawnSpec["argv"]): Promise<string> {
  const decoder = new TextDecoder();
  let words = "";
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => end = resolve);
  const sink: OutputSink = { chunk: (_stream, bytes) => void (words += decoder.decode(bytes)), end };
  const child = await inner.spawn({ argv, cwd: "/", env: {}, stdin: "closed", sessionId: "", scope: "" }, sink);
  const [{ code, signal }] = await Promise.all([child.exited, ended]);
  child.release();
  return code === 0 ? "" : words.trim() || `exit ${code ?? signal}`;
}

/**
 * Makes sure that Deno does not ask the user for what is missing, in the middle of a start.
 *
 * @throws {OffstageError} `refused`, with the flags
 */
export function demandPermissions(): void {
  if (!("Deno" in globalThis)) return;
  const flags = missingFlags([{ name: "run" }, { name: "read" }, { name: "env" }]);
  if (flags !== "") throw notAllowed("run anything in the sandbox", flags);
}

function cannot(why: string): OffstageError {
  return new OffstageError("unsupported", `Cannot run anything in the sandbox: ${why}`);
}
