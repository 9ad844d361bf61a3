/**
 * Watches what a program writes to its terminal: keeps track of the modes it sets, and answers the questions it asks, as
 * a terminal would. A program whose question stays unanswered hangs or gives up.
 *
 * @module
 */

/** Modes a program has set. All are off at the start. */
export interface TerminalModes {
  /** `?1`: cursor keys are sent as `ESC O x`. */
  readonly applicationCursor: boolean;
  /** `?66`, `ESC =`: the keypad is in application mode. */
  readonly applicationKeypad: boolean;
  /** The keypad has been set to numeric mode (`ESC >`). Off at the start: then nobody has said what it is to be. */
  readonly numericKeypad: boolean;
  /** `?2004`: pastes are to be bracketed. */
  readonly bracketedPaste: boolean;
  /** `?47`, `?1047`, `?1049`: a full-screen program is up. */
  readonly alternateScreen: boolean;
}

/** A place on the terminal, counted from 1. */
export interface Place {
  readonly row: number;
  readonly col: number;
}

/** The answer to a question: what is to be typed into the terminal, given where the cursor is. */
export type Reply = (cursor: Place) => Uint8Array;

/** Where what a watch finds goes, in the order in which the program wrote it. */
export interface TerminalWatchOptions {
  /** Takes what belongs in the log: the same memory without the questions. */
  output(bytes: Uint8Array): void;
  /** Types an answer into the terminal. The cursor is where the output before it has left it. */
  answer(reply: Reply): void;
}

/** Sees every byte a program writes to its terminal. */
export interface TerminalWatch {
  /** The modes as they are now. */
  readonly modes: TerminalModes;
  /**
   * Takes the next piece of output. At most 64 bytes of a sequence that is not complete yet are held back until the next
   * piece.
   */
  feed(bytes: Uint8Array): void;
  /** The output is at its end: passes on what was held back. */
  finish(): void;
}

/** A sequence that matters here, from its ESC to `end`. */
interface Sequence {
  readonly end: number;
  /** What stands between `ESC`, or `ESC [` and `ESC ]`, and the end. */
  readonly body: string;
  readonly kind: "escape" | "csi" | "osc";
}

const ESC = 0x1b;
const BEL = 0x07;

/** Longest sequence looked at, in bytes: thirty-odd modes set at once, which is more than xterm takes. */
const LONGEST_SEQUENCE = 64;

const MODE_NAMES: ReadonlyMap<string, keyof TerminalModes> = new Map<string, keyof TerminalModes>([
  ["1", "applicationCursor"],
  ["66", "applicationKeypad"],
  ["2004", "bracketedPaste"],
  ["47", "alternateScreen"],
  ["1047", "alternateScreen"],
  ["1049", "alternateScreen"],
]);

const ALL_OFF: TerminalModes = {
  applicationCursor: false,
  applicationKeypad: false,
  numericKeypad: false,
  bracketedPaste: false,
  alternateScreen: false,
};

/** White on black. */
const COLOURS: Readonly<Record<string, string>> = { "10": "ffff/ffff/ffff", "11": "0000/0000/0000" };

/**
 * The questions with one fixed answer. The attributes are those of a plain VT100 with advanced video, as xterm.js has
 * them, and firmware version 0: programs that guess features from the version are to guess none.
 */
const FIXED_ANSWERS: ReadonlyMap<string, string> = new Map([
  ["5n", "\x1b[0n"],
  ["c", "\x1b[?1;2c"],
  ["0c", "\x1b[?1;2c"],
  [">c", "\x1b[>0;0;0c"],
  [">0c", "\x1b[>0;0;0c"],
  [">q", "\x1bP>|Offstage\x1b\\"],
  [">0q", "\x1bP>|Offstage\x1b\\"],
]);

/** Does the terminal speak the kitty keyboard protocol? Silence means no: who asks asks for the attributes next. */
const KITTY_KEYBOARD = "?u";

/**
 * Creates a watch for one terminal.
 *
 * Modes are read and questions answered wherever the output is cut into pieces. 8-bit control characters are not
 * recognised: in UTF-8 those bytes belong to other characters.
 *
 * @param options where output and answers go
 */
export function createTerminalWatch(options: TerminalWatchOptions): TerminalWatch {
  const encoder = new TextEncoder();
  let modes = ALL_OFF;
  let held: Uint8Array = new Uint8Array();

  /** The answer to a question; `undefined` when the sequence is no question. */
  function replyTo({ kind, body }: Sequence): Reply | undefined {
    if (kind === "escape") return undefined;
    if (kind === "csi" && (body === "6n" || body === "?6n")) {
      return ({ row, col }) => encoder.encode(`\x1b[${body === "?6n" ? "?" : ""}${row};${col}R`);
    }
    const text = kind === "osc" ? colourAnswer(body) : FIXED_ANSWERS.get(body) ?? modeAnswer(body, modes);
    return text === undefined ? undefined : () => encoder.encode(text);
  }

  function scan(bytes: Uint8Array, firstEscape: number): void {
    let from = 0;
    let at = firstEscape;
    while (at >= 0) {
      const seen = sequenceAt(bytes, at);
      if (seen === PARTIAL) {
        held = new Uint8Array(bytes.subarray(at));
        if (at > from) options.output(bytes.subarray(from, at));
        return;
      }
      if (typeof seen === "number") {
        at = nextEscape(bytes, seen);
        continue;
      }
      const isSilent = seen.body === KITTY_KEYBOARD;
      const reply = isSilent ? undefined : replyTo(seen);
      if (reply !== undefined || isSilent) {
        if (at > from) options.output(bytes.subarray(from, at));
        if (reply !== undefined) options.answer(reply);
        from = seen.end;
      } else modes = modesAfter(modes, seen);
      at = nextEscape(bytes, seen.end);
    }
    if (from === 0) options.output(bytes);
    else if (from < bytes.length) options.output(bytes.subarray(from));
  }

  return {
    get modes() {
      return modes;
    },
    feed(bytes) {
      if (held.length === 0) {
        const first = bytes.indexOf(ESC);
        return first < 0 ? options.output(bytes) : scan(bytes, first);
      }
      const joined = new Uint8Array(held.length + bytes.length);
      joined.set(held);
      joined.set(bytes, held.length);
      held = new Uint8Array();
      scan(joined, 0);
    },
    finish() {
      const rest = held;
      held = new Uint8Array();
      if (rest.length > 0) options.output(rest);
    },
  };
}

