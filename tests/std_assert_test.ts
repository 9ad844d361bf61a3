/**
 * The stand-in for `@std/assert` passes and fails where the original does.
 *
 * @module
 */

import {
  assert,
  assertArrayIncludes,
  assertEquals,
  AssertionError,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { test } from "node:test";

class OtherError extends Error {}

test("assertEquals compares deeply and tells both values when they differ", () => {
  assertEquals({ a: [1, new Map([["k", new Uint8Array([1])]])] }, {
    a: [1, new Map([["k", new Uint8Array([1])]])],
  });
  assertEquals(NaN, NaN);
  assertNotEquals<unknown>({ a: undefined }, {});
  const error = assertThrows(
    () => assertEquals<unknown>({ a: 1 }, { a: 2 }, "why"),
    AssertionError,
    "why",
  );
  assertStringIncludes(error.message, "{ a: 1 }");
  assertStringIncludes(error.message, "{ a: 2 }");
});

test("assertThrows returns the error and checks its class and message", () => {
  const thrown = new OtherError("the reason");
  const fails = (): never => {
    throw thrown;
  };
  assertStrictEquals(assertThrows(fails), thrown);
  assertStrictEquals(assertThrows(fails, OtherError, "reason"), thrown);
  assertThrows(
    () => assertThrows(fails, TypeError),
    AssertionError,
    "TypeError",
  );
  assertThrows(
    () => assertThrows(fails, OtherError, "another"),
    AssertionError,
    "another",
  );
  assertThrows(() => assertThrows(() => 1), AssertionError, "to throw");
  assertThrows(() => assertThrows(() => 1, "note"), AssertionError, "note");
});

test("assertRejects returns the reason, also undefined, and refuses a function that throws", async () => {
  const reason = new OtherError("the reason");
  assertStrictEquals(
    await assertRejects(() => Promise.reject(reason), OtherError, "reason"),
    reason,
  );
  assertEquals(await assertRejects(() => Promise.reject(undefined)), undefined);
  await assertRejects(
    () => assertRejects(() => Promise.resolve()),
    AssertionError,
    "to reject",
  );
  const throws = (): Promise<never> => {
    throw reason;
  };
  await assertRejects(
    () => assertRejects(throws),
    AssertionError,
    "throws when expected to reject",
  );
});

test("assertArrayIncludes names what is missing", () => {
  assertArrayIncludes([{ a: 1 }, { a: 2 }], [{ a: 2 }]);
  assertThrows(
    () => assertArrayIncludes([1, 2], [2, 3]),
    AssertionError,
    "missing: [ 3 ]",
  );
});

test("assert and assertMatch fail with an AssertionError", () => {
  assertThrows(() => assert(0, "zero"), AssertionError, "zero");
  assertThrows(() => assertMatch("abc", /x/), AssertionError, "/x/");
});
