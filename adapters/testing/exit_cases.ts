/**
 * How the end of a command is told.
 *
 * @module
 */
import { forEachOf } from "./bench.ts";
import { type CaseDefinition, eitherWay, inTerminal, onPipes } from "./case.ts";
import { expectEqual, expectThat, show } from "./expect.ts";
import type { SignalName } from "../../mod.ts";

// Not SIGINT and SIGQUIT: a host that was started in the background of a script ignores them, and so may its children
const SIGNALS: readonly SignalName[] = [
  "SIGABRT",
  "SIGKILL",
  "SIGUSR1",
  "SIGSEGV",
  "SIGUSR2",
  "SIGPIPE",
  "SIGALRM",
  "SIGTERM",
];
const ALL_CODES = Array.from({ length: 256 }, (_, code) => code);
const SOME_CODES: readonly number[] = [0, 1, 2, 7, 126, 127, 128, 129, 130, 137, 143, 255];

/** Leaves a process behind that prints 20 000 lines when SIGUSR1 tells it to; it ends by itself if nobody does. */
const LEAVE_BEHIND =
  "trap '' HUP; (trap 'seq 1 20000; exit' USR1; echo up; for _ in $(seq 2000); do sleep 0.05; done) & exit 4";

/** Cases of an end. */
export const exitCases: readonly CaseDefinition[] = [
  onPipes("the exit code is the command's, from 0 to 255", [], async (bench) => {
    await forEachOf(bench.starts < 200 ? SOME_CODES : ALL_CODES, async (code) => {
      expectEqual(await (await bench.sh(`exit ${code}`)).finish(), { code }, `the exit of "exit ${code}"`);
    });
  }),

  inTerminal("the exit code is the command's, not that of a signal", [], async (bench) => {
    await forEachOf(SOME_CODES, async (code) => {
      expectEqual(await (await bench.sh(`exit ${code}`)).finish(), { code }, `the exit of "exit ${code}"`);
    });
  }),

  ...eitherWay("a death by signal is told by the signal's name", ["signals", "signal-names"], async (bench) => {
    await forEachOf(SIGNALS, async (signal) => {
      const run = await bench.sh(`ulimit -c 0; kill -s ${signal.slice("SIG".length)} $$; sleep 60`);
      expectEqual(await run.finish(), { signal }, "the exit");
    });
  }),

  ...eitherWay(
    "the exit does not wait for a left-behind process, whose output still arrives",
    ["signals", "groups", "left-behind", "late-output"],
    async (bench) => {
      const run = await bench.sh(LEAVE_BEHIND);
      expectEqual(await run.exit(), { code: 4 }, "the exit");
      await run.seen("up\n");
      expectThat(!run.isOver(), "the output is not over while somebody may print");
      expectEqual(run.child.groupAnswers?.(), true, "whether the group answers");
      expectEqual(run.child.signal("SIGUSR1", "child"), "gone", "a signal to the child alone");
      expectEqual(run.child.signal("SIGUSR1", "group"), "sent", "a signal to its group");
      await run.finish();
      const printed = run.text(bench.way === "pipes" ? "stdout" : "terminal"); // the shell may tell of the signal on stderr
      expectThat(printed.endsWith("\n19999\n20000\n"), `the last line came, not ${show(printed.slice(-20))}`);
    },
  ),

  ...eitherWay("a child may let go of its output before it ends", ["early-close"], async (bench) => {
    const run = await bench.sh("echo bye; exec <&- >&- 2>&-; sleep 0.3; exit 5");
    expectEqual(await run.finish(), { code: 5 }, "the exit");
    expectEqual(run.text(), "bye\n", "the output");
  }),

  ...eitherWay("a storm of other exits does not end a child that lives", [], async (bench) => {
    const living = await bench.sh("echo up; exec sleep 600");
    await living.seen("up");
    let hasExited = false;
    void living.child.exited.then(() => hasExited = true);
    const storm = Array.from({ length: bench.starts });
    await forEachOf(storm, async () => void await (await bench.start(["true"], { way: "pipes" })).finish());
    expectThat(!hasExited && !living.isOver(), "the child still lives");
    expectEqual(living.child.signal("SIGTERM", "child"), "sent", "a signal to it");
    await living.finish();
  }),
];
