/**
 * The runner reads the reports of Node, Deno and Bun alike.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { test } from "node:test";
import { describeSkips, readReport } from "./runner_output.mjs";

const NODE = `✔ passes (0.694674ms)
﹣ needs a thing (0.100079ms) # no such thing here
✖ fails (0.137405ms)
▶ sub
  ✔ subtest (0.16ms)
  ﹣ inner one (0.1ms) # nor here
▶ sub (0.5ms)
ℹ tests 6
ℹ suites 0
ℹ pass 3
ℹ fail 1
ℹ cancelled 1
ℹ skipped 2
ℹ todo 0
ℹ duration_ms 182.3
`;

const BUN = `bun test v1.4.5 (a7733435c)

a_test.ts:
(pass) passes [0.77ms]
(skip) needs a thing
(skip) skips itself [0.05ms]
(fail) fails [1.12ms]

 1 pass
 2 skip
 1 fail
Ran 4 tests across 1 file. [30.00ms]
`;

const DENO = `running 3 tests from ./a_test.ts
passes ... \u001b[0m\u001b[32mok\u001b[0m (924µs)
needs a thing ... \u001b[0m\u001b[33mignored\u001b[0m (0ms)
fails ... \u001b[31mFAILED\u001b[0m (976µs)

\u001b[0m\u001b[31mFAILED\u001b[0m | 1 passed (2 steps) | 1 failed | 1 ignored \u001b[0m(9ms)
`;

test("readReport() counts what Node's spec reporter prints, cancelled tests as failures", () => {
  assertEquals(readReport("node", NODE, false), {
    passed: 3,
    failed: 2,
    skipped: [{ name: "needs a thing", reason: "no such thing here" }, { name: "inner one", reason: "nor here" }],
  });
});

test("readReport() counts what Bun prints", () => {
  assertEquals(readReport("bun", BUN, false), {
    passed: 1,
    failed: 1,
    skipped: [{ name: "needs a thing", reason: "" }, { name: "skips itself", reason: "" }],
  });
});

test("readReport() counts what Deno prints, in colour", () => {
  assertEquals(readReport("deno", DENO, false), {
    passed: 1,
    failed: 1,
    skipped: [{ name: "needs a thing", reason: "" }],
  });
});

test("readReport() takes the reason of a skip from what the test printed", () => {
  const output = `skipped because: only on Bun\n${DENO}`;
  assertEquals(readReport("deno", output, false).skipped, [{ name: "needs a thing", reason: "only on Bun" }]);
});

test("a run without a test, and one that ends badly after its tests passed, count as one failure", () => {
  assertEquals(readReport("node", "ℹ pass 0\nℹ fail 0\n", true).failed, 1);
  assertEquals(readReport("deno", "ok | 0 passed | 0 failed (7ms)\n", true).failed, 1);
  assertEquals(readReport("bun", " 2 pass\n 0 fail\n", false), { passed: 2, failed: 1, skipped: [] });
  assertEquals(readReport("bun", "Segmentation fault\n", false).failed, 1);
  assertEquals(readReport("bun", " 2 pass\n 0 fail\n", true).failed, 0);
});

test("describeSkips() groups by reason and names the tests while they are few", () => {
  const skipped = ["a", "b", "c", "d"].map((name) => ({ name, reason: "only on Bun" }));
  assertEquals(describeSkips(skipped), ["skipped 4 tests: only on Bun"]);
  assertEquals(describeSkips([{ name: "a", reason: "no /proc" }, { name: "b", reason: "" }]), [
    'skipped "a": no /proc',
    'skipped "b": the test gives no reason',
  ]);
});
