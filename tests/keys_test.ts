/** Section 7: what each key sends. */

import { test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes, fail } from "@std/assert";
import fc from "./property.ts";
import { encodeKey, encodeKeys, pipeActions } from "../src/terminal/keys.ts";
import { KEY_NAMES } from "../src/terminal/key_table.ts";
import type { KeyInput, KeyModes } from "../src/terminal/keys.ts";
import { pauseBetween } from "../src/terminal/pacing.ts";

const NORMAL = { applicationCursor: false };
const APPLICATION = { applicationCursor: true };

/** What a key sends as text, or `undefined`. */
function sent(name: string, modes: KeyModes = NORMAL): string | undefined {
  const bytes = encodeKey(name, modes);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

function strokes(input: KeyInput): readonly { readonly name: string; readonly text: string }[] {
  const result = encodeKeys(input, NORMAL);
  if (!result.ok) fail(JSON.stringify(result.problems));
  return result.strokes.map(({ name, bytes }) => ({ name, text: new TextDecoder().decode(bytes) }));
}

function messages(input: KeyInput): readonly string[] {
  const result = encodeKeys(input, NORMAL);
  if (result.ok) fail("was accepted");
  return result.problems.map(({ message }) => message);
}

/** Section 7 by hand, with E for ESC. */
const TABLE: Readonly<Record<string, string>> = {
  enter: "\r",
  return: "\r",
  tab: "\t",
  btab: "E[Z",
  "S-tab": "E[Z",
  escape: "E",
  esc: "E",
  space: " ",
  bspace: "\x7f",
  backspace: "\x7f",
  up: "E[A",
  down: "E[B",
  right: "E[C",
  left: "E[D",
  home: "E[H",
  end: "E[F",
  insert: "E[2~",
  ic: "E[2~",
  delete: "E[3~",
  dc: "E[3~",
  del: "E[3~",
  pageup: "E[5~",
  pgup: "E[5~",
  ppage: "E[5~",
  pagedown: "E[6~",
  pgdn: "E[6~",
  npage: "E[6~",
  f1: "EOP",
  f2: "EOQ",
  f3: "EOR",
  f4: "EOS",
  f5: "E[15~",
  f6: "E[17~",
  f7: "E[18~",
  f8: "E[19~",
  f9: "E[20~",
  f10: "E[21~",
  f11: "E[23~",
  f12: "E[24~",
  kp0: "EOp",
  kp1: "EOq",
  kp2: "EOr",
  kp3: "EOs",
  kp4: "EOt",
  kp5: "EOu",
  kp6: "EOv",
  kp7: "EOw",
  kp8: "EOx",
  kp9: "EOy",
  "kp/": "EOo",
  "kp*": "EOj",
  "kp-": "EOm",
  "kp+": "EOk",
  "kp.": "EOn",
  kpenter: "EOM",
};

test("P32 every named key sends the bytes of section 7", () => {
  for (const [name, text] of Object.entries(TABLE)) assertEquals(sent(name), text.replace("E", "\x1b"), name);
});

test("P32 every name is in the table, so none is sent untested", () => {
  assertEquals(KEY_NAMES.filter((name) => !(name in TABLE)), []);
});

test("P32 arrows, Home and End follow application cursor mode, the others do not (case 102)", () => {
  for (
    const [name, final] of [["Up", "A"], ["Down", "B"], ["Right", "C"], ["Left", "D"], ["Home", "H"], ["End", "F"]]
  ) {
    assertEquals(sent(name ?? "", APPLICATION), `\x1bO${final}`);
  }
  for (const name of ["enter", "delete", "f1", "f5", "kp5", "C-Up", "M-Home", "x"]) {
    assertEquals(sent(name, APPLICATION), sent(name, NORMAL), name);
  }
});

test("P32 keypad keys are digits and signs once the program has asked for a numeric keypad, as xterm sends them", () => {
  const numeric: KeyModes = { applicationCursor: false, numericKeypad: true };
  for (const name of KEY_NAMES.filter((key) => key.startsWith("kp") && key !== "kpenter")) {
    assertEquals([sent(name, numeric), sent(`M-${name}`, numeric)], [name.slice(2), `\x1b${name.slice(2)}`]);
  }
  assertEquals(sent("kpenter", numeric), "\r");
  for (const name of ["enter", "up", "f1", "delete", "5"]) assertEquals(sent(name, numeric), sent(name), name);
});

test("P32 every modifier goes with every key that has a form for it, in any order and case", () => {
  const letters: Readonly<Record<string, string>> = {
    ...{ up: "A", down: "B", right: "C", left: "D", home: "H", end: "F", f1: "P", f2: "Q", f3: "R", f4: "S" },
  };
  const tildes: Readonly<Record<string, number>> = {
    ...{
      insert: 2,
      delete: 3,
      pageup: 5,
      pagedown: 6,
      f5: 15,
      f6: 17,
      f7: 18,
      f8: 19,
      f9: 20,
      f10: 21,
      f11: 23,
      f12: 24,
    },
  };
  const values = { S: 1, M: 2, C: 4 } as const;
  for (const set of [["S"], ["M"], ["C"], ["S", "M"], ["C", "S"], ["M", "C"], ["C", "M", "S"]] as const) {
    const value = 1 + set.reduce((sum, letter) => sum + values[letter], 0);
    for (const order of [set, [...set].reverse()]) {
      for (const prefix of [order.join("-"), order.join("+"), order.join("-").toLowerCase()]) {
        const mark = prefix.includes("+") ? "+" : "-";
        for (const [key, final] of Object.entries(letters)) {
          assertEquals(sent(`${prefix}${mark}${key}`, APPLICATION), `\x1b[1;${value}${final}`, `${prefix} ${key}`);
        }
        for (const [key, code] of Object.entries(tildes)) {
          assertEquals(sent(`${prefix}${mark}${key.toUpperCase()}`), `\x1b[${code};${value}~`, `${prefix} ${key}`);
        }
      }
    }
  }
});

test("P32 modified keys carry shift 1, alt 2 and ctrl 4", () => {
  const cases = {
    "S-Up": "E[1;2A",
    "M-Up": "E[1;3A",
    "M-S-Up": "E[1;4A",
    "C-Up": "E[1;5A",
    "C-S-Left": "E[1;6D",
    "C-M-Home": "E[1;7H",
    "C-M-S-End": "E[1;8F",
    "S-F1": "E[1;2P",
    "C-F4": "E[1;5S",
    "M-Delete": "E[3;3~",
    "S-Insert": "E[2;2~",
    "C-PageUp": "E[5;5~",
    "C-S-F5": "E[15;6~",
    "M-F12": "E[24;3~",
  };
  for (const [name, text] of Object.entries(cases)) assertEquals(sent(name), text.replace("E", "\x1b"), name);
});

test("P32 control keys are the upper-case code & 1F, with the exceptions terminals share", () => {
  for (const letter of "abcdefghijklmnopqrstuvwxyz") {
    const control = String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f);
    for (const name of [`C-${letter}`, `C-${letter.toUpperCase()}`, `^${letter}`, `c-${letter}`, `Ctrl+${letter}`]) {
      assertEquals(sent(name), control, name);
    }
  }
  const cases = {
    "C-space": "\0",
    "C-@": "\0",
    "C-[": "\x1b",
    "C-\\": "\x1c",
    "C-]": "\x1d",
    "C-^": "\x1e",
    "C-_": "\x1f",
    "C-?": "\x7f",
    "^?": "\x7f",
    "^[": "\x1b",
    "C-/": "\x1f",
    "C--": "\x1f",
    "C-2": "\0",
    "C-3": "\x1b",
    "C-4": "\x1c",
    "C-5": "\x1d",
    "C-6": "\x1e",
    "C-7": "\x1f",
    "C-8": "\x7f",
    "C-bspace": "\b",
  };
  for (const [name, text] of Object.entries(cases)) assertEquals(sent(name), text, name);
});

