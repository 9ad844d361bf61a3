import { assert, assertEquals } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import { createCursor, type Delivery } from "../src/output/cursor.ts";
import { createOutputLog } from "../src/output/log.ts";
import { renderText } from "../src/output/render.ts";
import {
  anyBytes,
  chunksOf,
  decodeEach,
  encode,
  lastChars,
  logOf,
  logOfChunks,
  numberedLines,
  plainText,
} from "./output_samples.ts";

const ALL = 1_000_000;

test("P10 a cursor gives every byte once", () => {
  const log = logOf("one\n");
  const cursor = createCursor(log);
  assertEquals(cursor.pending, 4);
  assertEquals(cursor.read(ALL).text, "one\n");
  assertEquals([cursor.position, cursor.pending, cursor.read(ALL).text], [4, 0, ""]);
  log.append("stderr", encode("two\n"));
  const { text, from, to, dropped } = cursor.read(ALL);
  assertEquals([text, from, to, dropped], ["two\n", 4, 8, 0]);
});

test("P10 a cursor may begin anywhere, inside a character or a sequence too", () => {
  const log = logOf("a€\x1b[31mred");
  assertEquals(createCursor(log, 2).position, 1);
  assertEquals(createCursor(log, 2).read(ALL).text, "€red");
  assertEquals(createCursor(log, 6).read(ALL).text, "red");
  assertEquals([createCursor(log, 99).position, createCursor(log, -1).position], [log.end, 0]);
});

test("P13 of more than the limit the newest is kept and the rest counted, by stream", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("€".repeat(20)) },
    { stream: "stderr", bytes: encode("short\n") },
    { stream: "stdout", bytes: encode("x".repeat(8)) },
  ]);
  const { text, from, to, dropped, droppedByStream } = createCursor(log).read(10);
  assertEquals(text, "€€short\nxxxxxxxx");
  assertEquals([from, to, dropped], [0, 74, 54]);
  assertEquals(droppedByStream, { stdout: 54, stderr: 0, terminal: 0 });
});

test("23 a flood is delivered up to the limit, with what was dropped", () => {
  const log = createOutputLog({ maxChars: 10_000 });
  for (let index = 0; index < 1_000; index++) log.append("stdout", encode("prompt-error\n".repeat(100)));
  const delivery = createCursor(log).read(3_000);
  assertEquals(delivery.text.length, 3_000);
  assertEquals(delivery.dropped, 1_300_000 - 3_000);
});

test("S5 a cut by the limit does not leave half a sequence", () => {
  const log = logOf(`${"x".repeat(50)}\x1b]0;some long title\x07end\n`);
  assertEquals(createCursor(log).read(12).text, "end\n");
});

test("what follows a gap is not joined to the line before it", () => {
  const log = logOf("begun");
  const cursor = createCursor(log);
  cursor.read(10);
  log.append("stdout", encode(`${"lost".repeat(10)}\rnew line\n`));
  assertEquals(cursor.read(9).text, "new line\n");
});

test("R4 bytes that the log had dropped before the read are said, by stream", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.append("stdout", encode("o".repeat(3_000)));
  log.append("stderr", encode("e".repeat(5_000)));
  log.append("stdout", encode("o".repeat(400)));
  const { text, dropped, droppedByStream } = createCursor(log).read(ALL);
  assertEquals(text, "e".repeat(600) + "o".repeat(400));
  assertEquals([dropped, droppedByStream], [7_400, { stdout: 3_000, stderr: 4_400, terminal: 0 }]);
});

test("a sequence that is never terminated is shown by the read after the end", () => {
  const log = logOf("a\x1b]0;rest");
  const cursor = createCursor(log);
  assertEquals(cursor.read(ALL).text, "a");
  log.finish();
  assertEquals(cursor.read(ALL).text, "0;rest");
  assertEquals(cursor.read(ALL).text, "");
});

test("S5 binary output is told from text", () => {
  const binary = (bytes: Uint8Array): boolean =>
    createCursor(logOfChunks([{ stream: "stdout", bytes }])).read(ALL).binary;
  const elf = Uint8Array.from({ length: 4_096 }, (_, index) => (index * 7) & 0xff);
  assert(binary(elf));
  assert(binary(new Uint8Array(100)));
  assert(!binary(encode(`漢字 😀 \x1b[31mcolour\x1b[0m\r\n`.repeat(20))));
  assert(!binary(Uint8Array.of(0xff)));
  assert(
    !binary(Uint8Array.from("Les \xe9l\xe8ves \xe9tudient \xe0 l'\xe9cole. ".repeat(20), (char) => char.charCodeAt(0))),
  );
  assert(!binary(encode(`${"text ".repeat(100)}\0`)));
});

