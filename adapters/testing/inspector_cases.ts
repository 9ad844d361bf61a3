/**
 * What an inspector sees of a child's processes.
 *
 * @module
 */
import type { TreeInspector, TreeProcess } from "../../mod.ts";
import type { Bench, Run } from "./bench.ts";
import { type CaseDefinition, eitherWay } from "./case.ts";
import { expectEqual, expectThat } from "./expect.ts";

/** Cases of inspectors. */
export const inspectorCases: readonly CaseDefinition[] = [
  ...eitherWay("the tree has the group's members and those that left it", ["inspector"], async (bench) => {
    // One is a child of its own session; the other belongs to nobody and is known by its environment alone
    const run = await bench.sh("setsid sleep 60 & (setsid setsid sleep 60 &); sleep 60; true");
    await untilTree(bench, run, ["sh", "sleep", "sleep, left", "sleep, left"]);
  }),

  ...eitherWay("the tree has nobody else's processes", ["inspector"], async (bench) => {
    const [one, other] = await Promise.all([bench.sh("sleep 60; true"), bench.sh("sleep 60 & sleep 60; true")]);
    await untilTree(bench, one, ["sh", "sleep"]);
    await untilTree(bench, other, ["sh", "sleep", "sleep"]);
  }),

  ...eitherWay("a process that has ended is not in the tree, reaped or not", ["inspector"], async (bench) => {
    // The first is not reaped: its parent becomes a program that waits for nobody
    const run = await bench.sh("sleep 0.01 & exec sleep 60");
    await untilTree(bench, run, ["sleep"]);
  }),

  ...eitherWay("the tree of a single process has the child's process id", ["inspector", "pid"], async (bench) => {
    const run = await bench.start(["sleep", "60"]);
    await untilTree(bench, run, ["sleep"]);
    const [child] = await tree(run);
    if (run.child.pid !== undefined) expectEqual(child?.pid, run.child.pid, "the process id");
  }),

  ...eitherWay("a process of the tree is ended by a signal to it alone", ["inspector", "signals"], async (bench) => {
    const run = await bench.sh("setsid sleep 60 & sleep 60 & wait");
    await untilTree(bench, run, ["sh", "sleep", "sleep, left"]);
    const stray = (await tree(run)).find(({ inGroup }) => !inGroup);
    expectEqual(stray?.signal("SIGKILL"), "sent", "a signal to it");
    await untilTree(bench, run, ["sh", "sleep"]);
    expectEqual(stray?.signal("SIGKILL"), "gone", "a signal to it after its end");
  }),

  ...eitherWay(
    "what a child left behind is in the tree after its exit",
    ["inspector", "left-behind"],
    async (bench) => {
      const run = await bench.sh("trap '' HUP; sleep 60 & setsid sleep 60 & exit 0");
      await run.exit();
      await untilTree(bench, run, ["sleep", "sleep, left"]);
      for (const member of await tree(run)) member.signal("SIGKILL");
      await untilTree(bench, run, []);
    },
  ),

  ...eitherWay("the process that waits for input is told", ["inspector", "input-reader"], async (bench) => {
    const run = await bench.sh("cat; true", { stdin: "open" });
    const isCat = (reader: Reader): reader is TreeProcess => typeof reader === "object" && reader.name === "cat";
    await bench.until(async () => isCat(await inspectorOf(run).reader()), "the reader to be cat");
    const reader = await inspectorOf(run).reader();
    expectThat(isCat(reader) && reader.signal("SIGKILL") === "sent", "the reader can be signalled");
    await run.exit();
  }),

  ...eitherWay("nobody waits for input where nobody reads it", ["inspector", "input-reader"], async (bench) => {
    const run = await bench.sh("echo up; exec sleep 60", { stdin: "open" });
    await run.seen("up");
    await bench.until(async () => (await tree(run)).every(({ name }) => name === "sleep"), "the child to be sleep");
    expectEqual(await inspectorOf(run).reader(), undefined, "the reader");
  }),
];

type Reader = Awaited<ReturnType<TreeInspector["reader"]>>;

function inspectorOf({ child: { inspector } }: Run): TreeInspector {
  if (inspector === undefined) throw new Error(`The child has no inspector: say why with the gap "inspector"`);
  return inspector;
}

function tree(run: Run): Promise<readonly TreeProcess[]> {
  return inspectorOf(run).tree();
}

/** Waits until the tree has these processes, each by its name. */
function untilTree(bench: Bench, run: Run, expected: readonly string[]): Promise<void> {
  let seen = "";
  return bench.until(async () => {
    seen = (await tree(run)).map(({ name, inGroup }) => inGroup ? name : `${name}, left`).sort().join("; ");
    return seen === expected.join("; ");
  }, () => `the process tree "${expected.join("; ")}"; it was "${seen}"`);
}
