/**
 * Many instances in one host, each of which listens to its end: E39, C3.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { closing, test } from "../closing.ts";
import { background, eventually, open } from "./agent.ts";

test("E39 a dozen instances that run commands are not taken for a leak of listeners, and leave the bound as it was", async () => {
  const before = process.getMaxListeners();
  const warnings: string[] = [];
  const take = (warning: Error): void => void warnings.push(warning.message);
  process.on("warning", take);
  try {
    const benches = Array.from({ length: before + 2 }, () => closing(open()));
    await Promise.all(benches.map(({ agent }) => background(agent, { command: "sleep 60", background: true })));
    await setImmediate();
    await Promise.all(benches.map(({ offstage }) => offstage.close()));
    await eventually(() => process.getMaxListeners() <= before, "the bound is as low as before");
  } finally {
    process.off("warning", take);
  }
  assertEquals(warnings.filter((message) => message.includes("listeners added to")), []);
});
