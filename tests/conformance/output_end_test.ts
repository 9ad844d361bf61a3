/**
 * Output is whole, and a command's end is neither missed nor awaited in vain: section A of the cases from the field.
 *
 * Repetitions of a race run four at a time. A number of seconds in an assertion only tells "soon" from "never".
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import {
  assert,
  assertArrayIncludes,
  assertEquals,
  assertGreater,
  assertLess,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { Agent, EndedDetails } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import {
  background,
  eventually,
  log,
  open,
  poll,
  pollToEnd,
  pollUntil,
  processesWith,
  repeat,
  runToEnd,
  tryOut,
  uniqueSleep,
} from "./agent.ts";
import { closing, test } from "../closing.ts";
import { posix, proc, terminal as anyTerminal } from "./machine.ts";

const pty = proc || anyTerminal;
const python = posix || skipUnless(await runs("python3 -c ''"), "there is no python3");

/** Tells "soon" from "when the left-behind process ends". */
const SOON_MS = 20_000;

const numbers = (last: number): string => Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");

async function runs(command: string): Promise<boolean> {
  return (await tryOut({ command })).ok;
}

/** The id of a session that was kept although its command ended in the foreground. */
function keptId({ sessionId }: EndedDetails): string {
  if (sessionId === undefined) throw new Error("The session was not kept");
  return sessionId;
}

/** Kills what a command left behind and checks that it has gone. */
async function killTree(agent: Agent, sessionId: string, marker: string): Promise<void> {
  const { details, text } = await agent.process({ action: "kill", sessionId, wait: 30_000 });
  assert("confirmed" in details && details.confirmed, text);
  assertEquals(processesWith(marker), []);
}

// [1]

test("E35 a background command that has ended has all its lines in the log at once [1]", { skip: posix }, async () => {
  const bench = closing(open({ maxFinished: 1_000 }));
  const { agent } = bench;
  await repeat(200, async () => {
    const { id } = await background(agent, { command: "sleep 0.05; seq 1 2000", background: true });
    for (;;) {
      const page = await log(agent, id, { offset: 0 });
      if (page.status === "running") {
        await sleep(1);
        continue;
      }
      assertEquals([page.status, page.exitCode, page.totalLines], ["completed", 0, 2_000]);
      assertEquals(page.lines.map((line) => `${line.text}\n`).join(""), numbers(2_000));
      return;
    }
  });
});

test("E30 a command that ends as it yields is answered whole, in either way [1]", { skip: posix }, async () => {
  const bench = closing(open({ maxFinished: 1_000 }));
  const { agent } = bench;
  const ways = { foreground: 0, background: 0 };
  await repeat(200, async (round) => {
    const answer = await agent.exec({ command: "sleep 0.02; seq 1 2000", yieldMs: 15 + round % 20 });
    if (answer.details.status === "running") {
      ways.background++;
      assertEquals((await pollToEnd(agent, answer.details.sessionId)).output, numbers(2_000));
    } else {
      ways.foreground++;
      assert("output" in answer.details, answer.text);
      assertEquals(answer.details.output, numbers(2_000));
    }
  });
  assertEquals(ways.foreground + ways.background, 200);
});

test("P10 the poll that tells the end has told every line of both streams by then [1]", { skip: posix }, async () => {
  const bench = closing(open({ maxFinished: 1_000 }));
  const { agent } = bench;
  await repeat(40, async () => {
    const command = "sleep 0.05; seq 1 2000 & seq 1 2000 >&2; wait; exit 9";
    const { id } = await background(agent, { command, background: true });
    const { output, last } = await pollToEnd(agent, id);
    assertEquals([last.exitCode, output.split("\n").length - 1], [9, 4_000]);
    assertEquals((await log(agent, id, { stream: "stdout" })).totalLines, 2_000);
    assertEquals((await log(agent, id, { stream: "stderr" })).totalLines, 2_000);
  });
});

// [2]

