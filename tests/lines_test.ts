import { assert, assertEquals, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import { type LinePage, type LineQuery, readLines } from "../src/output/lines.ts";
import { createOutputLog, type OutputLog } from "../src/output/log.ts";
import { createRenderer } from "../src/output/render.ts";
import {
  chunksOf,
  controlText,
  decodeEach,
  encode,
  logOf,
  logOfChunks,
  numberedLines,
  screenText,
} from "./output_samples.ts";

const ROOM = 30_000;

/** First and last number of a page, and what it says of the lines around it. */
function outline({ lines, next, olderFrom, clippedBy }: LinePage): readonly unknown[] {
  return [lines[0]?.number, lines.at(-1)?.number, next, olderFrom, clippedBy];
}

/** Each row: title, query, outline of the page of a log of 1000 lines. */
const WINDOWS: readonly (readonly [title: string, query: LineQuery, outline: readonly unknown[]])[] = [
  ["neither offset nor limit: the last 200", {}, [800, 999, undefined, 600, "limit"]],
  ["limit only: the last that many", { limit: 10 }, [990, 999, undefined, 980, "limit"]],
  ["offset only: to the end", { offset: 990 }, [990, 999, undefined, 790, undefined]],
  ["both: the window", { offset: 10, limit: 5 }, [10, 14, 15, 5, "limit"]],
  ["both, at the end: no next", { offset: 995, limit: 5 }, [995, 999, undefined, 990, undefined]],
  ["negative offset: from the end", { offset: -3 }, [997, 999, undefined, 797, undefined]],
  ["negative offset and limit", { offset: -10, limit: 2 }, [990, 991, 992, 988, "limit"]],
  ["negative offset before the start: the start", { offset: -5_000, limit: 1 }, [0, 0, 1, undefined, "limit"]],
  ["a limit beyond the total: all there is", { limit: 1e9 }, [0, 999, undefined, undefined, undefined]],
  ["24 the end: empty", { offset: 1_000 }, [undefined, undefined, undefined, 800, undefined]],
  ["24 past the end: empty", { offset: 99_999 }, [undefined, undefined, undefined, 800, undefined]],
  ["25 limit 0: empty", { limit: 0 }, [undefined, undefined, undefined, 800, "limit"]],
  ["25 offset 0, limit 0: empty, and where to go on", { offset: 0, limit: 0 }, [
    undefined,
    undefined,
    0,
    undefined,
    "limit",
  ]],
];

for (const [title, query, expected] of WINDOWS) {
  test(`P20 ${title}`, () => {
    const page = readLines(logOf(numberedLines(1_000)), query, ROOM);
    assertEquals(outline(page), expected);
    assertEquals([page.total, page.firstHeld], [1_000, 0]);
    for (const { number, text } of page.lines) assertEquals(text, `line ${number}`);
  });
}

test("P20 an empty log is an empty page", () => {
  assertEquals(readLines(logOf(), {}, ROOM), { lines: [], total: 0, firstHeld: 0, first: 0 });
});

test("24 25 a three-line log repeats no line past its end", () => {
  const log = logOf("one\ntwo\nthree\n");
  for (const query of [{ offset: 3 }, { offset: 99 }, { offset: 3, limit: 1 }, { offset: 0, limit: 0 }]) {
    assertEquals([readLines(log, query, ROOM).lines.length, readLines(log, query, ROOM).total], [0, 3]);
  }
});

test("26 a limit says that older lines exist and how to reach them", () => {
  const log = logOf("one\ntwo\nthree\n");
  const page = readLines(log, { limit: 2 }, ROOM);
  assertEquals([page.lines.map(({ text }) => text), page.olderFrom, page.clippedBy], [["two", "three"], 0, "limit"]);
  assertEquals(readLines(log, { offset: page.olderFrom ?? -1, limit: 1 }, ROOM).lines, [{ number: 0, text: "one" }]);
});

test("28 a limit counts lines, not bytes", () => {
  assertEquals(readLines(logOf(`${"long ".repeat(100)}\n`.repeat(100)), { limit: 5 }, ROOM).lines.length, 5);
});

test("P20 an unfinished last line is a line", () => {
  const page = readLines(logOf("one\ntwo"), {}, ROOM);
  assertEquals([page.lines, page.total], [[{ number: 0, text: "one" }, { number: 1, text: "two" }], 2]);
});

test("74 a huge line is clipped with its length, and the tail is visible", () => {
  const page = readLines(logOf(`${"x".repeat(150_000)}\ntail\n`), { limit: 10 }, ROOM);
  assertEquals(page.lines[1], { number: 1, text: "tail" });
  const clipped = page.lines[0]?.text ?? "";
  assertStringIncludes(clipped, "150000 characters");
  assertEquals(clipped.length, 2_000);
});

test("74 of a huge line whose beginning is dropped the length is a lower bound", () => {
  const log = logOfChunks([{ stream: "stdout", bytes: encode(`${"x".repeat(300_000)}\n\ntail\n`) }]);
  const [first] = readLines(log, { offset: 0 }, ROOM).lines;
  assertStringIncludes(first?.text ?? "", "at least 199993 characters");
  const shorter = logOfChunks([{ stream: "stdout", bytes: encode("x".repeat(3_001)) }], 3_000);
  assertStringIncludes(readLines(shorter, {}, ROOM).lines[0]?.text ?? "", "at least 3000 characters");
});

test("P20 a page that is too long stops early and says where to go on", () => {
  const log = logOf(numberedLines(1_000));
  const page = readLines(log, { offset: 100 }, 100);
  assertEquals(outline(page), [100, 110, 111, 0, "budget"]);
  assertLessOrEqual(page.lines.map(({ text }) => `${text}\n`).join("").length, 100);
});

test("P20 a page may be filled to the last character, and a line that is too long for it is clipped to it", () => {
  assertEquals(outline(readLines(logOf(numberedLines(10)), { offset: 0 }, 70)), [
    0,
    9,
    undefined,
    undefined,
    undefined,
  ]);
  const [line, ...more] = readLines(logOf("x".repeat(5_000)), { raw: true }, 1_000).lines;
  assertEquals([line?.text.length, more], [999, []]);
  assertStringIncludes(line?.text ?? "", "[line of 5000 characters]");
});

test("P20 a line that is longer than a line may be, and than the page, says its own length", () => {
  for (const [pageChars, shown] of [[10_000, 2_000], [1_000, 999], [100, 99]] as const) {
    const [line] = readLines(logOf(`${"x".repeat(5_000)}\n`), {}, pageChars).lines;
    assertEquals(line?.text.length, shown);
    assert(line?.text.endsWith("x… [line of 5000 characters]"), line?.text.slice(-40));
  }
});

test("P20 a tail that is too long keeps the newest", () => {
  const page = readLines(logOf(numberedLines(1_000)), { limit: 500 }, 100);
  assertEquals(outline(page), [989, 999, undefined, 489, "budget"]);
});

test("S4 P20 numbers stay good when lines are dropped, and the page says from where they are held", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  for (let index = 0; index < 5_000; index++) log.append("stdout", encode(`line ${index}\n`));
  const page = readLines(log, { offset: 0, limit: 3 }, ROOM);
  assertEquals([page.firstHeld, page.first, page.total], [4_900, 4_900, 5_000]);
  assertEquals(page.lines.map(({ text }) => text), ["line 4900", "line 4901", "line 4902"]);
  assertEquals(readLines(log, { offset: 4_950, limit: 1 }, ROOM).lines, [{ number: 4_950, text: "line 4950" }]);
});

