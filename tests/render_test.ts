import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import { createRenderer, type Renderer, renderText } from "../src/output/render.ts";
import { controlText, plainText, screenText } from "./output_samples.ts";

/** Each row: what it shows, raw text, what is seen. */
const CASES: readonly (readonly [title: string, raw: string, seen: string])[] = [
  ["plain text passes unchanged", "one\ntwo\tthree\n", "one\ntwo\tthree\n"],
  ["CSI sequences are removed", "\x1b[1;31mred\x1b[0m \x1b[?25lhidden\x1b[!p\x1b[0 q\x1b[>0c", "red hidden"],
  ["two-byte and designating sequences are removed", "\x1b(B\x1b=a\x1b>\x1bNb\x1b#8c\x1b\\d", "abcd"],
  [
    "71 OSC ends at BEL or ST, DCS, APC, PM and SOS at ST",
    "\x1b]0;t\x07A\x1b]7;f\x1b\\B\x1bP1$r\x1b\\C\x1b_a\x1b\\D\x1b^p\x1b\\E\x1bXs\x1b\\F",
    "ABCDEF",
  ],
  [
    "71 the mixture of the report leaves its text",
    "\x1b]0;title\x07A\x1b]8;; \u009d0;t\u009cC \x1bP1$r\x1b\\D",
    "AC D",
  ],
  ["71 C1 forms are removed", "\u009b31mA\u009d0;t\u009cB\u0090q\u009cC\u0085D\u009c", "ABCD"],
  ["71 an unterminated OSC does not swallow the lines after it", "\x1b]0;never\nnext\n", "0;never\nnext\n"],
  ["71 an unterminated string at the end is shown", "a\x1b]0;rest", "a0;rest"],
  ["an unterminated string is rendered like other text", "\x1b]0;10 %\r20 %\n", "20 % %\n"],
  ["an unterminated CSI is shown, without its introducer", "\x1b[31\nfoo\x1b[4", "31\nfoo4"],
  ["a character that cannot be in a CSI ends it", "\x1b[3é", "3é"],
  ["CAN and SUB cancel a sequence", "\x1b[3\x18a\x1b]0;t\x1ab\x1b\x18c", "abc"],
  ["ESC inside a sequence begins anew", "\x1b[3\x1b[1ma\x1b]0;t\x1b[1mb\x1b\x1b[1mc", "abc"],
  ["BEL ends only an OSC", "\x1bPa\x07b\x1b\\c", "c"],
  ["every intermediate and final of an escape is part of it", "a\x1b/Ab\x1b~c\x1b((Bd", "abcd"],
  ["a control inside a CSI ends it, a space does not", "\x1b[3\x1fx\x1b[3 qy", "3\\x1fxy"],
  ["what begins anew knows nothing of what it interrupts", "ab\x1b]3\x1b[DX", "aX"],
  ["a string that is interrupted is gone", "a\x1b]0;t\x1b(", "a"],
  ["a lone ESC is removed", "a\x1b\nb\x1b", "a\nb"],
  ["R10 a carriage return overwrites", "long text\rab", "abng text"],
  ["R10 CRLF is a line end", "one\r\ntwo\r\r\nthree", "one\ntwo\nthree"],
  ["R10 a carriage return alone erases nothing", "text\r", "text"],
  ["73 backspace moves back", "abc\b\bX", "aXc"],
  ["backspace stops at the first column", "a\b\b\bX", "X"],
  ["73 a man page's overstrike is folded", "N\bNA\bAM\bME\bE _\bx", "NAME x"],
  ["R10 ESC[K erases to the end", "abcdef\rxy\x1b[K", "xy"],
  ["R10 ESC[0K erases to the end", "abcdef\x1b[3D\x1b[0K", "abc"],
  ["R10 ESC[1K erases from the start", "abcdef\x1b[3G\x1b[1Kx", "  xdef"],
  ["R10 ESC[1K at the end erases all", "abc\x1b[1K\rx", "x"],
  ["73 ESC[2K and a carriage return redraw", "loading 1\x1b[2K\rloading", "loading"],
  ["ESC[2K alone does not move", "abc\x1b[2Kx", "   x"],
  ["ESC[G, ESC[C and ESC[D move in the line", "abc\x1b[GX\x1b[CY\x1b[2DZ", "XZY"],
  ["a move past the end is filled with spaces", "a\x1b[3Cb", "a   b"],
  ["R10 ESC[A goes up a line, over what is there", "one\ntwo\n\x1b[2A1\x1b[Bx\n", "1ne\ntxo\n"],
  [
    "R10 bars of several lines leave their last frame",
    "a 1\nb 1\n\x1b[2A\x1b[2Ka 2\n\x1b[2Kb 2\ndone\n",
    "a 2\nb 2\ndone\n",
  ],
  ["R10 ESC[F and ESC[E go to the start of a line", "one\ntwo\x1b[FO\x1b[ET", "One\nTwo"],
  ["R10 ESC[J erases what is below", "one\ntwo\nthree\x1b[2F\x1b[Jall", "all"],
  ["R10 ESC[2J and ESC[H redraw the screen", "old\nolder\n\x1b[H\x1b[2Jnew", "new"],
  [
    "R10 a cleared screen leaves what had scrolled off it",
    `${"x\n".repeat(40)}\x1b[H\x1b[2Jnew\n`,
    `${"x\n".repeat(11)}new\n`,
  ],
  ["R10 ESC[L and ESC[M put lines in and take them out", "a\nb\nc\x1b[2F\x1b[Lnew\x1b[2E\x1b[M", "new\na\nc"],
  ["R10 ESC 7 and ESC 8 save and restore the cursor", "one\n\x1b7two\nthree\x1b8TWO", "one\nTWO\nthree"],
  ["R10 ESC[s and ESC[u do so too", "a\x1b[sb\nc\x1b[uB", "aB\nc"],
  ["R10 ESC[X, ESC[P and ESC[@ blank, take out and put in", "abcdef\r\x1b[2X\x1b[2C\x1b[P\x1b[@", "   def"],
  ["R10 ESC[b prints the last character again", "ab\x1b[3b", "abbbb"],
  ["R10 a region scrolls by itself", "a\nb\nc\nbar\x1b[1;3r\x1b[3;1H\nd\x1b[r", "a\nb\nc\nd\nbar"],
  ["R10 a blank line that scrolls off a region is a line", "\nb\nbar\x1b[1;2r\x1b[2;1H\nc\x1b[r", "\nb\nc\nbar"],
  ["R10 ESC[A stops at the top of a region", "a\nb\nc\x1b[2;3r\x1b[2;1H\x1b[AX\x1b[r", "a\nX\nc"],
  ["R10 ESC M goes up a line", "a\nb\x1bMX", "aX\nb"],
  ["R10 ESC c begins on an empty screen", "one\ntwo\x1bcnew", "new"],
  [
    "a full-screen program leaves a line that says so",
    "$ vim\n\x1b[?1049h\x1b[H~\x1b[2;1H~\x1b[?1049l$ ",
    "$ vim\n[full-screen program: what it drew is left out here]\n$ ",
  ],
  [
    "R10 a full-screen program leaves the cursor where it was, whether it saves it or not",
    "one\ntwo\x1b[?47hX\x1b[?47l!\x1b[?1049h\x1b[9;9HX\x1b[?1049l?",
    "one\ntwo\n[full-screen program: what it drew is left out here]\ntwo!\n" +
    "[full-screen program: what it drew is left out here]\ntwo!?",
  ],
  [
    "R10 a full-screen program that saves no place leaves the saved one as it was",
    "ab\x1b7cd\x1b[?47hX\x1b[?47l\x1b8Y",
    "abcd\n[full-screen program: what it drew is left out here]\nabYd",
  ],
  [
    "R10 ESC c leaves the screen of full-screen programs",
    "a\n\x1b[?1049hb\x1bcnew",
    "a\n[full-screen program: what it drew is left out here]\nnew",
  ],
  ["R10 ESC[S moves the text up, not the cursor", "a\nb\x1b[Sc", "a\nb\n c"],
  ["nobody sees where an empty screen ends", "a\nb\n\n\x1b[3A\x1b[J", ""],
  ["nobody sees blanks at the end of a screen", "a\n x\x1b[D\x1b[X\x1b[A", "a"],
  ["a tab stays a tab", "a\tb", "a\tb"],
  ["a tab stays a tab on a line that was erased", "old\r\x1b[Ka\tb", "a\tb"],
  ["other controls are shown by name", "a\x07b\0c\x0bd\x7fe", "a\\x07b\\x00c\\x0bd\\x7fe"],
  ["a control takes no column", "ab\x07\bX", "aX"],
  ["bidi controls are shown, not obeyed", "\u202eabc\u2066d\u200f\u061c", "\\u{202e}abc\\u{2066}d\\u{200f}\\u{61c}"],
  ["emoji joiners and marks survive", "👨‍👩‍👧 e\u0301 ❤\ufe0f 👍🏽", "👨‍👩‍👧 e\u0301 ❤\ufe0f 👍🏽"],
  ["an emoji is overwritten as a whole", "👨‍👩‍👧e\u0301x\rab", "abx"],
  ["a mark after a redraw belongs to the cell before it", "abc\re\u0301", "e\u0301bc"],
];