for (
  const [what, leave] of [
    ["both streams", (nap: string) => `${nap} &`],
    ["stdout", (nap: string) => `${nap} 2>/dev/null &`],
    ["stderr", (nap: string) => `${nap} >/dev/null &`],
    ["the streams from a session of its own", (nap: string) => `setsid ${nap} &`],
    ["the streams in a pipeline", (nap: string) => `nohup ${nap} | cat &`],
  ] as const
) {
  test(`E35 a grandchild that holds ${what} does not hold up the end [2]`, { skip: proc }, async () => {
    const bench = closing(open());
    const { agent } = bench;
    const nap = uniqueSleep();
    const startedAt = performance.now();
    const { details, text } = await runToEnd(agent, { command: `${leave(nap)} echo spawned; exit 3`, yieldMs: 60_000 });
    assertLess(performance.now() - startedAt, SOON_MS);
    assertEquals([details.status, details.exitCode, details.reason], ["completed", 3, "exit"]);
    assertStringIncludes(details.output, "spawned\n");
    assertArrayIncludes(details.survivors.map(({ name }) => name), ["sleep"]);
    assertMatch(text, /the shell has exited, \d+ process(es)? it started still runs?: .*sleep \d+/);
    await killTree(agent, keptId(details), nap);
  });
}

test("E35 a grandchild that holds the streams does not hold up a background command [2]", { skip: proc }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const nap = uniqueSleep();
  const { id } = await background(agent, { command: `${nap} & sleep 0.5; echo spawned; exit 3`, background: true });
  const startedAt = performance.now();
  const { output, last } = await pollToEnd(agent, id);
  assertLess(performance.now() - startedAt, SOON_MS);
  assertEquals([output, last.status, last.exitCode], ["spawned\n", "completed", 3]);
  assertEquals(last.survivors.map(({ name }) => name), ["sleep"]);
  assertStringIncludes(last.text, "sleep");
  await killTree(agent, id, nap);
});

test("E35 a grandchild that holds the terminal does not hold up the end [2]", { skip: pty }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const nap = uniqueSleep();
  const command = `trap '' HUP; ${nap} & echo spawned; exit 3`;
  const startedAt = performance.now();
  const { details } = await runToEnd(agent, { command, pty: true, yieldMs: 60_000 });
  assertLess(performance.now() - startedAt, SOON_MS);
  assertEquals([details.status, details.exitCode, details.output], ["completed", 3, "spawned\n"]);
  assertEquals(details.survivors.map(({ name }) => name), ["sleep"]);
  await killTree(agent, keptId(details), nap);
});

// [3]

for (const terminal of [false, true]) {
  const where = terminal ? "terminal" : "pipe";
  const skip = terminal ? pty : proc;
  const ignoreHangUp = terminal ? "trap '' HUP; " : "";

  test(`E35 ${where}: what is printed just after the shell's exit belongs to the output [3]`, { skip }, async () => {
    const bench = closing(open());
    await repeat(24, async () => {
      const command = `${ignoreHangUp}printf A; (sleep 0.3; printf B) & exit 0`;
      const { details } = await runToEnd(bench.agent, { command, pty: terminal });
      assertEquals([details.output, details.exitCode, details.survivors.length], ["AB", 0, 0]);
    });
  });

  test(
    `E35 ${where}: each byte restarts the wait, up to a limit; what comes later is in the log [3]`,
    { skip },
    async () => {
      const bench = closing(open());
      const { agent } = bench;
      const command = `${ignoreHangUp}(for i in $(seq 1 30); do echo t$i; sleep 0.1; done) & exit 0`;
      const { details } = await runToEnd(agent, { command, pty: terminal });
      assertEquals([details.status, details.exitCode], ["completed", 0]);
      const lines = details.output.trimEnd().split("\n");
      assertEquals(lines, Array.from(lines, (_, index) => `t${index + 1}`));
      assertGreater(lines.length, 5);
      assertGreater(details.survivors.length, 0);
      const id = keptId(details);
      await eventually(async () => (await log(agent, id)).totalLines === 30, "the left-behind child's last line");
      const page = await log(agent, id);
      assertEquals(page.lines.map(({ text }) => text), Array.from({ length: 30 }, (_, index) => `t${index + 1}`));
      assertEquals([page.status, page.exitCode], ["completed", 0]);
    },
  );

  test(
    `E35 ${where}: what is printed after a long silence is in the log, and a poll tells it [3]`,
    { skip },
    async () => {
      const bench = closing(open());
      const { agent } = bench;
      const command = `${ignoreHangUp}printf A; (sleep 3; printf B) & exit 0`;
      const { details } = await runToEnd(agent, { command, pty: terminal });
      assertEquals(details.output, "A");
      const id = keptId(details);
      let polled = "";
      await eventually(async () => (polled += (await poll(agent, id)).output).includes("B"), "B from the polls");
      assertEquals(polled, "AB");
      assertEquals((await log(agent, id)).lines.map(({ text }) => text), ["AB"]);
    },
  );
}

// [4], [6], [7]

