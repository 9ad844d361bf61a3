/** Types of the stand-in: the signatures of `@std/assert` 1.0. */

/** A class whose instances are `T`. */
type ClassOf<T> = abstract new (...args: never[]) => T;

/** What every assertion throws. */
export declare class AssertionError extends Error {
  override name: string;
}

/** `expr` is truthy. */
export declare function assert(expr: unknown, msg?: string): asserts expr;
/** Fails always. */
export declare function fail(msg?: string): never;
/** Deeply equal. */
export declare function assertEquals<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
/** Not deeply equal. */
export declare function assertNotEquals<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
/** The same value by `Object.is`. */
export declare function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  msg?: string,
): asserts actual is T;
/** Neither `undefined` nor `null`. */
export declare function assertExists<T>(
  actual: T,
  msg?: string,
): asserts actual is NonNullable<T>;
/** An instance of that class. */
export declare function assertInstanceOf<T>(
  actual: unknown,
  expectedType: ClassOf<T>,
  msg?: string,
): asserts actual is T;
/** The expression matches. */
export declare function assertMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void;
/** The expression does not match. */
export declare function assertNotMatch(
  actual: string,
  expected: RegExp,
  msg?: string,
): void;
/** The string holds that part. */
export declare function assertStringIncludes(
  actual: string,
  expected: string,
  msg?: string,
): void;
/** The list holds all of those items. */
export declare function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  msg?: string,
): void;
/** `actual > expected`. */
export declare function assertGreater<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
/** `actual >= expected`. */
export declare function assertGreaterOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
/** `actual < expected`. */
export declare function assertLess<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
/** `actual <= expected`. */
export declare function assertLessOrEqual<T>(
  actual: T,
  expected: T,
  msg?: string,
): void;
/** The function throws; what it threw is returned. */
export declare function assertThrows(fn: () => unknown, msg?: string): unknown;
/** The function throws an error of that class, with that text in its message; the error is returned. */
export declare function assertThrows<E extends Error = Error>(
  fn: () => unknown,
  errorClass: ClassOf<E>,
  msgIncludes?: string,
  msg?: string,
): E;
/** The promise rejects; its reason is returned. */
export declare function assertRejects(
  fn: () => PromiseLike<unknown>,
  msg?: string,
): Promise<unknown>;
/** The promise rejects with an error of that class, with that text in its message; the error is returned. */
export declare function assertRejects<E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  errorClass: ClassOf<E>,
  msgIncludes?: string,
  msg?: string,
): Promise<E>;
