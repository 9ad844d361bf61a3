/**
 * The parts that keep what goes over NATS whole, on a line that loses messages at will.
 *
 * @module
 */
import { test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { decodeFrame, encodeFrame, type FrameKind } from "../adapters/hosts/nats/frame.ts";
import { createInbox } from "../adapters/hosts/nats/inbox.ts";
import { createOrderBook, type Order } from "../adapters/hosts/nats/order_book.ts";
import { createOutbox } from "../adapters/hosts/nats/outbox.ts";
import { isNodeId, subjectsOf } from "../adapters/hosts/nats/protocol.ts";

const CHUNK = 64;
const WINDOW = 200;

test("output arrives whole and in order, whatever of it and of its acknowledgements is lost", () => {
  const steps = fc.array(
    fc.record({ size: fc.nat(150), isLost: fc.boolean(), isAckLost: fc.boolean(), isAskedAgain: fc.boolean() }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(fc.property(steps, (given) => {
    const outbox = createOutbox(CHUNK, WINDOW);
    const inbox = createInbox();
    const sent: number[] = [];
    const came: number[] = [];
    const pump = (isLost: boolean): void => {
      for (let piece = outbox.next(); piece !== undefined; piece = outbox.next()) {
        assertEquals(piece.bytes.length <= CHUNK, true);
        if (!isLost) came.push(...inbox.take(piece.offset, piece.bytes) ?? []);
      }
    };
    const acknowledge = (isAskedAgain: boolean): void => {
      outbox.acknowledge(inbox.received(), inbox.received() + WINDOW);
      if (isAskedAgain) outbox.rewind();
    };
    for (const { size, isLost, isAckLost, isAskedAgain } of given) {
      const bytes = Uint8Array.from({ length: size }, (_, index) => (sent.length + index) % 251);
      sent.push(...bytes);
      outbox.add("stdout", bytes);
      pump(isLost);
      if (!isAckLost) acknowledge(isAskedAgain);
    }
    for (let round = 0; outbox.held() > 0 && round < 1_000; round++) {
      acknowledge(true);
      pump(false);
    }
    acknowledge(false);
    assertEquals(came, sent);
    assertEquals([outbox.held(), outbox.total(), outbox.sent()], [0, sent.length, sent.length]);
  }));
});

test("an acknowledgement of what was never sent is not believed", () => {
  const outbox = createOutbox(CHUNK, 10);
  outbox.add("stdout", new Uint8Array(100));
  assertEquals(outbox.next()?.bytes.length, CHUNK);
  assertEquals(outbox.next(), undefined);
  outbox.acknowledge(90, 1_000);
  assertEquals([outbox.held(), outbox.next()], [100, undefined]);
});

test("orders are applied once and in order, whatever is lost; a signal goes ahead of input that waits", async () => {
  const sent: Order[] = [];
  const book = createOrderBook((order) => void sent.push(order), () => new Error("refused"), 32_768);
  let isWritten = false;
  const writing = book.write(new Uint8Array(400_000)).then(() => isWritten = true);
  book.control(Uint8Array.of(1));
  assertEquals(sent.map(({ kind }) => kind), [...Array(8).fill("write"), "control"]);
  assertEquals(sent.map(({ number }) => number), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  book.hear(3, 0, undefined);
  book.repeat();
  assertEquals(sent.slice(9).map(({ number }) => number), [4, 5, 6, 7, 8, 9]);
  book.hear(99, 99, undefined); // never ordered
  assertEquals(isWritten, false);
  book.hear(9, 9, undefined);
  const last = sent.at(-1)?.number ?? 0;
  book.hear(last, last, undefined);
  await writing;
  const refused = book.write(Uint8Array.of(1));
  book.hear(last + 1, last + 1, last + 1);
  await assertRejects(() => refused, Error, "refused");
  const waiting = book.write(Uint8Array.of(1));
  book.close();
  await assertRejects(() => waiting, Error, "refused");
  await assertRejects(() => book.write(Uint8Array.of(1)), Error, "refused");
});

test("a frame is what it was before; bytes that are none are none", () => {
  const kinds: readonly FrameKind[] = ["stdout", "stderr", "terminal", "progress", "ack", "write", "control"];
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.stringMatching(/^[a-z0-9]{8,64}$/),
      fc.maxSafeNat(),
      fc.uint8Array(),
      (kind, link, number, payload) => {
        const frame = { kind, link, number, payload };
        const { payload: same, ...rest } = decodeFrame(encodeFrame(frame)) ?? frame;
        assertEquals([rest, [...same]], [{ kind, link, number }, [...payload]]);
      },
    ),
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => void decodeFrame(bytes)));
  assertEquals(decodeFrame(new Uint8Array()), undefined);
});

test("a node's id is one token of a subject, and no word that means another thing", () => {
  for (const id of ["builder-1", "a", "A_b-9"]) assertEquals(isNodeId(id), true);
  for (const id of ["", "any", "a.b", "*", ">", "a b", "-a", "ä", "a".repeat(65)]) assertEquals(isNodeId(id), false);
  const subjects = subjectsOf("my.fleet");
  assertEquals(subjects.nodeOf(subjects.from("builder-1", "g")), "builder-1");
  assertEquals(subjects.nodeOf(subjects.beatOf("builder-1")), "builder-1");
});