test("E35 terminal: 20 KB printed at the very end arrive whole, a hundred times [4]", { skip: pty }, async () => {
  const bench = closing(open());
  await repeat(100, async () => {
    const command = "head -c 20480 /dev/zero | tr '\\0' x";
    const { details } = await runToEnd(bench.agent, { command, pty: true });
    assertEquals([details.exitCode, details.output.length, details.output], [0, 20_480, "x".repeat(20_480)]);
  });
});

test("E35 terminal: a short word arrives, a hundred times [4]", { skip: pty }, async () => {
  const bench = closing(open());
  await repeat(100, async () => {
    const { details } = await runToEnd(bench.agent, { command: "printf short", pty: true });
    assertEquals([details.exitCode, details.output], [0, "short"]);
  });
});

test("E35 terminal: a background command that has ended has told all [4]", { skip: pty }, async () => {
  const bench = closing(open());
  await repeat(24, async () => {
    const { id } = await background(bench.agent, { command: "sleep 0.1; seq 1 2000", pty: true, background: true });
    const { output, last } = await pollToEnd(bench.agent, id);
    assertEquals([last.exitCode, output], [0, numbers(2_000)]);
  });
});

test("E27 terminal: a voluntary exit is noticed and its code is known [6]", { skip: pty }, async () => {
  const bench = closing(open());
  await repeat(20, async (round) => {
    const { details } = await runToEnd(bench.agent, { command: `echo M; exit ${round}`, pty: true, yieldMs: 60_000 });
    assertEquals([details.status, details.output, details.exitCode], ["completed", "M\n", round]);
  });
});

test("E38 terminal: a session lives on while two hundred other children end [7]", { skip: pty }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const nap = uniqueSleep();
  const { id, details } = await background(agent, { command: `echo up; exec ${nap}`, pty: true });
  await repeat(200, async () => {
    assertEquals((await runToEnd(agent, { command: "true" })).details.exitCode, 0);
  });
  const { status, output } = await poll(agent, id);
  assertEquals([status, output], ["running", "up\n"]);
  assertEquals(processesWith(nap), [Number(details.pid)]);
  await killTree(agent, id, nap);
});

// [9]

test(
  "E36 a child that goes on printing is not ended by SIGPIPE when its command yields [9]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const command = "while :; do echo alive; sleep 0.1; done";
    const { id } = await background(agent, { command, yieldMs: 300 });
    for (let polls = 0; polls < 20; polls++) {
      const answer = await poll(agent, id, { timeout: 30_000 });
      assertEquals([answer.status, /^(alive\n)+$/.test(answer.output)], ["running", true]);
    }
  },
);

for (const terminal of [false, true]) {
  const skip = terminal ? pty : proc;
  test(
    `E36 ${terminal ? "terminal" : "pipe"}: a child that is past the cap is read on and lives [9]`,
    { skip },
    async () => {
      const bench = closing(open({ maxOutputChars: 1_000, pendingMaxOutputChars: 1_000 }));
      const { agent } = bench;
      const command = "i=0; while :; do i=$((i + 1)); echo line $i; done";
      const { id, details } = await background(agent, { command, pty: terminal });
      let seen = 0;
      for (let polls = 0; polls < 10; polls++) {
        const { status, to, from, output } = await poll(agent, id, { timeout: 30_000 });
        assertEquals(status, "running");
        assertEquals(from, seen);
        assertGreater(to, seen);
        assert(output.length <= 1_000);
        seen = to;
        await sleep(50);
      }
      assertGreater(seen, 20_000);
      assert(existsSync(`/proc/${details.pid}`));
    },
  );
}

