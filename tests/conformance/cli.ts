/**
 * The command line as a program of this runtime, against a served instance.
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../skip.ts";
import { type Served, TOKENS } from "./http_server.ts";

/** Program and first arguments of `offstage`. */
export const OFFSTAGE: readonly [string, ...string[]] = programOf("../../adapters/cli/main");

/** A module as a program of this runtime: its path from here, without the extension. */
export function programOf(module: string): readonly [string, ...string[]] {
  const extension = import.meta.url.endsWith(".js") ? "js" : "ts";
  const path = fileURLToPath(new URL(`${module}.${extension}`, import.meta.url));
  return [process.execPath, ...(runtimeName === "deno" ? ["run", "-A", "--no-check"] : []), path];
}

/** The same for a shell. */
export const OFFSTAGE_COMMAND: string = OFFSTAGE.map((word) => `'${word}'`).join(" ");

/** Tells a program which server it has, and its token of scope `one`. */
export function serverEnv({ url }: Served): Readonly<Record<string, string>> {
  return { OFFSTAGE_URL: url, OFFSTAGE_TOKEN: TOKENS.one };
}

/** What one invocation came to. */
export interface Invocation {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

/** Calls `offstage` and waits for its end. The server is in this process, so nothing may block it meanwhile. */
export function offstage(
  args: readonly string[],
  { env = {}, input = "", program: [program, ...words] = OFFSTAGE }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string;
    readonly program?: typeof OFFSTAGE;
  } = {},
): Promise<Invocation> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...words, ...args], { env: { ...process.env, ...env } });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
    child.on("error", reject).on("close", (code) => resolve({ stdout, stderr, code }));
    child.stdin.on("error", () => {}).end(input);
  });
}
