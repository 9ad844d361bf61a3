/**
 * Every answer names the same cause of death: case 51.
 *
 * @module
 */
import process from "node:process";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Agent, EndedDetails, ExecParams } from "../../mod.ts";
import { background, kill, log, open, poll, pollToEnd, pollUntil } from "./agent.ts";
import { CONNECTIONS, posix } from "./machine.ts";
import { closing, test } from "../closing.ts";

// [51] the cause of death

interface Death {
  readonly cause: string;
  readonly end: (agent: Agent, id: string, pid: number) => Promise<unknown>;
  readonly params?: Partial<ExecParams>;
  readonly expected: Pick<EndedDetails, "status" | "reason" | "signal" | "exitCode">;
}

const DEATHS: readonly Death[] = [
  {
    cause: "its own exit",
    params: { command: "sleep 0.5; exit 3" },
    end: () => Promise.resolve(),
    expected: { status: "completed", reason: "exit", signal: null, exitCode: 3 },
  },
  {
    cause: "a kill",
    end: (agent, id) => kill(agent, id, { wait: 0 }),
    expected: { status: "killed", reason: "killed", signal: "SIGTERM", exitCode: null },
  },
  {
    cause: "its timeout",
    params: { timeout: 0.5 },
    end: () => Promise.resolve(),
    expected: { status: "failed", reason: "timeout", signal: "SIGTERM", exitCode: null },
  },
  {
    cause: "somebody else's SIGKILL",
    end: (_, __, pid) => Promise.resolve(process.kill(pid, "SIGKILL")),
    expected: { status: "failed", reason: "signal", signal: "SIGKILL", exitCode: null },
  },
];

for (const { cause, end, params, expected } of DEATHS) {
  for (const { how, pty, skip } of CONNECTIONS) {
    test(`E27 poll, log and list all name the cause of death on ${how}: ${cause} [51] [31]`, { skip }, async () => {
      const bench = closing(open());
      const { id, details } = await background(bench.agent, { command: "sleep 60", pty, background: true, ...params });
      await end(bench.agent, id, details.pid ?? 0);
      const { last } = await pollToEnd(bench.agent, id);
      const listed = (await bench.agent.process({ action: "list" })).details;
      assert("sessions" in listed);
      for (const told of [last, await log(bench.agent, id), await poll(bench.agent, id), listed.sessions[0]]) {
        const { status, reason, signal, exitCode } = told ?? {};
        assertEquals({ status, reason, signal, exitCode }, expected);
      }
    });
  }
}

test("E27 an instance that closes names itself as the cause to whoever waits [51]", { skip: posix }, async () => {
  const bench = open();
  const call = bench.agent.exec({ command: "echo up; sleep 60", yieldMs: 60_000 }, {
    onUpdate: () => void bench.offstage.close(),
  });
  const { details, text } = await call;
  assert("durationMs" in details);
  assertEquals([details.status, details.reason, details.signal], ["failed", "shutdown", "SIGTERM"]);
  assertStringIncludes(text, "host shut down");
  const late = await bench.agent.exec({ command: "true" });
  assertEquals("reason" in late.details && late.details.reason, "shutdown");
});

test("E27 a program that kills itself while it is being killed with another signal keeps its own status [51]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, {
    command: "trap 'exit 4' TERM; echo up; while :; do sleep 0.05; done",
  });
  await pollUntil(bench.agent, id, "up");
  const { status, exitCode, reason, signal } = await kill(bench.agent, id);
  assertEquals([status, exitCode, reason, signal], ["completed", 4, "exit", null]);
});