test("E36 a grandchild prints on after its session was forgotten, without SIGPIPE [9]", { skip: proc }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "offstage-"));
  try {
    const bench = closing(open());
    const { agent } = bench;
    const done = join(folder, "done");
    // it carries no session id and is in no group of ours, so it is no survivor; it outlives the longest drain
    const stranger = `for i in $(seq 1 30); do echo tick || exit 1; sleep 0.1; done; echo whole > ${done}`;
    const command = `env -u OFFSTAGE_SESSION_ID setsid bash -c '${stranger}' & exit 0`;
    const { details } = await runToEnd(agent, { command });
    assertEquals([details.exitCode, details.sessionId], [0, undefined]);
    await eventually(() => existsSync(done), "the grandchild's own end");
    assertEquals(await readFile(done, "utf8"), "whole\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

// [10]

/** More memory than that while 50 MB are read would mean that they are kept. */
const MEMORY_BYTES = 150_000_000;

for (
  const [what, command, where] of [
    ["stdout", "yes | head -c 50000000; echo DONE >&2; exit 5", "stderr"],
    ["stderr", "yes | head -c 50000000 >&2; echo DONE; exit 5", "stdout"],
    ["both streams", "yes | head -c 50000000 & yes | head -c 50000000 >&2; wait; echo DONE; exit 5", "stdout"],
  ] as const
) {
  test(`E36 50 MB on ${what} neither block the child nor fill the memory [10]`, { skip: posix }, async () => {
    const bench = closing(open());
    const before = process.memoryUsage().rss;
    const { details } = await runToEnd(bench.agent, { command, yieldMs: 120_000 });
    assertEquals([details.status, details.exitCode, details.truncated], ["completed", 5, true]);
    assert(details.output.length <= 30_000, `an answer of ${details.output.length} characters`);
    assertStringIncludes(details.output, "DONE");
    assertGreater(details.omittedChars, 49_000_000);
    assertLess(process.memoryUsage().rss - before, MEMORY_BYTES);
    const page = await log(bench.agent, keptId(details), { stream: where });
    assertEquals(page.lines.at(-1)?.text, "DONE");
  });
}

test("E36 20 MB that nobody reads do not block a background command [10]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "yes | head -c 20000000; exit 5", background: true });
  const { exitCode, wokenBy, output, to, dropped } = await poll(agent, id, { timeout: 30_000, until: "exit" });
  assertEquals([exitCode, wokenBy, output.length, to], [5, "exit", 30_000, 20_000_000]);
  assertEquals(dropped, 20_000_000 - 30_000);
});

test("E36 terminal: 5 MB do not block the child [10]", { skip: pty }, async () => {
  const bench = closing(open());
  const command = "yes | head -c 5000000; echo DONE; exit 5";
  const { details } = await runToEnd(bench.agent, { command, pty: true, yieldMs: 120_000 });
  assertEquals([details.exitCode, details.output.endsWith("y\nDONE\n")], [5, true]);
});

// [11]

for (const terminal of [false, true]) {
  const where = terminal ? "terminal" : "pipe";
  const skip = terminal ? pty : posix;

  test(`E27 ${where}: a timeout keeps what was printed before it, and says how it ended [11]`, { skip }, async () => {
    const bench = closing(open());
    const command = "printf partial; sleep 60";
    const { details, text, isError } = await runToEnd(bench.agent, { command, timeout: 0.5, pty: terminal });
    assertEquals([details.status, details.reason, details.ok, isError], ["failed", "timeout", false, true]);
    assertEquals([details.output, details.signal, details.exitCode], ["partial", "SIGTERM", null]);
    assertMatch(text, /^partial\n\[timed out after 0\.5 s\b.*SIGTERM/);
  });

  test(`E34 ${where}: the same for a command that does not heed SIGTERM [11]`, { skip }, async () => {
    const bench = closing(open({ killGraceMs: 300 }));
    const command = "trap '' TERM; printf partial; while :; do sleep 60; done";
    const { details, text } = await runToEnd(bench.agent, { command, timeout: 0.5, pty: terminal });
    assertEquals([details.reason, details.output, details.signal], ["timeout", "partial", "SIGKILL"]);
    assertMatch(text, /timed out after 0\.5 s\b.*SIGKILL/);
  });

  test(`E27 ${where}: what is printed on the way out is kept too, and in the background all the same [11]`, {
    skip,
  }, async () => {
    const bench = closing(open());
    const { agent } = bench;
    const command = "trap 'echo bye; exit 7' TERM; echo partial; while :; do sleep 0.05; done";
    const { id } = await background(agent, { command, timeout: 1, pty: terminal, background: true });
    const { output, last } = await pollToEnd(agent, id);
    assertStringIncludes(output, "partial\n");
    assertStringIncludes(output, "bye\n");
    assertEquals([last.status, last.reason, last.exitCode], ["failed", "timeout", 7]);
    assertStringIncludes(last.text, "timed out after 1 s");
  });
}

// [13]

const INTERLEAVED = "for i in 1 2 3 4 5 6; do echo o$i; echo e$i >&2; done";

test("E9 mergeStreams gives stdout and stderr in their true order [13]", { skip: posix }, async () => {
  const bench = closing(open());
  const expected = [1, 2, 3, 4, 5, 6].map((i) => `o${i}\ne${i}\n`).join("");
  await repeat(40, async () => {
    assertEquals((await runToEnd(bench.agent, { command: INTERLEAVED, mergeStreams: true })).details.output, expected);
  });
});

test("E9 without mergeStreams each stream is in order, the answer has both and the log either [13]", {
  skip: posix,
}, async () => {
  const bench = closing(open({ maxFinished: 1_000 }));
  const { agent } = bench;
  const of = (letter: string): string[] => [1, 2, 3, 4, 5, 6].map((i) => `${letter}${i}`);
  await repeat(40, async () => {
    const { id } = await background(agent, { command: `sleep 0.05; ${INTERLEAVED}`, background: true });
    const { output } = await pollToEnd(agent, id);
    const lines = output.trimEnd().split("\n");
    assertEquals(lines.filter((line) => line.startsWith("o")), of("o"));
    assertEquals(lines.filter((line) => line.startsWith("e")), of("e"));
    assertEquals(lines.length, 12);
    assertEquals((await log(agent, id, { stream: "stdout" })).lines.map(({ text }) => text), of("o"));
    assertEquals((await log(agent, id, { stream: "stderr" })).lines.map(({ text }) => text), of("e"));
  });
});

// [14]

const BUFFERED = "env -u PYTHONUNBUFFERED python3 -c 'import time; print(1); time.sleep(60)'";
const BUFFER_LOST = /buffer.* lost/;

test("P14 a running pipe session that is silent gets the buffering hint, once [14]", { skip: python }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: BUFFERED, yieldMs: 500 });
  const first = await poll(agent, id);
  assertEquals([first.output, first.status], ["", "running"]);
  for (const remedy of ["pty: true", "stdbuf -oL", "python -u"]) assertStringIncludes(first.text, remedy);
  assert(!(await poll(agent, id)).text.includes("stdbuf"));
  await agent.process({ action: "kill", sessionId: id, wait: 30_000 });
  assertMatch((await poll(agent, id)).text, BUFFER_LOST);
});

