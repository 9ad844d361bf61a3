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

/** What is wrong with a pattern; `undefined` if nothing is. */
export function patternTrouble(text: string): string | undefined {
  try {
    compilePattern(text);
    return undefined;
  } catch (error) {
    return `not a regular expression: ${(error as Error).message}`;
  }
}

/** Whether a text is a regular expression. */
export function isPattern(text: string): boolean {
  return patternTrouble(text) === undefined;
}
