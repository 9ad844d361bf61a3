/**
 * What a test of the sandbox begins with.
 *
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import process from "node:process";
import { createOffstage } from "../../adapters/auto.ts";
import { bubblewrap, type BubblewrapOptions } from "../../adapters/hosts/bubblewrap.ts";
import type { ExecConfig, OffstageConfig } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import type { Bench } from "./agent.ts";
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
