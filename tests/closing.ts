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

/** `test` of `node:test` that closes what was opened with {@linkcode closing}; what fails first is told first. */
export function test(name: string, ...rest: readonly [Run] | readonly [TestOptions, Run]): void {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  register(name, options, async (context) => {
    const errors: unknown[] = [];
    const attempt = async (work: () => Promise<void> | PromiseLike<void> | void): Promise<void> => {
      try {
        await work();
      } catch (error) {
        errors.push(error);
      }
    };
    await attempt(() => run(context));
    for (const resource of opened.splice(0).reverse()) await attempt(() => resource[Symbol.asyncDispose]());
    if (errors.length > 1) {
      throw new AggregateError(errors, errors.map(String).join("\nand when it closed what it had opened: "), {
        cause: errors[0],
      });
    }
    if (errors.length === 1) throw errors[0];
  });
}
