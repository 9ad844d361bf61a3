/**
 * A slice of `npm run fuzz`, always the same, and what it has found before.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { FOUND } from "./fuzz/found.ts";
import { PARTS } from "./fuzz/parts.ts";
import type { OpenPart } from "./fuzz/target.ts";

/** Inputs of each part in the slice. Growth is left out: it is measured, and busy machines measure badly. */
const SLICE: Readonly<Record<string, number>> = {
  parameters: 500,
  http: 200,
  mcp: 60,
  output: 4_000,
  sockets: 60,
  settings: 400,
};

/** A slice that takes longer hangs, ms. */
const BOUND_MS = 120_000;

for (const { name, open } of PARTS.filter(({ name }) => name in SLICE)) {
  test(`nothing that comes breaks it: ${name}`, async () => {
    const part = await open();
    try {
      for (const [, target, input] of FOUND.filter(([part]) => part === name)) {
        await targetOf(part, target).again(input());
      }
      const weights = part.targets.reduce((sum, { weight }) => sum + weight, 0);
      for (const { name: target, weight, fuzz } of part.targets) {
        const runs = Math.floor((SLICE[name] ?? 0) * weight / weights);
        const { fault } = await fuzz({ seed: 1, runs, ms: BOUND_MS });
        assertEquals(fault, undefined, `${name} ${target}, seed 1: ${fault?.message}: ${fault?.input}`);
      }
    } finally {
      await part[Symbol.asyncDispose]();
    }
  });
}

function targetOf({ targets }: OpenPart, name: string): OpenPart["targets"][number] {
  const found = targets.find((target) => target.name === name);
  if (found === undefined) throw new Error(`There is no target "${name}"`);
  return found;
}
