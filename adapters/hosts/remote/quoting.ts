/**
 * Words for a POSIX shell on another machine.
 *
 * @module
 */

/** Holds a line feed in the scripts that read such words, see {@linkcode quote}. */
export const NEWLINE_VARIABLE = "offstage_nl";

/**
 * A text as one word of a POSIX shell, on one line: a line feed becomes the value of {@linkcode NEWLINE_VARIABLE}.
 *
 * @param text anything without NUL
 */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll("\n", `'"$${NEWLINE_VARIABLE}"'`)}'`;
}
