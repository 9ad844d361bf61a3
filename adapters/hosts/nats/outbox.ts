/**
 * A command's output on its node: kept from being read until the gateway has it.
 *
 * @module
 */
import type { StreamName } from "../../../mod.ts";

/** A piece of output. */
export interface Piece {
  /** Where it came from. */
  readonly stream: StreamName;
  /** Offset of its first byte in all of the command's output. */
  readonly offset: number;
  /** The bytes. */
  readonly bytes: Uint8Array;
}

/** Output that waits to be acknowledged. */
export interface Outbox {
  /** Takes what was read. */
  add(stream: StreamName, bytes: Uint8Array): void;
  /** The next piece to send, if the gateway may be sent any. */
  next(): Piece | undefined;
  /**
   * The gateway has everything up to there.
   *
   * @param offset what it has; more than was sent is not believed
   * @param limit up to which offset it may be sent more
   */
  acknowledge(offset: number, limit: number): void;
  /** What is not acknowledged is to be sent again. */
  rewind(): void;
  /** Forgets everything that was not acknowledged: nobody wants it any more. */
  clear(): void;
  /** Offset up to which it has been sent. */
  sent(): number;
  /** Offset of its end. */
  total(): number;
  /** Bytes that are kept. */
  held(): number;
}

/** Pieces smaller than that are put together while they wait, bytes: they would take more memory than their bytes. */
const SMALL_BYTES = 4_096;

/** What they are put together in, bytes. */
const TRAY_BYTES = 16_384;

/** A piece in a tray that has room for more. */
interface Tray {
  readonly piece: Piece;
  readonly memory: Uint8Array;
}

/**
 * Nothing was read yet.
 *
 * @param chunkBytes most bytes of a piece to send
 * @param firstLimit up to which offset may be sent
 */
export function createOutbox(chunkBytes: number, firstLimit: number): Outbox {
  const smallBytes = Math.min(SMALL_BYTES, chunkBytes);
  const trayBytes = Math.min(TRAY_BYTES, chunkBytes);
  let pieces: Piece[] = []; // none longer than chunkBytes
  let position = 0; // of the next to be sent, in pieces
  let acknowledged = 0;
  let total = 0;
  let limit = firstLimit;
  let tray: Tray | undefined;

  const sent = (): number => pieces[position]?.offset ?? total;

  function push(piece: Piece): void {
    pieces.push(piece);
    total += piece.bytes.length;
  }

  /** Adds to the last piece, if that waits as well and is in a tray with room. */
  function fits(stream: StreamName, bytes: Uint8Array): boolean {
    const last = pieces.length - 1;
    if (tray === undefined || position > last || pieces[last] !== tray.piece || tray.piece.stream !== stream) {
      return false;
    }
    const { memory, piece } = tray;
    const used = piece.bytes.length;
    if (used + bytes.length > memory.length) return false;
    memory.set(bytes, used);
    const longer = { ...piece, bytes: memory.subarray(0, used + bytes.length) };
    pieces[last] = longer;
    tray = { memory, piece: longer };
    total += bytes.length;
    return true;
  }

  function add(stream: StreamName, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (bytes.length <= smallBytes && position < pieces.length) {
      if (fits(stream, bytes)) return;
      const memory = new Uint8Array(trayBytes);
      memory.set(bytes);
      const piece = { stream, offset: total, bytes: memory.subarray(0, bytes.length) };
      tray = { memory, piece };
      push(piece);
      return;
    }
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      push({ stream, offset: total, bytes: bytes.subarray(at, at + chunkBytes) });
    }
  }

  return {
    add,
    next: () => {
      const piece = pieces[position];
      if (piece === undefined || piece.offset >= limit) return undefined;
      position++;
      return piece;
    },
    acknowledge: (offset, newLimit) => {
      if (offset > sent() || offset < acknowledged) return;
      acknowledged = offset;
      limit = Math.max(limit, newLimit);
      let done = 0;
      for (; done < position; done++) {
        const piece = pieces[done];
        if (piece === undefined || piece.offset + piece.bytes.length > offset) break;
      }
      if (done === 0) return;
      pieces = pieces.slice(done);
      position -= done;
    },
    rewind: () => void (position = 0),
    clear: () => {
      pieces = [];
      position = 0;
      acknowledged = total;
    },
    sent,
    total: () => total,
    held: () => total - acknowledged,
  };
}
