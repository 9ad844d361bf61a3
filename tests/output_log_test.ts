import { assert, assertEquals, assertGreaterOrEqual, assertLessOrEqual, assertStrictEquals } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import { createOutputLog, type OutputLog } from "../src/output/log.ts";
import { measure } from "../src/output/scan.ts";
import { bytesByStream, measureSegments } from "../src/output/segments.ts";
import {
  anyBytes,
  type Chunk,
  chunksOf,
  decodeEach,
  encode,
  lastChars,
  logOf,
  logOfChunks,
  STREAMS,
} from "./output_samples.ts";

const UNCAPPED = 1_000_000;

function concat(chunks: readonly Chunk[], stream: string): Uint8Array {
  return Uint8Array.from(chunks.filter((chunk) => chunk.stream === stream).flatMap((chunk) => [...chunk.bytes]));
}

test("a new log holds nothing and has no lines", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  assertEquals([log.start, log.end, log.firstLine, log.totalLines, log.totalChars, log.droppedChars], [
    0,
    0,
    0,
    0,
    0,
    0,
  ]);
  assertEquals(log.read(0), []);
  assertEquals(log.head(), []);
  assertEquals(log.lineCounts("stderr"), { first: 0, total: 0 });
});

test("S4 chunks are kept in order, tagged, at absolute byte offsets", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("é1\n") },
    { stream: "stderr", bytes: encode("e2\n") },
    { stream: "stdout", bytes: encode("o3") },
  ]);
  assertEquals(log.read(0).map(({ stream, at, bytes }) => [stream, at, bytes.length]), [
    ["stdout", 0, 4],
    ["stderr", 4, 3],
    ["stdout", 7, 2],
  ]);
  assertEquals(log.appendedBytes, { stdout: 6, stderr: 3, terminal: 0 });
  assertEquals([log.totalLines, log.totalChars], [3, 8]);
  assertEquals(log.lineCounts("stdout"), { first: 0, total: 2 });
  assertEquals(log.lineCounts("stderr"), { first: 0, total: 1 });
});

test("appending keeps a big chunk by reference and packs small ones", () => {
  const big = encode("x".repeat(10_000));
  const log = logOfChunks([{ stream: "stdout", bytes: big }]);
  assertStrictEquals(log.read(0)[0]?.bytes.buffer, big.buffer);
  const small = createOutputLog({ maxChars: 200_000 });
  for (let index = 0; index < 10_000; index++) small.append("stdout", encode("x"));
  assertEquals(small.read(0).length, 1);
});

test("a small part of a big buffer does not keep the buffer alive", () => {
  const buffer = new Uint8Array(1_000_000).fill(0x78);
  const log = logOfChunks([{ stream: "stdout", bytes: buffer.subarray(0, 5_000) }]);
  assertLessOrEqual(log.read(0)[0]?.bytes.buffer.byteLength ?? Infinity, 10_000);
});

test("what was read stays as it was while more is appended", () => {
  const log = logOf("one ");
  const segments = log.read(0);
  for (let index = 0; index < 2_000; index++) log.append("stdout", encode("more "));
  assertEquals(decodeEach(segments), "one ");
});

test("68 a character split over chunks is one character, on each stream by itself", () => {
  const smile = encode("😀");
  const chunk = (stream: "stdout" | "stderr", from: number, to?: number): Chunk => ({
    stream,
    bytes: smile.subarray(from, to),
  });
  const log = logOfChunks([chunk("stdout", 0, 2), chunk("stderr", 0, 1), chunk("stdout", 2), chunk("stderr", 1, 3)]);
  assertEquals(decodeEach(log.read(0)), "😀");
  log.append("stderr", smile.subarray(3));
  assertEquals(decodeEach(log.read(0)), "😀😀");
  assertEquals(log.totalChars, 2);
});

