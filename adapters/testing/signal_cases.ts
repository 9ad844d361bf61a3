/**
 * Whom a signal reaches, and what is said about it.
 *
 * @module
 */
import { type CaseDefinition, eitherWay } from "./case.ts";
import { expectEqual, expectThat, sleep } from "./expect.ts";
import type { Run } from "./bench.ts";

/** A shell and a child of it, which each say so when SIGUSR1 reaches them. */
const TWO_GENERATIONS = `
  (trap 'echo inner' USR1; echo inner up; while :; do sleep 0.05; done) &
  trap 'echo outer' USR1; echo outer up; while :; do sleep 0.05; done`;
const QUIET_MS = 300; // of something that prints every 50 ms

/** Cases of signals. */
export const signalCases: readonly CaseDefinition[] = [
  ...eitherWay("a signal to the child alone reaches nobody else", ["signals"], async (bench) => {
    const run = await bench.sh(TWO_GENERATIONS);
    await run.seen("inner up\n");
    await run.seen("outer up\n");
    expectEqual(run.child.signal("SIGUSR1", "child"), "sent", "the signal");
    await run.seen("outer\n");
    await sleep(QUIET_MS);
    expectThat(!run.text().includes("inner\n"), "the child's child got nothing");
  }),

  ...eitherWay("a signal to the group reaches the child's children too", ["signals", "groups"], async (bench) => {
    const run = await bench.sh(TWO_GENERATIONS);
    await run.seen("inner up\n");
    await run.seen("outer up\n");
    expectEqual(run.child.groupAnswers?.(), true, "whether the group answers");
    expectEqual(run.child.signal("SIGUSR1", "group"), "sent", "the signal");
    await run.seen("outer\n");
    await run.seen("inner\n");
  }),

  ...eitherWay("SIGKILL to the group ends whoever holds the output", ["groups"], async (bench) => {
    const run = await bench.sh("sleep 60 & (sleep 60 & wait) & echo up; wait");
    await run.seen("up");
    expectEqual(run.child.signal("SIGKILL", "group"), "sent", "the signal");
    await run.finish();
  }),

  ...eitherWay("a group of one answers until it has ended", ["groups"], async (bench) => {
    const run = await bench.sh("echo up; exec sleep 60");
    await run.seen("up");
    expectEqual(run.child.groupAnswers?.(), true, "whether the group answers");
    run.child.signal("SIGKILL", "group");
    await run.finish();
    await bench.until(() => run.child.groupAnswers?.() === false, "the group to answer no more");
  }),

  ...eitherWay("a second signal arrives after a first that was ignored", ["signals"], async (bench) => {
    const run = await bench.sh("trap 'echo ignored' TERM; trap 'exit 3' USR1; echo up; while :; do sleep 0.05; done");
    await run.seen("up");
    expectEqual(run.child.signal("SIGTERM", "child"), "sent", "the first signal");
    await run.seen("ignored");
    expectEqual(run.child.signal("SIGUSR1", "child"), "sent", "the second signal");
    await run.exit();
  }),

  ...eitherWay("a child is stopped, goes on, and is ended while it is stopped", ["signals"], async (bench) => {
    const run = await bench.sh("while :; do echo alive; sleep 0.05; done");
    await run.seen("alive");
    run.child.signal("SIGSTOP", "child");
    await bench.until(() => isQuiet(run), "silence");
    const before = run.text().length;
    run.child.signal("SIGCONT", "child");
    await bench.until(() => run.text().length > before, "more output");
    run.child.signal("SIGSTOP", "child");
    expectEqual(run.child.signal("SIGKILL", "child"), "sent", "the last signal");
    await run.exit();
  }),
];

async function isQuiet(run: Run): Promise<boolean> {
  const before = run.text().length;
  await sleep(QUIET_MS);
  return run.text().length === before;
}
