import headless from "@xterm/headless";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import { createRenderer } from "../src/output/render.ts";
import { personSees, rowsOf } from "./terminal_oracle.ts";

const SIZE = { cols: 200, rows: 6 };

/** What moves, erases and scrolls; numbers up to past the border of the screen. */
const MOVES = fc.tuple(fc.constantFrom(..."ABCDEFGHIJKLMPXad@`f"), fc.array(fc.nat(8), { maxLength: 2 })).map(
  ([final, numbers]) => `\x1b[${numbers.join(";")}${final === "I" ? "J" : final}`,
);
const TEXT = fc.constantFrom("a", "bc", "word ", "two words", "x\ty", "│ █", "10 %", "");
const LINE_ENDS = fc.constantFrom("\n", "\n", "\r\n", "\n\n", "\r", "\b");
const ESCAPES = fc.constantFrom(
  "\x1b7",
  "\x1b8",
  "\x1bD",
  "\x1bE",
  "\x1bM",
  "\x1b[s",
  "\x1b[u",
  "\x1b[0m",
  "\x1b[?25l",
);
const REGIONS = fc.constantFrom("\x1b[r", "\x1b[1;4r", "\x1b[2;5r", "\x1b[3r", "\x1b[5;2r", "\x1b[T", "\x1b[2T");

/** Erases what has scrolled off, which is not taken from a reader. */
// deno-lint-ignore no-control-regex -- control sequences are what this is about
const KEPT = /\x1b\[3(;\d*)?J/;

/** Output that redraws as much as it prints. */
const screenText: fc.Arbitrary<string> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: TEXT },
    { weight: 5, arbitrary: LINE_ENDS },
    { weight: 5, arbitrary: MOVES },
    { weight: 1, arbitrary: ESCAPES },
    { weight: 1, arbitrary: REGIONS },
  ),
  { maxLength: 40 },
).map((parts) => parts.filter((part) => !KEPT.test(part)).join(""));

test("S6 R10 what is rendered is what a person sees, on the screen and above it", async () => {
  await fc.assert(
    fc.asyncProperty(screenText, async (text) => {
      assertEquals(seen(rendered([text])), await personSees(text, SIZE));
    }),
    { numRuns: 600 },
  );
});

test("S6 P10 what is told in pieces has every row that a person sees, in its last state", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(screenText, { maxLength: 4 }), async (texts) => {
      const told = new Set(seen(rendered(texts)));
      for (const row of await personSees(texts.join(""), SIZE)) assert(row === "" || told.has(row), row);
    }),
    { numRuns: 250 },
  );
});

test("S6 rows that a full-screen program has drawn are not those of the screen it left", async () => {
  await fc.assert(
    fc.asyncProperty(screenText, screenText, screenText, async (before, drawn, after) => {
      const text = `${before}\x1b[?1049h${drawn}\x1b[?1049l${after}`;
      const lines = seen(rendered([text]));
      const rows = await personSees(text, SIZE);
      for (const row of rows) assert(row === "" || lines.includes(row), row);
      assertEquals(lines.filter((line) => line.startsWith("[full-screen program")).length, 1);
    }),
    { numRuns: 150 },
  );
});

test("the oracle is the terminal that it says it is", async () => {
  const { Terminal } = headless;
  assertEquals(typeof Terminal, "function");
  assertEquals(await personSees("one\ntwo\x1b[Fthree", SIZE), ["three", "two"]);
});

function rendered(pieces: readonly string[]): string {
  const renderer = createRenderer({ size: SIZE });
  const taken = pieces.map((piece) => {
    renderer.write("terminal", piece);
    return renderer.take();
  });
  return taken.join("");
}

/** Lines as they look: tabs are blanks, and blanks at the end nobody sees. */
function seen(text: string): readonly string[] {
  return rowsOf(
    text.split("\n").map((line) => {
      return line.split("\t").reduce((before, after) => before.padEnd(before.length - before.length % 8 + 8) + after);
    }),
  );
}
