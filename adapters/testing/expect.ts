/**
 * Checks and waits of the cases. They throw plain errors that say what was expected, so no test runner is needed.
 *
 * @module
 */
import { type ErrorCode, OffstageError } from "../../mod.ts";

const SHOWN_CHARACTERS = 400;
const LOOK_MS = 5;

/** A value for a message, cut to a readable length. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)`;
}

/** Fails unless both are the same when written as JSON. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** Fails unless the bytes are the same; says where they differ. */
export function expectBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  const length = Math.max(actual.length, expected.length);
  for (let at = 0; at < length; at++) {
    if (actual[at] === expected[at]) continue;
    throw new Error(
      `${what}: expected ${expected.length} bytes, got ${actual.length}; they differ at ${at}, ` +
        `where ${expected[at] ?? "the end"} was expected and ${actual[at] ?? "the end"} came`,
    );
  }
}

/** Fails unless it holds. */
export function expectThat(holds: boolean, what: string): void {
  if (!holds) throw new Error(`Expected that ${what}`);
}

/** Fails unless the promise rejects with an `OffstageError` of that code; returns the error. */
export async function expectRejection(
  promise: Promise<unknown>,
  code: ErrorCode,
  what: string,
): Promise<OffstageError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof OffstageError && error.code === code) return error;
    throw new Error(`${what}: expected an OffstageError of code "${code}", got ${describe(error)}`, { cause: error });
  }
  throw new Error(`${what}: expected an OffstageError of code "${code}", but it was done`);
}

/** Waits that long. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits for a promise, but not for ever. */
export async function within<Value>(
  promise: Promise<Value>,
  limitMs: number,
  what: string | (() => string),
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(inVain(limitMs, what)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Looks again and again, but not for ever. */
export async function eventually(
  isMet: () => boolean | Promise<boolean>,
  limitMs: number,
  what: string | (() => string),
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!await isMet()) {
    if (performance.now() > deadline) throw inVain(limitMs, what);
    await sleep(LOOK_MS);
  }
}

function inVain(limitMs: number, what: string | (() => string)): Error {
  return new Error(`Waited ${limitMs} ms in vain for ${typeof what === "string" ? what : what()}`);
}

function describe(error: unknown): string {
  if (error instanceof OffstageError) return `one of code "${error.code}": ${error.message}`;
  return String(error);
}