test("E27 a timeout says that buffered output is lost [14]", { skip: python }, async () => {
  const bench = closing(open());
  const { details, text } = await runToEnd(bench.agent, { command: BUFFERED, timeout: 1 });
  assertEquals([details.output, details.reason], ["", "timeout"]);
  assertMatch(text, BUFFER_LOST);
});

test("E6 on a terminal the same program is heard at once, and gets no hint [14]", { skip: pty || python }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: BUFFERED, pty: true, background: true });
  assertEquals(await pollUntil(agent, id, "1\n"), "1\n");
  const silent = await poll(agent, id);
  assertEquals([silent.output, silent.status, silent.text.includes("stdbuf")], ["", "running", false]);
});

// [15]

for (const [what, redirect] of [["no stream of ours", ">/dev/null 2>&1"], ["both streams", ""]] as const) {
  test(`E35 a completed shell whose children live on says so: they hold ${what} [15]`, { skip: proc }, async () => {
    const bench = closing(open());
    const { agent } = bench;
    const nap = uniqueSleep();
    const command = `for i in 1 2 3; do nohup ${nap} ${redirect} & done`;
    const { details, text } = await runToEnd(agent, { command });
    assertEquals([details.status, details.exitCode, details.ok], ["completed", 0, true]);
    assertEquals(details.survivors.length, 3);
    await eventually(() => processesWith(nap).length === 3, "all of them to be sleep by now");
    assertEquals(details.survivors.map(({ pid }) => pid).sort(), [...processesWith(nap)].sort());
    const id = keptId(details);
    for (const { pid } of details.survivors) assertStringIncludes(text, String(pid));
    assertStringIncludes(text, "the shell has exited, 3 processes it started still run: ");
    assertStringIncludes(text, `process { action: "kill", sessionId: "${id}" } ends them`);
    const cleared = await agent.process({ action: "clear", sessionId: id });
    assertEquals([cleared.isError, processesWith(nap).length], [true, 3]);
    await killTree(agent, id, nap);
  });
}

test("E35 who is only on the way out when the streams end is not left behind [15]", { skip: proc }, async () => {
  const bench = closing(open());
  await repeat(60, async () => {
    const { details } = await runToEnd(bench.agent, { command: "for i in 1 2 3; do sleep 0.1 & done" });
    assertEquals([details.survivors, details.sessionId], [[], undefined]);
  });
});

test(
  "E35 a command that leaves nothing behind says nothing of that, and is not kept [15]",
  { skip: proc },
  async () => {
    const bench = closing(open());
    const { details, text } = await runToEnd(bench.agent, { command: "sleep 0.1 & wait; echo done" });
    assertEquals([details.survivors, details.sessionId, text], [[], undefined, "done"]);
  },
);
