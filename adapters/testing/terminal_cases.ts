/**
 * What a terminal is beside a pair of streams: its size and its type.
 *
 * @module
 */
import { TERMINAL_SIZE } from "./bench.ts";
import { type CaseDefinition, inTerminal } from "./case.ts";
import { expectEqual, expectThat } from "./expect.ts";

/** Cases of terminals. */
export const terminalCases: readonly CaseDefinition[] = [
  inTerminal("it has the size that was asked for from the start", [], async (bench) => {
    const { cols, rows } = TERMINAL_SIZE;
    expectEqual(await bench.print("stty size"), `${rows} ${cols}\n`, "what stty says");
  }),

  inTerminal("its type is the TERM of the environment", [], async (bench) => {
    expectEqual(await bench.print('echo "$TERM"', { env: { TERM: "vt220" } }), "vt220\n", "TERM");
  }),

  inTerminal("its mode is the one that the program has set, or is not told", [], async (bench) => {
    const run = await bench.sh("echo up; read -r line; stty raw; echo raw; exec sleep 60");
    await run.seen("up\n");
    expectThat(await run.child.isCooked?.() !== false, "it starts in its normal mode");
    await run.write("on\n");
    await run.seen("raw");
    expectThat(await run.child.isCooked?.() !== true, "stty has set raw mode");
  }),

  inTerminal("a resize is seen by stty and told by SIGWINCH, down to 1 and up to 1000", [], async (bench) => {
    const run = await bench.sh("trap 'stty size' WINCH; echo up; while :; do sleep 0.05; done");
    await run.seen("up\n");
    for (const { cols, rows } of [{ cols: 33, rows: 11 }, { cols: 1, rows: 1 }, { cols: 1_000, rows: 1_000 }]) {
      run.child.resize?.({ cols, rows });
      await run.seen(`${rows} ${cols}\n`);
    }
  }),
];
