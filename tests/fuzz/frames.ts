/**
 * WebSocket frames, most of which RFC 6455 does not allow.
 *
 * @module
 */
import fc from "fast-check";

/** One frame. */
export interface WireFrame {
  readonly fin: boolean;
  /** The three reserved bits. */
  readonly reserved: number;
  readonly opcode: number;
  readonly masked: boolean;
  readonly payload: string;
  /** How its length is written. `lies`: more than ever comes. */
  readonly length: "short" | "16" | "64" | "lies" | "huge";
}

/** Frames, and where they are cut. */
export interface Frames {
  readonly frames: readonly WireFrame[];
  readonly cut: number | undefined;
}

const PAYLOADS = [
  "",
  "a",
  "\x03\xe8",
  "\x03\xe8bye",
  "\x03",
  "\x00\x00",
  "\x03\xed",
  "\x0f\xff\xff\xfe",
  "\x13\x88",
  "\xff\xff",
  "{}",
  "null",
  '{"type":"resize","cols":80,"rows":24}',
  '{"type":"resize","cols":1e9,"rows":-1}',
  '{"type":"auth","token":"x"}',
  '{"type":"resize","__proto__":{"cols":1}}',
  "\xff\xfe",
  "\xc0\x80",
  "\xed\xa0\x80",
  "\xe2\x82",
  "[".repeat(5_000),
  "y".repeat(70_000),
  "x".repeat(126),
]; // deno-fmt-ignore

const frame: fc.Arbitrary<WireFrame> = fc.record({
  fin: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  reserved: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 1, max: 7 }) }),
  opcode: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0, 1, 2, 8, 9, 10) }, { weight: 1, arbitrary: fc.nat(15) }),
  masked: fc.oneof({ weight: 8, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  payload: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...PAYLOADS) }, {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 130 }).map((bytes) => String.fromCharCode(...bytes)),
  }),
  length: fc.oneof({ weight: 8, arbitrary: fc.constant("short" as const) }, {
    weight: 2,
    arbitrary: fc.constantFrom("16" as const, "64" as const, "lies" as const, "huge" as const),
  }),
}, { noNullPrototype: true });

/** A few frames. */
export const frames: fc.Arbitrary<Frames> = fc.record({
  frames: fc.array(frame, { minLength: 1, maxLength: 4 }),
  cut: fc.option(fc.nat(300), { nil: undefined }),
}, { noNullPrototype: true });

/**
 * Whether the first frame is whole and by itself none that a client may send.
 *
 * @param masks whether the server minds a missing mask
 */
export function isBroken({ frames: [first] }: Frames, masks: boolean): boolean {
  if (first === undefined || first.length === "lies" || first.length === "huge") return false;
  const { fin, reserved, opcode, masked, payload } = first;
  const isControl = opcode >= 8;
  const isKnown = [1, 2, 8, 9, 10].includes(opcode); // 0 goes on with what nobody has begun
  return reserved !== 0 || (masks && !masked) || !isKnown || (isControl && (!fin || payload.length > 125));
}

/** The frames as they are sent; a mask is all zeros. */
export function wireOf({ frames }: Frames): Uint8Array {
  const text = frames.map(({ fin, reserved, opcode, masked, payload, length }) => {
    const first = (fin ? 0x80 : 0) | reserved << 4 | opcode;
    return String.fromCharCode(first) + lengthOf(payload.length, masked ? 0x80 : 0, length) +
      (masked ? "\0\0\0\0" : "") + payload;
  }).join("");
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function lengthOf(length: number, mask: number, how: WireFrame["length"]): string {
  const bytes = (count: number, value: number): string =>
    Array.from(
      { length: count },
      (_, index) => String.fromCharCode(Math.floor(value / 2 ** (8 * (count - 1 - index))) & 0xff),
    ).join("");
  if (how === "huge") return String.fromCharCode(mask | 127) + "\x7f" + "\xff".repeat(7);
  const told = how === "lies" ? length + 1_000 : length;
  if (how === "64" || told > 65_535) return String.fromCharCode(mask | 127) + bytes(8, told);
  if (how === "16" || told > 125) return String.fromCharCode(mask | 126) + bytes(2, told);
  return String.fromCharCode(mask | told);
}

/** The request that attaches to a session. */
export function handshake(sessionId: string, token: string): string {
  return [
    `GET /v1/sessions/${sessionId}/attach HTTP/1.1`,
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==",
    "Sec-WebSocket-Protocol: offstage.v1",
    `Authorization: Bearer ${token}`,
    "",
    "",
  ].join("\r\n");
}
