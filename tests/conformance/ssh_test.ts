/**
 * Sessions on the far side of an SSH connection, to a real server on loopback: its processes can be seen from here.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { ssh, type SshOptions } from "../../adapters/hosts/ssh.ts";
import { OffstageError } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import {
  background,
  eventually,
  kill,
  poll,
  pollUntil,
  processesCarrying,
  processesWith,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";
import { freshFolder, needs, terminal } from "./machine.ts";
import { openOverSsh, openRemote as open, sshServer } from "./ssh_server.ts";

const pty = sshServer || terminal;

const gone = (text: string): Promise<void> => eventually(() => processesWith(text).length === 0, `${text} has ended`);

test("a command runs over there, and the answer names the host", { skip: sshServer }, async () => {
  const { agent } = await open();
  const { details } = await runToEnd(agent, { command: "pwd; echo $SSH_CONNECTION", workdir: "/tmp" });
  assertMatch(details.output, /^\/tmp\n127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+\n$/);
  assertEquals([details.host, details.cwd, details.ok], ["remote", "/tmp", true]);
});

test(
  "E22 E23 of this machine's environment nothing goes there; PATH is not to be overridden",
  { skip: sshServer },
  async () => {
    const { agent } = await open();
    process.env["OFFSTAGE_TEST_SECRET"] = "a secret";
    try {
      const { details } = await runToEnd(agent, { command: "env", env: { GIVEN: 'it\'s\n"given"' } });
      assertStringIncludes(details.output, 'GIVEN=it\'s\n"given"\n');
      assertMatch(details.output, /^OPENCLAW_SHELL=exec$/m);
      assertMatch(details.output, /^OFFSTAGE_SESSION_ID=[a-z-]+/m);
      assert(!/SECRET|OFFSTAGE_COMMAND/.test(details.output), details.output);
    } finally {
      delete process.env["OFFSTAGE_TEST_SECRET"];
    }
    const { text } = await agent.exec({ command: "true", env: { PATH: "/tmp", LD_PRELOAD: "x" } });
    assertMatch(text, /PATH[^]*LD_PRELOAD/);
  },
);

test("[53] neither command nor variables are in the arguments of any process", { skip: sshServer }, async () => {
  const { agent } = await open();
  const [command, secret] = [`: mark-${Math.random()}; read -r line`, `secret-${Math.random()}`];
  const { id } = await background(agent, { command, env: { TOKEN: secret }, background: true });
  await eventually(() => processesCarrying(`TOKEN=${secret}`).length > 0, "it runs");
  assertEquals([processesWith(command.slice(2, 20)), processesWith(secret)], [[], []]);
  await kill(agent, id);
});

test("E37 a command of 1 MiB arrives byte for byte", { skip: sshServer }, async () => {
  const { agent } = await open();
  const data = "é'\"\\$x ".repeat(100_000).slice(0, 900_000);
  const { details } = await runToEnd(agent, { command: `cat <<'END' | md5sum; printf %s end\n${data}\nEND` });
  const { createHash } = await import("node:crypto");
  assertStringIncludes(details.output, createHash("md5").update(`${data}\n`).digest("hex"));
});

test("E26 a command's own 255 is no lost host, nor are 126, 127 and 137", { skip: sshServer }, async () => {
  const { agent } = await open();
  for (const code of [255, 126, 127, 137]) {
    const { details } = await runToEnd(agent, { command: `exit ${code}` });
    assertEquals([details.status, details.exitCode, details.reason], ["completed", code, "exit"]);
  }
});

test("E27 a death by signal over there is told by its name", { skip: sshServer }, async () => {
  const { agent } = await open();
  for (const signal of ["TERM", "KILL", "HUP", "USR1", "SEGV"]) {
    for (const onTerminal of [false, pty === false]) {
      const { details } = await runToEnd(agent, {
        command: `ulimit -c 0; kill -${signal} $$; sleep 9`,
        pty: onTerminal,
      });
      assertEquals([details.reason, details.signal, details.exitCode], ["signal", `SIG${signal}`, null]);
    }
  }
});

test(
  "E29 what cannot be started is told by exec: no directory, no server, no such key",
  { skip: sshServer },
  async () => {
    const { agent, server } = await open();
    const answers = async (): Promise<string> => (await agent.exec({ command: "true", workdir: "/no/such" })).text;
    assertMatch(await answers(), /"\/no\/such": there is no such directory \(on 127\.0\.0\.1\)/);
    const refused: readonly (readonly [SshOptions["options"], RegExp])[] = [
      [{ ...server.options.options, Port: 1 }, /Cannot reach 127\.0\.0\.1: .*refused/],
      [{ ...server.options.options, IdentityFile: "/no/such" }, /Cannot reach 127\.0\.0\.1: .*Permission denied/],
      [{ ...server.options.options, UserKnownHostsFile: "/dev/null" }, /Cannot reach 127\.0\.0\.1: .*[Hh]ost key/],
    ];
    for (const [options = {}, message] of refused) {
      const bench = closing(openOverSsh({ ...server, options: { ...server.options, options } }));
      const { details, text } = await bench.agent.exec({ command: "true" });
      assertEquals(details.status, "failed");
      assertMatch(text, message);
    }
  },
);

test(
  "E34 a kill ends the tree over there: a deaf one, one in its own session, and a daemon",
  { skip: sshServer },
  async () => {
    const { agent } = await open([], { killGraceMs: 500 });
    for (const onTerminal of [false, pty === false]) {
      const sleep = uniqueSleep();
      const command =
        `trap '' TERM; setsid ${sleep} & (setsid setsid ${sleep} &); ${sleep} & echo up; ${sleep}; ${sleep}`;
      const { id } = await background(agent, { command, pty: onTerminal });
      await eventually(() => processesWith(sleep).length === 4, "all run");
      const { details } = await agent.process({ action: "kill", sessionId: id, wait: 30_000 });
      assert("confirmed" in details && details.confirmed);
      await gone(sleep);
    }
  },
);

test(
  "P40 a single signal reaches the group, and what it does is what the command does",
  { skip: sshServer },
  async () => {
    const { agent } = await open();
    const { id } = await background(agent, {
      command: "trap 'echo caught; exit 3' USR1; echo up; while :; do sleep 0.1; done",
    });
    await pollUntil(agent, id, "up");
    await kill(agent, id, { signal: "SIGUSR1" });
    await pollUntil(agent, id, "caught");
    assertEquals((await poll(agent, id, { until: "exit", timeout: 30_000 })).exitCode, 3);
  },
);

test("E35 what a command leaves behind is named, and can be ended", { skip: sshServer }, async () => {
  const { agent } = await open();
  const sleep = uniqueSleep();
  const { text, details } = await runToEnd(agent, { command: `${sleep} >/dev/null 2>&1 & echo done` });
  assertMatch(text, /1 process it started still runs: sleep/);
  assertEquals(details.survivors.length, 1);
  await kill(agent, details.sessionId ?? "");
  await gone(sleep);
});

test("input is written, ended, and typed; a resize travels", { skip: pty }, async () => {
  const { agent } = await open();
  const piped = await background(agent, { command: "cat; echo over" });
  await agent.process({ action: "write", sessionId: piped.id, data: "é\n", eof: true });
  await pollUntil(agent, piped.id, "é\nover\n");
  const typed = await background(agent, { command: "read -r line; echo got $line", pty: true });
  await agent.process({ action: "write", sessionId: typed.id, data: "words" });
  await agent.process({ action: "submit", sessionId: typed.id });
  await pollUntil(agent, typed.id, "got words");
  const resized = "trap 'stty size' WINCH; stty size; while :; do sleep 0.1; done";
  const { id } = await background(agent, { command: resized, pty: true });
  await pollUntil(agent, id, "30 120");
  await agent.process({ action: "resize", sessionId: id, cols: 99, rows: 44 });
  await pollUntil(agent, id, "44 99");
  const interrupted = await background(agent, { command: "echo up; exec cat", pty: true });
  await pollUntil(agent, interrupted.id, "up");
  await agent.process({ action: "send-keys", sessionId: interrupted.id, keys: ["C-c"] });
  const ended = await poll(agent, interrupted.id, { until: "exit", timeout: 30_000 });
  assertEquals([ended.reason, ended.signal], ["signal", "SIGINT"]);
});

test("startup files that talk are not the command's output", { skip: sshServer }, async () => {
  const { path } = closing(await freshFolder());
  writeFileSync(`${path}/noisy`, "unset BASH_ENV; echo welcome; echo warning >&2\n");
  const { agent } = await open([`SetEnv BASH_ENV=${path}/noisy`]);
  assertEquals((await runToEnd(agent, { command: "echo mine" })).details.output, "mine\n");
  if (pty === false) {
    assertEquals((await runToEnd(agent, { command: "echo mine", pty: true })).details.output, "mine\n");
  }
});

test("the login shell may be one of another kind", { skip: sshServer || await needs("fish") }, async () => {
  const { agent } = await open(['ForceCommand exec fish --no-config -c "$SSH_ORIGINAL_COMMAND"']);
  for (const onTerminal of [false, pty === false]) {
    const { details } = await runToEnd(agent, { command: "echo it\\'s; exit 4", pty: onTerminal });
    assertEquals([details.output, details.exitCode], ["it's\n", 4]);
  }
});

test("more commands at a time than a connection may have", { skip: sshServer }, async () => {
  const { agent } = await open(["MaxSessions 4"]);
  await runToEnd(agent, { command: "true" }); // from here on a client is kept ready, for one of them
  const runs = Array.from({ length: 12 }, (_, index) => runToEnd(agent, { command: `sleep 0.3; echo ${index}` }));
  const outputs = (await Promise.all(runs)).map(({ details }) => details.output);
  assertEquals(outputs, outputs.map((_, index) => `${index}\n`));
});

const WRONG: readonly (readonly [key: string, options: SshOptions])[] = [
  ["destination", { destination: "-oProxyCommand=evil" }],
  ["destination", { destination: "" }],
  ["destination", { destination: "two words" }],
  ["options.controlpath", { destination: "host", options: { controlpath: "/tmp/x" } }],
  ["options.User\n", { destination: "host", options: { "User\n": "x" } }],
  ["cwd", { destination: "host", cwd: "relative" }],
];

for (const [key, options] of WRONG) {
  test(`options of ssh that are wrong are refused: ${JSON.stringify(options)}`, () => {
    const error = assertThrows(() => ssh(options), OffstageError);
    assertEquals(error.problems.map((problem) => problem.key), [key]);
  });
}
