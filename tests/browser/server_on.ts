/**
 * Servers on each runtime, for the browser that Node drives.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { closing } from "../closing.ts";
import { root } from "../project.ts";

const BIN = join(root, "node_modules", ".bin");
const SERVED = join(root, "tests", "browser", "served.ts");

const PROGRAMS = {
  Node: [process.execPath],
  Deno: [join(BIN, "deno"), "run", "-A"],
  Bun: [join(BIN, "bun")],
} as const;

/**
 * Serves an instance on a runtime until the test ends; resolves with its address.
 *
 * @param origins whose pages may call it
 */
export async function serverOn(runtime: keyof typeof PROGRAMS, origins: readonly string[] = []): Promise<string> {
  const [program, ...args] = PROGRAMS[runtime];
  const server = spawn(program, [...args, SERVED, ...origins], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  closing({
    [Symbol.asyncDispose]: async () => {
      server.stdin.end();
      await ended;
    },
  });
  return await new Promise((resolve, reject) => {
    server.stdout.once("data", (line) => resolve(`${line}`.trim()));
    void ended.then(() => reject(new Error(`the server on ${runtime} has ended`)));
  });
}