for (const [title, raw, seen] of CASES) {
  test(`S6 ${title}`, () => assertEquals(renderText(raw), seen));
}

/** Three lines, one of `a`, one of `b` and one of `c`. */
function abc(length: number): string {
  return ["a", "b", "c"].map((char) => `${char.repeat(length)}\n`).join("");
}

/** The same on a screen of 10 columns and so many rows. */
const ON_SCREEN: readonly (readonly [title: string, rows: number, raw: string, seen: string])[] = [
  ["below a region lines take each other's place", 4, "\x1b[1;3r\x1b[4H1\n2\n3\n4\n5\n6", "\n\n\n6"],
  ["lines that leave a region below a bar are gone", 3, "bar\x1b[2r\x1b[3H1\n2\n3\n4\n5\n6", "bar\n5\n6"],
  [
    "however many lines a full-screen program prints at once, none is told",
    3,
    "a\x1b[?1049h1\n2\n3\n4\n5\n6\n7",
    "a\n[full-screen program: what it drew is left out here]",
  ],
  ["a full screen moves up by as many lines as it is told to", 3, "1\n2\n3\x1b[2S\x1b[HX", "1\n2\nX"],
  ["a region moves up without what is below it", 3, "1\n2\nbar\x1b[1;2r\x1b[S\x1b[HX", "1\nX\n\nbar"],
  ["a line put into a region moves nothing below it", 3, "1\n2\nbar\x1b[1;2r\x1b[L", "\n1\nbar"],
  ["a saved place goes up with its line", 3, "1\n2\n\x1b73\n\x1b8X", "1\n2\nX"],
  [
    "a saved place goes up with its line in a region, too",
    4,
    "1\n2\n\x1b73\nbar\x1b[1;3r\x1b[3H\n\x1b8X",
    "1\n2\nX\n\nbar",
  ],
  ["blanks put in push out what is behind them, nothing before", 3, "abcde\x1b[4G\x1b[99@", `abc${" ".repeat(7)}`],
  ["long lines come out as they are", 4, `${abc(100)}d`, `${abc(100)}d`],
  ["lines of four screens can be redrawn", 4, `${abc(80)}\x1b[HX`, abc(80).replace("a", "X").trimEnd()],
  ["of longer lines the first cannot", 4, `${abc(100)}\x1b[HX`, abc(100).replace("b", "X").trimEnd()],
  [
    "a saved place stays with its line when those before it are let go",
    4,
    `${abc(100).replace("c", "\x1b7c")}\x1b8X`,
    abc(100).replace("c", "X").trimEnd(),
  ],
];

