/**
 * A session in a sandbox is one like any other (E34, P30), what the sandbox's options do, and what is said when there is
 * no sandbox to be had.
 *
 * @module
 */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { closing, test } from "../closing.ts";
import { background, eventually, kill, pollUntil, processesWith, runToEnd, uniqueSleep } from "./agent.ts";
import { CONNECTIONS, terminal } from "./machine.ts";
import { folderOutside, openSandbox, openScene, sandbox } from "./sandbox.ts";

for (const { how, pty, skip } of CONNECTIONS) {
  test(`E34 ${how}: a kill ends everything in the sandbox, what left the group and what ignores SIGTERM too`, {
    skip: sandbox || skip,
  }, async () => {
    const { agent, workspace } = await openScene({}, { killGraceMs: 300 });
    const [stray, deaf] = [uniqueSleep(), uniqueSleep()];
    const command =
      `setsid ${stray} & (setsid setsid env -i ${stray} &); trap '' TERM; setsid ${deaf} & sleep 0.1; echo up; ${deaf}; ${deaf}`;
    const { id } = await background(agent, { command, pty });
    await pollUntil(agent, id, "up");
    await eventually(() => processesWith(stray).length === 2 && processesWith(deaf).length === 2, "all of them run");
    const { confirmed, survivors, signal, text } = await kill(agent, id);
    assertEquals([confirmed, survivors, signal], [true, [], "SIGKILL"], text);
    await eventually(
      () =>
        processesWith(workspace).length === 0 && processesWith(stray).length === 0 && processesWith(deaf).length === 0,
      "nothing is left",
    );
  });

  test(`E34 R7 ${how}: a command gets one SIGTERM and time to tidy up, and its exit is told`, {
    skip: sandbox || skip,
  }, async () => {
    const { agent, workspace } = await openScene();
    const command =
      "n=0; trap 'n=$((n+1)); echo term' TERM; echo up; while [ $n = 0 ]; do sleep 0.05; done; sleep 0.3; echo $n >count; exit 4";
    const { id } = await background(agent, { command, pty });
    await pollUntil(agent, id, "up");
    const { exitCode, status } = await kill(agent, id);
    assertEquals([exitCode, status, readFileSync(`${workspace}/count`, "utf8")], [4, "completed", "1\n"]);
  });

  test(
    `E27 ${how}: a command that a signal of ours ends is told to have ended by it`,
    { skip: sandbox || skip },
    async () => {
      const { agent } = await openScene();
      const { id } = await background(agent, { command: "echo up; exec sleep 600", pty });
      await pollUntil(agent, id, "up");
      const { signal, status } = await kill(agent, id);
      assertEquals([signal, status], ["SIGTERM", "killed"]);
    },
  );

  test(`${how}: a kill at any moment of the start leaves nothing`, { skip: sandbox || skip }, async () => {
    const { agent, workspace } = await openScene({}, { killGraceMs: 1_000 });
    const command = uniqueSleep();
    for (let round = 0; round < 20; round++) {
      const { id } = await background(agent, { command, pty, background: true });
      await sleep(round);
      const { confirmed, status } = await kill(agent, id);
      assertEquals([confirmed, status], [true, "killed"]);
    }
    await eventually(
      () => processesWith(command).length === 0 && processesWith(workspace).length === 0,
      "nothing is left",
    );
  });

  test(`P30 ${how}: who waits for input in the sandbox is known from outside`, { skip: sandbox || skip }, async () => {
    const { agent } = await openScene();
    const { id } = await background(agent, {
      command: "cat >/dev/null; echo end",
      pty,
      background: true,
      stdin: "open",
    });
    const { details } = await agent.process({ action: "poll", sessionId: id, until: "input", timeout: 30_000 });
    assert("evidence" in details);
    assertEquals([details.wokenBy, details.evidence], ["input", "blocked-in-read"]);
  });

  test(`${how}: what a command leaves behind ends with it`, { skip: sandbox || skip }, async () => {
    const { agent } = await openScene();
    const left = uniqueSleep();
    const { details } = await runToEnd(agent, {
      command: `trap '' HUP; nohup setsid ${left} >/dev/null 2>&1 & sleep 0.1; echo done`,
      pty,
    });
    assertEquals([details.exitCode, details.survivors], [0, []]);
    await eventually(() => processesWith(left).length === 0, "it has ended");
  });
}

test(
  "a terminal has job control, the keys that interrupt, and a size that changes",
  { skip: sandbox || terminal },
  async () => {
    const { agent } = await openScene();
    const { id } = await background(agent, { command: "PS1='ready> ' exec bash --norc -i", pty: true });
    const type = async (data: string, wanted: string | RegExp): Promise<void> => {
      await agent.process({ action: "write", sessionId: id, data });
      await pollUntil(agent, id, wanted);
    };
    await pollUntil(agent, id, "ready> ");
    await type("sleep 600\r", "sleep 600");
    await eventually(async () => {
      await agent.process({ action: "write", sessionId: id, data: "\x1a" });
      const { details } = await agent.process({ action: "poll", sessionId: id, timeout: 1_000 });
      return "output" in details && details.output.includes("Stopped");
    }, "the job is stopped");
    await type("fg; echo code $?\r", "sleep 600");
    await eventually(async () => {
      await agent.process({ action: "write", sessionId: id, data: "\x03" });
      const { details } = await agent.process({ action: "poll", sessionId: id, timeout: 1_000 });
      return "output" in details && details.output.includes("ready> ");
    }, "the job is interrupted");
    await agent.process({ action: "resize", sessionId: id, cols: 77, rows: 22 });
    await type("stty size\r", "22 77");
    await type("trap 'echo caught' INT; echo set\r", "set\n");
    await agent.process({ action: "write", sessionId: id, data: "exit 7\r" });
    const { details } = await agent.process({ action: "poll", sessionId: id, until: "exit", timeout: 30_000 });
    assert("exitCode" in details);
    assertEquals(details.exitCode, 7);
  },
);