test("P32 Alt puts ESC in front of characters, controls and plain keys", () => {
  const cases = {
    "M-x": "\x1bx",
    "M-X": "\x1bX",
    "M-é": "\x1bé",
    "M--": "\x1b-",
    "M-Enter": "\x1b\r",
    "M-Space": "\x1b ",
    "M-BSpace": "\x1b\x7f",
    "M-Tab": "\x1b\t",
    "M-S-Tab": "\x1b\x1b[Z",
    "C-M-x": "\x1b\x18",
    "M-^x": "\x1b\x18",
    "Alt+Ctrl+x": "\x1b\x18",
  };
  for (const [name, text] of Object.entries(cases)) assertEquals(sent(name), text, name);
});

test("P32 a single character stands for itself (case 110)", () => {
  for (const character of ["j", "J", " ", "-", "^", "1", "é", "€", "😀", "\r"]) {
    assertEquals(sent(character), character);
  }
  assertEquals(sent("S-a"), "A");
  assertEquals(sent("S-é"), "É");
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), (character) => {
    assertEquals(sent(character), character);
  }));
});

test("P32 what a reader takes for one character is one, however many code points it has", () => {
  for (const character of ["e\u0301", "👍🏽", "👨‍👩‍👧‍👦", "🇩🇪", "각", "❤️", "✈️"]) {
    assertEquals([sent(character), sent(`M-${character}`)], [character, `\x1b${character}`]);
    assertEquals(sent(`C-${character}`), undefined);
  }
  for (
    const text of [
      "\r\n",
      "👍👍",
      "éé",
      "日本",
      ...[100, 32].map((marks) => `e${"\u0301".repeat(marks)}`),
      `e${"\u0301".repeat(30)}x`,
      "\ud83d",
      "a\ud83d",
    ]
  ) {
    assertEquals(sent(text), undefined, JSON.stringify(text));
  }
});

