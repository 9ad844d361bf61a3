/**
 * How output arrives: whole, in order, under its stream's name, in memory of its own.
 *
 * @module
 */
import { type CaseDefinition, eitherWay, inTerminal, onPipes } from "./case.ts";
import { expectBytes, expectEqual, expectThat } from "./expect.ts";
import type { Run } from "./bench.ts";

const LINES = 20_000;
const COUNTED: string = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join("");

// Every byte there is, and printf(1)'s way to write it
const BLOCK: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const OCTAL_BLOCK: string = [...BLOCK].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

/** A script that prints {@linkcode BLOCK} that many times. */
const printBlocks = (count: number): string =>
  `i=0; while [ $i -lt ${count} ]; do printf '${OCTAL_BLOCK}'; i=$((i+1)); done`;

/** {@linkcode BLOCK} that many times. */
export function blocks(count: number): Uint8Array {
  return Uint8Array.from({ length: count * BLOCK.length }, (_, index) => index % BLOCK.length);
}

/** Cases of output. */
export const outputCases: readonly CaseDefinition[] = [
  onPipes("each stream comes under its own name and in order", [], async (bench) => {
    const run = await bench.sh("i=0; while [ $i -lt 500 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done");
    expectEqual(await run.finish(), { code: 0 }, "the exit");
    for (const stream of ["stdout", "stderr"] as const) {
      const expected = Array.from({ length: 500 }, (_, index) => `${stream === "stdout" ? "o" : "e"}${index}\n`);
      expectEqual(run.text(stream), expected.join(""), stream);
    }
  }),

  inTerminal("both streams come as one, in the order of the writes", [], async (bench) => {
    const printed = await bench.print("for i in 1 2 3; do echo o$i; echo e$i >&2; done");
    expectEqual(printed, "o1\ne1\no2\ne2\no3\ne3\n", "the output");
  }),

  onPipes("1 MiB of binary arrives byte by byte", ["binary"], async (bench) => {
    const run = await bench.sh(printBlocks(4_096));
    expectEqual(await run.finish(), { code: 0 }, "the exit");
    expectBytes(run.bytes("stdout"), blocks(4_096), "the output");
  }),

  inTerminal("64 KiB of binary arrives byte by byte in raw mode", ["binary"], async (bench) => {
    const run = await bench.sh(`stty raw -echo; ${printBlocks(256)}`);
    expectEqual(await run.finish(), { code: 0 }, "the exit");
    expectBytes(run.bytes(), blocks(256), "the output");
  }),

  ...eitherWay("the last output is never lost, 5 times of 20 000 lines", ["tail"], async (bench) => {
    for (let round = 1; round <= 5; round++) {
      const run = await bench.start(["seq", "1", String(LINES)]);
      expectEqual(await run.finish(), { code: 0 }, "the exit");
      expectThat(run.text() === COUNTED, `round ${round}: ${run.text().length} of ${COUNTED.length} characters came`);
    }
  }),

  ...eitherWay("the last output is never lost, 20 times of one word", ["tail"], async (bench) => {
    for (let round = 1; round <= 20; round++) {
      const run = await bench.start(["printf", "short"]);
      await run.finish();
      expectEqual(run.text(), "short", `the output of round ${round}`);
    }
  }),

  onPipes("both pipes are read at once, and this process goes on with its work", [], async (bench) => {
    let turns = 0;
    const turning = setInterval(() => turns++, 5);
    try {
      const run = await bench.sh("head -c 30000000 /dev/zero >&2; head -c 1000 /dev/zero; exit 5");
      expectEqual(await run.finish(), { code: 5 }, "the exit");
      expectEqual([run.bytes("stdout").length, run.bytes("stderr").length], [1_000, 30_000_000], "the bytes");
      expectThat(turns > 0, "a timer of this process fired meanwhile");
    } finally {
      clearInterval(turning);
    }
  }),

  ...eitherWay("the memory of a chunk is not written to again", [], async (bench) => {
    const run = await bench.sh(
      `for i in 1 2 3 4 5; do echo $i; sleep 0.05; done; seq 1 ${LINES}; echo last; exec sleep 60`,
    );
    const early = await firstChunks(run);
    await run.seen("last");
    expectEqual(
      run.chunks.slice(0, early.length).map((bytes) => [...bytes]),
      early,
      "the first chunks, looked at again",
    );
    expectThat(run.text().startsWith("1\n2\n3\n4\n5\n1\n2\n"), "the output is what was printed");
  }),
];

/** Copies of the chunks that come first. */
async function firstChunks(run: Run): Promise<readonly (readonly number[])[]> {
  await run.seen("1\n");
  return run.chunks.map((bytes) => [...bytes]);
}
