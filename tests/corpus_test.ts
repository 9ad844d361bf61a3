import { assert, assertEquals, assertLess } from "@std/assert";
import { test } from "node:test";
import { measureCorpus, recordings } from "../bench/characters.ts";
import { createCursor } from "../src/output/cursor.ts";
import { createOutputLog } from "../src/output/log.ts";
import { personSees } from "./terminal_oracle.ts";

const SIZE = { cols: 120, rows: 30 };
const ALL = 1_000_000;
/** Bytes between two polls: few enough to cut every frame, and none of it at a border. */
const PIECE = 997;

test("S6 of real programs' output a model is given every line that a person still sees, in at most 35 % of it", async () => {
  const measured = await measureCorpus();
  for (const { name, missing } of measured) assertEquals(missing, [], name);
  const redrawn = measured.filter(({ redraws }) => redraws);
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  assertLess(10, redrawn.length);
  assertLess(sum(redrawn.map(({ rendered }) => rendered)), 0.35 * sum(redrawn.map(({ raw }) => raw)));
});

for (const { name, bytes } of recordings()) {
  test(`P10 polls of ${name} tell the last state of every line that a person still sees`, async () => {
    const log = createOutputLog({ maxChars: ALL, terminal: { size: SIZE, fullScreen: () => false } });
    const cursor = createCursor(log);
    let told = "";
    for (let at = 0; at < bytes.length; at += PIECE) {
      log.append("terminal", bytes.subarray(at, at + PIECE));
      told += cursor.read(ALL).text;
    }
    log.finish();
    told += cursor.read(ALL).text;
    const lines = new Set(told.split("\n").map((line) => line.trimEnd()));
    for (const row of await personSees(bytes, SIZE, false)) assert(row === "" || lines.has(row), row);
  });
}