test("P32 a name with blanks, dashes or marks in it is refused with the name that is meant", () => {
  for (
    const [wrong, right] of [
      ["Page Up", "pageup"],
      ["page-down", "pagedown"],
      [" Enter ", "enter"],
      ["<Esc>", "esc"],
      [
        "Back Space",
        "backspace",
      ],
      ["C-Page Down", "pagedown"],
      ["F13", "f1"],
      ["KP_5", "kp5"],
      ["arrowup", "up"],
    ]
  ) {
    assertStringIncludes(messages({ keys: [wrong ?? ""] })[0] ?? "", right ?? "");
  }
});

test("P32 case and order of prefixes make no difference", () => {
  const prefixes = fc.uniqueArray(fc.constantFrom("C", "M", "S"), { minLength: 1 });
  const names = fc.constantFrom("up", "home", "f1", "f5", "delete");
  const separator = fc.constantFrom("-", "+");
  fc.assert(fc.property(prefixes, names, separator, fc.boolean(), (letters, name, mark, lower) => {
    const spelt = `${letters.join(mark)}${mark}${name.toUpperCase()}`;
    const canonical = [...letters].sort().map((letter) => `${letter}-`).join("") + name;
    assertEquals(sent(lower ? spelt.toLowerCase() : spelt), sent(canonical));
  }));
});

