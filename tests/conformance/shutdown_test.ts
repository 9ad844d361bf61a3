/**
 * What becomes of the sessions when their host ends (E39, case 48), seen from outside: each host is a process of its own
 * on the runtime the test runs on.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { assertEquals, assertGreater, assertLess, assertStringIncludes } from "@std/assert";
import { readStat } from "../../adapters/linux/proc.ts";
import type { ExecParams } from "../../mod.ts";
import type { HostPlan } from "../fixtures/host.ts";
import { runtimeName } from "../skip.ts";
import { eventually, processesCarrying, processesWith, uniqueMark, uniqueSleep } from "./agent.ts";
import { freshFolder, proc } from "./machine.ts";
import { closing, test } from "../closing.ts";

/** Beside the compiled tests lie compiled fixtures. */
const hostProgram = fileURLToPath(
  new URL(`../fixtures/host.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
);
const runtimeArgs = { node: [], bun: [], deno: ["run", "-A", "--no-check"] }[runtimeName];

interface Host extends AsyncDisposable {
  /** Sends it a signal. */
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Its end, and everything it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null; readonly output: string }>;
  /** Resolves when its commands are up. */
  readonly up: Promise<void>;
  /** Its process id. */
  readonly pid: number;
  /** Live processes of its commands. */
  readonly processes: () => readonly number[];
  /** An empty folder that its commands run in. */
  readonly folder: string;
}

async function start(
  commands: readonly ExecParams[],
  end: HostPlan["end"],
  exec: HostPlan["exec"] = { killGraceMs: 1_000 },
  last?: ExecParams,
): Promise<Host> {
  const folder = await freshFolder();
  const { env, variable } = uniqueMark();
  const marked = (params: ExecParams): ExecParams => ({ workdir: folder.path, env, ...params });
  const plan: HostPlan = { exec, commands: commands.map(marked), end, ...(last && { last: marked(last) }) };
  const child = spawn(process.execPath, [...runtimeArgs, hostProgram, JSON.stringify(plan)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const isUp = new Promise<void>((resolve) => {
    child.stdout.on("data", () => output.includes("up\n") && resolve());
    child.once("exit", () => resolve());
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").prependListener("data", (text: string) => output += text);
  }
  const processes = (): readonly number[] => processesCarrying(variable);
  return {
    kill: (signal) => void child.kill(signal),
    ended: once(child, "close").then(([code, signal]) => ({ code, signal, output })),
    up: isUp,
    pid: child.pid ?? 0,
    processes,
    folder: folder.path,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      for (const pid of processes()) process.kill(pid, "SIGKILL");
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** One session of each kind that a host's end must reach. */
const SESSIONS: readonly ExecParams[] = [
  { command: "trap 'touch tidied; exit 0' TERM; echo up; while :; do sleep 0.05; done" },
  { command: "echo up; sleep 600", pty: true },
  { command: "trap '' TERM; echo up; while :; do sleep 0.5; done" },
  { command: "setsid sleep 600 & echo up; exec sleep 600" },
  { command: "nohup sleep 600 >/dev/null 2>&1 & echo up" },
];

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(
    `E39 ${signal} to the host ends every session by the ladder, then the host by that signal [48]`,
    { skip: proc },
    async () => {
      const host = closing(await start(SESSIONS, "stay"));
      await host.up;
      assertGreater(host.processes().length, SESSIONS.length);
      host.kill(signal);
      assertEquals((await host.ended).signal, signal);
      assertEquals(host.processes(), []);
      assertEquals(existsSync(join(host.folder, "tidied")), true);
    },
  );
}

for (const end of ["throw", "reject"] as const) {
  test(
    `E39 an uncaught error of the host (${end}) ends every session, and the error is shown [48]`,
    { skip: proc },
    async () => {
      const host = closing(await start(SESSIONS, end));
      const { code, output } = await host.ended;
      assertGreater(code ?? 0, 0);
      assertStringIncludes(output, "boom");
      assertEquals(host.processes(), []);
      assertEquals(existsSync(join(host.folder, "tidied")), true);
    },
  );
}

test("E39 close() ends every session, and the host goes on to its own end [48]", { skip: proc }, async () => {
  const host = closing(await start(SESSIONS, "close"));
  assertEquals((await host.ended).code, 0);
  assertEquals(host.processes(), []);
  assertEquals(existsSync(join(host.folder, "tidied")), true);
});

test("E39 a host that has nothing left to do ends what its commands left behind [48]", { skip: proc }, async () => {
  const host = closing(await start([{ command: "nohup sleep 600 >/dev/null 2>&1 & echo up" }], "return"));
  assertEquals((await host.ended).code, 0);
  assertEquals(host.processes(), []);
});

test("S7 a host whose commands have ended ends at once, however long they are kept [82]", { skip: proc }, async () => {
  const startedAt = performance.now();
  const host = closing(await start([{ command: "echo up" }, { command: "echo up; sleep 0.5" }], "return"));
  assertEquals((await host.ended).code, 0);
  assertLess(performance.now() - startedAt, 20_000);
});

test(
  "E39 process.exit() of the host: every group gets SIGTERM first, and time to tidy up [48]",
  { skip: proc },
  async () => {
    const host = closing(
      await start([
        // Its loop starts no child: a shell that reports a child's death prints, and nobody reads that any more
        { command: "trap 'touch tidied; exit 0' TERM; echo up; while :; do :; done" },
        { command: "echo up; sleep 600 | cat" },
        { command: "echo up; sleep 600", pty: true },
      ], "exit"),
    );
    assertEquals((await host.ended).code, 3);
    await eventually(() => host.processes().length === 0, "the groups end", 10_000);
    assertEquals(existsSync(join(host.folder, "tidied")), true);
  },
);

test(
  "close() lets go of a pipe that a process out of reach still holds: the host can end",
  { skip: proc },
  async () => {
    const marker = uniqueSleep();
    const host = closing(await start([{ command: `env -i setsid ${marker} & echo up` }], "close"));
    try {
      const limit = new Promise((resolve) => setTimeout(resolve, 20_000, "it hangs").unref());
      assertEquals(await Promise.race([host.ended.then(({ code }) => code), limit]), 0);
    } finally {
      for (const pid of processesWith(marker)) process.kill(pid, "SIGKILL");
    }
  },
);

// The orphan guard: nothing inside the host can run any more

test("E39 SIGKILL of the host: the orphan guard ends every session [48]", { skip: proc }, async () => {
  const host = closing(await start(SESSIONS, "stay"));
  await host.up;
  host.kill("SIGKILL");
  await host.ended;
  await eventually(() => host.processes().length === 0, "the orphan guard ends them", 10_000);
});

/** Everything a command can do to outlive its host. */
const STUBBORN: readonly ExecParams[] = [
  { command: "echo up; sleep 600" },
  { command: "echo up; sleep 600", pty: true },
  { command: "trap '' TERM; echo up; while :; do sleep 0.5; done" },
  { command: "trap '' TERM HUP; echo up; while :; do sleep 0.5; done", pty: true },
  { command: "setsid sh -c \"trap '' TERM; sleep 600; sleep 600\" & echo up; exec sleep 600" },
  { command: "(setsid sleep 600 >/dev/null 2>&1 &); echo up; sleep 600" },
  { command: "echo up; kill -STOP $$; sleep 600" },
  { command: "sleep 600 & sleep 600 & echo up" },
  { command: "nohup sleep 600 >/dev/null 2>&1 & disown; echo up; sleep 600" },
  { command: "echo up; exec cat" },
];

test(
  "E39 SIGKILL of a host with fifty sessions of every kind: nothing of them is left [48]",
  { skip: proc },
  async () => {
    const fifty = Array.from({ length: 5 }, () => STUBBORN).flat().map((each) => ({ stdin: "open" as const, ...each }));
    const host = closing(await start(fifty, "stay"));
    await host.up;
    assertGreater(host.processes().length, 50);
    host.kill("SIGKILL");
    await host.ended;
    await eventually(() => host.processes().length === 0, "the orphan guard ends them");
  },
);

test(
  "E39 SIGKILL of a host whose orphan guard was killed before: there is another one [48]",
  { skip: proc },
  async () => {
    const host = closing(await start(SESSIONS, "stay"));
    await host.up;
    const guards = (): readonly number[] =>
      processesWith("offstage-guard").filter((pid) => readStat(pid)?.parent === host.pid);
    const [first = 0] = guards();
    process.kill(first, "SIGKILL");
    await eventually(() => guards().some((pid) => pid !== first), "it is replaced");
    host.kill("SIGKILL");
    await host.ended;
    await eventually(() => host.processes().length === 0, "the other orphan guard ends them");
  },
);

test("E39 SIGKILL of a host right after its first answer [48]", { skip: proc }, async () => {
  const host = closing(await start([], "kill itself", {}, { command: "sleep 600", background: true }));
  await host.ended;
  await eventually(() => host.processes().length === 0, "the orphan guard ends it");
});

test("E39 SIGKILL of a host whose newest command has only just begun [48]", { skip: proc }, async () => {
  const last: ExecParams = { command: "setsid sleep 600 & env -i sleep 600 & echo young; exec sleep 600" };
  const host = closing(await start(SESSIONS, "stay", {}, last));
  await host.ended;
  await eventually(() => host.processes().length === 0, "the orphan guard ends them");
});

test(
  "E39 what has cleared its environment goes too, with its group or with its parent [48]",
  { skip: proc },
  async () => {
    const marker = uniqueSleep();
    const clears = (end: string): string => `env -i ${marker} & env -i setsid ${marker} & echo up; ${end}`;
    const host = closing(await start([{ command: clears("wait") }, { command: `env -i ${marker} & echo up` }], "stay"));
    try {
      await host.up;
      const sleeps = (): readonly number[] => processesWith(marker).filter((pid) => pid !== host.pid); // its plan says it too
      await eventually(() => sleeps().length === 3, "they have started");
      host.kill("SIGKILL");
      await host.ended;
      await eventually(() => processesWith(marker).length === 0, "the orphan guard ends them");
    } finally {
      for (const pid of processesWith(marker)) process.kill(pid, "SIGKILL");
    }
  },
);

test(
  "E39 a daemon that an ended command has left behind on purpose outlives even SIGKILL",
  { skip: proc },
  async () => {
    const marker = uniqueSleep();
    const daemon = `setsid -f ${marker} </dev/null >/dev/null 2>&1; echo up`;
    const host = closing(await start([{ command: daemon }, { command: "sleep 2; echo up; sleep 600" }], "stay"));
    try {
      await host.up;
      const isSession = (): boolean => host.processes().some((pid) => !processesWith(marker).includes(pid));
      host.kill("SIGKILL");
      await host.ended;
      await eventually(() => !isSession(), "the orphan guard ends the session");
      assertEquals(processesWith(marker).length, 1);
    } finally {
      for (const pid of processesWith(marker)) process.kill(pid, "SIGKILL");
    }
  },
);

test("E39 process.exit() of the host: the orphan guard ends what SIGTERM did not [48]", { skip: proc }, async () => {
  const host = closing(await start(SESSIONS, "exit"));
  await host.ended;
  await eventually(() => host.processes().length === 0, "the orphan guard ends them", 10_000);
});

test("E39 without the orphan guard the sessions outlive the host's SIGKILL [48]", { skip: proc }, async () => {
  const host = closing(await start([{ command: "echo up; exec sleep 600" }], "stay", { orphanGuard: false }));
  await host.up;
  host.kill("SIGKILL");
  await host.ended;
  await new Promise((resolve) => setTimeout(resolve, 3_000)); // the guard would need 2 s at most
  assertEquals(host.processes().length, 1);
});
