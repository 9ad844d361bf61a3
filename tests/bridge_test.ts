/**
 * Signals that are passed on to a child started elsewhere (Node).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { bridgeChildProcess } from "../adapters/node/bridge.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "node" && process.platform !== "win32", "this is about Node on POSIX");
const FORWARDED = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const;

const listeners = (): readonly number[] => FORWARDED.map((signal) => process.listenerCount(signal));

/** A child that names the signal it gets and goes on, until its stdin ends. */
function start() {
  const traps = FORWARDED.map((name) => `trap 'echo ${name}' ${name.slice(3)};`).join(" ");
  return spawn("bash", ["-c", `${traps} echo ready; while read -t 0.05 x; [ $? -gt 128 ]; do :; done`]);
}

async function next(child: ReturnType<typeof start>): Promise<string> {
  const [bytes] = await once(child.stdout, "data");
  return String(bytes).trim();
}

test("B1 each signal is told to onSignal first, then sent to the child", { skip }, async () => {
  const child = start();
  await next(child);
  const told: string[] = [];
  const bridge = bridgeChildProcess(child, { onSignal: (signal) => told.push(signal) });
  for (const signal of FORWARDED) {
    const answer = next(child);
    process.kill(process.pid, signal);
    assertEquals([await answer, told.at(-1)], [signal, signal]);
  }
  bridge.detach();
  child.stdin.end();
  await once(child, "exit");
});

test("B1 only the given signals are forwarded, and a hook that throws stops none", { skip }, async () => {
  const before = listeners();
  const child = start();
  await next(child);
  const bridge = bridgeChildProcess(child, {
    signals: ["SIGHUP"],
    onSignal: () => {
      throw new Error("hook");
    },
  });
  assertEquals(listeners(), before.map((count, index) => count + (FORWARDED[index] === "SIGHUP" ? 1 : 0)));
  const answer = next(child);
  process.kill(process.pid, "SIGHUP");
  assertEquals(await answer, "SIGHUP");
  bridge.detach();
  child.stdin.end();
  await once(child, "exit");
});

test("B2 it detaches on the child's exit, by hand, and twice, and takes only its own listeners", { skip }, async () => {
  const own = (): void => {};
  process.on("SIGHUP", own);
  const before = listeners();
  const child = start();
  const others = child.listenerCount("exit");
  const byExit = bridgeChildProcess(child);
  const byHand = bridgeChildProcess(child);
  byHand.detach();
  byHand.detach();
  assertEquals(listeners(), before.map((count) => count + 1));
  child.stdin.end();
  await once(child, "exit");
  assertEquals([listeners(), child.listenerCount("exit")], [before, others]);
  byExit.detach();
  assertEquals(listeners(), before);
  process.off("SIGHUP", own);
});

test("B2 a child that cannot be started, or has ended, leaves no listener", { skip }, async () => {
  const before = listeners();
  const missing = spawn("no-such-program");
  bridgeChildProcess(missing);
  await once(missing, "error");
  assertEquals(listeners(), before);
  const ended = spawn("true");
  await once(ended, "exit");
  bridgeChildProcess(ended);
  assertEquals(listeners(), before);
});
