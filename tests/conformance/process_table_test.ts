/**
 * A command among the other processes: who sees its text, whose child it is, which jobs are its own, what it leaves
 * behind and what outlives its caller. Cases 53 to 60.
 *
 * @module
 */
import { tmpdir } from "node:os";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  background,
  eventually,
  kill,
  open,
  poll,
  pollToEnd,
  processesCarrying,
  processesWith,
  runToEnd,
  uniqueMark,
  uniqueSleep,
} from "./agent.ts";
import { CONNECTIONS, needs, posix, proc } from "./machine.ts";
import { closing, test } from "../closing.ts";

// [53] [54] [56] the shell's place in the process table

for (const { how, pty, skip } of CONNECTIONS) {
  test(
    `E1 pkill -f for a text of the command does not hit the command's own shell on ${how} [53]`,
    { skip },
    async () => {
      const bench = closing(open());
      const { details } = await runToEnd(bench.agent, { command: `pkill -f '${uniqueSleep()}'; echo rc=$?`, pty });
      assertEquals([details.output.trim(), details.status], ["rc=1", "completed"]);
    },
  );
}

test("E1 pkill -f of one session does not hit another whose command holds that text [53]", { skip: proc }, async () => {
  const bench = closing(open());
  const word = `worker-${Math.random().toString().slice(2)}`;
  const { id } = await background(bench.agent, { command: `: ${word}; while :; do sleep 0.1; done` });
  const { details } = await runToEnd(bench.agent, { command: `pkill -f ${word}; echo rc=$?` });
  assertEquals(details.output, "rc=1\n");
  assertEquals((await poll(bench.agent, id)).status, "running");
});

for (const { how, pty, skip } of CONNECTIONS) {
  test(`a command's parent on ${how} is the host itself, also after exec [54]`, { skip }, async () => {
    const bench = closing(open());
    for (const command of ["echo $PPID", "exec sh -c 'echo $PPID'"]) {
      const { details } = await runToEnd(bench.agent, { command, pty });
      assertEquals(details.output.trim(), String(process.pid));
    }
  });
}

for (const shell of ["bash", "ksh"]) {
  const skip = proc || await needs(shell);
  test(`E1 kill %1 ends the job it means in ${shell} [56]`, { skip }, async () => {
    const bench = closing(open({ shell }));
    const marker = uniqueSleep();
    const { details } = await runToEnd(bench.agent, { command: `${marker} & kill %1; wait; echo rc=$?` });
    assertStringIncludes(details.output, "rc=0\n");
    assertEquals(details.survivors, []);
    assertEquals(processesWith(marker), []);
  });
}

// zsh counts the wrapper that holds the command as job 1, so that the command's own begin with 2.
test("E35 zsh, where %1 is another job, does not forget the one that was meant [56]", {
  skip: proc || await needs("zsh"),
}, async () => {
  const bench = closing(open({ shell: "zsh" }));
  const marker = uniqueSleep();
  const { details, text } = await runToEnd(bench.agent, { command: `${marker} & kill %1; echo rc=$?` });
  assertEquals(details.survivors.map(({ name }) => name), ["sleep"]);
  assertStringIncludes(text, "1 process it started still runs: sleep");
  assertEquals((await kill(bench.agent, details.sessionId ?? "")).confirmed, true);
  assertEquals(processesWith(marker), []);
  await runToEnd(bench.agent, { command: `${marker} & kill %%; wait` });
  assertEquals(processesWith(marker), []);
});

test(
  "E34 sh, which has no jobs without a terminal, leaves no orphan for that either [56]",
  { skip: proc },
  async () => {
    const bench = closing(open({ shell: "sh" }));
    const marker = uniqueSleep();
    await runToEnd(bench.agent, { command: `${marker} & kill %1; wait; echo rc=$?`, timeout: 0.5 });
    assertEquals(processesWith(marker), []);
  },
);

// [58] [59] [60]

test("R7 the host keeps no zombie of its own, whatever its commands leave behind [58]", { skip: proc }, async () => {
  const bench = closing(open());
  const { env, variable } = uniqueMark();
  const run = (): Promise<unknown> => bench.agent.exec({ command: "(sleep 0.2 &) ; exit 0", env });
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 10 }, run));
  await eventually(() => processesCarrying(variable).length === 0, "what they left behind ends");
  const { details } = await runToEnd(bench.agent, { command: `ps -o stat= --ppid ${process.pid}` });
  assert(!details.output.split("\n").some((state) => state.startsWith("Z")), details.output);
});

test(
  "R2 the second start of a running command is told of its twin, another's is not [59]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const first = await background(bench.agent, { command: "sleep 60" });
    assertEquals(first.details.twins, []);
    const second = await background(bench.agent, { command: "sleep 60", background: true });
    assertEquals(second.details.twins, [first.id]);
    assertStringIncludes(second.text, `already runs here as session ${first.id}`);
    const others = [
      await background(bench.agent, { command: "sleep 61" }),
      await background(bench.agent, { command: "sleep 60", workdir: tmpdir() }),
      await background(bench.offstage.agent("another"), { command: "sleep 60" }),
    ];
    for (const { details } of others) assertEquals(details.twins, []);
    await kill(bench.agent, first.id);
    await kill(bench.agent, second.id);
    assertEquals((await background(bench.agent, { command: "sleep 60" })).details.twins, []);
  },
);

test(
  "E30 a background command survives the call that started it and every reference to it [60]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const start = async (): Promise<string> => {
      const agent = bench.offstage.agent("passing");
      const abort = new AbortController();
      const answer = await agent.exec({ command: "sleep 3; echo survived", background: true }, {
        signal: abort.signal,
      });
      abort.abort("the request is over"); // after the yield that means nothing any more
      return "sessionId" in answer.details ? answer.details.sessionId ?? "" : "";
    };
    const id = await start();
    for (let round = 0; round < 5; round++) {
      (globalThis as { gc?: () => void }).gc?.();
      Array.from({ length: 100_000 }, (_, index) => ({ index })); // where gc() is not to be had
      await sleep(50);
    }
    const { output, last } = await pollToEnd(bench.offstage.agent("passing"), id);
    assertEquals([output, last.status, last.exitCode], ["survived\n", "completed", 0]);
  },
);
