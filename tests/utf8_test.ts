/**
 * Output is cut between characters only, and what is no character is one U+FFFD wherever it is cut (spec S5).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { afterCharacters, characterAt, characterStart, decode, incompleteTail } from "../src/output/utf8.ts";
import { createWholeCharacters } from "../src/output/whole_characters.ts";
import { encode } from "./output_samples.ts";

/** The borders between the kinds of bytes that UTF-8 knows, on both sides. */
const LEADS = [
  0x41,
  0x7f,
  0x80,
  0xbf,
  0xc0,
  0xc1,
  0xc2,
  0xdf,
  0xe0,
  0xe1,
  0xec,
  0xed,
  0xee,
  0xef,
  0xf0,
  0xf1,
  0xf4,
  0xf5,
];
const NEXT = [0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2];

/** Every combination of a lead and two bytes after it, and some with three. */
const SEQUENCES: readonly Uint8Array[] = LEADS.flatMap((lead) =>
  NEXT.flatMap((second) =>
    [0x41, 0x80, 0xbf, 0xc0].flatMap((third) =>
      [0x41, 0x80, 0xc0].map((fourth) => Uint8Array.of(lead, second, third, fourth, 0x42))
    )
  )
);

test("S5 characters end where the platform's decoder ends them", () => {
  for (const bytes of SEQUENCES) {
    const lengths: number[] = [];
    for (let at = 0; at < bytes.length;) {
      const length = Math.abs(characterAt(bytes, at, bytes.length));
      lengths.push(length);
      at += length;
    }
    assertEquals(lengths.length, Array.from(decode(bytes)).length, String(bytes));
    let sum = 0;
    for (const [index, length] of lengths.entries()) {
      assertEquals(afterCharacters(bytes, index), sum);
      for (let inside = sum; inside < sum + length; inside++) {
        assertEquals(characterStart(bytes, inside), sum, String(bytes));
      }
      sum += length;
    }
    assertEquals([afterCharacters(bytes, 9), characterStart(bytes, sum)], [sum, sum]);
  }
});

test("S5 of a character whose rest may come, and of no other, the start is held back until it has come", () => {
  for (const [text, held] of [["é", 1], ["漢", 1], ["漢", 2], ["😀", 1], ["😀", 2], ["😀", 3]] as const) {
    assertEquals(incompleteTail(encode(`x${text}`).subarray(0, 1 + held)), held);
  }
  for (
    const bytes of [[0x41], [0x80, 0x80], [0xc1], [0xf5], [0xe0, 0x80], [0xc3, 0xa9], [0xf0, 0x9f, 0x98, 0x80], []]
  ) {
    assertEquals(incompleteTail(Uint8Array.from(bytes)), 0);
  }
});

test("S5 wherever output is cut, it is passed on as if it were whole", () => {
  for (const bytes of SEQUENCES) {
    for (let cut = 1; cut < bytes.length - 1; cut++) {
      const pieces: string[] = [];
      const whole = createWholeCharacters((piece) => pieces.push(decode(piece)));
      for (const piece of [bytes.subarray(0, cut), bytes.subarray(cut, cut + 1), bytes.subarray(cut + 1)]) {
        whole.add(piece);
      }
      whole.flush();
      whole.flush();
      assertEquals(pieces.join(""), decode(bytes), `${bytes} cut at ${cut}`);
    }
  }
});