test("P20 one stream has its own numbers", () => {
  const log = createOutputLog({ maxChars: 200_000 });
  for (let index = 0; index < 6; index++) log.append(index % 2 === 0 ? "stdout" : "stderr", encode(`line ${index}\n`));
  const page = readLines(log, { stream: "stderr" }, ROOM);
  assertEquals(page.lines, [1, 3, 5].map((line, number) => ({ number, text: `line ${line}` })));
  assertEquals(page.total, 3);
  assertEquals(readLines(log, { stream: "terminal" }, ROOM).lines, []);
});

test("P20 grep gives the lines whose rendered text matches, with their numbers", () => {
  const log = logOf("a\n\x1b[31mer\x1b[0mror 1\nb\nerror 2\nerror 3\n");
  const all = readLines(log, { grep: /error/g }, ROOM);
  assertEquals(all.lines.map(({ number }) => number), [1, 3, 4]);
  assertEquals(all.matched, 3);
  assertEquals(outline(readLines(log, { grep: /error/, offset: 2, limit: 1 }, ROOM)), [3, 3, 4, 1, "limit"]);
  assertEquals(outline(readLines(log, { grep: /error/, limit: 1 }, ROOM)), [4, 4, undefined, 3, "limit"]);
  assertEquals(readLines(log, { grep: /nothing/ }, ROOM).matched, 0);
});

