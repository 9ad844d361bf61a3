/**
 * The table of keys: their names, as tmux users know them, and how each is sent.
 *
 * @module
 */

/** How a named key is sent, after xterm's "ctlseqs" (PC-style function keys, VT220-style editing keypad). */
export type NamedKey =
  /** A fixed string; the modifiers it can have are listed, and Alt puts ESC in front. */
  | { readonly form: "fixed"; readonly plain: string; readonly shift?: string; readonly ctrl?: string }
  /** `ESC [ X` or `ESC O X`, modified `ESC [ 1 ; n X`. */
  | { readonly form: "letter"; readonly final: string; readonly ss3: "always" | "application" }
  /** `ESC [ k ~`, modified `ESC [ k ; n ~`. */
  | { readonly form: "tilde"; readonly code: number }
  /** `ESC O x`, or what is printed on the key once the program has asked for a numeric keypad. */
  | { readonly form: "keypad"; readonly final: string; readonly numeric: string };

const ESC = "\x1b";

/** Every named key, by its lower-case name and aliases. */
export const NAMED_KEYS: ReadonlyMap<string, NamedKey> = new Map<string, NamedKey>([
  ...fixed(["enter", "return"], "\r"),
  ...fixed(["tab"], "\t", { shift: `${ESC}[Z` }),
  ...fixed(["btab"], `${ESC}[Z`, { shift: `${ESC}[Z` }),
  ...fixed(["escape", "esc"], ESC),
  ...fixed(["space"], " ", { shift: " ", ctrl: "\0" }),
  ...fixed(["bspace", "backspace"], "\x7f", { shift: "\x7f", ctrl: "\b" }),
  ...letter("application", { up: "A", down: "B", right: "C", left: "D", home: "H", end: "F" }),
  ...tilde({
    insert: 2,
    ic: 2,
    delete: 3,
    dc: 3,
    del: 3,
    pageup: 5,
    pgup: 5,
    ppage: 5,
    pagedown: 6,
    pgdn: 6,
    npage: 6,
  }),
  ...letter("always", { f1: "P", f2: "Q", f3: "R", f4: "S" }),
  ...tilde({ f5: 15, f6: 17, f7: 18, f8: 19, f9: 20, f10: 21, f11: 23, f12: 24 }),
  ...keypad({ 0: "p", 1: "q", 2: "r", 3: "s", 4: "t", 5: "u", 6: "v", 7: "w", 8: "x", 9: "y" }),
  ...keypad({ "/": "o", "*": "j", "-": "m", "+": "k", ".": "n" }),
  ["kpenter", { form: "keypad", final: "M", numeric: "\r" }],
]);

/** Every key name, lower-case, aliases included. Any of them may carry the prefixes `C-`, `M-` and `S-`. */
export const KEY_NAMES: readonly string[] = [...NAMED_KEYS.keys()];

/** Control keys that are not `code & 0x1f`; the digits and `/`, `-` are xterm's and tmux's. */
export const CONTROL_EXCEPTIONS: Readonly<Record<string, string>> = {
  "?": "\x7f",
  " ": "\0",
  "2": "\0",
  "3": "\x1b",
  "4": "\x1c",
  "5": "\x1d",
  "6": "\x1e",
  "7": "\x1f",
  "8": "\x7f",
  "/": "\x1f",
  "-": "\x1f",
};

function fixed(
  names: readonly string[],
  plain: string,
  modified: { readonly shift?: string; readonly ctrl?: string } = {},
): (readonly [string, NamedKey])[] {
  return names.map((name) => [name, { form: "fixed", plain, ...modified }] as const);
}

function letter(
  ss3: "always" | "application",
  finals: Readonly<Record<string, string>>,
): (readonly [string, NamedKey])[] {
  return Object.entries(finals).map(([name, final]) => [name, { form: "letter", final, ss3 }] as const);
}

function keypad(finals: Readonly<Record<string, string>>): (readonly [string, NamedKey])[] {
  return Object.entries(finals).map(([key, final]) => [`kp${key}`, { form: "keypad", final, numeric: key }] as const);
}

function tilde(codes: Readonly<Record<string, number>>): (readonly [string, NamedKey])[] {
  return Object.entries(codes).map(([name, code]) => [name, { form: "tilde", code }] as const);
}
