/**
 * Bytes as base64.
 *
 * @module
 */

/** Arguments that a call may have on every runtime. */
const PIECE_BYTES = 8_192;

/** Bytes as base64, padded. */
export function base64Of(bytes: Uint8Array): string {
  let characters = "";
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    characters += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES));
  }
  return btoa(characters);
}
