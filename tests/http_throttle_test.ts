/**
 * The wait of those who guess tokens, and how tokens are looked up.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { test } from "node:test";
import { createThrottle, networkOf } from "../adapters/http/throttle.ts";
import { createTokenTable } from "../adapters/http/tokens.ts";

test("ten failures in a minute are answered, then there is a wait until that minute is over", () => {
  let time = 0;
  const throttle = createThrottle(() => time);
  for (let failure = 0; failure < 10; failure++) {
    assertEquals(throttle.waitSeconds("a"), 0);
    throttle.failed("a");
    time += 1_000;
  }
  assertEquals([throttle.waitSeconds("a"), throttle.waitSeconds("b")], [50, 0]);
  time = 59_999;
  assertEquals(throttle.waitSeconds("a"), 1);
  time = 60_000;
  assertEquals(throttle.waitSeconds("a"), 0);
});

test("whoever has many addresses does not fill the memory, and frees nobody but the oldest", () => {
  const throttle = createThrottle(() => 0);
  for (const address of ["first", "last"]) for (let failure = 0; failure < 10; failure++) throttle.failed(address);
  for (let index = 0; index < 9_999; index++) throttle.failed(`10.0.${index >> 8}.${index & 255}`);
  assertEquals([throttle.waitSeconds("first") > 0, throttle.waitSeconds("last") > 0], [false, true]);
});

test("the addresses of one IPv6 network are one", () => {
  const network = "2001:db8:0:1";
  for (const address of ["2001:db8:0:1::1", "2001:DB8:0:1:ffff::", "2001:0db8:0000:0001:1:2:3:4", "2001:db8:0:1::"]) {
    assertEquals(networkOf(address), network, address);
  }
  assertEquals([networkOf("::1"), networkOf("2001:db8::1")], ["0:0:0:0", "2001:db8:0:0"]);
  for (const address of ["127.0.0.1", "::ffff:10.0.0.1", "unknown"]) assertEquals(networkOf(address), address);
});

test("a token has its scope, and a name that does not tell it", () => {
  const tokens = createTokenTable(new Map([["t-one", "one"], ["t-two", "two"], ["t-other", "one"]]));
  assertEquals(["t-one", "t-two", "t-other"].map((token) => tokens.find(token)?.scope), ["one", "two", "one"]);
  for (const token of ["", "t", "t-on", "t-one ", "T-ONE"]) assertEquals(tokens.find(token), undefined, token);
  const digest = tokens.find("t-one")?.digest ?? "";
  assert(digest !== createTokenTable(new Map([["t-one", "one"]])).find("t-one")?.digest);
});
