/**
 * Pages of bytes as they came (spec R4).
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { readBytes } from "../src/output/byte_page.ts";
import { encode, logOf, logOfChunks } from "./output_samples.ts";

test("R4 a page of bytes is as long as fits, and the next one begins where it ends", () => {
  const log = logOf("0123456789", "abcdefghijklmno");
  assertEquals(readBytes(log, 0, undefined, 16), { base64: btoa("0123456789ab"), from: 0, to: 12, total: 25 });
  assertEquals(readBytes(log, 12, undefined, 19), { base64: btoa("cdefghijklmn"), from: 12, to: 24, total: 25 });
  assertEquals(readBytes(log, 24, undefined, 16), { base64: btoa("o"), from: 24, to: 25, total: 25 });
  assertEquals(readBytes(log, 25, undefined, 16), { base64: "", from: 25, to: 25, total: 25 });
  assertEquals(readBytes(log, 99, undefined, 16), { base64: "", from: 25, to: 25, total: 25 });
});

test("R4 a page of one stream has that stream's bytes of the same stretch", () => {
  const log = logOfChunks([
    { stream: "stdout", bytes: encode("out") },
    { stream: "stderr", bytes: encode("err") },
    { stream: "stdout", bytes: Uint8Array.of(0xff, 0x00) },
  ]);
  assertEquals(readBytes(log, 0, "stdout", 1_000), { base64: btoa("out\xff\0"), from: 0, to: 8, total: 8 });
  assertEquals(readBytes(log, 0, "stderr", 1_000).base64, btoa("err"));
});
