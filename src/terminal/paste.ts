/**
 * What a terminal sends when somebody pastes text.
 *
 * @module
 */

const START = "\x1b[200~";
const END = "\x1b[201~";

/**
 * Characters that could end a bracketed paste early and have the rest obeyed: ESC (every 7-bit sequence, the end
 * marker included), ^C (interrupts a program that reads in cooked mode) and CSI as one character.
 */
// deno-lint-ignore no-control-regex
const BREAKS_OUT = /[\x1b\x03\x9b]/g;

/** How a paste is to be sent. */
export interface PasteOptions {
  /** Whether the program has asked for bracketed paste (`ESC[?2004h`). */
  readonly mode: boolean;
  /** Overrides {@linkcode PasteOptions.mode}. */
  readonly bracketed?: boolean | undefined;
}

/** A paste, ready to be written to the terminal. */
export interface EncodedPaste {
  /** What to write, in one piece. */
  readonly bytes: Uint8Array;
  /** Whether it is marked as a paste, so that the program takes it as text and obeys nothing in it. */
  readonly bracketed: boolean;
  /** How many characters were taken out because they could end the paste early; 0 unless bracketed. */
  readonly removed: number;
}

/**
 * Encodes text as a paste into a terminal.
 *
 * Line ends (`\n`, `\r\n`) become CR, bracketed or not, as xterm sends them: CR is what the Enter key sends, and the
 * line discipline of a cooked terminal turns it back into LF. It is meant for terminals only; a pipe takes text as it is.
 *
 * @param text what to paste
 * @param options the program's mode and the caller's wish
 */
export function encodePaste(text: string, options: PasteOptions): EncodedPaste {
  const bracketed = options.bracketed ?? options.mode;
  const lines = text.replaceAll(/\r?\n/g, "\r");
  const encoder = new TextEncoder();
  if (!bracketed) return { bytes: encoder.encode(lines), bracketed, removed: 0 };
  const harmless = lines.replaceAll(BREAKS_OUT, "");
  return { bytes: encoder.encode(START + harmless + END), bracketed, removed: lines.length - harmless.length };
}