test("68 a character that is incomplete at the end is one U+FFFD", () => {
  const log = logOfChunks([{ stream: "stdout", bytes: Uint8Array.of(0x41, 0xf0, 0x9f) }]);
  assertEquals([decodeEach(log.read(0)), log.end], ["A", 1]);
  log.finish();
  assertEquals([decodeEach(log.read(0)), log.end, log.totalChars], ["A\ufffd", 3, 2]);
  const none = logOfChunks([{ stream: "stdout", bytes: Uint8Array.of(0xf0) }]);
  assertEquals([none.lineCounts(), none.lineCounts("stdout")], [{ first: 0, total: 0 }, { first: 0, total: 0 }]);
});

test("E35 what a left-behind child prints after the end is still appended", () => {
  const log = logOf("before\n");
  log.finish();
  log.append("stdout", encode("after\n"));
  assertEquals(decodeEach(log.read(0)), "before\nafter\n");
  assertEquals([log.finished, log.totalLines], [true, 2]);
});

test("69 past the cap exactly the newest characters are held, at every phase", () => {
  for (const char of ["€", "😀", "x"]) {
    for (let count = 997; count <= 1_003; count++) {
      for (const lead of ["", "a", "ab", "abc"]) {
        const log = logOfChunks([{ stream: "stdout", bytes: encode(lead + char.repeat(count)) }], 1_000);
        assertEquals(decodeEach(log.read(0)), lastChars(lead + char.repeat(count), 1_000));
        assertEquals(log.droppedChars, Math.max(0, lead.length + count - 1_000));
      }
    }
  }
});

test("S4 the dropped and the held add up when far more came than is held", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  const line = encode("a line of 40 characters, é is one of it\n");
  for (let index = 0; index < 2_000; index++) log.append(index % 3 === 0 ? "stderr" : "stdout", line);
  assertEquals(log.totalChars, 80_000);
  assertEquals(log.totalChars - log.droppedChars, 1_000);
  assertEquals(log.start, line.length * 1_975);
  assertEquals([log.firstLine, log.totalLines], [1_975, 2_000]);
  const { stdout, stderr } = log.droppedBytes;
  assertEquals(stdout + stderr, log.start);
});

test("S4 memory grows past the cap by no more than a margin and a chunk", () => {
  const log = createOutputLog({ maxChars: 10_000 });
  for (let index = 0; index < 500; index++) log.append("stdout", encode("y".repeat(8_000)));
  const beforeStart = measureSegments(log.lookBack(log.start, "stdout")).chars;
  assertGreaterOrEqual(beforeStart, 4_096);
  assertLessOrEqual(beforeStart, 4_096 + 8_000);
  assertEquals(measureSegments(log.read(0)).chars, 10_000);
});

test("R4 an offset inside a character means the start of that character", () => {
  const log = logOf("a€b");
  assertEquals(log.read(2)[0]?.at, 1);
  assertEquals(decodeEach(log.read(3)), "€b");
  assertEquals(decodeEach(log.read(0, 2)), "a");
  assertEquals(decodeEach(log.read(0, 2)) + decodeEach(log.read(2)), "a€b");
  assertEquals(log.read(2, 3), []);
});

test("lines are found by number, in the log and in one stream", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("o0\no") },
    { stream: "stderr", bytes: encode("e0\n") },
    { stream: "stdout", bytes: encode("1\no2") },
  ]);
  assertEquals([0, 1, 2, 3, 4].map((line) => log.lineStart(line)), [0, 3, 7, 9, 11]);
  assertEquals([0, 1, 2, 3].map((line) => log.lineStart(line, "stdout")), [0, 3, 9, 11]);
  assertEquals([0, 2, 3, 8, 9, 11].map((offset) => log.lineAt(offset)), [0, 0, 1, 2, 3, 3]);
});

test("lookBack gives the bytes of a stream since its last line feed", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("one\n\x1b[3") },
    { stream: "stderr", bytes: encode("err\n") },
    { stream: "stdout", bytes: encode("1mred") },
  ]);
  assertEquals(decodeEach(log.lookBack(11, "stdout")), "\x1b[3");
  assertEquals(decodeEach(log.lookBack(11, "stderr")), "");
  assertEquals(decodeEach(log.lookBack(log.end, "stdout")), "\x1b[31mred");
  log.append("stderr", encode("err"));
  log.append("stdout", encode("\nnext"));
  assertEquals(decodeEach(log.lookBack(log.end, "stdout")), "next");
});

