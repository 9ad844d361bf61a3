/**
 * Output as no well-meaning program writes it: sequences cut anywhere, numbers beyond all bounds, UTF-8 that is none.
 *
 * @module
 */
import fc from "fast-check";

/** Bytes, and where they are cut into pieces. */
export interface Cut {
  readonly bytes: Uint8Array;
  readonly cuts: readonly number[];
}

const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What stands in a terminal: wide characters, joiners, marks, tabs, lines, and what is not shown. */
const TEXTS = [
  ..."a|bc|word |x\ty|é|漢字|😀|👨‍👩‍👧|e\u0301|\u0301|\ufeff|\u202e|\u200d|\ufe0f|\u00ad|\u2028|10 %|한|ﷺ|🏳️‍🌈|─█".split("|"),
  ..."\n|\n|\r\n|\r|\b|\b\b|\0|\x07|\x0b|\x0c|\x0e|\x0f|\x18|\x1a|\x7f|\x05|\x1b|\x1b\x1b|\x1bc|\x1b7|\x1b8|\x1bM|\x1bD|\x1b#8"
    .split("|"),
  ..."\u0080|\u0084|\u0085|\u008d|\u0090|\u0098|\u009b|\u009c|\u009d|\u009e|\u009f|\x1b(0|\x1b%G|\x1bN|\x1b\\|\x1b=|\x1b>"
    .split("|"),
].map(utf8);

/** Not UTF-8: overlong, surrogates, past the end, five bytes, cut short, C1 as single bytes. */
const TRAPS = [
  ..."\xc0\x80|\xc1\xbf|\xe0\x80\x80|\xe0\x9f\xbf|\xed\xa0\x80|\xed\xb0\x80|\xed\xa0\x80\xed\xb0\x80|\xf0\x80\x80\x80"
    .split("|"),
  ..."\xf0\x8f\xbf\xbf|\xf4\x90\x80\x80|\xf5\x80\x80\x80|\xf8\x88\x80\x80\x80|\xfc\x84\x80\x80\x80\x80|\xfe|\xff".split(
    "|",
  ),
  ..."\xc2|\xe2|\xe2\x82|\xf0|\xf0\x9f|\xf0\x9f\x98|\x80|\xbf|\x9b|\x9d|\x90|\x9c|\x85|\xef\xbf|\xef\xbf\xbd|\xef\xbb"
    .split("|"),
].map(latin1);

const NUMBERS = ["", "0", "1", "2", "3", "7", "25", "47", "999", "1000", "1001", "1049", "2004", "65536", "2147483647"];
const HUGE = ["2147483648", "4294967296", "99999999999999999999", "0000000000000000000000000000001", "9".repeat(400)];

const control: fc.Arbitrary<Uint8Array> = fc.tuple(
  fc.constantFrom("\x1b[", "\x1b[", "\x1b[", "\u009b"),
  fc.constantFrom("", "", "", "?", ">", "=", "<", "!"),
  fc.array(
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...NUMBERS) }, { weight: 1, arbitrary: fc.constantFrom(...HUGE) }),
    {
      maxLength: 3,
    },
  ),
  fc.constantFrom(";", ";", ":", ";;"),
  fc.constantFrom("", "", "", " ", "$", "!", '"', "'"),
  fc.integer({ min: 0x40, max: 0x7e }),
).map(([begin, prefix, numbers, between, middle, final]) =>
  utf8(begin + prefix + numbers.join(between) + middle + String.fromCharCode(final))
);

const string: fc.Arbitrary<Uint8Array> = fc.tuple(
  fc.constantFrom(
    "\x1b]",
    "\x1bP",
    "\x1bX",
    "\x1b^",
    "\x1b_",
    "\u009d",
    "\u0090",
    "\u0098",
    "\u009e",
    "\u009f",
    "\x1bk",
  ),
  fc.constantFrom(
    "0;t",
    "2;",
    "8;;u",
    "11;?",
    "10;?",
    "52;c;aGk=",
    "1337;x",
    "1$r",
    "+q544e",
    "",
    "4;0;?",
    "x\x1b[31m",
    "漢",
    "t\u0301",
  ),
  fc.constantFrom("\x07", "\x1b\\", "\u009c", "\x18", "\x1a", "\n", "", "\x1b", "\x1b\x1b\\", "\r\n"),
).map((parts) => utf8(parts.join("")));

const piece: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 3, arbitrary: fc.constantFrom(...TRAPS) },
  { weight: 6, arbitrary: control },
  { weight: 3, arbitrary: string },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
);

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of pieces) {
    bytes.set(each, at);
    at += each.length;
  }
  return bytes;
}

/** Some output. */
export const output: fc.Arbitrary<Uint8Array> = fc.array(piece, { maxLength: 14 }).map(joined);

/** Some output, cut anywhere. */
export const cutOutput: fc.Arbitrary<Cut> = fc.record({
  bytes: output,
  cuts: fc.array(fc.nat(200), { maxLength: 3 }),
}, { noNullPrototype: true });

/** The pieces into which it is cut. */
export function piecesOf({ bytes, cuts }: Cut): readonly Uint8Array[] {
  const places = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  return [...places, bytes.length].map((to, index) => bytes.subarray(places[index - 1] ?? 0, to));
}

/** The same between characters. */
export function textPiecesOf(text: string, cuts: readonly number[]): readonly string[] {
  const characters = Array.from(text);
  const places = cuts.map((cut) => cut % (characters.length + 1)).sort((a, b) => a - b);
  return [...places, characters.length].map((to, index) => characters.slice(places[index - 1] ?? 0, to).join(""));
}

/** What the Encoding Standard makes of bytes. */
export function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
