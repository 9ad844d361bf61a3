/**
 * Names the characters that text for a reader must not have.
 *
 * @module
 */

/** C0 controls but tab and line feed, DEL, bidi controls. */
// deno-lint-ignore no-control-regex -- control characters are what this is about
const NAMED = /[\x00-\x08\x0b-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Names what is not to be obeyed: `\\x07`, `\\u{202e}`. */
export function nameControls(text: string): string {
  return text.replace(NAMED, nameOf);
}

function nameOf(control: string): string {
  const code = control.charCodeAt(0).toString(16);
  return control <= "\x7f" ? `\\x${code.padStart(2, "0")}` : `\\u{${code}}`;
}
