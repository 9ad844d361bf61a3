/**
 * Bytes are counted as the characters they decode to, whatever they are (spec S4, S5).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { countCharacters } from "../src/output/character_count.ts";
import fc from "./property.ts";

/** The borders between the kinds of bytes that UTF-8 knows, on both sides. */
const SECOND = [0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xef, 0xf0, 0xff];

function decoded(bytes: Uint8Array): number {
  return Array.from(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)).length;
}

test("S5 every first byte counts as it decodes before every kind of second, third and fourth byte", () => {
  for (let first = 0; first < 256; first++) {
    for (const second of SECOND) {
      for (
        const rest of [[0x41, 0x41], [0x80, 0x41], [0x7f, 0x80], [0xbf, 0x80], [0x80, 0xbf], [0xc0, 0x80], [0x80, 0xc0]]
      ) {
        const bytes = Uint8Array.of(first, second, ...rest, 0x41);
        assertEquals(countCharacters(bytes), decoded(bytes), String(bytes));
      }
    }
  }
});

test("S4 long output counts as short output does, wherever its parts meet", () => {
  const texts = ["x", "é", "漢", "😀", "x漢", "é😀x"].map((text) => new TextEncoder().encode(text));
  for (let length = 250; length < 280; length++) {
    for (const text of texts) {
      const bytes = Uint8Array.from({ length }, (_, index) => text[index % text.length] ?? 0);
      assertEquals(countCharacters(bytes), decoded(bytes));
    }
  }
  fc.assert(fc.property(fc.uint8Array({ minLength: 256, maxLength: 600 }), (noise) => {
    const bytes = Uint8Array.of(0x41, ...noise); // what begins in the middle of a character is not ours to count
    assertEquals(countCharacters(bytes), decoded(bytes));
  }));
  for (const byte of [0x80, 0xbf]) assertEquals(countCharacters(new Uint8Array(1_000).fill(byte)), 1_000);
});
