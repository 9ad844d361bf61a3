/**
 * What stands for `node:test`: it collects the tests, so that each can be run as often as there are mutants.
 *
 * @module
 */

/** A test that runs when it is told to. */
export interface Collected {
  readonly name: string;
  readonly run: () => unknown;
}

type Run = (context: object) => unknown;

const tests: Collected[] = [];

/** `test` of `node:test`; what a test's context offers is not there. */
export function test(name: string, ...rest: readonly [Run] | readonly [{ readonly skip?: unknown }, Run]): void {
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest;
  if (!options.skip) tests.push({ name, run: () => run({}) });
}

/** The tests that have been collected since the last call. */
export function collect(): readonly Collected[] {
  return tests.splice(0);
}
