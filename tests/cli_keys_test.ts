/**
 * What an attached terminal keeps for itself: the keys that leave, and how to be put back as it was.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { createDetachKeys, parseDetachKeys } from "../adapters/cli/detach_keys.ts";
import { createLeftModes } from "../adapters/cli/left_modes.ts";
import fc from "./property.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (found: Uint8Array): string => new TextDecoder().decode(found);

test("keys that leave are read as people write them", () => {
  assertEquals(parseDetachKeys("ctrl-p,ctrl-q"), Uint8Array.of(16, 17));
  assertEquals(parseDetachKeys("C-],q"), Uint8Array.of(29, 113));
  assertEquals(parseDetachKeys(""), new Uint8Array());
  for (const wrong of ["ctrl-", "ctrl-ä", "pq", "ctrl-p,,q", "f1"]) {
    assertEquals(parseDetachKeys(wrong), undefined, wrong);
  }
});

test("the keys leave wherever they stand, and what stands before them is sent", () => {
  const keys = createDetachKeys(bytes("pq"));
  assertEquals(keys.sift(bytes("apxp")), { send: bytes("apx"), detached: false });
  assertEquals(keys.isHolding, true);
  assertEquals(keys.sift(bytes("qrest")), { send: new Uint8Array(), detached: true });
});

test("a key that is held back comes with the next one, or when its time is up", () => {
  const keys = createDetachKeys(bytes("pq"));
  assertEquals(text(keys.sift(bytes("p")).send), "");
  assertEquals(text(keys.sift(bytes("p")).send), "p");
  assertEquals([text(keys.release()), keys.isHolding], ["p", false]);
  assertEquals(keys.sift(bytes("q")), { send: bytes("q"), detached: false });
  const repeated = createDetachKeys(bytes("aab"));
  assertEquals(repeated.sift(bytes("aaab")), { send: bytes("a"), detached: true });
});

test("nothing typed is lost or changed, however it is cut, up to the keys", () => {
  const typed = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 4 }));
  const sequence = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 3 });
  fc.assert(fc.property(typed, sequence, (pieces, sought) => {
    const keys = createDetachKeys(bytes(sought));
    let sent = "";
    let left = false;
    for (const piece of pieces) {
      if (left) break;
      const { send, detached } = keys.sift(bytes(piece));
      sent += text(send);
      left = detached;
    }
    const all = pieces.join("");
    const at = sought === "" ? -1 : all.indexOf(sought);
    assertEquals(left, at >= 0);
    assertEquals(left ? sent : sent + text(keys.release()), at >= 0 ? all.slice(0, at) : all);
  }));
});

test("what a program has switched is switched back, the last one first", () => {
  const modes = createLeftModes();
  modes.see(bytes("\x1b[?1049h\x1b[?1;2004h\x1b[?25l\x1b=\x1b[>1u text \x1b[?2004l"));
  assertEquals(modes.undo(), "\x1b[<1u\x1b[?25h\x1b[?1l\x1b[?1049l\x1b>\x1b[0m");
  modes.see(bytes("\x1b[?1049l\x1b[?1l\x1b[?25h\x1b>\x1b[<u"));
  assertEquals(modes.undo(), "\x1b[0m");
});

test("a switch that comes in pieces is seen", () => {
  const stream = "ab\x1b[?1049hcd\x1b[?1000;1006h\x1b[>5u";
  fc.assert(fc.property(fc.array(fc.nat(6)), (cuts) => {
    const modes = createLeftModes();
    let at = 0;
    for (const length of [...cuts, stream.length]) {
      modes.see(bytes(stream.slice(at, at + length)));
      at += length;
    }
    assertEquals(modes.undo(), "\x1b[<1u\x1b[?1006l\x1b[?1000l\x1b[?1049l\x1b[0m");
  }));
});
