/**
 * The sizes a terminal had, by where in its output they began (spec P21, P35).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { changedTo, nextChange, sizeAt, type SizeChange } from "../src/session/sizes.ts";

const change = (at: number): SizeChange => ({ cols: 100 + at, rows: 30, at });
const CHANGES = [0, 10, 20].map(change);
const places = (changes: readonly SizeChange[]): readonly number[] => changes.map(({ at }) => at);

test("P35 the size at a place in the output is that of the last change before it", () => {
  assertEquals([-1, 0, 9, 10, 25].map((offset) => sizeAt(CHANGES, offset)?.cols), [100, 100, 100, 110, 120]);
  assertEquals(sizeAt([], 5), undefined);
  assertEquals([-1, 0, 9, 10, 20].map((offset) => nextChange(CHANGES, offset)), [0, 10, 10, 20, Infinity]);
});

test("P35 of changes before what is held only the last is kept, and of those at one place the newest", () => {
  assertEquals(places(changedTo(CHANGES, change(30), 0)), [0, 10, 20, 30]);
  assertEquals(places(changedTo(CHANGES, change(30), 9)), [0, 10, 20, 30]);
  assertEquals(places(changedTo(CHANGES, change(30), 10)), [10, 20, 30]);
  assertEquals(places(changedTo(CHANGES, change(30), 29)), [20, 30]);
  assertEquals(places(changedTo(CHANGES, change(30), 30)), [30]);
  const newest = { cols: 77, rows: 7, at: 20 };
  assertEquals(changedTo(CHANGES, newest, 0), [change(0), change(10), newest]);
});
