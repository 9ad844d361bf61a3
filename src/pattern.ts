/**
 * Regular expressions as callers write them.
 *
 * @module
 */

/**
 * Compiles a pattern: `^` and `$` mean each line's borders, and a leading `(?i)` ignores case as in most other tools.
 *
 * @throws {SyntaxError} if it is none
 */
export function compilePattern(text: string): RegExp {
  const ignoresCase = text.startsWith("(?i)");
  return new RegExp(ignoresCase ? text.slice("(?i)".length) : text, ignoresCase ? "im" : "m");
}

/** Characters: compiling twice as many can take half a second, and of some more an engine says that they are too many. */
const LONGEST_PATTERN = 10_000;

/** Texts of one byte and of two bytes a character: an engine may compile a pattern for each when it first meets them. */
const TRIED_ON = ["a", "\u3042"];

/** What is wrong with a pattern; `undefined` if nothing is. */
export function patternTrouble(text: string): string | undefined {
  if (text.length > LONGEST_PATTERN) return `is longer than ${LONGEST_PATTERN} characters`;
  try {
    const pattern = compilePattern(text);
    for (const tried of TRIED_ON) pattern.test(tried); // else one that is too large for the engine fails when output comes
    return undefined;
  } catch (error) {
    return `not a regular expression: ${(error as Error).message}`;
  }
}

/** Whether a text is a regular expression. */
export function isPattern(text: string): boolean {
  return patternTrouble(text) === undefined;
}