for (const [title, rows, raw, seen] of ON_SCREEN) {
  test(`R10 ${title}`, () => {
    const renderer = createRenderer({ size: { cols: 10, rows } });
    renderer.write("terminal", raw);
    assertEquals(renderer.take(), seen);
  });
}

test("P10 an empty row put between rows that have been told is no news", () => {
  const renderer = createRenderer({ size: { cols: 10, rows: 4 } });
  renderer.write("terminal", "1\n2\n3\nbar");
  assertEquals(renderer.take(), "1\n2\n3\nbar");
  renderer.write("terminal", "\x1b[1;3r\x1b[3H\n\x1b[H");
  assertEquals(renderer.take(), "");
});

test("S6 73 a progress bar of 2000 frames leaves the last one", () => {
  const frames = Array.from({ length: 2_000 }, (_, index) => `\rprogress ${index + 1}% ####`).join("");
  assertEquals(renderText(`${frames}\n`), "progress 2000% ####\n");
});

test("S6 many lines printed over others replace them, as few lines do", () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join("");
  assertEquals(renderText(`old\nold\x1b[A\r${lines}`), lines);
  assertEquals(renderText(`old\nold\n${lines}`), `old\nold\n${lines}`);
});

test("S6 70 the recording of a TUI shrinks to its visible text", () => {
  const frame = "\x1b[?25l\x1b[2K\x1b[1G\x1b[38;5;42m⠋\x1b[0m \x1b]8;;https://example.org\x07building\x1b]8;;\x07";
  assertEquals(renderText(`${frame.repeat(500)}\x1b[2K\x1b[1G\x1b[32mdone\x1b[39m\x1b[?25h\r\n`), "done\n");
});

