/**
 * What is particular about the Deno adapter: the memory of its chunks. What every spawner promises is in
 * `conformance/spawner_test.ts`.
 *
 * @module
 */

import { assertEquals, assertThrows } from "@std/assert";
import process from "node:process";
import { denoRuntime } from "../adapters/deno/runtime.ts";
import { OffstageError } from "../mod.ts";
import { openTestBench } from "./conformance/machine.ts";
import { runtimeName, skipUnless } from "./skip.ts";
import { closing, test } from "./closing.ts";

const skip = skipUnless(runtimeName === "deno" && process.platform !== "win32", "this is about Deno on POSIX");

test("S4 pipes: each chunk has memory of its own, and no more of it than it needs", { skip }, async () => {
  const bench = closing(openTestBench(denoRuntime().spawner, "pipes"));
  const run = await bench.sh("for i in 1 2 3; do echo $i; sleep 0.05; done; head -c 1000000 /dev/zero");
  await run.finish();
  assertEquals(run.bytes().length, 1_000_006);
  assertEquals(new Set(run.chunks.map(({ buffer }) => buffer)).size, run.chunks.length);
  assertEquals(run.chunks.filter((bytes) => bytes.buffer.byteLength !== bytes.length), []);
});

test("the Deno adapter refuses other runtimes", { skip: skipUnless(runtimeName !== "deno", "this is Deno") }, () => {
  assertEquals(assertThrows(() => denoRuntime(), OffstageError).code, "unsupported");
});