test("S6 a sequence of another stream that is split around the page's first line is still one", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("one\nand \x1b[3") },
    { stream: "stderr", bytes: encode("error\n") },
    { stream: "stdout", bytes: encode("1mred\n") },
  ]);
  assertEquals(readLines(log, { limit: 1 }, ROOM).lines, [{ number: 2, text: "red" }]);
});

test("S5 where the oldest text was cut off inside a sequence, none of it is shown", () => {
  const log = logOfChunks([{
    stream: "stdout",
    bytes: encode(`${"x".repeat(5_000)}\x1b]0;${"t".repeat(80)}\x07seen\n`),
  }], 50);
  assertEquals(readLines(log, {}, ROOM).lines, [{ number: 0, text: "seen" }]);
});

test("P20 pages put together are the whole, forwards and backwards", () => {
  fc.assert(
    fc.property(chunksOf(controlText.map(encode)), fc.integer({ min: 1, max: 4 }), (chunks, limit) => {
      const log = logOfChunks(chunks);
      log.finish();
      const whole = wholeLines(log);
      assertEquals(forwards(log, limit), whole);
      assertEquals(backwards(log, limit), whole);
      assertEquals(readLines(log, { offset: 0 }, ROOM).lines.map(({ text }) => text), whole);
    }),
    { numRuns: 200 },
  );
});

test("P20 S6 pages of redrawn lines put together are the whole, forwards and backwards", () => {
  fc.assert(
    fc.property(chunksOf(screenText.map(encode)), fc.integer({ min: 1, max: 4 }), (chunks, limit) => {
      const log = logOfChunks(chunks);
      log.finish();
      const page = readLines(log, { offset: 0 }, ROOM);
      const whole = page.lines.map(({ text }) => text);
      assertEquals(forwards(log, limit), whole);
      assertEquals(backwards(log, limit), whole);
      assertEquals(whole.join("\n").trimEnd(), wholeLines(log, Infinity).join("\n").trimEnd());
      page.lines.forEach(({ number }, index) => {
        assert(number > (page.lines[index - 1]?.number ?? -1) && number < page.total, `${number} of ${page.total}`);
      });
    }),
    { numRuns: 500 },
  );
});

test("P20 S6 a line keeps the number it was made with, however often it is redrawn", () => {
  const frame = (percent: number): string => `\x1b[2Ka ${percent} %\n\x1b[2Kb ${percent} %\n`;
  const frames = Array.from({ length: 50 }, (_, index) => `\x1b[2A${frame(2 * index + 2)}`).join("");
  const log = logOf(`begin\n${frame(0)}`);
  const before = readLines(log, {}, ROOM).lines;
  log.append("stdout", encode(`${frames}end\nlast\n`));
  assertEquals(before.map(({ number, text }) => [number, text]), [[0, "begin"], [1, "a 0 %"], [2, "b 0 %"]]);
  const lines = [
    { number: 0, text: "begin" },
    { number: 1, text: "a 100 %" },
    { number: 2, text: "b 100 %" },
    { number: 3, text: "end" },
    { number: 104, text: "last" },
  ];
  assertEquals(readLines(log, {}, ROOM).lines, lines);
  assertEquals(readLines(log, {}, ROOM).total, 105);
  assertEquals(readLines(log, { offset: 50, limit: 1 }, ROOM).lines, lines.slice(4));
  assertEquals(readLines(log, { offset: 1, limit: 3 }, ROOM).next, 104);
  assertEquals(readLines(log, { limit: 3 }, ROOM).lines, lines.slice(2));
  assertEquals(readLines(log, { grep: / %/ }, ROOM).lines, lines.slice(1, 3));
});

test("P20 S6 lines that no line feed made are one with the line they came with", () => {
  const page = readLines(logOf("first\n\x1b[3;1Hthird\x1b[2;1Hsecond\x1b[4;1H\nlast\n"), {}, ROOM);
  assertEquals(page.lines, [
    { number: 0, text: "first" },
    { number: 1, text: "second\nthird\n" },
    { number: 2, text: "last" },
  ]);
});

