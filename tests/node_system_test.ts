/**
 * The parts of the machine that are the same on Node and Bun.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import process from "node:process";
import { test } from "node:test";
import { createSystem } from "../adapters/node/system.ts";

const system = createSystem();

test("the environment is the host's own, as it is at the call", () => {
  assertEquals(system.environment(), { ...process.env } as Record<string, string>);
  process.env["OFFSTAGE_TEST_VARIABLE"] = "set";
  try {
    assertEquals(system.environment()["OFFSTAGE_TEST_VARIABLE"], "set");
  } finally {
    delete process.env["OFFSTAGE_TEST_VARIABLE"];
  }
  assertEquals("OFFSTAGE_TEST_VARIABLE" in system.environment(), false);
});

test("random bytes are as many as were asked for, in memory of their own, and none comes twice", () => {
  const draws = [...Array.from({ length: 200 }, () => 16), 5_000].map((count) => system.randomBytes(count));
  assertEquals(draws.map(({ length }) => length), [...Array.from({ length: 200 }, () => 16), 5_000]);
  assertEquals(draws.filter((bytes) => bytes.buffer.byteLength !== bytes.length), []);
  assertEquals(new Set(draws.map((bytes) => bytes.slice(0, 16).join())).size, draws.length);
});