test("a command on a read-only workspace cannot write there, and what is bound within has its own rule", {
  skip: sandbox,
}, async () => {
  const { path } = closing(await folderOutside());
  await mkdir(`${path}/cache`);
  const readOnly = closing(
    openSandbox(path, { readOnly: true, extraBinds: [{ path: `${path}/cache`, writable: true }] }),
  );
  const { details } = await runToEnd(readOnly.agent, { command: "touch a; touch cache/b; ls -A . cache" });
  assertMatch(details.output, /touch: .*'a': Read-only[^]*\.:\ncache\n\ncache:\nb\n/);
  const kept = closing(
    openSandbox(path, { extraBinds: [`${path}/cache`, { path: `${path}/cache`, at: "/opt/cache" }] }),
  );
  const other = await runToEnd(kept.agent, { command: "touch a; touch cache/c; ls -A . cache /opt/cache" });
  assertMatch(other.details.output, /Read-only[^]*a\ncache\n\n\/opt\/cache:\nb\n\ncache:\nb\n/);
});

test("a workspace that is a link is seen under both names", { skip: sandbox }, async () => {
  const { path } = closing(await folderOutside());
  await mkdir(`${path}/real/sub`, { recursive: true });
  symlinkSync("real", `${path}/link`);
  const { agent } = closing(openSandbox(`${path}/link`));
  const { details } = await runToEnd(agent, { command: `pwd -P; cd ${path}/link/sub && pwd -P` });
  assertEquals(details.output, `${path}/real\n${path}/real/sub\n`);
  assertEquals(
    (await runToEnd(agent, { command: "pwd -P", workdir: `${path}/real/sub` })).details.output,
    `${path}/real/sub\n`,
  );
  const { details: outside } = await agent.exec({ command: "pwd", workdir: path });
  assertEquals("reason" in outside && outside.reason, "refused");
});

test(
  "a workspace that is not there is said to be missing, and is used once it has been made",
  { skip: sandbox },
  async () => {
    const { path } = closing(await folderOutside());
    const { agent } = closing(openSandbox(`${path}/later`));
    const { details, text } = await agent.exec({ command: "pwd" });
    assertEquals("reason" in details && details.reason, "spawn-error");
    assertStringIncludes(text, `does not exist: ${path}/later`);
    await mkdir(`${path}/later`);
    assertEquals((await runToEnd(agent, { command: "pwd" })).details.output, `${path}/later\n`);
  },
);

test("E25 E37 large commands and large output pass, and the code is the command's", { skip: sandbox }, async () => {
  const { agent } = await openScene();
  const { details } = await runToEnd(agent, {
    command: `: ${"x".repeat(1_000_000)}\nseq 1 20000 | tail -n 1; exit 9`,
    env: { BIG: "y".repeat(100_000) },
  });
  assertEquals([details.output, details.exitCode], ["20000\n", 9]);
  const names = Array.from({ length: 5_000 }, (_, index) => `V${index}`);
  const many = await runToEnd(agent, {
    command: `: ${"x".repeat(700_000)}\nenv | grep -c '^V[0-9]*=mine$'; echo \${#BIG8}`,
    env: Object.fromEntries([
      ...names.map((name) => [name, "mine"]),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((number) => [`BIG${number}`, "y".repeat(100_000)]),
    ]),
  });
  assertEquals(many.details.output, "5000\n100000\n");
});

/** A `bwrap` that cannot be used, and what is said about it. */
const BROKEN: readonly (readonly [script: string | undefined, said: RegExp])[] = [
  [undefined, /there is no .*Install bubblewrap/],
  ["echo 'bwrap: No permissions to create new namespace' >&2; exit 1", /No permissions[^]*Allow user namespaces/],
  [
    "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1",
    /RTM_NEWADDR[^]*Allow user namespaces/,
  ],
  ["exit 3", /says "exit 3"/],
];

for (const [script, said] of BROKEN) {
  test(
    `without a working bwrap nothing is run, and the answer says why: ${script ?? "none"}`,
    { skip: sandbox },
    async () => {
      const { path } = closing(await folderOutside());
      const program = `${path}/bwrap`;
      if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      for (const pty of [false, true]) {
        const { agent } = closing(openSandbox(path, { program }));
        const { details, text } = await agent.exec({ command: `touch ${path}/ran`, pty });
        assertEquals([details.status, "problems" in details], ["failed", true], text);
        assertMatch(text, said);
        assert(!existsSync(`${path}/ran`));
      }
    },
  );
}

test("a bwrap that is put right is used by the next command, and an older one without --disable-userns too", {
  skip: sandbox,
}, async () => {
  const { path } = closing(await folderOutside());
  const program = `${path}/bwrap`;
  const { agent } = closing(openSandbox(path, { program }));
  assertEquals((await agent.exec({ command: "true" })).details.status, "failed");
  const older =
    `#!/bin/sh\ncase " $* " in *" --disable-userns "*) echo 'bwrap: Unknown option --disable-userns' >&2; exit 1;; esac\nexec bwrap "$@"\n`;
  writeFileSync(program, older, { mode: 0o755 });
  assertEquals((await runToEnd(agent, { command: "echo fine" })).details.output, "fine\n");
});
