/**
 * What a gateway wants done to a command on a node: numbered, kept until the node has applied it, and told when it is
 * done with.
 *
 * @module
 */

/** Something to be done, with its place in the order. */
export interface Order {
  /** Its place. */
  readonly number: number;
  /** Input, or another control. */
  readonly kind: "write" | "control";
  /** What the frame carries. */
  readonly payload: Uint8Array;
}

/** Orders for one command. */
export interface OrderBook {
  /** Orders at once, ahead of input that waits. */
  control(payload: Uint8Array): void;
  /** Orders after all input that waits; resolves when it is done with. */
  afterInput(payload: Uint8Array): Promise<void>;
  /** Orders input to be written; resolves when it is taken, rejects if it was refused. */
  write(bytes: Uint8Array): Promise<void>;
  /** The node has applied the orders up to `applied`, and done with those up to `settled`. */
  hear(applied: number, settled: number, refusedFrom: number | undefined): void;
  /** Sends again what the node may not have. */
  repeat(): void;
  /** Whether an order was not applied for that long, ms. */
  waitsFor(ms: number): boolean;
  /** Nothing will be done any more: what waits is refused. */
  close(): void;
}

/** Input that waits for its turn, or for its end. */
interface Waiting {
  readonly kind: Order["kind"];
  readonly payload: Uint8Array;
  readonly done?: { resolve(): void; reject(): void };
}

/** Input that is under way and not taken yet, bytes: what a slow reader makes the node keep. */
const UNDER_WAY_BYTES = 262_144;

/**
 * Nothing is ordered.
 *
 * @param send sends an order to the node, now
 * @param refusal the error of a write that was refused
 * @param pieceBytes most bytes in one order: more are several
 */
export function createOrderBook(
  send: (order: Order) => void,
  refusal: () => Error,
  pieceBytes: number,
): OrderBook {
  let last = 0;
  let applied = 0;
  let sentAt = 0;
  let queue: Waiting[] = [];
  let isClosed = false;
  let underWayBytes = 0;
  const unapplied = new Map<number, Order>();
  const unsettled = new Map<number, Waiting>();

  function order(waiting: Waiting): void {
    const { kind, payload } = waiting;
    const next: Order = { number: ++last, kind, payload };
    if (unapplied.size === 0) sentAt = performance.now();
    unapplied.set(next.number, next);
    if (waiting.kind === "write") underWayBytes += payload.length;
    unsettled.set(next.number, waiting);
    send(next);
  }

  function advance(): void {
    while (queue.length > 0 && underWayBytes < UNDER_WAY_BYTES) order(queue.shift() as Waiting);
  }

  function enqueue(kind: Order["kind"], payload: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (isClosed) return reject(refusal());
      queue.push({ kind, payload, done: { resolve, reject: () => reject(refusal()) } });
      advance();
    });
  }

  return {
    control: (payload) => {
      if (!isClosed) order({ kind: "control", payload });
    },
    afterInput: (payload) => enqueue("control", payload).catch(() => {}),
    write: async (bytes) => {
      const pieces: Promise<void>[] = [];
      const own = bytes.slice(); // the caller may write to that memory once it has been answered, and we repeat ourselves
      for (let at = 0; at < own.length || at === 0; at += pieceBytes) {
        pieces.push(enqueue("write", own.subarray(at, at + pieceBytes)));
      }
      for (const { status } of await Promise.allSettled(pieces)) if (status === "rejected") throw refusal();
    },
    hear: (nowApplied, settled, refusedFrom = Infinity) => {
      if (nowApplied > last || settled > last) return;
      if (nowApplied > applied) sentAt = performance.now();
      for (const number of unapplied.keys()) {
        if (number > nowApplied) break;
        unapplied.delete(number);
      }
      applied = Math.max(applied, nowApplied);
      for (const [number, { kind, payload, done }] of unsettled) {
        if (number > settled) break;
        unsettled.delete(number);
        if (kind === "write") underWayBytes -= payload.length;
        if (kind === "write" && number >= refusedFrom) done?.reject();
        else done?.resolve();
      }
      advance();
    },
    repeat: () => {
      sentAt = performance.now();
      for (const order of unapplied.values()) send(order);
    },
    waitsFor: (ms) => unapplied.size > 0 && performance.now() - sentAt >= ms,
    close: () => {
      if (isClosed) return;
      isClosed = true;
      for (const { done } of [...unsettled.values(), ...queue]) done?.reject();
      unapplied.clear();
      unsettled.clear();
      queue = [];
    },
  };
}
