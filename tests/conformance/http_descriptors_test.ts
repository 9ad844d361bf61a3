/**
 * A server that has had no descriptor left for a while serves on.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { extname } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { assertEquals } from "@std/assert";
import { closing, test } from "../closing.ts";
import { runtimeName } from "../skip.ts";
import { TOKENS } from "./http_server.ts";
import { posix } from "./machine.ts";

const LIMIT_MS = 60_000;
const program = fileURLToPath(
  new URL(`../fixtures/server_without_descriptors${extname(import.meta.url)}`, import.meta.url),
);

test("R14 who calls while no descriptor is left may be refused, who calls afterwards is served", {
  skip: posix,
  timeout: LIMIT_MS,
}, async () => {
  const run = runtimeName === "deno" ? ["run", "-A", "--no-check", program] : [program];
  const server = spawn("sh", ["-c", 'ulimit -n 200; exec "$0" "$@"', process.execPath, ...run], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  closing({ [Symbol.asyncDispose]: () => Promise.resolve(void server.kill("SIGKILL")) });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => (await lines.next()).value ?? "";
  const url = await line();
  server.stdin.write("hold\n");
  assertEquals(await line(), "held");
  const sockets = Array.from(
    { length: 10 },
    () => connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {}),
  );
  assertEquals(await line(), "free");
  for (const socket of sockets) socket.destroy();

  assertEquals(await statusOf(url), 200);
  const exited = once(server, "exit");
  server.stdin.write("close\n");
  assertEquals((await exited)[0], 0, "it closes as it should");
});

/** Of an answer, however many calls that takes. */
async function statusOf(url: string): Promise<number> {
  for (const deadline = Date.now() + LIMIT_MS / 2;;) {
    try {
      const response = await fetch(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${TOKENS.one}` } });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}
