/**
 * What the script around a remote command tells is taken out of its streams, and nothing else is.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { createMarkReader, type Mark } from "../adapters/hosts/remote/marks.ts";
import type { StreamName } from "../mod.ts";
import fc from "./property.ts";

const TAG = "abc";
const mark = (text: string): string => `\x1eoffstage:${text}\x1e`;
const START = mark(`start:${TAG}:12:34`);
const END = mark(`end:${TAG}:143:TERM:y`);

interface Seen {
  readonly output: string;
  readonly marks: readonly Mark[];
  readonly complaints: string;
  readonly ends: number;
}

/** Reads the pieces of one stream, a byte a character. */
function read(pieces: readonly string[], stream: StreamName = "stderr"): Seen {
  const marks: Mark[] = [];
  let [output, ends] = ["", 0];
  const sink = {
    chunk: (_: StreamName, bytes: Uint8Array) => void (output += String.fromCharCode(...bytes)),
    end: () => void ends++,
  };
  const reader = createMarkReader(TAG, sink, (each) => marks.push(each), () => {});
  for (const piece of pieces) reader.sink.chunk(stream, Uint8Array.from(piece, (letter) => letter.charCodeAt(0)));
  reader.sink.end();
  return { output, marks, complaints: reader.complaints(), ends };
}

test("start and end are told, and are no output; what comes before the start is a complaint", () => {
  const seen = read([`banner${mark("ready")}${START}out${END}late`]);
  assertEquals(seen, {
    output: "outlate",
    marks: [
      { kind: "ready" },
      { kind: "start", pid: 12, group: 34 },
      { kind: "end", code: 143, signal: "TERM", isLeft: true },
    ],
    complaints: "banner",
    ends: 1,
  });
});

test("a command cannot end itself by printing: another tag, or a second end, is output", () => {
  const forged = `${mark("end:other:0::")}${mark(`start:${TAG}:1:1`)}${mark("ready")}`;
  assertEquals(read([`${START}${forged}${END}${END}`]).output, forged + END);
});

test("on stdout the start alone is told; all of what follows is output", () => {
  const seen = read([`noise${mark(`start:${TAG}`)}out${END}`], "stdout");
  assertEquals([seen.output, seen.marks.length, seen.complaints], [`out${END}`, 0, ""]);
});

test("without a start nothing is output, and no end is told", () => {
  const seen = read(["ssh: no route", mark(`fail:${TAG}:missing`)]);
  assertEquals([seen.output, seen.ends, seen.complaints], ["", 0, "ssh: no route"]);
  assertEquals(seen.marks, [{ kind: "fail", why: "missing" }]);
});

test("however the streams are cut, the same is output and the same is told", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary-ascii" }),
    fc.constantFrom("\x1e", "\x1eoff", "\x1eoffstage:", mark("end:no:0::"), `\x1eoffstage:${"x".repeat(300)}`),
  );
  const cuts = fc.array(fc.nat(30), { maxLength: 40 });
  fc.assert(fc.property(fc.array(part), fc.array(part), cuts, (before, after, lengths) => {
    const [one, other] = [before.join(""), after.join("")];
    const whole = START + one + END + other;
    const pieces: string[] = [];
    let at = 0;
    for (const length of lengths) pieces.push(whole.slice(at, at += length));
    pieces.push(whole.slice(at));
    const seen = read(pieces);
    assertEquals(seen.output, one + other);
    assertEquals(seen.marks.map(({ kind }) => kind), ["start", "end"]);
  }));
});
