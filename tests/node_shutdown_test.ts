/**
 * What the Node adapter does when the host is about to end, seen from outside: each host is a process of its own.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(runtimeName === "node" && process.platform !== "win32", "this is about Node on POSIX");
const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const shutdownModule = new URL(`../adapters/node/shutdown.${extension}`, import.meta.url).href;

/** Starts a host that has registered an end which takes a moment, and says when it is done. */
function host(script: string) {
  const program = `
    import { createShutdown } from ${JSON.stringify(shutdownModule)};
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const end = (name, ms = 50) => async () => { console.log("ending", name); await sleep(ms); console.log("ended", name); };
    const onShutdown = createShutdown();
    ${script}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => stdout += text);
  child.stderr.setEncoding("utf8").on("data", (text) => stderr += text);
  const seen = async (text: string): Promise<void> => {
    while (!stdout.includes(text)) await once(child.stdout, "data");
  };
  const ended = async () => {
    const [code, signal] = await once(child, "close");
    return { code, signal, lines: stdout.trim().split("\n"), stderr };
  };
  return { child, seen, ended };
}

const STAY = "setInterval(() => {}, 1000); console.log('up');";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(`E39 ${signal}: the end is awaited, then the host dies of the signal`, { skip }, async () => {
    const { child, seen, ended } = host(`onShutdown(end("a")); onShutdown(end("b")); ${STAY}`);
    await seen("up");
    child.kill(signal);
    const { signal: died, lines } = await ended();
    assertEquals(died, signal);
    assertEquals(lines, ["up", "ending a", "ending b", "ended a", "ended b"]);
  });
}

test("E39 two instances do not take each other's listener for the host's", { skip }, async () => {
  const { child, seen, ended } = host(`onShutdown(end("a", 10)); createShutdown()(end("b", 200)); ${STAY}`);
  await seen("up");
  child.kill("SIGTERM");
  const { signal, lines } = await ended();
  assertEquals([signal, lines.at(-1)], ["SIGTERM", "ended b"]);
});

test("E39 a host that listens itself lives on, and the next end works too", { skip }, async () => {
  const { child, seen, ended } = host(
    `onShutdown(end("a")); process.on("SIGTERM", () => console.log("mine")); ${STAY}`,
  );
  await seen("up");
  child.kill("SIGTERM");
  await seen("ended a");
  child.kill("SIGHUP");
  const { signal, lines } = await ended();
  assertEquals(signal, "SIGHUP");
  assertEquals([lines.includes("mine"), lines.filter((line) => line === "ended a").length], [true, 2]);
});

test(
  "E39 a signal that the host listens to can be left to it, and one that it does not ends all",
  { skip },
  async () => {
    const left = `onShutdown(end("a"), { signals: false }); onShutdown(end("b"));`;
    const { child, seen, ended } = host(`${left} process.on("SIGTERM", () => console.log("mine")); ${STAY}`);
    await seen("up");
    child.kill("SIGTERM");
    await seen("ended b");
    child.kill("SIGHUP");
    const { signal, lines } = await ended();
    assertEquals(signal, "SIGHUP");
    assertEquals(lines.filter((line) => line.startsWith("ended")).toSorted(), ["ended a", "ended b", "ended b"]);
  },
);

test("E39 a second signal does not wait for the end", { skip }, async () => {
  const { child, seen, ended } = host(`onShutdown(end("a", 60_000)); ${STAY}`);
  await seen("up");
  child.kill("SIGINT");
  await seen("ending a");
  child.kill("SIGINT");
  const { signal, lines } = await ended();
  assertEquals([signal, lines.includes("ended a")], ["SIGINT", false]);
});

test("E39 an uncaught error: the end is awaited, then the host dies of the error", { skip }, async () => {
  for (const fault of ["throw new Error('boom')", "void Promise.reject(new Error('boom'))"]) {
    const { ended } = host(`onShutdown(end("a")); setTimeout(() => { ${fault}; }, 10); ${STAY}`);
    const { code, lines, stderr } = await ended();
    assertEquals([code, lines.at(-1)], [1, "ended a"]);
    assertStringIncludes(stderr, "Error: boom");
  }
});

test("E39 an uncaught error that the host handles is none of ours until it exits", { skip }, async () => {
  const { ended } = host(`
    onShutdown(end("a"));
    process.on("uncaughtException", (error) => { console.log("mine", error.message); process.exit(7); });
    setTimeout(() => { throw new Error("boom"); }, 10);`);
  const { code, lines } = await ended();
  assertEquals([code, lines], [7, ["mine boom", "ending a"]]);
});

test("E39 a normal end: awaited when the event loop runs empty, begun at process.exit()", { skip }, async () => {
  const empty = await host(`onShutdown(end("a")); console.log("up");`).ended();
  assertEquals([empty.code, empty.lines], [0, ["up", "ending a", "ended a"]]);
  const exit = await host(`onShutdown(end("a")); process.exit(3);`).ended();
  assertEquals([exit.code, exit.lines], [3, ["ending a"]]);
});

test("an end that rejects holds up nothing", { skip }, async () => {
  const { child, seen, ended } = host(
    `onShutdown(() => Promise.reject(new Error("no"))); onShutdown(end("a")); ${STAY}`,
  );
  await seen("up");
  child.kill("SIGTERM");
  const { signal, lines } = await ended();
  assertEquals([signal, lines.at(-1)], ["SIGTERM", "ended a"]);
});

test("once nothing is registered any more there is no listener", { skip }, async () => {
  const { ended } = host(`
    const count = () => ["SIGTERM", "SIGINT", "SIGHUP", "uncaughtException", "beforeExit", "exit"]
      .map((event) => process.listenerCount(event)).join();
    const before = count();
    const stops = [onShutdown(end("a")), onShutdown(end("b"))];
    console.log(before === count());
    for (const stop of stops) stop();
    const stopAgain = onShutdown(end("c")); // before they have been taken down
    for (const stop of stops) stop();
    await sleep(300);
    console.log(before === count());
    stopAgain();
    for (let waits = 0; before !== count() && waits < 1_500; waits++) await sleep(10);
    console.log(before === count());`);
  assertEquals((await ended()).lines, ["false", "false", "true"]);
});
