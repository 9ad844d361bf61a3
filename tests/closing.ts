/**
 * Closing what a test has opened, however it ends, on runtimes that do not know `await using` yet (Node 22).
 *
 * @module
 */
import { test as register, type TestContext, type TestOptions } from "node:test";

type Run = (context: TestContext) => Promise<void> | void;

/** What the test that runs now has opened; the tests of a file run one after the other. */
const opened: AsyncDisposable[] = [];

/** Closes `resource` at the end of the test, the last opened first. */
export function closing<T extends AsyncDisposable>(resource: T): T {
  opened.push(resource);
  return resource;
}

/** `test` of `node:test` that closes what was opened with {@linkcode closing}. */
export function test(name: string, ...rest: readonly [Run] | readonly [TestOptions, Run]): void {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  register(name, options, async (context) => {
    try {
      await run(context);
    } finally {
      for (const resource of opened.splice(0).reverse()) await resource[Symbol.asyncDispose]();
    }
  });
}
