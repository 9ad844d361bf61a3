/**
 * Takes one stream's text apart into what is printed and what moves or erases, and drops every other control sequence.
 *
 * The state machine is the one of ECMA-48 terminals, with one difference: a line feed ends any sequence, and a control
 * string that meets it (or the end of input) unterminated is shown as text, so that it never swallows output.
 *
 * @module
 */

import { performEscape, performSequence, type ScreenActions } from "./sequences.ts";

/** The state of one stream: which sequence it is in the middle of. */
export interface ControlParser {
  /** Takes more text, cut anywhere between code points. */
  write(text: string, actions: ScreenActions): void;
  /** End of input: what is unterminated is shown or dropped. More may be written afterwards. */
  finish(actions: ScreenActions): void;
}

/** Payload of a control string that is kept until it is known whether the string is terminated, in UTF-16 units. */
const PAYLOAD_LIMIT = 65_536;

// deno-lint-ignore no-control-regex -- these are what the parser is about
const GROUND_CONTROL = /[\x08\r\x1b\x80-\x9f]/g;
/** BEL, CAN, SUB, ESC, ST, the line feed, and the C1 introducers of another sequence. */
// deno-lint-ignore no-control-regex -- see above
const STRING_CONTROL = /[\x07\n\x18\x1a\x1b\x90\x98\x9b-\x9f]/g;
/** The 7-bit forms of the C1 introducers: `ESC [` is U+009B, and so on. */
const INTRODUCERS: ReadonlyMap<string, string> = new Map([
  ["P", "\x90"],
  ["X", "\x98"],
  ["[", "\x9b"],
  ["]", "\x9d"],
  ["^", "\x9e"],
  ["_", "\x9f"],
]);

type State = "ground" | "escape" | "intermediate" | "sequence" | "string" | "string-escape";

/** Creates a parser in its ground state. */
export function createControlParser(): ControlParser {
  let state: State = "ground";
  /** Of the sequence or string we are in. */
  let payload = "";
  /** Only an OSC may be ended by BEL. */
  let isOsc = false;

  /** Each step takes the text from an index on and returns the index to go on from. */
  const steps: Readonly<Record<State, (text: string, index: number, actions: ScreenActions) => number>> = {
    ground(text, index, actions) {
      const next = find(GROUND_CONTROL, text, index);
      if (next > index) actions.print(text.slice(index, next));
      const control = text[next];
      if (control === "\r") actions.carriageReturn();
      else if (control === "\b") actions.moveBy(-1);
      else if (control !== undefined) introduce(control);
      return next + 1;
    },

    escape(text, index, actions) {
      const char = text[index] as string;
      const introducer = INTRODUCERS.get(char);
      if (introducer !== undefined) introduce(introducer);
      else if (char >= " " && char <= "/") state = "intermediate";
      else if (char !== "\x1b") {
        const next = leave(text, index);
        performEscape(char, actions);
        return next;
      }
      return index + 1;
    },

    intermediate(text, index) {
      const char = text[index] as string;
      if (char >= " " && char <= "/") return index + 1;
      return leave(text, index);
    },

    sequence(text, index, actions) {
      let next = index;
      while (isParameter(text.charCodeAt(next))) next++;
      keep(text.slice(index, next));
      const char = text[next];
      if (char === undefined) return next;
      if (char >= "@" && char <= "~") {
        performSequence(payload, char, actions);
        end();
        return next + 1;
      }
      if (isCancel(char) || isIntroducer(char)) return leave(text, next);
      show(actions);
      return next;
    },

    string(text, index, actions) {
      const next = find(STRING_CONTROL, text, index);
      keep(text.slice(index, next));
      const char = text[next];
      if (char === undefined) return next;
      if (char === "\n") {
        show(actions);
        return next;
      }
      if (char === "\x07" && !isOsc) keep(char);
      else if (char === "\x1b") state = "string-escape";
      else if (isIntroducer(char)) introduce(char);
      else end();
      return next + 1;
    },

    "string-escape"(text, index, actions) {
      const char = text[index] as string;
      // A CR is as good as the line feed it announces, which may come with the next piece
      if (char === "\n" || char === "\r") {
        show(actions);
        return index;
      }
      if (char !== "\\") {
        state = "escape";
        return index;
      }
      end();
      return index + 1;
    },
  };

  /** Begins a sequence; forgets the one we may have been in. Other C1 controls have no effect here. */
  function introduce(control: string): void {
    payload = "";
    isOsc = control === "\x9d";
    if (control === "\x1b") state = "escape";
    else if (control === "\x9b") state = "sequence";
    else state = isIntroducer(control) ? "string" : "ground";
  }

  /** Ends a sequence at a character: its final byte and a cancel are consumed, anything else is looked at again. */
  function leave(text: string, index: number): number {
    const char = text[index] as string;
    end();
    return (char >= "0" && char <= "~") || isCancel(char) ? index + 1 : index;
  }

  function keep(text: string): void {
    if (payload.length < PAYLOAD_LIMIT) payload += text.slice(0, PAYLOAD_LIMIT - payload.length);
  }

  /** What was taken for a sequence was none: its payload, which contains no introducer, is text. */
  function show(actions: ScreenActions): void {
    const text = payload;
    end();
    run(text, actions);
  }

  function end(): void {
    state = "ground";
    payload = "";
  }

  function run(text: string, actions: ScreenActions): void {
    for (let index = 0; index < text.length;) index = steps[state](text, index, actions);
  }

  return {
    write: run,
    finish(actions) {
      if (state === "escape" || state === "intermediate") end();
      else show(actions);
    },
  };
}

/** Index of the next match from `index` on; the length of the text when there is none. */
function find(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex - 1 : text.length;
}

/** Parameters and intermediates of a control sequence: 0x20…0x3f. */
function isParameter(code: number): boolean {
  return code >= 0x20 && code <= 0x3f;
}

function isCancel(char: string): boolean {
  return char === "\x18" || char === "\x1a";
}

function isIntroducer(char: string): boolean {
  return char === "\x1b" || char === "\x90" || char === "\x98" || char === "\x9b" || (char >= "\x9d" && char <= "\x9f");
}
