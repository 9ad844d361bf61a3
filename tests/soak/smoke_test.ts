/**
 * A few seconds of the soak, so that it cannot rot: `npm run soak` is the whole of it.
 *
 * @module
 */
import process from "node:process";
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { freshFolder, proc } from "../conformance/machine.ts";
import { closing, test } from "../closing.ts";
import { skipUnless } from "../skip.ts";
import { soak } from "./soak.ts";
import { createTally, growthOf, slopeOf } from "./tally.ts";

const skip = proc || skipUnless(process.platform === "linux", "descriptors are counted in /proc");

test(
  "E38 S2 S4 a few seconds of everything at once: every byte, every end, and nothing left behind",
  { skip },
  async () => {
    const folder = closing(await freshFolder());
    const tally = createTally();
    // Only what reaches no other test: descriptors that run out would be those of the runner as well
    await soak({ forMs: 3_000, roundMs: 1_500, seed: 1, folder: folder.path, tally, faults: false });
    assertEquals(tally.losses, []);
    assert(tally.commands > 0 && tally.exits > 0 && tally.bytes > 0, "it has done something");
  },
);

test("the growth of a heap is that of the rounds after the first, and no noise", () => {
  const heap = (...bytes: readonly number[]) => bytes.map((each, index) => ({ commands: 10 * index, bytes: each }));
  assertLess(Math.abs(slopeOf(heap(900, 100, 120, 140)) - 2), 1e-9);
  assertEquals(slopeOf(heap(900, 100)), 0);
  const mb = 1_000_000;
  assertEquals(growthOf(heap(...[90, 20, 23, 20, 22, 21, 23].map((each) => each * mb))), undefined);
  assertMatch(
    growthOf(heap(...[9, 20, 22, 25, 28, 31, 34].map((each) => each * mb))) ?? "",
    /from 22000000 to 31000000/,
  );
  assertEquals(growthOf(heap(1, 2, 3)), undefined);
});
