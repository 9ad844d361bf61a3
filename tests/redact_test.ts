/**
 * Secrets that were typed never get into the log, however the output is cut (spec P31).
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import fc from "./property.ts";
import { test } from "node:test";
import type { StreamName } from "../mod.ts";
import { createRedactor } from "../src/session/redact.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Feeds text in pieces of the given sizes and gives what may be logged. */
function redacted(secrets: readonly string[], text: string, sizes: readonly number[]): string {
  const redactor = createRedactor();
  for (const secret of secrets) redactor.add(encoder.encode(secret));
  const bytes = encoder.encode(text);
  let out = "";
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    for (const piece of redactor.feed("stdout", bytes.subarray(at, at + size))) out += decoder.decode(piece);
    at += size;
  }
  for (const [, piece] of redactor.finish()) out += decoder.decode(piece);
  return out;
}

// few letters, so that secrets overlap, repeat and begin within each other; none of them is in "[redacted]"
const text = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom("x", "y", "z"), { minLength, maxLength }).map((letters) => letters.join(""));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });
const secretLists = fc.array(text(4, 9), { minLength: 1, maxLength: 3 });

test("P31 [93] whatever the secrets and wherever the output is split, none of them appears", () => {
  fc.assert(fc.property(secretLists, text(0, 60), sizes, (secrets, output, cuts) => {
    const out = redacted(secrets, output, cuts);
    assert(secrets.every((secret) => !out.includes(secret)), `${JSON.stringify(secrets)} in ${out}`);
  }));
});

test("P31 with one secret the split makes no difference, and nothing else is changed or lost", () => {
  fc.assert(fc.property(text(4, 9), text(0, 60), sizes, (secret, output, cuts) => {
    assertEquals(redacted([secret], output, cuts), output.replaceAll(secret, "[redacted]"));
  }));
});

test("P31 of two secrets of which one begins with the other nothing of the longer one is left over", () => {
  for (const secrets of [["pass", "password1"], ["password1", "pass"]]) {
    for (const size of [1, 6, 100]) assertEquals(redacted(secrets, "a password1 b", [size]), "a [redacted] b");
  }
});

test("P31 output without a secret's beginning is given at once", () => {
  fc.assert(fc.property(fc.string(), (output) => {
    const redactor = createRedactor();
    redactor.add(encoder.encode("\u0001secret"));
    const out = redactor.feed("stdout", encoder.encode(`${output}.`)).map((piece) => decoder.decode(piece)).join("");
    assertEquals(out.includes(output.split("\u0001")[0] ?? ""), true);
  }));
});

test("P31 a secret is found where one like it has just begun", () => {
  assertEquals(redacted(["aab1"], "aaab1 aaaaab1", [100]), "a[redacted] aaa[redacted]");
});

test("P31 a whole secret is replaced at once, even as the last that has come", () => {
  const redactor = createRedactor();
  redactor.add(encoder.encode("secret"));
  const out = redactor.feed("stdout", encoder.encode("a secret")).map((piece) => decoder.decode(piece)).join("");
  assertEquals(out, "a [redacted]");
});

test("P31 a short secret is replaced once, at its echo, for it occurs in innocent text too", () => {
  assertEquals(redacted(["42"], "PIN: 42\n42 files\n", [3]), "PIN: [redacted]\n42 files\n");
});

test("P31 a secret of four characters is watched for as long as the session lives", () => {
  assertEquals(redacted(["pass"], "pass pass", [4]), "[redacted] [redacted]");
});

test("P31 the echo of a short secret ends the watch for that one alone", () => {
  assertEquals(
    redacted(["ab", "long secret", "xy"], "ab ab long secret xy xy long secret", [7]),
    [
      ...["[redacted]", "ab", "[redacted]", "[redacted]", "xy", "[redacted]"],
    ].join(" "),
  );
});

test("P31 each stream is watched by itself", () => {
  const redactor = createRedactor();
  redactor.add(encoder.encode("secret"));
  const feed = (stream: StreamName, piece: string): string =>
    redactor.feed(stream, encoder.encode(piece)).map((bytes) => decoder.decode(bytes)).join("");
  assertEquals([feed("stdout", "a sec"), feed("stderr", "b sec"), feed("stdout", "ret c")], [
    "a ",
    "b ",
    "[redacted] c",
  ]);
  assertEquals(redactor.finish().map(([stream, bytes]) => [stream, decoder.decode(bytes)]), [["stderr", "sec"]]);
});

test("P31 an empty secret is none", () => {
  assertEquals(redacted([""], "abc", [1]), "abc");
});
