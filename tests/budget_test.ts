import { assert, assertEquals, assertLess, assertLessOrEqual, assertStringIncludes } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import { boundedOutput, clipLine, countChars, fitHeadAndTail, tailOf, tailOfLog } from "../src/output/budget.ts";
import { createOutputLog, type OutputLog } from "../src/output/log.ts";
import { anyBytes, chunksOf, controlText, encode, lastChars, logOf, numberedLines } from "./output_samples.ts";

test("countChars counts code points", () => {
  assertEquals(["", "abc", "€", "😀", "a😀b"].map(countChars), [0, 3, 1, 1, 3]);
});

test("E25 a text that fits is whole", () => {
  for (const text of ["", "abc", "😀".repeat(100)]) {
    assertEquals(fitHeadAndTail(text, 100), { text, omittedChars: 0, omittedLines: 0 });
  }
});

test("E25 head and tail with the exact number left out between them", () => {
  const text = numberedLines(1_000);
  const fitted = fitHeadAndTail(text, 1_000);
  const [head = "", note = "", tail = ""] = fitted.text.split(/^(… .* left out …)\n/m);
  assert(text.startsWith(head) && text.endsWith(tail));
  assertEquals(fitted.omittedChars, text.length - head.length - tail.length);
  assertEquals(fitted.omittedLines, 1_000 - head.split("\n").length - tail.split("\n").length + 2);
  assertEquals(note, `… ${fitted.omittedChars} characters in ${fitted.omittedLines} lines left out …`);
  assert(head.endsWith("\n") && tail.startsWith("line "));
});

test("E25 a line without borders is cut where it must be", () => {
  const { text, omittedChars, omittedLines } = fitHeadAndTail("x".repeat(5_000), 1_000);
  assertEquals([omittedChars, omittedLines], [5_000 - 920, 0]);
  assertEquals(text, `${"x".repeat(460)}\n… 4080 characters left out …\n${"x".repeat(460)}`);
});

test("69 no cut splits a character, at every phase", () => {
  for (const char of ["€", "😀"]) {
    for (let count = 997; count <= 1_003; count++) {
      for (const lead of ["", "a"]) {
        const text = lead + char.repeat(count);
        const results = [
          fitHeadAndTail(text, 1_000).text,
          tailOf(text, 1_000),
          clipLine(text, 1_000),
          tailOfLog(logOf(text), 1_000),
        ];
        for (const result of results) {
          assert(!/\p{Surrogate}|\ufffd/u.test(result));
          assertLessOrEqual(countChars(result), 1_000);
        }
        assertEquals(tailOf(text, 1_000), lastChars(text, 1_000));
      }
    }
  }
});

test("E28 a tail begins with a whole line when a border is near", () => {
  assertEquals(tailOf("one\ntwo\nthree\nfour\n", 18), "two\nthree\nfour\n");
  assertEquals(tailOf("one\ntwo\n", 100), "one\ntwo\n");
  assertEquals(tailOf(`${"x".repeat(50)}\nend\n`, 20), `${"x".repeat(15)}\nend\n`);
});

test("P20 a long line is clipped and says how long it is", () => {
  assertEquals(clipLine("x".repeat(100), 100), "x".repeat(100));
  assertEquals(clipLine("x".repeat(101), 40), `${"x".repeat(14)}… [line of 101 characters]`);
  assertEquals(countChars(clipLine("😀".repeat(101), 40)), 40);
});

test("E28 the tail of a log is rendered, and found behind many control sequences", () => {
  assertEquals(tailOfLog(logOf("\x1b[31mred\x1b[0m\n"), 2_000), "red\n");
  assertEquals(tailOfLog(logOf(numberedLines(500)), 20), "line 498\nline 499\n");
  assertEquals(tailOfLog(logOf(`text ${"\x1b[31m\x1b[0m".repeat(20)}end`), 8), "text end");
  assertEquals(tailOfLog(logOf(), 10), "");
});

test("E25 the output of a session is whole when it fits", () => {
  assertEquals(boundedOutput(logOf("one\r\n\x1b[1mtwo\x1b[0m\n"), 1_000, false), {
    text: "one\ntwo\n",
    truncated: false,
    omittedChars: 0,
    omittedLines: 0,
    binary: false,
  });
});

test("75 first and last are visible and the omitted count is exact when the log has dropped the middle", () => {
  const { log, text } = flood(100_000, 10_000);
  const output = boundedOutput(log, 4_000, false);
  const [head = "", note = "", tail = ""] = output.text.split(/^(… .* left out …)\n/m);
  assert(head.startsWith("FIRST\n") && tail.endsWith("LAST\n"));
  assert(text.startsWith(head) && text.endsWith(tail));
  assertEquals(output.omittedChars, text.length - head.length - tail.length);
  assertEquals(output.omittedLines, text.split("\n").length - head.split("\n").length - tail.split("\n").length + 1);
  assertStringIncludes(note, `${output.omittedChars} characters in ${output.omittedLines} lines`);
  assertLessOrEqual(output.text.length, 4_000);
  assertEquals(output.truncated, true);
});