test("R4 delivered and dropped add up, by stream, whatever was dropped where", () => {
  fc.assert(
    fc.property(
      chunksOf(anyBytes),
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 1, max: 60 }),
      fc.nat(200),
      (chunks, maxChars, limit, at) => {
        const log = createOutputLog({ maxChars });
        const cursor = createCursor(log);
        const total = { stdout: 0, stderr: 0, terminal: 0 };
        let to = 0;
        for (const { stream, bytes } of chunks) {
          log.append(stream, bytes);
          const delivery = cursor.read(limit);
          assertEquals(delivery.from, to);
          assertAddsUp(delivery);
          total[stream] += delivery.droppedByStream[stream];
          to = delivery.to;
        }
        assertEquals(to, log.end);
        assertAddsUp(createCursor(log, at).read(limit));
      },
    ),
  );
});

test("P10 reads put together are the whole, for text without redraws", () => {
  fc.assert(fc.property(chunksOf(plainText.map((text) => encode(text.replaceAll("\r\n", "\n")))), (chunks) => {
    const log = createOutputLog({ maxChars: ALL });
    const cursor = createCursor(log);
    let text = "";
    for (const { stream, bytes } of chunks) {
      log.append(stream, bytes);
      text += cursor.read(ALL).text;
    }
    log.finish();
    assertEquals(text + cursor.read(ALL).text, renderText(decodeEach(log.read(0))));
  }));
});

test("P13 the newest of a stream is kept to the character", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 20 }), (text, limit) => {
    // deno-lint-ignore no-control-regex -- control characters are what this is about
    const plain = text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
    assertEquals(createCursor(logOf(plain)).read(limit).text, lastChars(plain, limit));
  }));
});

test("P10 a read of many lines gives them whole", () => {
  const text = numberedLines(2_000);
  assertEquals(createCursor(logOf(text)).read(30_000).text, text);
});

function assertAddsUp({ from, to, dropped, droppedByStream }: Delivery): void {
  const { stdout, stderr, terminal } = droppedByStream;
  assertEquals(stdout + stderr + terminal, dropped);
  assert(Math.min(stdout, stderr, terminal) >= 0, JSON.stringify(droppedByStream));
  assert(dropped <= to - from);
}

test("P10 P13 a gap in one stream leaves another inside the sequence it is in", () => {
  const log = logOf();
  log.append("stderr", encode("\x1b[3"));
  const cursor = createCursor(log);
  cursor.read(ALL);
  log.append("stdout", encode("x".repeat(100)));
  assertEquals(cursor.read(10).dropped, 90);
  log.append("stderr", encode("1mred"));
  assertEquals(cursor.read(ALL).text, "red");
});

test("P10 a sequence of which one byte was there when reading began is one", () => {
  const log = logOf("\x1b");
  const cursor = createCursor(log, 1);
  log.append("stdout", encode("[31mred"));
  assertEquals(cursor.read(ALL).text, "red");
});

test("P10 whether a full-screen program is up is known by how it leaves, when its start is dropped", () => {
  const seen = (end: string): string => {
    const terminal = { size: { cols: 80, rows: 24 }, fullScreen: () => false };
    const log = createOutputLog({ maxChars: 40, terminal });
    log.append("terminal", encode(`${"x".repeat(60)}${end}`));
    const cursor = createCursor(log, log.start + 1);
    return cursor.read(ALL).text;
  };
  assertEquals(seen("\x1b[?1049l$ "), "[full-screen program: what it drew is left out here]\n$ ");
  assertEquals(seen(" $ \x1b[?1049h"), `${"x".repeat(28)} $ \n[full-screen program: what it drew is left out here]`);
  assertEquals(seen("$ "), `${"x".repeat(37)}$ `);
});

test("P10 on which screen a place is, is known by the last switch before it that is held", () => {
  const note = "[full-screen program: what it drew is left out here]";
  /** What is read from `|` on of output of a terminal on which no full-screen program is up now. */
  const seen = (output: string, maxChars = 1_000): string => {
    const log = createOutputLog({ maxChars, terminal: { size: { cols: 80, rows: 24 }, fullScreen: () => false } });
    log.append("terminal", encode(output.replace("|", "")));
    return createCursor(log, output.indexOf("|")).read(ALL).text;
  };
  const [up, down] = ["\x1b[?1049h", "\x1b[?1049l"];
  assertEquals(seen(`a|b${up}c${down}d`), `b\n${note}\nbd`);
  assertEquals(seen(`${up}a|b${down}c`), `${note}\nc`);
  assertEquals(seen(`${up}a${down}b|c`), "c");
  for (const maxChars of [1_000, 20]) assertEquals(seen(`${"x".repeat(10)}${up}a|b\x1bcc`, maxChars), `${note}\nc`);
});

test("P10 a sequence that a line feed ends just after the place is known there", () => {
  assertEquals(createCursor(logOf("a\x1b[3\nb"), 4).read(ALL).text, "3\nb");
});
