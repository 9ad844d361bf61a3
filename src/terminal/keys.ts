/**
 * Keys by name, as the bytes an xterm sends for them.
 *
 * Names and prefixes are those tmux users know: `Enter`, `C-c`, `M-x`, `S-Tab`, `C-M-Left`, `^d`; `Ctrl+C` is understood too.
 *
 * @module
 */

import type { Problem } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { SignalName } from "../runtime.ts";
import { CONTROL_EXCEPTIONS, KEY_NAMES, NAMED_KEYS } from "./key_table.ts";
import type { NamedKey } from "./key_table.ts";

/** Modes of the terminal that change what a key sends. */
export interface KeyModes {
  /** Application cursor keys (`ESC[?1h`): unmodified arrows, Home and End are sent as `ESC O x`. */
  readonly applicationCursor: boolean;
  /**
   * The program has asked for a numeric keypad (`ESC >`, `ESC[?66l`): its keys are sent as digits and signs, as xterm
   * does. Before it has asked for anything they are sent as `ESC O x`, since whoever names a keypad key means that key.
   *
   * @default {false}
   */
  readonly numericKeypad?: boolean;
}

/** What to type: first `literal`, then `hex`, then `keys`. */
export interface KeyInput {
  /** Text, sent as it is. */
  readonly literal?: string | undefined;
  /** Bytes as hexadecimal digits, two each: `"1b 5b 41"`, `"1b5b41"`, `"0x1b"` or a list of such. */
  readonly hex?: string | readonly string[] | undefined;
  /** Names of keys; a single character stands for itself. */
  readonly keys?: readonly string[] | undefined;
}

/** One key press, or one run of text or bytes: what is sent in a single write. */
export interface Stroke {
  /** The key as the caller named it, `literal` or `hex`. */
  readonly name: string;
  /** What to write. */
  readonly bytes: Uint8Array;
}

/** What a control key means to a command that has no terminal. */
export type PipeAction =
  | { readonly name: string; readonly kind: "signal"; readonly signal: SignalName }
  | { readonly name: string; readonly kind: "eof" };

interface Modifiers {
  readonly shift: boolean;
  readonly alt: boolean;
  readonly ctrl: boolean;
}

const ESC = "\x1b";

const ASCII = /^[\0-\x7f]+$/;

/** A family of four with skin tones has 23 UTF-16 units; what is longer is text. */
const LONGEST_CHARACTER = 32;

/** Wrong keys of a call that are told what may have been meant: whoever has more has not misspelt them. */
const MOST_HINTS = 20;

const PREFIX = /^(c|ctrl|control|m|alt|meta|s|shift)[-+](?=.)/isu;

/**
 * The bytes of one key.
 *
 * @param name a key name with any prefixes, or a single character, which stands for itself
 * @param modes the terminal's modes
 * @returns `undefined` for an unknown key and for a combination no terminal has a code for, such as `C-Enter`
 *
 * @example An arrow key, modified
 * ```ts
 * encodeKey("C-Up", { applicationCursor: false }); // ESC [ 1 ; 5 A
 * ```
 */
export function encodeKey(name: string, modes: KeyModes): Uint8Array | undefined {
  const text = keyText(name, modes);
  return text === undefined ? undefined : new TextEncoder().encode(text);
}

/**
 * Turns a request to type into strokes, or into the list of all that is wrong with it: then nothing may be sent.
 *
 * @param input what to type
 * @param modes the terminal's modes
 */
export function encodeKeys(
  input: KeyInput,
  modes: KeyModes,
): { readonly ok: true; readonly strokes: readonly Stroke[] } | {
  readonly ok: false;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const strokes: Stroke[] = [];
  const add = (name: string, bytes: Uint8Array): void => {
    if (bytes.length > 0) strokes.push({ name, bytes });
  };
  add("literal", new TextEncoder().encode(input.literal ?? ""));
  const hex = parseHex(input.hex ?? []);
  if (typeof hex === "string") problems.push({ key: "hex", message: hex });
  else add("hex", hex);
  for (const name of input.keys ?? []) {
    const bytes = encodeKey(name, modes);
    if (bytes === undefined) problems.push({ key: "keys", message: explainKey(name, problems.length < MOST_HINTS) });
    else add(name, bytes);
  }
  if (problems.length > 0) return { ok: false, problems };
  if (strokes.length > 0) return { ok: true, strokes };
  return { ok: false, problems: [{ key: "keys", message: "There is nothing to send: give keys, literal or hex" }] };
}

/**
 * Turns a request to type into what a session without a terminal can do: `C-c`, `C-\` and `C-z` are the signals a
 * terminal would make of them, `C-d` is the end of input. Everything else is a problem.
 *
 * @param input what to type
 */
export function pipeActions(
  input: KeyInput,
): { readonly ok: true; readonly actions: readonly PipeAction[] } | {
  readonly ok: false;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const actions: PipeAction[] = [];
  for (const key of ["literal", "hex"] as const) {
    if (input[key] !== undefined && input[key].length > 0) problems.push({ key, message: NO_TERMINAL });
  }
  for (const name of input.keys ?? []) {
    const action = pipeAction(name);
    if (action !== undefined) actions.push(action);
    else problems.push({ key: "keys", message: `${JSON.stringify(name)} cannot be sent: ${NO_TERMINAL}` });
  }
  if (problems.length > 0) return { ok: false, problems };
  if (actions.length > 0) return { ok: true, actions };
  return { ok: false, problems: [{ key: "keys", message: "There is nothing to send: give keys" }] };
}