test("75 the output is whole when head and held text meet", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.keepHead(4_000);
  for (let index = 0; index < 150; index++) log.append("stdout", encode(`line ${index}\n`.padStart(10)));
  assertLess(0, log.start);
  assertEquals(boundedOutput(log, 4_000, false).truncated, false);
});

test("75 without a kept head only the tail is shown, and the count is still exact", () => {
  const { log, text } = flood(100_000, 10_000, 0);
  const output = boundedOutput(log, 4_000, false);
  assert(output.text.startsWith("… "));
  assertEquals(output.omittedChars, text.length - output.text.length + output.text.indexOf("\n") + 1);
});

test("E25 output that grows when its controls are named still fits", () => {
  const log = createOutputLog({ maxChars: 5_000 });
  log.keepHead(1_000);
  for (let index = 0; index < 100; index++) log.append("stdout", new Uint8Array(200));
  const output = boundedOutput(log, 2_000, false);
  assertLessOrEqual(countChars(output.text), 2_000);
  assertEquals(output.binary, true);
  assertEquals(output.omittedChars, 20_000 - (output.text.match(/\\x00/g)?.length ?? 0));
});

test("S5 of binary output little is told: its beginning, its end, and how much is between", () => {
  for (const length of [3_000, 500_000]) {
    const log = createOutputLog({ maxChars: 200_000 });
    log.keepHead(30_000);
    for (const bytes of [encode("first\n"), new Uint8Array(length).fill(0x80), encode("\nlast\n")]) {
      log.append("stdout", bytes);
    }
    const { text, binary, truncated, omittedChars } = boundedOutput(log, 30_000, false);
    assertEquals([binary, truncated], [true, true]);
    assertLessOrEqual(countChars(text), 2_000);
    assertStringIncludes(text, `… ${omittedChars} characters`);
    assert(text.startsWith("first\n") && text.endsWith("\nlast\n"), text);
  }
});

test("E25 nothing is longer than it may be, and all is counted", () => {
  fc.assert(fc.property(controlText, fc.integer({ min: 100, max: 200 }), (piece, maxChars) => {
    const text = piece.repeat(5);
    const fitted = fitHeadAndTail(text, maxChars);
    assertLessOrEqual(countChars(fitted.text), maxChars);
    assert(!/\p{Surrogate}/u.test(fitted.text));
    assertEquals(fitted.omittedChars > 0, countChars(text) > maxChars);
  }));
});

test("E25 any session's output fits, whatever was dropped", () => {
  fc.assert(
    fc.property(
      chunksOf(anyBytes),
      fc.integer({ min: 1, max: 200 }),
      fc.nat(100),
      fc.integer({ min: 100, max: 300 }),
      (chunks, maxChars, head, room) => {
        const log = createOutputLog({ maxChars });
        log.keepHead(head);
        for (const { stream, bytes } of chunks) log.append(stream, bytes);
        log.finish();
        const output = boundedOutput(log, room, false);
        assertLessOrEqual(countChars(output.text), room);
        assertEquals(output.truncated, output.omittedChars > 0);
      },
    ),
    { numRuns: 300 },
  );
});

test("E25 what is left out is what stands between head and tail, to the character and the line", () => {
  const lines = fc.array(fc.constantFrom("\n", "\n", "x", "word ".repeat(9), "😀".repeat(40)), {
    minLength: 20,
    maxLength: 90,
  });
  fc.assert(fc.property(lines.map((parts) => parts.join("")), (text) => {
    const { text: fitted, omittedChars, omittedLines } = fitHeadAndTail(text, 200);
    if (omittedChars === 0) return assertEquals(fitted, text);
    const [head = "", , tail = ""] = fitted.split(/(… .* left out …\n)/);
    assert(text.startsWith(head.replace(/\n$/, "")) && text.endsWith(tail));
    // The line feed behind the head is either the text's own or stands for the cut
    const counts = [head.length, head.length - 1].map((end) => {
      const omitted = text.slice(end, text.length - tail.length);
      return [countChars(omitted), omitted.split("\n").length - 1];
    });
    assert(counts.some(([chars, lines]) => chars === omittedChars && lines === omittedLines), String(counts));
  }));
});

test("E25 one line left out is one line, and without any room only the note is there", () => {
  assertStringIncludes(
    fitHeadAndTail(`${"x".repeat(600)}\n${"y".repeat(600)}`, 1_000).text,
    " characters in 1 line left out",
  );
  assertStringIncludes(
    fitHeadAndTail(`${"x".repeat(460)}\n${"y".repeat(1_000)}`, 1_000).text,
    "… 541 characters in 1 line left out …",
  );
  assertEquals(fitHeadAndTail("x".repeat(200), 50).text, "… 200 characters left out …\n");
  const { log, text } = flood(100_000, 10_000);
  const lines = text.split("\n").length - 1;
  assertEquals(boundedOutput(log, 50, false).text, `… ${text.length} characters in ${lines} lines left out …\n`);
});

