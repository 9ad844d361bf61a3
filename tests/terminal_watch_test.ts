/** Section 7 and R16: modes a program sets, questions it asks, and what of it stays in the log. */

import { test } from "node:test";
import { assert, assertEquals, assertLessOrEqual, assertStrictEquals } from "@std/assert";
import fc from "./property.ts";
import { createTerminalWatch } from "../src/terminal/watch.ts";
import type { Place, TerminalModes, TerminalWatch } from "../src/terminal/watch.ts";

const ALL_OFF: TerminalModes = {
  applicationCursor: false,
  applicationKeypad: false,
  numericKeypad: false,
  bracketedPaste: false,
  alternateScreen: false,
};

interface Seen {
  readonly log: string;
  readonly answers: readonly string[];
  readonly modes: TerminalModes;
}

/** Latin-1, so that every byte is one character. */
function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function text(pieces: readonly Uint8Array[]): string {
  return pieces.map((piece) => String.fromCharCode(...piece)).join("");
}

/** Feeds the pieces one by one, and ends. */
function watch(...pieces: readonly string[]): Seen {
  const terminal = open();
  for (const piece of pieces) terminal.feed(bytes(piece));
  terminal.finish();
  return { log: text(terminal.taken()), answers: terminal.answers, modes: terminal.modes };
}

/** A watch with its output and answers at hand. */
function open(cursor: Place = { row: 1, col: 1 }): TerminalWatch & {
  readonly answers: readonly string[];
  /** What has come out since the last call. */
  taken(): readonly Uint8Array[];
} {
  const answers: string[] = [];
  const pieces: Uint8Array[] = [];
  const terminal = createTerminalWatch({
    output: (piece) => pieces.push(piece),
    answer: (reply) => answers.push(text([reply(cursor)])),
  });
  return Object.defineProperties({ ...terminal, answers, taken: () => pieces.splice(0) }, {
    modes: { get: () => terminal.modes },
  });
}

function modesOf(...pieces: readonly string[]): Partial<TerminalModes> {
  return Object.fromEntries(Object.entries(watch(...pieces).modes).filter(([, on]) => on));
}

const QUESTIONS: Readonly<Record<string, string>> = {
  "\x1b[6n": "\x1b[1;1R",
  "\x1b[?6n": "\x1b[?1;1R",
  "\x1b[5n": "\x1b[0n",
  "\x1b[c": "\x1b[?1;2c",
  "\x1b[0c": "\x1b[?1;2c",
  "\x1b[>c": "\x1b[>0;0;0c",
  "\x1b[>0c": "\x1b[>0;0;0c",
  "\x1b[>q": "\x1bP>|Offstage\x1b\\",
  "\x1b[>0q": "\x1bP>|Offstage\x1b\\",
  "\x1b[?2004$p": "\x1b[?2004;2$y",
  "\x1b[?2026$p": "\x1b[?2026;0$y",
  "\x1b[4$p": "\x1b[4;0$y",
  "\x1b]10;?\x07": "\x1b]10;rgb:ffff/ffff/ffff\x07",
  "\x1b]11;?\x1b\\": "\x1b]11;rgb:0000/0000/0000\x1b\\",
};

test("R16 each question is answered once and is not left in the log (case 100)", () => {
  for (const [question, answer] of Object.entries(QUESTIONS)) {
    assertEquals(watch(`before${question}after`), { log: "beforeafter", answers: [answer], modes: ALL_OFF });
  }
});

test("R16 two questions get two answers, and split ones get one each", () => {
  assertEquals(watch("\x1b[6n\x1b[6n").answers.length, 2);
  assertEquals(watch("a\x1b", "[", "6", "nb\x1b[5", "n"), {
    log: "ab",
    answers: ["\x1b[1;1R", "\x1b[0n"],
    modes: ALL_OFF,
  });
});

test("R16 the position comes from the screen if there is one", () => {
  const terminal = open({ row: 12, col: 34 });
  terminal.feed(bytes("\x1b[6n\x1b[?6n"));
  assertEquals(terminal.answers, ["\x1b[12;34R", "\x1b[?12;34R"]);
});

test("R16 a question about a mode is answered with its state at that place", () => {
  const { answers } = watch("\x1b[?1h\x1b[?1$p\x1b[?1l\x1b[?1$p");
  assertEquals(answers, ["\x1b[?1;1$y", "\x1b[?1;2$y"]);
});

test("R16 the question about the kitty keyboard is removed, and silence means no", () => {
  assertEquals(watch("a\x1b[?ub"), { log: "ab", answers: [], modes: ALL_OFF });
});

test("R16 other sequences are neither answered nor removed", () => {
  const others = [
    "\x1b[38;5;12mred\x1b[0m",
    "\x1b[2J\x1b[H\x1b[K",
    "\x1b[?25h\x1b[?25l",
    "\x1b[=c",
    "\x1b[?5n",
    "\x1b[7n",
    "\x1b[>4;2m",
    "\x1b[>1u",
    "\x1b[1c",
    "\x1b[?$p",
    "\x1b[!q",
    "\x1b]0;title\x07",
    "\x1b]10;red\x07",
    "\x1b]12;?\x07",
    "\x1b]10;?\x1bX",
    "\x1bP$qm\x1b\\",
    "\x1b(B\x1b7\x1b8\x1bM",
    "\x1b[" + "1".repeat(100) + "n",
    "\x9b6n",
    "lone \x1b",
    "\x1b[6",
  ];
  for (const other of others) {
    assertEquals(watch(other), { log: other, answers: [], modes: ALL_OFF }, JSON.stringify(other));
  }
});

