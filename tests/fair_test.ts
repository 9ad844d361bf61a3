/**
 * Who gives up first when a limit is shared (spec S7).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { fullest } from "../src/session/fair.ts";

test("S7 who holds the most gives up first, the first of equals; who holds nothing never does", () => {
  const of = (...shares: readonly number[]): number | undefined =>
    fullest(shares.keys(), (index) => shares[index] ?? 0);
  assertEquals([of(1, 3, 2), of(2, 3, 3), of(1), of(0, 1), of(0, 0), of()], [1, 1, 0, 1, undefined, undefined]);
});
