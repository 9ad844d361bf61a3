/**
 * Reads what the three test runners print about one test file.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";

/** @typedef {"node" | "deno" | "bun"} Runner */
/** @typedef {{ readonly name: string, readonly reason: string }} Skip one skipped test and why, as far as it was said */
/** @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: readonly Skip[] }} Result */

/** What a test file prints where its runner would keep the reason of a skip to itself; see `skip.ts`. */
const REASON = /^skipped because: (.+)$/m;

/** @type {Readonly<Record<Runner, { passed: RegExp, failed: RegExp, skip: RegExp }>>} */
const FORMS = {
  node: {
    passed: /^ℹ pass (\d+)$/m,
    failed: /^ℹ (?:fail|cancelled) (\d+)$/gm,
    skip: /^\s*﹣ (?<name>.+?)(?: \([\d.]+ms\))? # (?<reason>.*)$/gm,
  },
  bun: {
    passed: /^ *(\d+) pass$/m,
    failed: /^ *(\d+) (?:fail|errors?)$/gm,
    skip: /^\((?:skip|todo)\) (?<name>.+?)(?: \[[\d.]+m?s\])?$/gm,
  },
  deno: {
    passed: /\| (\d+) passed\b/,
    failed: /\| (\d+) failed\b/g,
    skip: /^(?<name>.+) \.\.\. ignored\b.*$/gm,
  },
};

/**
 * Counts the tests in a runner's report.
 *
 * A run that ended badly without a failing test, or in which no test ran at all, counts as one failure.
 *
 * @param {Runner} runner whose report it is
 * @param {string} output what it printed, colours or not
 * @param {boolean} endedWell whether its exit code was 0
 * @returns {Result}
 */
export function readReport(runner, output, endedWell) {
  const text = stripVTControlCharacters(output).replaceAll("\r\n", "\n");
  const form = FORMS[runner];
  const passed = Number(text.match(form.passed)?.[1] ?? 0);
  const failed = [...text.matchAll(form.failed)].reduce((sum, match) => sum + Number(match[1]), 0);
  const printed = REASON.exec(text)?.[1] ?? "";
  const skipped = [...text.matchAll(form.skip)].map(({ groups }) => ({
    name: groups?.name ?? "",
    reason: groups?.reason || printed,
  }));
  const ranNothing = passed + failed + skipped.length === 0;
  return { passed, failed: failed === 0 && (!endedWell || ranNothing) ? 1 : failed, skipped };
}

/**
 * Words for the skipped tests of one file: one line a reason, with the tests' names while they are few.
 *
 * @param {readonly Skip[]} skipped
 * @returns {string[]}
 */
export function describeSkips(skipped) {
  const reasons = new Set(skipped.map((skip) => skip.reason));
  return [...reasons].map((reason) => {
    const names = skipped.filter((skip) => skip.reason === reason).map((skip) => skip.name);
    const which = names.length > 3 ? `${names.length} tests` : names.map((name) => `"${name}"`).join(", ");
    return `skipped ${which}: ${reason || "the test gives no reason"}`;
  });
}
