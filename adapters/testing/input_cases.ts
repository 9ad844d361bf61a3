/**
 * How input reaches a command, and what becomes of input that nobody reads.
 *
 * @module
 */
import type { Bench, Run } from "./bench.ts";
import { type CaseDefinition, eitherWay, inTerminal, onPipes } from "./case.ts";
import { expectBytes, expectEqual, expectRejection, expectThat, sleep } from "./expect.ts";
import { blocks } from "./output_cases.ts";

/** Says `ready` and reads nothing until SIGUSR1 comes. */
const READ_LATE = `go=; trap 'go=1' USR1; echo ready; while [ -z "$go" ]; do sleep 0.05; done`;
// More than the system holds for a reader, and more than a relay such as ssh takes in advance
const UNHELD: Readonly<Record<Bench["way"], number>> = { pipes: 4_194_304, terminal: 65_536 };
const END_OF_INPUT = "\x04";
const A_WHILE_MS = 200;

/** Cases of input. */
export const inputCases: readonly CaseDefinition[] = [
  onPipes("1 MiB of binary is read byte by byte, and then the end", ["binary"], async (bench) => {
    const run = await bench.start(["cat"], { stdin: "open" });
    const input = blocks(4_096);
    await run.write(input);
    await run.child.endInput();
    expectEqual(await run.finish(), { code: 0 }, "the exit of cat");
    expectBytes(run.bytes(), input, "what cat read");
  }),

  inTerminal("every byte there is can be typed in raw mode", ["binary"], async (bench) => {
    const run = await bench.sh("stty raw -echo; echo ready; head -c 256 | od -An -v -tu1; echo done");
    await run.seen("ready");
    await run.write(blocks(1));
    await run.seen("done");
    const numbers = run.text().match(/\d+/g)?.map(Number);
    expectEqual(numbers, [...blocks(1)], "the bytes that were read");
  }),

  onPipes("writes that do not wait for each other arrive in order", [], async (bench) => {
    const run = await bench.start(["cat"], { stdin: "open" });
    const words = Array.from({ length: 200 }, (_, index) => `${index} `);
    await Promise.all(words.map((word) => run.write(word)));
    await run.child.endInput();
    await run.child.endInput();
    expectEqual(await run.finish(), { code: 0 }, "the exit of cat");
    expectEqual(run.text(), words.join(""), "what cat read");
  }),

  onPipes("a write after the end of input is refused", [], async (bench) => {
    const run = await bench.sh("cat; sleep 60", { stdin: "open" });
    await run.write("x");
    await run.child.endInput();
    await expectRejection(run.write("y"), "stdin-closed", "the write");
  }),

  onPipes("a write to a stdin that never was open is refused", [], async (bench) => {
    const run = await bench.sh("echo up; exec sleep 60");
    await expectRejection(run.write("x"), "stdin-closed", "the write");
    await run.child.endInput();
    await run.seen("up");
  }),

  onPipes("writes to a child that has closed its stdin are refused, each of them", ["stdin-state"], async (bench) => {
    const run = await bench.sh("exec 0<&-; echo closed; exec sleep 60", { stdin: "open" });
    await run.seen("closed");
    for (const size of [10, 1_000_000, 1_000_000]) {
      await expectRejection(run.write(new Uint8Array(size)), "stdin-closed", `the write of ${size} bytes`);
    }
    await run.child.endInput();
  }),

  onPipes("a write that the child stops reading half-way is refused", ["unread-input"], async (bench) => {
    const run = await bench.sh("head -c 1 >/dev/null", { stdin: "open" });
    await expectRejection(run.write(new Uint8Array(10_000_000)), "stdin-closed", "the write");
    expectEqual(await run.finish(), { code: 0 }, "the exit");
  }),

  ...eitherWay("a write waits until the child reads", ["signals", "backpressure"], async (bench) => {
    const { run, written, isTaken } = await writeUnread(bench);
    expectThat(!isTaken(), "a write that nobody reads is not done yet");
    run.child.signal("SIGUSR1", "child");
    await run.seen("reading");
    await written;
  }),

  ...eitherWay("a write that nobody reads is refused when the child ends", ["backpressure"], async (bench) => {
    const { run, written } = await writeUnread(bench);
    run.child.signal("SIGKILL", "group");
    await run.exit();
    await expectRejection(written, "stdin-closed", "the write");
  }),

  inTerminal("what is typed is echoed, and ^D ends cat with code 0, 20 times", [], async (bench) => {
    for (let round = 1; round <= 20; round++) {
      const run = await bench.start(["cat"]);
      await run.write("é\n");
      await run.seen("é\né\n");
      await run.write(END_OF_INPUT);
      expectEqual(await run.finish(), { code: 0 }, `the exit of round ${round}`);
    }
  }),

  inTerminal("a character may be split over two writes", [], async (bench) => {
    const run = await bench.start(["cat"]);
    const [first = 0, second = 0] = new TextEncoder().encode("é");
    await run.write(Uint8Array.of(first));
    await run.write(Uint8Array.of(second, 10));
    await run.seen("é\né\n");
  }),

  inTerminal("^C interrupts what runs in the terminal", [], async (bench) => {
    const run = await bench.sh("trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done");
    await run.seen("ready");
    await run.write("\x03");
    expectEqual(await run.finish(), { code: 9 }, "the exit");
  }),

  inTerminal("the end of input is left to the caller, who types it", [], async (bench) => {
    const run = await bench.start(["cat"]);
    await run.child.endInput();
    await run.write("still\n");
    await run.seen("still\nstill\n");
  }),

  inTerminal("64 KiB typed into raw mode arrive whole although the program reads late", ["signals"], async (bench) => {
    const run = await bench.sh(`stty raw -echo; ${READ_LATE}; head -c 65536 | wc -c; exec sleep 60`);
    await run.seen("ready");
    const written = run.write(new Uint8Array(65_536).fill(97));
    run.child.signal("SIGUSR1", "child");
    await written;
    await run.seen("65536");
  }),

  inTerminal("240 KB typed into cat do not lock up against what it prints", ["backpressure"], async (bench) => {
    const lines = `${"x".repeat(79)}\n`.repeat(100);
    for (const echo of ["-echo", "echo"]) {
      const run = await bench.sh(`stty ${echo}; echo ready; exec cat`);
      await run.seen("ready");
      await Promise.all(Array.from({ length: 30 }, () => run.write(lines)));
      await run.write(END_OF_INPUT);
      expectEqual(await run.finish(), { code: 0 }, "the exit of cat");
      const count = run.text().match(/x/g)?.length ?? 0;
      // The kernel may drop some of its echo, and none of the output
      expectThat(count >= 79 * 3_000 && (echo === "echo" || count === 79 * 3_000), `${count} of 237000 came back`);
    }
  }),
];

/** A write to a child that is not reading, which has been under way for a while. */
async function writeUnread(
  bench: Bench,
): Promise<{ readonly run: Run; readonly written: Promise<void>; readonly isTaken: () => boolean }> {
  const prepare = bench.way === "terminal" ? "stty raw -echo; " : "";
  const run = await bench.sh(`${prepare}${READ_LATE}; echo reading; exec cat >/dev/null`, { stdin: "open" });
  await run.seen("ready");
  let isTaken = false;
  const written = run.write(new Uint8Array(UNHELD[bench.way]).fill(97));
  written.then(() => isTaken = true, () => {});
  await sleep(A_WHILE_MS);
  return { run, written, isTaken: () => isTaken };
}
