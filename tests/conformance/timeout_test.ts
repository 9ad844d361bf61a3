/**
 * How long a command may live: cases 50 and 52.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ExecParams } from "../../mod.ts";
import { background, open, poll, pollToEnd, runToEnd } from "./agent.ts";
import { freshFolder, posix } from "./machine.ts";
import { closing, test } from "../closing.ts";

// [50] [52] the timeout's length

const BACKGROUNDED: readonly Partial<ExecParams>[] = [{ yieldMs: 50 }, { background: true }];

for (const how of BACKGROUNDED) {
  const name = JSON.stringify(how);
  test(
    `E5 the default timeout holds in the background too, and both answers say so ${name} [50]`,
    { skip: posix },
    async () => {
      const bench = closing(open({ timeoutSeconds: 1 }));
      const run = await background(bench.agent, { command: "sleep 60", ...how });
      assertStringIncludes(run.text, "stopped after 1 s (timeout)");
      assertEquals(run.details.timeoutAt, run.details.startedAt + 1_000);
      const { last } = await pollToEnd(bench.agent, run.id);
      assertEquals([last.status, last.reason], ["failed", "timeout"]);
      assertStringIncludes(last.text, "timed out after 1 s");
    },
  );

  test(`E5 a call's timeout of 0 beats the default: the command finishes ${name} [50]`, { skip: posix }, async () => {
    const bench = closing(open({ timeoutSeconds: 1 }));
    const run = await background(bench.agent, { command: "sleep 2; echo done", timeout: 0, ...how });
    assertStringIncludes(run.text, "no timeout");
    assertEquals(run.details.timeoutAt, null);
    const { output, last } = await pollToEnd(bench.agent, run.id);
    assertEquals([output, last.status, last.exitCode], ["done\n", "completed", 0]);
  });
}

test("E5 a default of 0 is no timeout, and a call's own still holds [50]", { skip: posix }, async () => {
  const bench = closing(open({ timeoutSeconds: 0 }));
  const run = await background(bench.agent, { command: "sleep 60", background: true });
  assertEquals(run.details.timeoutAt, null);
  const { details } = await runToEnd(bench.agent, { command: "sleep 60", timeout: 0.2 });
  assertEquals(details.reason, "timeout");
});

test(
  "E5 without any setting a command is stopped after 1800 s, and the answer says so [50]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    assertStringIncludes((await background(bench.agent, { command: "sleep 60" })).text, "stopped after 1800 s");
  },
);

test("E5 no timeout, however long, strikes at once [52]", { skip: posix }, async () => {
  const bench = closing(open());
  const timeouts = [2_147_483.648, 3_000_000, 1e12, Number.MAX_VALUE, Infinity, 0, -1, -Infinity];
  await Promise.all(timeouts.map(async (timeout) => {
    const { details } = await runToEnd(bench.agent, { command: "sleep 1; echo ok", timeout });
    assertEquals([details.output, details.status], ["ok\n", "completed"], String(timeout));
  }));
});

test(
  "E5 E10 a timeout that is no number is an error that names it, and starts nothing [52]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const folder = closing(await freshFolder());
    for (const timeout of [NaN, "soon", {}]) {
      const answer = await bench.agent.exec(
        { command: "touch ran", workdir: folder.path, timeout } as unknown as ExecParams,
      );
      assertEquals(answer.isError, true, String(timeout));
      assertStringIncludes(answer.text, "timeout");
    }
    assertEquals(existsSync(join(folder.path, "ran")), false);
  },
);

test("P11 E4 a poll's and a yield's time are clamped, never zero by overflow [52]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const yieldMs of [2 ** 31, 1e12]) {
    const { details } = await runToEnd(bench.agent, { command: "sleep 0.3; echo ok", yieldMs });
    assertEquals(details.output, "ok\n");
  }
  const { id } = await background(bench.agent, { command: "sleep 1; echo ok", background: true });
  const { output, wokenBy } = await poll(bench.agent, id, { timeout: 2 ** 31 });
  assertEquals([output, wokenBy], ["ok\n", "output"]);
});