const NO_TERMINAL =
  "This session has no terminal, so only C-c, C-\\, C-z and C-d mean something; use write or submit for text, or run the command with pty: true";

function pipeAction(name: string): PipeAction | undefined {
  switch (keyText(name, { applicationCursor: false })) {
    case "\x03":
      return { name, kind: "signal", signal: "SIGINT" };
    case "\x1c":
      return { name, kind: "signal", signal: "SIGQUIT" };
    case "\x1a":
      return { name, kind: "signal", signal: "SIGTSTP" };
    case "\x04":
      return { name, kind: "eof" };
    default:
      return undefined;
  }
}

function keyText(name: string, modes: KeyModes): string | undefined {
  if (isCharacter(name)) return name;
  const { modifiers, base } = splitPrefixes(name);
  if (isCharacter(base)) return characterText(base, modifiers);
  const key = NAMED_KEYS.get(base.toLowerCase());
  return key === undefined ? undefined : namedText(key, modifiers, modes);
}

/** What a reader takes for one character: a code point that is not half of one, or several that are shown as one. */
function isCharacter(text: string): boolean {
  const code = text.codePointAt(0);
  if (code === undefined || /\p{Surrogate}/u.test(text)) return false;
  if (text.length === String.fromCodePoint(code).length) return true;
  if (ASCII.test(text)) return false; // names of keys, and CR LF, which are one character too but two keys
  return [...new Intl.Segmenter().segment(text.slice(0, LONGEST_CHARACTER + 1))].length === 1 &&
    text.length <= LONGEST_CHARACTER;
}

function splitPrefixes(name: string): { readonly modifiers: Modifiers; readonly base: string } {
  const letters = new Set<string>();
  let base = name;
  for (let prefix = PREFIX.exec(base); prefix !== null; prefix = PREFIX.exec(base)) {
    letters.add((prefix[1] ?? "").slice(0, 1).toLowerCase());
    base = base.slice(prefix[0].length);
  }
  if (base.startsWith("^") && isCharacter(base.slice(1))) {
    letters.add("c");
    base = base.slice(1);
  }
  return {
    modifiers: { shift: letters.has("s"), alt: letters.has("m") || letters.has("a"), ctrl: letters.has("c") },
    base,
  };
}

function characterText(character: string, { shift, alt, ctrl }: Modifiers): string | undefined {
  let text: string | undefined = character;
  if (shift) {
    text = character.toUpperCase();
    // What Shift makes of `1` or `-` depends on the keyboard, so there is no right answer.
    if (!isCharacter(text) || text === character.toLowerCase()) return undefined;
  }
  if (ctrl) text = controlText(text);
  return text !== undefined && alt ? ESC + text : text;
}

function controlText(character: string): string | undefined {
  const special = CONTROL_EXCEPTIONS[character];
  if (special !== undefined) return special;
  return /^[@-~]$/.test(character) ? String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f) : undefined;
}

function namedText(key: NamedKey, modifiers: Modifiers, modes: KeyModes): string | undefined {
  const { shift, alt, ctrl } = modifiers;
  const code = 1 + (shift ? 1 : 0) + (alt ? 2 : 0) + (ctrl ? 4 : 0);
  switch (key.form) {
    case "fixed": {
      if (shift && ctrl) return undefined;
      const text = shift ? key.shift : ctrl ? key.ctrl : key.plain;
      return text !== undefined && alt ? ESC + text : text;
    }
    case "letter":
      if (code > 1) return `${ESC}[1;${code}${key.final}`;
      return key.ss3 === "always" || modes.applicationCursor ? `${ESC}O${key.final}` : `${ESC}[${key.final}`;
    case "keypad": {
      if (shift || ctrl) return undefined;
      const text = modes.numericKeypad === true ? key.numeric : `${ESC}O${key.final}`;
      return alt ? ESC + text : text;
    }
    case "tilde":
      return code > 1 ? `${ESC}[${key.code};${code}~` : `${ESC}[${key.code}~`;
  }
}

/** Why a key cannot be sent, and what the caller may have meant if there is to be a hint: looking for one takes time. */
function explainKey(name: string, hinted: boolean): string {
  const { base } = splitPrefixes(name);
  const shown = JSON.stringify(name);
  if (isCharacter(base) || NAMED_KEYS.has(base.toLowerCase())) {
    return `${shown} cannot be sent: a terminal has no code for that combination; send it without the prefix, or its bytes with hex`;
  }
  if (!hinted) return `${shown} is not a key`;
  const prefix = name.slice(0, name.length - base.length);
  const near = nearest(base, KEY_NAMES).map((key) => {
    return keyText(prefix + key, { applicationCursor: false }) === undefined ? key : prefix + key;
  });
  const hint = near.length > 0 ? `did you mean ${near.join(", ")}?` : "text is typed with literal";
  return `${shown} is not a key: ${hint}`;
}

/** The bytes, or what is wrong with the digits. */
function parseHex(hex: string | readonly string[]): Uint8Array | string {
  const bytes: number[] = [];
  for (const token of (typeof hex === "string" ? [hex] : hex).flatMap((text) => text.split(/[\s,]+/))) {
    const digits = token.replace(/^0x/i, "");
    if (token !== "" && !/^(?:[0-9a-f]{2})+$/i.test(digits)) {
      return `${JSON.stringify(token)} is not hexadecimal: write two digits a byte, such as "1b 5b 41"`;
    }
    for (let at = 0; at < digits.length; at += 2) bytes.push(Number.parseInt(digits.slice(at, at + 2), 16));
  }
  return Uint8Array.from(bytes);
}
