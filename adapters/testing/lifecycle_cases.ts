/**
 * What can be done with a child after its end, and what letting go of it does.
 *
 * @module
 */
import { type Bench, forEachOf, TERMINAL_SIZE } from "./bench.ts";
import { type CaseDefinition, eitherWay, inTerminal, onPipes } from "./case.ts";
import { expectEqual, expectRejection, expectThat } from "./expect.ts";

const MANY_CHILDREN = 40;
const MANY_ENDS = 120;
const KEPT_BY_THE_RUNTIME = 8; // descriptors of thread pools and the like; a leak would be one a child at least

/** Cases of ended and released children. */
export const lifecycleCases: readonly CaseDefinition[] = [
  ...eitherWay("every method is safe after the exit", [], async (bench) => {
    const run = await bench.sh("exit 3", { stdin: "open" });
    expectEqual(await run.finish(), { code: 3 }, "the exit");
    for (let round = 1; round <= 2; round++) {
      expectEqual(run.child.signal("SIGTERM", "child"), "gone", "a signal to the child");
      expectEqual(run.child.signal("SIGTERM", "group"), "gone", "a signal to the group");
      await expectRejection(run.write("x"), "stdin-closed", "a write");
      await run.child.endInput();
      run.child.resize?.(TERMINAL_SIZE);
      expectEqual(await run.child.inspector?.tree() ?? [], [], "the process tree");
      run.child.release();
    }
    expectEqual(await run.exit(), { code: 3 }, "the exit, asked for again");
  }),

  ...eitherWay("a release closes the child's streams, tells the end, and signals nothing", [
    "release",
  ], async (bench) => {
    const run = await bench.sh("trap '' HUP; echo up; cat >/dev/null 2>&1; exit 6", { stdin: "open" });
    await run.seen("up");
    run.child.release();
    run.child.release();
    await bench.until(run.isOver, "the end of the output");
    expectEqual(await run.exit(), { code: 6 }, "the exit of a child that reads until the end");
  }),

  onPipes("a child that prints on after a release is ended by SIGPIPE", ["release", "signal-names"], async (bench) => {
    const run = await bench.sh("while :; do echo more; sleep 0.05; done");
    await run.seen("more");
    run.child.release();
    expectEqual(await run.exit(), { signal: "SIGPIPE" }, "the exit");
  }),

  inTerminal("a child goes with its terminal when that is released", ["release", "signal-names"], async (bench) => {
    const run = await bench.sh("echo up; exec sleep 60");
    await run.seen("up");
    run.child.release();
    expectEqual(await run.exit(), { signal: "SIGHUP" }, "the exit");
  }),

  onPipes("at any moment of its end a child may be made to keep the process alive, and not to", [], async (bench) => {
    await forEachOf(Array.from({ length: Math.min(MANY_ENDS, bench.starts) }, (_, index) => index), async (index) => {
      const run = await bench.start(["true"]);
      let isOver = false;
      const exit = run.exit().finally(() => isOver = true);
      exit.catch(() => {}); // told below
      while (!isOver) {
        const until = performance.now() + index % 5; // a runtime may see an end while it is busy, and tell it later
        while (performance.now() < until);
        run.child.keepAlive?.(true);
        run.child.keepAlive?.(false);
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      await exit;
      run.child.release();
      run.child.keepAlive?.(false);
    });
  }),

  ...eitherWay("neither ended children nor failed spawns leave a descriptor", ["descriptors"], async (bench) => {
    const startMany = (): Promise<void> =>
      forEachOf(Array.from({ length: Math.min(MANY_CHILDREN, bench.starts) }), async () => {
        const run = await bench.start(["true"], { stdin: "open" });
        await run.finish();
        run.child.release();
        await bench.start(["no-such-program-anywhere"]).catch(() => {});
      });
    await startMany(); // what the runtime opens once and for all is open then
    const before = bench.descriptors();
    await startMany();
    await untilClosed(bench, before);
  }),

  ...eitherWay("children that were released while they ran leave no descriptor", ["descriptors", "release"], async (
    bench,
  ) => {
    const before = bench.descriptors();
    const many = Math.min(MANY_CHILDREN, bench.starts);
    const runs = await Promise.all(
      Array.from({ length: many }, () => bench.start(["sleep", "60"], { stdin: "open" })),
    );
    expectThat(bench.descriptors() >= before + many, "a child that runs holds a descriptor");
    for (const { child } of runs) child.release();
    for (const run of runs) {
      run.child.signal("SIGKILL", "child"); // one that could tell of its exit may have been kept until then
      await run.exit();
    }
    await untilClosed(bench, before);
  }),
];

function untilClosed(bench: Bench, before: number): Promise<void> {
  return bench.until(() => bench.descriptors() < before + KEPT_BY_THE_RUNTIME, "the descriptors to be closed");
}