/** Coloured output has an ESC every few bytes: a loop is faster there than a call of `indexOf` for each. */
function nextEscape(bytes: Uint8Array, from: number): number {
  const end = bytes.length;
  let at = from;
  while (at < end && bytes[at] !== ESC) at++;
  return at < end ? at : -1;
}

/** The end of the sequence has not come yet. */
const PARTIAL = -1;

/**
 * What begins at an ESC: a sequence that matters, or {@linkcode PARTIAL}, or none that matters and then the position
 * from which to look on. (A string instead of -1 makes this five times slower in Bun.)
 */
function sequenceAt(bytes: Uint8Array, escape: number): Sequence | number {
  switch (bytes[escape + 1]) {
    case undefined:
      return PARTIAL;
    case 0x5b: // [
      return controlSequenceAt(bytes, escape);
    case 0x5d: // ]
      return colourQuestionAt(bytes, escape);
    case 0x3d: // =
    case 0x3e: // >
    case 0x63: // c
      return sequence("escape", bytes, escape + 1, escape + 2);
    default:
      return escape + 1;
  }
}

/**
 * `ESC [`, perhaps `?` or `>`, numbers, perhaps `$` or `!`, and a letter that can matter. Only with `?` are several
 * numbers looked at: most of what is seen here is colours, and those end at the first `;` or at their `m`.
 */
function controlSequenceAt(bytes: Uint8Array, escape: number): Sequence | number {
  const marker = bytes[escape + 2];
  const isPrivate = marker === 0x3f;
  let at = escape + (isPrivate || marker === 0x3e ? 3 : 2);
  const limit = escape + LONGEST_SEQUENCE - 2;
  while (at < limit && (isDigit(bytes[at]) || (isPrivate && bytes[at] === 0x3b))) at++;
  if (bytes[at] === 0x24 || bytes[at] === 0x21) at++; // $ !
  switch (bytes[at]) {
    case undefined:
      return PARTIAL;
    case 0x63: // c
    case 0x68: // h
    case 0x6c: // l
    case 0x6e: // n
    case 0x70: // p
    case 0x71: // q
    case 0x75: // u
      return sequence("csi", bytes, escape + 2, at + 1);
    default:
      return at;
  }
}

/** `ESC ] 10 ; ?` or `ESC ] 11 ; ?` and its terminator, BEL or `ESC \`. */
function colourQuestionAt(bytes: Uint8Array, escape: number): Sequence | number {
  let at = escape + 2;
  for (const allowed of ["1", "01", ";", "?", "\x07\x1b"]) {
    const byte = bytes[at];
    if (byte === undefined) return PARTIAL;
    if (!allowed.includes(String.fromCharCode(byte))) return at;
    at++;
  }
  if (bytes[at - 1] === BEL) return sequence("osc", bytes, escape + 2, at);
  if (bytes[at] === undefined) return PARTIAL;
  return bytes[at] === 0x5c ? sequence("osc", bytes, escape + 2, at + 1) : at - 1; // \
}

function sequence(kind: Sequence["kind"], bytes: Uint8Array, start: number, end: number): Sequence {
  return { kind, end, body: String.fromCharCode(...bytes.subarray(start, end)) };
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** OSC 10 and 11 ask for the text's and the background's colour; the answer ends as the question did. */
function colourAnswer(body: string): string {
  const number = body.slice(0, 2);
  return `\x1b]${number};rgb:${COLOURS[number]}${body.slice("10;?".length)}`;
}

/** DECRQM: is a mode set (1), reset (2) or not known (0)? */
function modeAnswer(body: string, modes: TerminalModes): string | undefined {
  const [, marker, number = ""] = /^(\??)(\d+)\$p$/.exec(body) ?? [];
  if (marker === undefined) return undefined;
  const name = marker === "?" ? MODE_NAMES.get(number) : undefined;
  const state = name === undefined ? 0 : modes[name] ? 1 : 2;
  return `\x1b[${marker}${number};${state}$y`;
}

function modesAfter(modes: TerminalModes, { kind, body }: Sequence): TerminalModes {
  if (kind === "escape") return body === "c" ? ALL_OFF : { ...modes, ...keypadMode(body === "=") };
  // A soft reset leaves the screen that is up, as xterm.js does.
  if (body === "!p") return { ...ALL_OFF, alternateScreen: modes.alternateScreen };
  const [, numbers, final] = /^\?([\d;]+)([hl])$/.exec(body) ?? [];
  if (numbers === undefined) return modes;
  const names = numbers.split(";").map((number) => MODE_NAMES.get(number)).filter((name) => name !== undefined);
  const isSet = final === "h";
  return {
    ...modes,
    ...Object.fromEntries(names.map((name) => [name, isSet])),
    ...(names.includes("applicationKeypad") && keypadMode(isSet)),
  };
}

function keypadMode(isApplication: boolean): Pick<TerminalModes, "applicationKeypad" | "numericKeypad"> {
  return { applicationKeypad: isApplication, numericKeypad: !isApplication };
}
