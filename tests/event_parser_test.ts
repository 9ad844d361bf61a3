/**
 * Server-sent events as the client reads them.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { createEventParser, type StreamMessage } from "../adapters/http/client/event_parser.ts";
import fc from "./property.ts";

test("a message has its type, its data and its id", () => {
  assertEquals(createEventParser()('event: output\nid: 12\ndata: {"a":1}\n\n'), [
    { event: "output", data: '{"a":1}', id: "12" },
  ]);
});

test("without a type it is a message, lines of data are joined, and one space after the colon is no part of it", () => {
  assertEquals(createEventParser()("data:one\ndata:  two\ndata\n\n"), [
    { event: "message", data: "one\n two\n", id: undefined },
  ]);
});

test("comments, retry, unknown fields and messages without data say nothing", () => {
  assertEquals(createEventParser()(": ping\n\nretry: 5\nevent: output\nid: 7\n\nfoo: bar\n\ndata: x\n\n"), [
    { event: "message", data: "x", id: undefined },
  ]);
});

test("what is not whole yet is kept until it is", () => {
  const parse = createEventParser();
  assertEquals(parse("data: on"), []);
  assertEquals(parse("e\n"), []);
  assertEquals(parse("\ndata: tw"), [{ event: "message", data: "one", id: undefined }]);
});

test("wherever a stream is cut, and however its lines end, the messages are the same", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n\0]/g, ""));
  const messages = fc.array(fc.record({ data: fc.array(line, { minLength: 1 }), id: fc.option(line) }));
  const ends = fc.constantFrom("\n", "\r", "\r\n");
  fc.assert(
    fc.property(messages, ends, fc.array(fc.nat(20)), (sent, end, cuts) => {
      const stream = sent.map(({ data, id }) =>
        [": ping", "event: e", ...data.map((text) => `data: ${text}`), ...(id === null ? [] : [`id: ${id}`]), "", ""]
          .join(end)
      ).join("");
      const parse = createEventParser();
      const found: StreamMessage[] = [];
      let at = 0;
      for (const length of [...cuts, stream.length]) {
        found.push(...parse(stream.slice(at, at + length)));
        at += length;
      }
      assertEquals(found, sent.map(({ data, id }) => ({ event: "e", data: data.join("\n"), id: id ?? undefined })));
    }),
  );
});