test("S6 a line end after half a terminator is one, also when CR and LF come apart", () => {
  const renderer = createRenderer();
  for (const piece of ["\x1b]0;title\x1b\r", "\nnext"]) renderer.write("stdout", piece);
  assertEquals(renderer.take(), "0;title\nnext");
  assertEquals(renderText("\x1b]0;title\x1b\r\nnext"), "0;title\nnext");
});

test("S6 at most 64 KiB of an unterminated string come back", () => {
  assertEquals(renderText(`\x1b]0;${"x".repeat(100_000)}\nnext`).length, 65_536 + 5);
});

test("S6 at most 64 KiB of a string come back in pieces, too", () => {
  const renderer = createRenderer();
  for (const piece of ["\x1b]", "x".repeat(40_000), "x".repeat(25_000), "x".repeat(40_000), "y\n"]) {
    renderer.write("stdout", piece);
  }
  assertEquals(renderer.take(), `${"x".repeat(65_536)}\n`);
});

test("S6 a sequence of one stream may be split while another prints", () => {
  const renderer = createRenderer();
  renderer.write("stdout", "a\x1b[3");
  renderer.write("stderr", "E");
  renderer.write("stdout", "1mb\x1b]0;");
  renderer.write("stderr", "F");
  renderer.write("stdout", "t\x07c");
  assertEquals(renderer.take(), "aEbFc");
});

test("take gives the unfinished line, then only what is new of it", () => {
  assertEquals(takes("ab", "cd\nef", "", "\n"), ["ab", "cd\nef", "", "\n"]);
});

test("take gives a line that was redrawn again, on a line of its own", () => {
  assertEquals(takes("10 %", "\r20 %", "\r20 % done\n"), ["10 %", "\n20 %", " done\n"]);
  assertEquals(takes("wait", "\r\x1b[K", "done\n"), ["wait", "", "\ndone\n"]);
  assertEquals(takes("abc", "\rx\nnext"), ["abc", "\nxbc\nnext"]);
});

test("finish shows what was held back, and more may come", () => {
  const renderer = createRenderer();
  renderer.write("stdout", "a\x1b]0;x");
  assertEquals(renderer.take(), "a");
  renderer.finish();
  renderer.finish();
  renderer.write("stdout", "\x1b[1mb");
  assertEquals(renderer.take(), "0;xb");
});

test("S6 a tab on a line that was moved about in is blanks, in one piece with what is before it or not", () => {
  for (const pieces of [["\x1b[2Ca\tb"], ["\x1b[2C", "a\tb"], ["\x1b[2Ca", "\t", "b"]]) {
    const renderer = createRenderer();
    for (const piece of pieces) renderer.write("stdout", piece);
    assertEquals(renderer.take(), "  a     b");
  }
});