test("P20 kept and dropped lines are the total", () => {
  fc.assert(fc.property(chunksOf(controlText.map(encode)), fc.integer({ min: 1, max: 100 }), (chunks, maxChars) => {
    const log = logOfChunks(chunks, maxChars);
    const page = readLines(log, { offset: 0 }, ROOM);
    assertEquals(page.firstHeld + page.lines.length, page.total);
    assert(page.lines.every(({ number }, index) => number === page.firstHeld + index));
  }));
});

/** The lines of the whole log, rendered at once; what comes after the last line feed of all belongs to the last line. */
function wholeLines(log: OutputLog, count: number = log.totalLines): readonly string[] {
  const renderer = createRenderer();
  for (const segment of log.read(0)) renderer.write(segment.stream, decodeEach([segment]));
  renderer.finish();
  const lines = renderer.take().split("\n");
  const rest = lines.splice(count).join("\n");
  return rest === "" ? lines : [...lines.slice(0, -1), `${lines.at(-1)}\n${rest}`];
}

function forwards(log: OutputLog, limit: number): readonly string[] {
  const texts: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const page: LinePage = readLines(log, { offset, limit }, ROOM);
    texts.push(...page.lines.map(({ text }) => text));
    offset = page.next;
  }
  return texts;
}

function backwards(log: OutputLog, limit: number): readonly string[] {
  let page = readLines(log, { limit }, ROOM);
  const texts = page.lines.map(({ text }) => text);
  while (page.olderFrom !== undefined) {
    const before: number = page.first;
    page = readLines(log, { offset: page.olderFrom, limit }, ROOM);
    texts.unshift(...page.lines.filter(({ number }) => number < before).map(({ text }) => text));
  }
  return texts;
}

test("P20 S6 the empty row on which the cursor rests after a line feed is no line, whatever its number", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("a") },
    { stream: "stderr", bytes: encode("\n\x1b[A\n") },
  ]);
  const { lines, total } = readLines(log, {}, ROOM);
  assertEquals([lines, total], [[{ number: 0, text: "a" }], 2]);
});

test("P20 S6 empty lines count among many that are printed at once between redraws", () => {
  const log = logOf(`a\n\x1b[Ab\n\x1b[0mx\n\n${numberedLines(100)}\x1b[0mc\n\x1b[Ad\nend\nlast\n`);
  const { lines, total } = readLines(log, { limit: 3 }, ROOM);
  assertEquals([total, lines], [108, [
    { number: 104, text: "d" },
    { number: 105, text: "end" },
    { number: 107, text: "last" },
  ]]);
});

test("P20 S6 lines keep their numbers however many are printed at once after a redraw", () => {
  const log = logOf(`a\n\x1b[Ab\n\x1b[0m${numberedLines(100)}`);
  const { lines, total } = readLines(log, { limit: 2 }, 10_000);
  assertEquals(total, 102);
  assertEquals(lines, [{ number: 100, text: "line 98" }, { number: 101, text: "line 99" }]);
});

test("P20 what another stream held back to the end belongs to the last line", () => {
  const log = logOfChunks([
    { stream: "stderr", bytes: encode("\x1b]0;x") },
    { stream: "stdout", bytes: encode("a\n") },
  ]);
  log.finish();
  assertEquals(readLines(log, {}, ROOM).lines, [{ number: 0, text: "a\n0;x" }]);
});

test("P20 S6 lines that are drawn again after many others have the numbers of where they are", () => {
  const log = logOf(`a\n\x1b[Ab\n\x1b[0m${numberedLines(100)}\x1b[0mx\ny\n\x1b[A\x1b[Az\n`);
  const { lines, total } = readLines(log, { limit: 3 }, ROOM);
  assertEquals([total, lines], [105, [
    { number: 101, text: "line 99" },
    { number: 102, text: "z" },
    { number: 103, text: "y" },
  ]]);
});

test("P20 S6 a line that is put between others after many has the number of where it is", () => {
  const log = logOf(`a\n\x1b[Ab\n\x1b[0m${numberedLines(100)}\x1b[0mp\nq\n\x1b[A\x1b[Lnew\nend\n`);
  assertEquals(readLines(log, { limit: 3 }, ROOM).lines, [
    { number: 101, text: "line 99" },
    { number: 102, text: "p" },
    { number: 103, text: "new\nend" },
  ]);
});
