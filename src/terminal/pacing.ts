/**
 * How far apart two things have to be typed for a program not to take them for one.
 *
 * @module
 */

/** After Escape, so that the next key is not read as Alt; above vim's and tmux's usual escape times, ms. */
const AFTER_ESCAPE_MS = 150;

/** Text and Enter that arrive together are taken for a paste by many programs; they look this long at most, ms. */
const ENTER_APART_MS = 50;

const ESC = 0x1b;
const CR = 0x0d;

/**
 * The pause between two writes to a terminal, ms.
 *
 * @param last the byte that was written last; `undefined` if there was none
 * @param next what is to be written
 */
export function pauseBetween(last: number | undefined, next: Uint8Array): number {
  if (last === ESC) return AFTER_ESCAPE_MS;
  const isEnter = next.length === 1 && next[0] === CR;
  return isEnter && last !== undefined && last !== CR ? ENTER_APART_MS : 0;
}
