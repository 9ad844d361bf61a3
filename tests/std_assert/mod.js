// @ts-self-types="./mod.d.ts"
/**
 * Offline stand-in for the part of `@std/assert` that the tests use, so that they run where only npm is reachable.
 *
 * Names, parameters and outcomes are those of the original; where the two differ this one is the stricter (deep
 * equality also compares prototypes), so a test that passes here passes there.
 *
 * @module
 */

import { inspect, isDeepStrictEqual } from "node:util";

/** What every assertion throws. */
export class AssertionError extends Error {
  name = "AssertionError";
}

export function assert(expr, msg = "") {
  if (!expr) throw new AssertionError(msg);
}

export function fail(msg) {
  throw new AssertionError(`Failed assertion${suffix(msg, ".")}`);
}

export function assertEquals(actual, expected, msg) {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new AssertionError(
    `Values are not equal${suffix(msg, ".")}\nactual:   ${show(actual)}\nexpected: ${show(expected)}`,
  );
}

export function assertNotEquals(actual, expected, msg) {
  if (!isDeepStrictEqual(actual, expected)) return;
  throw new AssertionError(
    `Expected actual: ${show(actual)} not to be: ${show(expected)}${suffix(msg, ".")}`,
  );
}

export function assertStrictEquals(actual, expected, msg) {
  if (Object.is(actual, expected)) return;
  throw new AssertionError(
    `Values are not strictly equal${suffix(msg, ".")}\nactual:   ${show(actual)}\nexpected: ${show(expected)}`,
  );
}

export function assertExists(actual, msg) {
  if (actual !== undefined && actual !== null) return;
  throw new AssertionError(
    `Expected actual: "${actual}" to not be null or undefined${suffix(msg, ".")}`,
  );
}

export function assertInstanceOf(actual, expectedType, msg) {
  if (actual instanceof expectedType) return;
  throw new AssertionError(
    `Expected ${show(actual)} to be an instance of "${expectedType.name}"${suffix(msg, ".")}`,
  );
}

export function assertMatch(actual, expected, msg) {
  if (expected.test(actual)) return;
  throw new AssertionError(
    `Expected actual: ${show(actual)} to match: ${expected}${suffix(msg, ".")}`,
  );
}

export function assertNotMatch(actual, expected, msg) {
  if (!expected.test(actual)) return;
  throw new AssertionError(
    `Expected actual: ${show(actual)} to not match: ${expected}${suffix(msg, ".")}`,
  );
}

export function assertStringIncludes(actual, expected, msg) {
  if (actual.includes(expected)) return;
  throw new AssertionError(
    `Expected actual: ${show(actual)} to contain: ${show(expected)}${suffix(msg, ".")}`,
  );
}

export function assertArrayIncludes(actual, expected, msg) {
  const held = Array.from(actual);
  const missing = Array.from(expected).filter((item) => !held.some((other) => isDeepStrictEqual(other, item)));
  if (missing.length === 0) return;
  throw new AssertionError(
    `Expected actual: ${show(held)} to include: ${show(expected)}${suffix(msg, ".")}\nmissing: ${show(missing)}`,
  );
}

export function assertGreater(actual, expected, msg) {
  if (actual > expected) return;
  throw new AssertionError(
    `Expect ${show(actual)} > ${show(expected)}${suffix(msg, "")}`,
  );
}

export function assertGreaterOrEqual(actual, expected, msg) {
  if (actual >= expected) return;
  throw new AssertionError(
    `Expect ${show(actual)} >= ${show(expected)}${suffix(msg, "")}`,
  );
}

export function assertLess(actual, expected, msg) {
  if (actual < expected) return;
  throw new AssertionError(
    `Expect ${show(actual)} < ${show(expected)}${suffix(msg, "")}`,
  );
}

export function assertLessOrEqual(actual, expected, msg) {
  if (actual <= expected) return;
  throw new AssertionError(
    `Expect ${show(actual)} <= ${show(expected)}${suffix(msg, "")}`,
  );
}

export function assertThrows(fn, errorClassOrMsg, msgIncludes, msg) {
  const [errorClass, note] = split(errorClassOrMsg, msg);
  let error;
  try {
    fn();
  } catch (thrown) {
    error = { thrown };
  }
  if (error === undefined) {
    throw new AssertionError(`Expected function to throw${suffix(note, ".")}`);
  }
  if (errorClass !== undefined) {
    assertIsError(error.thrown, errorClass, msgIncludes, note);
  }
  return error.thrown;
}

export async function assertRejects(fn, errorClassOrMsg, msgIncludes, msg) {
  const [errorClass, note] = split(errorClassOrMsg, msg);
  let pending;
  try {
    pending = fn();
  } catch {
    throw new AssertionError(
      `Function throws when expected to reject${suffix(note, ".")}`,
    );
  }
  let error;
  try {
    await pending;
  } catch (thrown) {
    error = { thrown };
  }
  if (error === undefined) {
    throw new AssertionError(`Expected function to reject${suffix(note, ".")}`);
  }
  if (errorClass !== undefined) {
    assertIsError(error.thrown, errorClass, msgIncludes, note);
  }
  return error.thrown;
}

function assertIsError(error, errorClass, msgIncludes, note) {
  if (!(error instanceof errorClass)) {
    throw new AssertionError(
      `Expected error to be instance of "${errorClass.name}", but was ${show(error)}${suffix(note, ".")}`,
    );
  }
  if (msgIncludes !== undefined && !error.message.includes(msgIncludes)) {
    throw new AssertionError(
      `Expected error message to include ${show(msgIncludes)}, but got ${show(error.message)}${suffix(note, ".")}`,
    );
  }
}

/** The second parameter of `assertThrows` and `assertRejects` is an error class or, in the short form, the message. */
function split(errorClassOrMsg, msg) {
  return typeof errorClassOrMsg === "string" ? [undefined, errorClassOrMsg] : [errorClassOrMsg, msg];
}

function suffix(msg, otherwise) {
  return msg ? `: ${msg}` : otherwise;
}

function show(value) {
  return inspect(value, {
    depth: 10,
    sorted: true,
    maxArrayLength: 200,
    maxStringLength: 4_000,
    breakLength: 100,
  });
}