test("section 7: cursor keys, keypad, paste and alternate screen are followed", () => {
  assertEquals(modesOf("\x1b[?1h"), { applicationCursor: true });
  assertEquals(modesOf("\x1b[?66h"), { applicationKeypad: true });
  assertEquals(modesOf("\x1b="), { applicationKeypad: true });
  assertEquals(modesOf("\x1b[?2004h"), { bracketedPaste: true });
  for (const number of [47, 1047, 1049]) {
    assertEquals(modesOf(`\x1b[?${number}h`), { alternateScreen: true });
    assertEquals(modesOf(`\x1b[?1049h\x1b[?${number}l`), {});
  }
  for (const numeric of ["\x1b>", "\x1b=\x1b>", "\x1b[?66l", "\x1b[?66;2004h\x1b[?1;66;2004l"]) {
    assertEquals(modesOf(numeric), { numericKeypad: true });
    assertEquals(modesOf(`${numeric}\x1b=`), { applicationKeypad: true });
  }
  assertEquals(modesOf("\x1b[?1h\x1b[?2004h", "\x1b[?1l\x1b[?2004l"), {});
});

test("section 7: modes set together, among strangers and over pieces, are followed (case 102)", () => {
  assertEquals(modesOf("\x1b[?1;2004h"), { applicationCursor: true, bracketedPaste: true });
  assertEquals(modesOf("\x1b[?25;1", ";7h"), { applicationCursor: true });
  assertEquals(modesOf("\x1b[?1;2004h\x1b[?2004;12l"), { applicationCursor: true });
  assertEquals(modesOf("\x1b[1h\x1b[?11h\x1b[?20040h"), {});
});

test("section 7: a mode's sequence stays in the log, where the screen needs it", () => {
  assertEquals(watch("a\x1b[?1;2004hb\x1bcc").log, "a\x1b[?1;2004hb\x1bcc");
});

test("section 7: a full reset turns all off, a soft one all but the screen", () => {
  const allOn = "\x1b[?1;66;2004;1049h";
  assertEquals(modesOf(allOn, "\x1bc"), {});
  assertEquals(modesOf(allOn, "\x1b[!p"), { alternateScreen: true });
});

test("output without ESC comes back as the very same array", () => {
  const terminal = open();
  const piece = bytes("plain output\r\n");
  terminal.feed(piece);
  const [only, ...more] = terminal.taken();
  assertStrictEquals(only, piece);
  assertEquals(more, []);
});

test("output without questions comes back as the very same array, others as views of it", () => {
  const terminal = open();
  const coloured = bytes("\x1b[1mbold\x1b[0m and \x1b[?25l");
  terminal.feed(coloured);
  assertStrictEquals(terminal.taken()[0], coloured);
  const asking = bytes("before\x1b[6nafter");
  terminal.feed(asking);
  const pieces = terminal.taken();
  assertEquals(pieces.length, 2);
  assert(pieces.every((piece) => piece.buffer === asking.buffer));
  terminal.feed(bytes("\x1b[6n\x1b[5n\x1b["));
  assertEquals(terminal.taken(), []);
});

test("a tail is held back only while it can still matter, and comes out in order", () => {
  const terminal = open();
  const fed = (piece: string): string => {
    terminal.feed(bytes(piece));
    return text(terminal.taken());
  };
  assertEquals(fed("a\x1b[?1"), "a");
  assertEquals(fed("5mb"), "\x1b[?15mb");
  assertEquals(fed("c\x1b[3"), "c");
  assertEquals(fed("8;"), "\x1b[38;");
  assertEquals(fed("\x1b"), "");
  terminal.finish();
  assertEquals(text(terminal.taken()), "\x1b");
  terminal.finish();
  assertEquals(terminal.taken(), []);
});

/** Pieces of output in which questions, modes and their look-alikes abound. */
const output = fc.array(
  fc.oneof(
    fc.string({ maxLength: 5 }),
    fc.constantFrom(...Object.keys(QUESTIONS)),
    fc.constantFrom("\x1b[?1h", "\x1b[?1;2004h", "\x1b[?1049l", "\x1b=", "\x1b>", "\x1bc", "\x1b[!p", "\x1b[?u"),
    fc.constantFrom(
      "\x1b",
      "\x1b[",
      "\x1b]",
      "\x1b[?",
      "[6n",
      ";",
      "1",
      "\x1b]11;?",
      "\x07",
      "\\",
      "\x1b[31m",
      "\x1b[?$p",
    ),
    fc.constant("\x1b[?" + "1;".repeat(32)),
  ),
).map((pieces) => pieces.join("").replaceAll(/[^\0-\xff]/g, "x"));

test("R16 however the output is cut, log, answers and modes are the same", () => {
  fc.assert(
    fc.property(output, fc.array(fc.nat()), (whole, places) => {
      const cuts = [...new Set(places.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
      const pieces = [...cuts, whole.length].map((cut, index) => whole.slice(cuts[index - 1] ?? 0, cut));
      assertEquals(watch(...pieces), watch(whole));
      assertEquals(watch(...whole), watch(whole));
    }),
    { numRuns: 500 },
  );
});

test("R16 the log is the output without its questions, and never more than 64 bytes behind", () => {
  fc.assert(fc.property(output, (whole) => {
    const terminal = open();
    let fed = "";
    let logged = "";
    for (const character of whole) {
      fed += character;
      terminal.feed(bytes(character));
      logged += text(terminal.taken());
      assertLessOrEqual(watch(fed).log.length - logged.length, 64);
    }
    // deno-lint-ignore no-control-regex
    const questions = /\x1b\[(?:\??6n|5n|>?0?c|>0?q|\??\d+\$p|\?u)|\x1b\]1[01];\?(?:\x07|\x1b\\)/g;
    terminal.finish();
    assertEquals(logged + text(terminal.taken()), whole.replaceAll(questions, ""));
  }));
});
