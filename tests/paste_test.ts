/** P34: what a paste into a terminal is made of. */

import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "./property.ts";
import { encodePaste } from "../src/terminal/paste.ts";

function pasted(text: string, mode: boolean, bracketed?: boolean): readonly [string, boolean, number] {
  const paste = encodePaste(text, { mode, bracketed });
  return [new TextDecoder().decode(paste.bytes), paste.bracketed, paste.removed];
}

test("P34 a paste is bracketed when the program asked for it (case 111)", () => {
  assertEquals(pasted("a b", true), ["\x1b[200~a b\x1b[201~", true, 0]);
  assertEquals(pasted("a b", false), ["a b", false, 0]);
});

test("P34 the caller's wish overrides the program's mode", () => {
  assertEquals(pasted("a", false, true), ["\x1b[200~a\x1b[201~", true, 0]);
  assertEquals(pasted("a", true, false), ["a", false, 0]);
});

test("P34 line ends become CR, as xterm pastes them", () => {
  assertEquals(pasted("a\nb\r\nc\rd\n", false)[0], "a\rb\rc\rd\r");
  assertEquals(pasted("a\n\nb", true)[0], "\x1b[200~a\r\rb\x1b[201~");
});

test("P34 ESC, ^C and the one-character CSI are taken out of a bracketed paste and counted", () => {
  assertEquals(pasted("a\x1b[201~rm -rf ~\rb", true), ["\x1b[200~a[201~rm -rf ~\rb\x1b[201~", true, 1]);
  assertEquals(pasted("\x03\x9b201~\x1b\x1b", true), ["\x1b[200~201~\x1b[201~", true, 4]);
});

test("P34 an unbracketed paste is typed as it is", () => {
  assertEquals(pasted("\x1b[A\x03\t", false), ["\x1b[A\x03\t", false, 0]);
});

test("P34 no text can end a bracketed paste before its end", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom("\x1b[201~", "\x1b", "[201~", "\x9b", "\x03", "\x1b\x1b[201~[201~", "\r\n"),
  );
  fc.assert(fc.property(fc.array(piece).map((pieces) => pieces.join("")), (text) => {
    const [sent, , removed] = pasted(text, true);
    const inside = sent.slice("\x1b[200~".length, -"\x1b[201~".length);
    assert(["\x1b", "\x03", "\x9b", "\n"].every((character) => !inside.includes(character)));
    assertEquals(removed, text.replaceAll("\r\n", "\n").length - inside.length);
  }));
});