test("R10 a move ends at the last column of the screen, and with the text of a longer line", () => {
  const renderer = createRenderer({ size: { cols: 10, rows: 3 } });
  renderer.write("stdout", `\x1b[99GX\n${"y".repeat(12)}\x1b[99GZ\x1b[2GY\n`);
  assertEquals(renderer.take(), `${" ".repeat(9)}X\nyY${"y".repeat(10)}Z\n`);
});

test("prime leaves a stream inside the sequence that the text began", () => {
  const renderer = createRenderer();
  renderer.prime("stdout", "hidden \x1b[3");
  renderer.write("stdout", "1mred");
  assertEquals(renderer.take(), "red");
});

test("prime forgets what a stream was in the middle of", () => {
  const renderer = createRenderer();
  renderer.prime("stdout", "\x1b[3");
  renderer.prime("stdout", "");
  renderer.write("stdout", "1mred");
  assertEquals(renderer.take(), "1mred");
});

test("output without line feeds does not pile up", () => {
  const renderer = createRenderer();
  let length = 0;
  for (let index = 0; index < 100; index++) {
    renderer.write("stdout", "x".repeat(10_000));
    length += renderer.take().length;
  }
  assertEquals(length, 1_000_000);
});

test("S5 S6 rendering text cut anywhere is rendering it whole", () => {
  fc.assert(
    fc.property(screenText, fc.array(fc.nat(60), { maxLength: 5 }), (text, places) => {
      const renderer = createRenderer();
      for (const piece of cutText(text, places)) renderer.write("stdout", piece);
      renderer.finish();
      assertEquals(renderer.take(), renderText(text));
    }),
    { numRuns: 2_000 },
  );
});