test("P32 no key sends nothing, and sequences end where they should", () => {
  for (const name of KEY_NAMES.flatMap((key) => [key, `M-${key}`, `S-${key}`, `C-${key}`])) {
    const text = sent(name);
    // deno-lint-ignore no-control-regex
    if (text !== undefined) assertMatch(text, /^\x1b{0,2}(?:[^\x1b]|\[[\d;]*[A-Z~]|O[A-Zj-y])?$/, name);
    assert(text !== "", name);
  }
});

test("P32 a combination no terminal has a code for is refused and said to be that", () => {
  for (const name of ["C-Enter", "S-Enter", "C-é", "C-1", "S-1", "S-ß", "C-Tab", "C-Escape", "S-kp5"]) {
    assertEquals(sent(name), undefined, name);
    const [message = ""] = messages({ keys: [name] });
    assertStringIncludes(message, JSON.stringify(name));
    assertStringIncludes(message, "no code for that combination");
  }
});

test("P32 the nearest name keeps the modifiers that were asked for, if there is such a key (case 109)", () => {
  const result = encodeKeys({ keys: ["C-Lef", "M-S-Hom", "C-Entr"] }, NORMAL);
  assert(!result.ok);
  for (const [index, near] of ["C-left", "M-S-home", "enter"].entries()) {
    assertStringIncludes(result.problems[index]?.message ?? "", `did you mean ${near}`);
  }
});

test("P32 an unknown key refuses the whole call with the nearest names (case 109)", () => {
  const result = encodeKeys({ literal: "abc", keys: ["Up", "Entr", "ls", "", "\ud800", "C-"] }, NORMAL);
  assert(!result.ok);
  assertEquals(result.problems.map(({ key }) => key), ["keys", "keys", "keys", "keys", "keys"]);
  assertMatch(result.problems[0]?.message ?? "", /"Entr" is not a key: did you mean enter/);
  assertStringIncludes(messages({ keys: ["git status"] })[0] ?? "", "text is typed with literal");
  assertStringIncludes(messages({ keys: ["C-Page_Up"] })[0] ?? "", "pageup");
});

test("R12 literal is sent first, then hex, then keys, each in its own write", () => {
  assertEquals(strokes({ keys: ["Enter", "j"], hex: "1b5b41", literal: "hé" }), [
    { name: "literal", text: "hé" },
    { name: "hex", text: "\x1b[A" },
    { name: "Enter", text: "\r" },
    { name: "j", text: "j" },
  ]);
});

test("R12 hex is a string or a list of bytes, with or without blanks and 0x", () => {
  const spellings = ["1b 5b 41", "1b5b41", "1B,5B,41", " 0x1b 0x5B 0x41 ", "0x1b5b41", ["1b", "5b", "41"], [
    "1b5b",
    "0x41",
  ]];
  for (const hex of spellings) assertEquals(strokes({ hex }).map(({ text }) => text), ["\x1b[A"], JSON.stringify(hex));
  assertEquals([...(encodeKey("é", NORMAL) ?? [])], [0xc3, 0xa9]);
  const bytes = encodeKeys({ hex: "ff00" }, NORMAL);
  assert(bytes.ok);
  assertEquals([...(bytes.strokes[0]?.bytes ?? [])], [0xff, 0]);
});

test("R12 odd or foreign digits are refused and named", () => {
  for (const hex of ["1", "1b5", "xyz", "0x", "1b 5", ["1b", "g0"], "-1"]) {
    const result = encodeKeys({ hex, keys: ["Up"] }, NORMAL);
    assert(!result.ok, JSON.stringify(hex));
    assertEquals(result.problems.map(({ key }) => key), ["hex"]);
    assertStringIncludes(result.problems[0]?.message ?? "", "two digits");
  }
});

test("R12 a call with nothing to send is refused", () => {
  for (const input of [{}, { keys: [] }, { literal: "" }, { hex: " " }, { hex: [] }]) {
    assertStringIncludes(messages(input)[0] ?? "", "nothing to send");
    const result = encodeKeys(input, NORMAL);
    assertEquals(result.ok || result.problems.map(({ key }) => key), ["keys"]);
  }
});

test("P32 [104] what follows an Escape is paced, so that the two are not read as Alt", () => {
  for (const next of ["j", "\r", "\x1b", "\x1b[A"]) {
    assert(pauseBetween(0x1b, new TextEncoder().encode(next)) >= 100);
  }
});

test("P32 [105] Enter is apart from text before it, so that the two are not taken for a paste", () => {
  const pause = (last: string | undefined, next: string) =>
    pauseBetween(last?.charCodeAt(0), new TextEncoder().encode(next));
  assert(pause("s", "\r") >= 20);
  assertEquals([pause(undefined, "\r"), pause("\r", "\r"), pause("s", "x"), pause("s", "x\r")], [0, 0, 0, 0]);
});

test("P32 without a terminal C-c, C-\\, C-z and C-d are signals and the end of input (case 85)", () => {
  assertEquals(pipeActions({ keys: ["C-c", "^\\", "Ctrl+Z", "c-d"] }), {
    ok: true,
    actions: [
      { name: "C-c", kind: "signal", signal: "SIGINT" },
      { name: "^\\", kind: "signal", signal: "SIGQUIT" },
      { name: "Ctrl+Z", kind: "signal", signal: "SIGTSTP" },
      { name: "c-d", kind: "eof" },
    ],
  });
  assertEquals(pipeActions({ keys: ["C-d"] }), { ok: true, actions: [{ name: "C-d", kind: "eof" }] });
});

test("P32 without a terminal other keys are refused and the way out is named", () => {
  for (
    const input of [{ keys: ["C-c", "Up"] }, { keys: ["x"] }, { literal: "hi" }, { hex: "03" }, { keys: ["Entr"] }]
  ) {
    const result = pipeActions(input);
    assert(!result.ok);
    assertEquals(result.problems.length, 1);
    for (const way of ["write", "submit", "pty: true"]) assertStringIncludes(result.problems[0]?.message ?? "", way);
  }
  assertEquals(pipeActions({}), {
    ok: false,
    problems: [{ key: "keys", message: "There is nothing to send: give keys" }],
  });
  assert(pipeActions({ literal: "", hex: [], keys: ["C-c"] }).ok);
});

test("P32 any list of tokens is either sent whole or refused, and never throws", () => {
  const token = fc.oneof(fc.string(), fc.constantFrom(...KEY_NAMES, "C-c", "M-x", "^d", "C-", "S-M-C-up"));
  fc.assert(fc.property(fc.array(token, { minLength: 1 }), (keys) => {
    const result = encodeKeys({ keys }, NORMAL);
    if (result.ok) assertEquals(result.strokes.map(({ name }) => name), keys);
    else assertEquals(result.problems.length, keys.filter((key) => sent(key) === undefined).length);
  }));
});

test("P32 a hundred thousand wrong keys are refused without looking for what each of them may mean", () => {
  const result = encodeKeys({ keys: Array.from({ length: 100_000 }, () => "Entr") }, NORMAL);
  assert(!result.ok);
  const hints = result.problems.filter(({ message }) => message.includes("did you mean"));
  assertEquals([result.problems.length, hints.length], [100_000, 20]);
});
