/**
 * Where characters begin and end in bytes that may or may not be UTF-8.
 *
 * Invalid bytes follow the Encoding Standard, as `TextDecoder` does: the longest start of a character that could have
 * become valid is one U+FFFD. So what is counted here is what will be decoded later.
 *
 * @module
 */

/** Longest UTF-8 character, in bytes. */
export const MAX_CHARACTER_BYTES = 4;

/** Never strips a byte order mark: it would vanish from the start of every piece, not only of the first. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes bytes that begin and end at character borders.
 *
 * @returns the text; each invalid sequence as one U+FFFD
 */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/**
 * Length of the character, or of the invalid sequence that decodes to one U+FFFD, at `index`.
 *
 * @param end where the bytes end, exclusive
 * @returns its bytes; negative when the bytes end before the character does
 */
export function characterAt(bytes: Uint8Array, index: number, end: number): number {
  const lead = bytes[index] as number;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (index + 1 >= end) return -1;
  const second = bytes[index + 1] as number;
  if (!isContinuation(second) || isExcluded(lead, second)) return 1;
  if (lead < 0xe0) return 2;
  if (index + 2 >= end) return -2;
  if (!isContinuation(bytes[index + 2] as number)) return 2;
  if (lead < 0xf0) return 3;
  if (index + 3 >= end) return -3;
  return isContinuation(bytes[index + 3] as number) ? 4 : 3;
}

/** Overlong forms, surrogates, and what is past U+10FFFF: some leads do not take every second byte. */
function isExcluded(lead: number, second: number): boolean {
  if (lead === 0xe0) return second < 0xa0;
  if (lead === 0xed) return second > 0x9f;
  if (lead === 0xf0) return second < 0x90;
  return lead === 0xf4 && second > 0x8f;
}

/**
 * How many bytes at the end are the start of a character whose rest may still come.
 *
 * @returns 0…3
 */
export function incompleteTail(bytes: Uint8Array): number {
  const end = bytes.length;
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= end; back++) {
    if (isContinuation(bytes[end - back] as number)) continue;
    return characterAt(bytes, end - back, end) === -back ? back : 0;
  }
  return 0;
}

/**
 * Moves an index back to the start of the character it lies in.
 *
 * @param bytes must begin at a character border
 * @returns `index` itself when a character begins there, or when it is the end
 */
export function characterStart(bytes: Uint8Array, index: number): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= index; back++) {
    if (!isContinuation(bytes[index - back] as number)) {
      return Math.abs(characterAt(bytes, index - back, bytes.length)) > back ? index - back : index;
    }
  }
  return index;
}

/**
 * Index just after the first `count` characters.
 *
 * @param bytes must begin at a character border
 * @returns at most `bytes.length`
 */
export function afterCharacters(bytes: Uint8Array, count: number): number {
  const end = bytes.length;
  let index = 0;
  for (let left = count; left > 0 && index < end; left--) {
    index += (bytes[index] as number) < 0x80 ? 1 : Math.abs(characterAt(bytes, index, end));
  }
  return index;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