test("S5 S6 what is written over a line, tabs and all, does not depend on where it is cut", () => {
  const redraw = fc.array(
    fc.constantFrom("\r", "\r", "\t", "\t", "abc", "x", "é", " ", "\b", "\x1b[K", "\x1b[3G", "\n"),
    {
      minLength: 2,
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(redraw, (words) => {
      const text = words.join("");
      const whole = renderText(text);
      for (let at = 1; at < words.length; at++) {
        const renderer = createRenderer();
        renderer.write("stdout", words.slice(0, at).join(""));
        renderer.write("stdout", words.slice(at).join(""));
        renderer.finish();
        assertEquals(renderer.take(), whole, JSON.stringify([text, at]));
      }
    }),
    { numRuns: 3_000, examples: [[["abc", "\r", "abc", "\t", "x"]]] },
  );
});

test("S6 as long as no line is left, every line feed ends a line and nothing else does", () => {
  fc.assert(
    fc.property(controlText, (text) => {
      assertEquals(renderText(text).split("\n").length, text.split("\n").length);
    }),
    { numRuns: 1_000 },
  );
});

test("S6 nothing rendered is a control, a bidi control or half a character", () => {
  fc.assert(
    fc.property(screenText, (text) => {
      const seen = renderText(text);
      // deno-lint-ignore no-control-regex -- control characters are what this is about
      assert(!/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/.test(seen), JSON.stringify(seen));
      assert(!/\p{Surrogate}/u.test(seen));
    }),
    { numRuns: 1_000 },
  );
});

test("without redraws what is taken adds up to the whole", () => {
  fc.assert(fc.property(plainText, fc.array(fc.nat(60), { maxLength: 5 }), (text, places) => {
    assertEquals(takes(...cutText(text.replaceAll("\r\n", "\n"), places)).join(""), renderText(text));
  }));
});

test("with redraws the last state of the last line is always given", () => {
  fc.assert(
    fc.property(controlText, fc.array(fc.nat(60), { maxLength: 5 }), (text, places) => {
      const taken = takes(...cutText(text, places)).join("");
      const whole = takes(text).join("");
      assert(taken.endsWith(whole.slice(whole.lastIndexOf("\n") + 1)), JSON.stringify({ taken, whole }));
    }),
    { numRuns: 1_000 },
  );
});

test("S6 no input takes time out of proportion to its length", () => {
  // Each would take minutes if an edit cost as much as its line is long.
  const worst = [
    "x".repeat(100_000) + "\rX".repeat(50_000),
    "x".repeat(100_000) + "\bé".repeat(50_000),
    `${"x".repeat(100_000)}\x1b[2D${"\x1b[1K".repeat(25_000)}`,
    "\x1b]0;".repeat(50_000),
    `a\r${"\u0301".repeat(190_000)}`,
    `${"x".repeat(100_000)}\n${"\x1b[A\x1b[By".repeat(30_000)}`,
    `${`${"x".repeat(10_000)}\n`.repeat(20)}${"\x1b[H\x1b[20B\x1b[A\x1b[2K".repeat(20_000)}`,
    "\x1b[2;20r\x1b[20;1H".padEnd(100_000, "\n"),
    "\x1b[999999999L\x1b[999999999M\x1b[999999999S\x1b[999999999T\x1b[999999999@\x1b[999999999X".repeat(1_000),
  ];
  for (const text of worst) assertLessOrEqual(renderText(text).length, 250_000);
});

function takes(...pieces: readonly string[]): readonly string[] {
  const renderer: Renderer = createRenderer();
  return pieces.map((piece) => {
    renderer.write("stdout", piece);
    return renderer.take();
  });
}

/** Cuts between code points. */
function cutText(text: string, places: readonly number[]): readonly string[] {
  const chars = Array.from(text);
  const borders = [0, ...places.map((place) => Math.min(place, chars.length)).sort((a, b) => a - b), chars.length];
  return borders.slice(1).map((to, index) => chars.slice(borders[index], to).join(""));
}

test("R1 what moves cells and lines by the thousand takes time by its length, and makes no text of blanks", () => {
  const times = 10_000;
  for (const sequence of ["\x1b[999@", "\x1b[999L", "\x1b[999M", "\x1b[999S", "\x1b[999T"]) {
    const renderer = createRenderer({ size: { cols: 200, rows: 50 } });
    renderer.write("terminal", `a\r\n${"b\r\n".repeat(60)}\x1b[Hc\r${sequence.repeat(times)}`);
    assertLessOrEqual(renderer.take().length, 1_000, JSON.stringify(sequence));
  }
});

test("R1 a cursor past the border comes back to it when it moves up or down: no row is blanks to where it was", () => {
  const renderer = createRenderer({ size: { cols: 20, rows: 5 } });
  renderer.write("terminal", `${"x".repeat(500)}\x1bMa\x1bMb\x1b[Bc\x1bDd\x1b[Te`);
  const lines = renderer.take().split("\n").filter((line) => !line.startsWith("x"));
  for (const line of lines) assertLessOrEqual(line.length, 25, JSON.stringify(line));
});

test("R1 lines put in and taken out at once are as if one by one", () => {
  const operation = fc.oneof(
    fc.tuple(fc.constantFrom("L", "M", "S", "T"), fc.integer({ min: 1, max: 9 })),
    fc.tuple(fc.constantFrom("H", "r"), fc.integer({ min: 1, max: 7 })),
  );
  const text = (final: string, count: number, byOne: boolean): string => {
    if (final === "H") return `\x1b[${count}Hx${count}`;
    if (final === "r") return `\x1b[${count};6r`;
    return byOne ? `\x1b[${final}`.repeat(count) : `\x1b[${count}${final}`;
  };
  fc.assert(fc.property(fc.array(operation, { maxLength: 12 }), (operations) => {
    const [many, single] = [false, true].map((byOne) => {
      const renderer = createRenderer({ size: { cols: 20, rows: 7 } });
      renderer.write("terminal", "1\n2\n3\n4\n5\n6\n7" + operations.map(([f, n]) => text(f, n, byOne)).join(""));
      return renderer.take().split("\n").filter((line) => line !== "");
    });
    assertEquals(many, single);
  }));
});
