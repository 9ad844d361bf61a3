/**
 * `sensitive: true`: what is typed is a secret, and its echo is kept out of the log.
 *
 * @module
 */
import type { Session } from "../session/session.ts";

const TAB = 0x09;
const DELETE = 0x7f;

/**
 * Has the echo of a secret replaced from now on. Stretch by stretch between control characters: a terminal echoes line
 * ends and other controls in its own way, and the Enter after a secret is not part of it.
 */
export function keepSecret(session: Session, bytes: Uint8Array): void {
  let start = 0;
  for (let index = 0; index <= bytes.length; index++) {
    const byte = bytes[index];
    if (byte !== undefined && (byte === TAB || (byte >= 0x20 && byte !== DELETE))) continue;
    if (index > start) session.redact(bytes.subarray(start, index));
    start = index + 1;
  }
}
