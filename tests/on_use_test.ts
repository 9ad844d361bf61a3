/**
 * Loading on use: once, at once afterwards, and again after a failure.
 *
 * @module
 */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { test } from "node:test";
import { onUse } from "../src/on_use.ts";
import { settle } from "./fakes/clock.ts";

/** A loader that counts its calls; the first `failures` of them fail. */
function counted(failures = 0): { readonly load: () => Promise<number>; readonly calls: () => number } {
  let calls = 0;
  const load = (): Promise<number> =>
    ++calls > failures ? Promise.resolve(calls) : Promise.reject(new Error(`no file ${calls}`));
  return { load, calls: () => calls };
}

const same = (value: number): Promise<number> => Promise.resolve(value);

test("what is used is loaded once, however many use it meanwhile", async () => {
  const { load, calls } = counted();
  const lazy = onUse(load);
  assertEquals(calls(), 0);
  assertEquals(await Promise.all([lazy.use(same), lazy.use(same)]), [1, 1]);
  assertEquals(await lazy.use(same), 1);
  assertEquals(calls(), 1);
});

test("once it is loaded, a use happens within the call", async () => {
  const lazy = onUse(counted().load);
  await lazy.use(same);
  let used = false;
  void lazy.use((value) => {
    used = true;
    return same(value);
  });
  assertEquals(used, true);
});

test("what has been used can be had within the call, and nothing before", async () => {
  const lazy = onUse(counted().load);
  assertThrows(() => lazy.used(), TypeError, "not been used");
  await lazy.use(same);
  assertEquals(lazy.used(), 1);
});

test("those who use it before it is loaded get it in the order of their calls", async () => {
  const lazy = onUse(counted().load);
  const order: string[] = [];
  const note = (name: string) => (value: number): Promise<number> => {
    order.push(name);
    return same(value);
  };
  await Promise.all([lazy.use(note("first")), lazy.use(note("second")), lazy.use(note("third"))]);
  assertEquals(order, ["first", "second", "third"]);
});

test("a load that fails is told to those who use it, and the next use tries again", async () => {
  const { load, calls } = counted(1);
  const lazy = onUse(load);
  await assertRejects(() => lazy.use(same), Error, "no file 1");
  assertEquals(await lazy.use(same), 2);
  assertEquals(calls(), 2);
});

test("a load that was only begun fails in silence, and the use after it tries again", async () => {
  const lazy = onUse(counted(1).load);
  lazy.begin();
  await settle();
  assertEquals(await lazy.use(same), 2);
});