test("E25 head and tail that are whole lines to the character stay as they are", () => {
  const [head, tail] = [`${"h".repeat(400)}\n${"h".repeat(58)}\n`, `ttt\n${"t".repeat(456)}`];
  const { text } = fitHeadAndTail(`${head}${"x".repeat(5_000)}\n${tail}`, 1_000);
  assert(text.startsWith(`${head}…`) && text.endsWith(`…\n${tail}`), text);
});

test("E25 of a log that has dropped its middle, head and tail end and begin at a line that is near, and nowhere else", () => {
  const cut = (first: string, last: string): readonly string[] => {
    const log = createOutputLog({ maxChars: 1_000 });
    log.keepHead(1_000);
    log.append("stdout", encode(first + "x".repeat(5_000) + last));
    return boundedOutput(log, 1_000, false).text.split(/\n?… .* left out …\n/);
  };
  const [x, l] = ["x".repeat(460), "l".repeat(440)];
  assertEquals(cut("x", "x"), [x, x]);
  assertEquals(cut(`${"h".repeat(440)}\n`, `\n${l}`), ["h".repeat(440), l]);
  assertEquals(cut("x", `\n${"l".repeat(459)}`), [x, "l".repeat(459)]);
  assertEquals(cut(`far\n`, `\n${"l".repeat(100)}`), [`far\n${x.slice(4)}`, `${x.slice(101)}\n${"l".repeat(100)}`]);
});

test("E25 the head of two streams is whole, and the tail of a log that is finished says what was unfinished in it", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.keepHead(1_000);
  log.append("stdout", encode("out\n"));
  log.append("stderr", encode("err\n"));
  log.append("stdout", encode("x".repeat(5_000)));
  log.append("stderr", Uint8Array.of(0xe2, 0x82));
  assert(boundedOutput(log, 1_000, false).text.startsWith("out\nerr\nx"));
  assert(boundedOutput(log, 1_000, false).text.endsWith("x"));
  log.finish();
  assert(boundedOutput(log, 1_000, false).text.endsWith("\ufffd"));
});

test("E25 a head of two streams that ends at a line has all of both up to there", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.keepHead(1_000);
  log.append("stdout", encode("out\n"));
  log.append("stderr", encode(`${"e".repeat(440)}\n${"x".repeat(5_000)}`));
  const { text } = boundedOutput(log, 1_000, false);
  assert(text.startsWith(`out\n${"e".repeat(440)}\n… `), text);
});

test("E25 a sequence that is open at the end of a log without its middle is shown once it is finished", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.keepHead(1_000);
  log.append("stdout", encode(`${"x".repeat(5_000)}\x1b]0;rest`));
  assert(boundedOutput(log, 1_000, false).text.endsWith("xx"));
  log.finish();
  assert(boundedOutput(log, 1_000, false).text.endsWith("xx0;rest"));
});

test("E28 for each character of a tail at most 32 are looked at", () => {
  const coloured = `${"\x1b[31m\x1b[0m".repeat(20)}x`;
  assertEquals(tailOfLog(logOf(coloured.repeat(1_000)), 100), "x".repeat(Math.ceil(3_200 / coloured.length)));
});

test("E28 a tail of whole lines keeps its first, however near the next one is", () => {
  assertEquals(tailOf("a\nxxx\nyyyyyyyyyyyyyyyy", 20), "xxx\nyyyyyyyyyyyyyyyy");
  assertEquals(tailOf("aaa\nxxx\nyyyyyyyyyyyyyyyy", 21), "xxx\nyyyyyyyyyyyyyyyy");
});

test("S5 output is binary when at least eight of its characters, and one in four, are no text", () => {
  const binary = (odd: number, plain: number): boolean =>
    boundedOutput(logOf("\x01".repeat(odd) + "x".repeat(plain)), 1_000, false).binary;
  assertEquals([binary(7, 0), binary(8, 0), binary(8, 24), binary(8, 25)], [false, true, true, false]);
});

test("E25 nothing printed is nothing left out", () => {
  const nothing = { text: "", truncated: false, omittedChars: 0, omittedLines: 0, binary: false };
  assertEquals(boundedOutput(logOf(), 1_000, false), nothing);
});

/** FIRST, numbers, LAST on a log that holds the newest part and, unless `head` is 0, the head. */
function flood(count: number, maxChars: number, head = 2_000): { readonly log: OutputLog; readonly text: string } {
  const numbers = Array.from({ length: count }, (_, index) => `${index + 1}\n`).join("");
  const text = `FIRST\n${numbers}LAST\n`;
  const bytes = encode(text);
  const log = createOutputLog({ maxChars });
  log.keepHead(head);
  for (let at = 0; at < bytes.length; at += 65_536) log.append("stdout", bytes.subarray(at, at + 65_536));
  return { log, text };
}
