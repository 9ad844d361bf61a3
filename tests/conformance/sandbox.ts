/**
 * What a test of the sandbox begins with.
 *
 * @module
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import process from "node:process";
import { createOffstage } from "../../adapters/auto.ts";
import { bubblewrap, type BubblewrapOptions } from "../../adapters/hosts/bubblewrap.ts";
import { closing } from "../closing.ts";
import type { ExecConfig, ExecParams, OffstageConfig } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { type Bench, runToEnd } from "./agent.ts";
import { posix } from "./machine.ts";

/** `skip` of a test that needs a sandbox. */
export const sandbox: string | false = posix || await noSandbox();

/** Opens an instance whose commands run in a sandbox, to be closed at the end of the test. */
export function openSandbox(
  workspace: string,
  options: Omit<BubblewrapOptions, "workspace"> = {},
  exec: ExecConfig = {},
  config: OffstageConfig = {},
): Bench {
  const offstage = createOffstage({ sandbox: bubblewrap({ workspace, ...options }), tools: { exec }, ...config });
  return { offstage, agent: offstage.agent("tester"), [Symbol.asyncDispose]: () => offstage.close() };
}

/** A fresh folder where the sandbox has none of its own, as it does at `/tmp`; removed when it is disposed of. */
export async function folderOutside(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp("/var/tmp/offstage-");
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** What nobody in a sandbox is to read. */
export const SECRET = "a secret of the host's";

/** A sandbox, and what is around it. */
export interface Scene extends Bench {
  /** What commands may use. */
  readonly workspace: string;
  /** A directory beside the workspace, with a file `secret`. */
  readonly outside: string;
  /** What a command prints, however it ends. */
  readonly print: (params: ExecParams | string) => Promise<string>;
}

/** A workspace in a sandbox and, beside it, what nobody in there is to get at; closed at the end of the test. */
export async function openScene(
  options: Omit<BubblewrapOptions, "workspace"> = {},
  exec: ExecConfig = {},
  config: OffstageConfig = {},
): Promise<Scene> {
  const { path } = closing(await folderOutside());
  const [workspace, outside] = [`${path}/work`, `${path}/outside`];
  await Promise.all([workspace, outside].map((folder) => mkdir(folder)));
  await writeFile(`${outside}/secret`, SECRET);
  const bench = closing(openSandbox(workspace, options, exec, config));
  const print = async (params: ExecParams | string): Promise<string> =>
    (await runToEnd(bench.agent, typeof params === "string" ? { command: params } : params)).details.output;
  return { ...bench, workspace, outside, print };
}

async function noSandbox(): Promise<string | false> {
  if (process.platform !== "linux") return skipUnless(false, "bubblewrap is for Linux");
  const { agent, offstage } = openSandbox(process.cwd(), { readOnly: true });
  try {
    const { text, isError } = await agent.exec({ command: ":" });
    return skipUnless(!isError, text);
  } finally {
    await offstage.close();
  }
}
