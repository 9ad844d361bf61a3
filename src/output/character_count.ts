/**
 * Counts the characters of any bytes at a steady speed: no branch depends on them, so noise costs no more than text.
 *
 * @module
 */

// The state after a byte is what may come next in the character it belongs to.
const ANY = 0;
/** A valid continuation, and the state after it: last of its character, last but one, last but two … */
const CONTINUATIONS: readonly (readonly [low: number, high: number, next: number])[] = [
  [1, 0, ANY], // none: the next byte begins a character
  [0x80, 0xbf, ANY],
  [0x80, 0xbf, 1],
  [0x80, 0xbf, 2],
  [0xa0, 0xbf, 1], // after E0: no overlong form
  [0x80, 0x9f, 1], // after ED: no surrogate
  [0x90, 0xbf, 2], // after F0: no overlong form
  [0x80, 0x8f, 2], // after F4: nothing past U+10FFFF
];
const STATE_BITS = 3;
const STATE_MASK = 7;
/** For a state and a byte: the next state, and above it whether the byte begins a character (or a U+FFFD). */
const STEPS = makeSteps();
/** Below this many bytes one lane is as quick as four. */
const LANES_FROM = 256;

/**
 * Number of characters (code points, U+FFFD included) the bytes decode to.
 *
 * @param bytes must begin at a character border
 */
export function countCharacters(bytes: Uint8Array): number {
  const end = bytes.length;
  if (end < LANES_FROM) return countLane(bytes, 0, end, ANY);
  // Each step waits for the one before it. Four lanes in turn do not wait for each other.
  const second = nextBorder(bytes, end >> 2);
  const third = nextBorder(bytes, end >> 1);
  const fourth = nextBorder(bytes, (end >> 2) * 3);
  const steps = Math.min(second, third - second, fourth - third, end - fourth);
  let [a, b, c, d] = [ANY, ANY, ANY, ANY];
  let count = 0;
  for (let step = 0; step < steps; step++) {
    a = next(a, bytes[step] as number);
    b = next(b, bytes[second + step] as number);
    c = next(c, bytes[third + step] as number);
    d = next(d, bytes[fourth + step] as number);
    count += (a >> STATE_BITS) + (b >> STATE_BITS) + (c >> STATE_BITS) + (d >> STATE_BITS);
  }
  return count + countLane(bytes, steps, second, a) + countLane(bytes, second + steps, third, b) +
    countLane(bytes, third + steps, fourth, c) + countLane(bytes, fourth + steps, end, d);
}

function countLane(bytes: Uint8Array, from: number, to: number, state: number): number {
  let count = 0;
  let step = state;
  for (let index = from; index < to; index++) {
    step = next(step, bytes[index] as number);
    count += step >> STATE_BITS;
  }
  return count;
}

function next(step: number, byte: number): number {
  return STEPS[((step & STATE_MASK) << 8) | byte] as number;
}

/** The first index from `index` on at which a character begins in any case: no continuation byte is there. */
function nextBorder(bytes: Uint8Array, index: number): number {
  let border = index;
  while (border < bytes.length && ((bytes[border] as number) & 0xc0) === 0x80) border++;
  return border;
}

function makeSteps(): Uint8Array {
  const steps = new Uint8Array(CONTINUATIONS.length << 8);
  CONTINUATIONS.forEach(([low, high, after], state) => {
    for (let byte = 0; byte < 256; byte++) {
      const continues = byte >= low && byte <= high;
      steps[(state << 8) | byte] = continues ? after : (1 << STATE_BITS) | stateAfterLead(byte);
    }
  });
  return steps;
}

function stateAfterLead(byte: number): number {
  if (byte < 0xc2 || byte > 0xf4) return ANY;
  if (byte < 0xe0) return 1;
  if (byte < 0xf0) return byte === 0xe0 ? 4 : byte === 0xed ? 5 : 2;
  return byte === 0xf0 ? 6 : byte === 0xf4 ? 7 : 3;
}