test("75 the head is kept while the middle is dropped, until it is released", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.keepHead(5);
  for (let index = 0; index < 100; index++) log.append("stdout", encode("€".repeat(200)));
  assertEquals(decodeEach(log.head()), "€€€€€");
  assert(log.start > 5 * 3);
  log.releaseHead();
  assertEquals(log.head(), []);
});

test("75 a head that was released before output came may be asked for again", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  log.keepHead(9);
  log.releaseHead();
  log.keepHead(5);
  for (let index = 0; index < 500; index++) log.append("stdout", encode("x".repeat(200)));
  assertEquals(decodeEach(log.head()), "xxxxx");
});

test("75 a head that is asked for too late is not made up", () => {
  const log = createOutputLog({ maxChars: 1_000 });
  for (let index = 0; index < 500; index++) log.append("stdout", encode("x".repeat(200)));
  log.keepHead(5);
  assertEquals(log.head(), []);
});

test("S5 any bytes, cut anywhere, over several streams, decode as each stream's whole would", () => {
  fc.assert(fc.property(chunksOf(anyBytes), (chunks) => {
    const log = logOfChunks(chunks, UNCAPPED);
    log.finish();
    for (const stream of STREAMS) {
      const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(concat(chunks, stream));
      assertEquals(decodeEach(log.read(0), stream), whole);
    }
  }));
});

test("S4 a capped log shows the end of what an uncapped one shows, and counts the rest", () => {
  const repeated = fc.tuple(anyBytes, fc.integer({ min: 1, max: 300 }))
    .map(([bytes, times]) =>
      Uint8Array.from({ length: bytes.length * times }, (_, index) => bytes[index % bytes.length] ?? 0)
    );
  fc.assert(
    fc.property(chunksOf(repeated), fc.integer({ min: 1, max: 3_000 }), (chunks, maxChars) => {
      const whole = logOfChunks(chunks, UNCAPPED);
      const log = logOfChunks(chunks, maxChars);
      assertEquals(decodeEach(log.read(0)), lastChars(decodeEach(whole.read(0)), maxChars));
      assertCountsAgree(log, whole);
    }),
    { numRuns: 200 },
  );
});

function assertCountsAgree(log: OutputLog, whole: OutputLog): void {
  const dropped = whole.read(0, log.start);
  assertEquals(log.end, whole.end);
  assertEquals([log.totalChars, log.totalLines], [whole.totalChars, whole.totalLines]);
  assertEquals(log.droppedBytes, bytesByStream(dropped));
  const { chars, lines } = measureSegments(dropped);
  assertEquals([log.droppedChars, log.firstLine], [chars, lines]);
  for (let line = log.firstLine; line <= log.totalLines; line++) {
    assertEquals(log.lineStart(line), Math.max(log.start, whole.lineStart(line)));
  }
  for (const stream of STREAMS) {
    const own = dropped.filter((segment) => segment.stream === stream);
    assertEquals(log.lineCounts(stream), { first: measureSegments(own).lines, total: whole.lineCounts(stream).total });
  }
}

test("characters are counted as they will be decoded, however long and however broken the bytes", () => {
  const repeated = fc.tuple(anyBytes, anyBytes, fc.integer({ min: 1, max: 60 }))
    .map(([one, other, times]) => Uint8Array.from(Array.from({ length: times }, () => [...one, ...other]).flat()));
  fc.assert(
    fc.property(repeated, (bytes) => {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      assertEquals(measure(bytes), { chars: Array.from(text).length, lines: text.split("\n").length - 1 });
    }),
    { numRuns: 500 },
  );
});

test("lines and characters are counted the same at every alignment and length", () => {
  const bytes = encode("a\n\n€b\n".repeat(40));
  for (let from = 0; from < 9; from += 3) {
    for (let to = from; to <= bytes.length; to++) {
      const part = bytes.subarray(from, to);
      const text = new TextDecoder().decode(part);
      assertEquals(measure(part), { chars: Array.from(text).length, lines: text.split("\n").length - 1 });
    }
  }
});
