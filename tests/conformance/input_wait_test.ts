/**
 * Whether a program waits for input is told from the system, not from silence: section G of the cases, P30 and R8.
 *
 * @module
 */
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import type { Agent, ExecParams, ListEntry } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import {
  background,
  eventually,
  kill,
  log,
  open,
  poll,
  pollToEnd,
  pollUntil,
  processesWith,
  runToEnd,
  uniqueSleep,
} from "./agent.ts";
import { freshFolder, needs, openWith, posix, proc, terminal } from "./machine.ts";
import { closing, test } from "../closing.ts";

const linux = proc || skipUnless(process.platform === "linux", "only Linux tells who reads");
const linuxTerminal = linux || terminal;
const python = linuxTerminal || await needs("python3");
const bash = linuxTerminal || await needs("bash");
const sshKeygen = linuxTerminal || await needs("ssh-keygen");

/** The shortest silence that can count as waiting, ms. */
const IDLE_MS = 1_000;

/** Far below the 15 s of silence that count by default: tells "seen in the system" from "guessed". */
const SEEN_MS = 8_000;

async function listed(agent: Agent, sessionId: string): Promise<ListEntry> {
  const { details } = await agent.process({ action: "list" });
  assert("sessions" in details);
  const entry = details.sessions.find((each) => each.sessionId === sessionId);
  if (entry === undefined) throw new Error(`"${sessionId}" is not listed`);
  return entry;
}

// [95], programs that do wait

const waiting: readonly (readonly [what: string, params: ExecParams, reader: string, skip: string | false])[] = [
  ["read on pipes", { command: "read -r x; true" }, "bash", linux],
  ["cat on pipes", { command: "cat" }, "cat", linux],
  ["cat behind a shell on pipes", { command: "cat; true" }, "cat", linux],
  ["a grandchild on pipes", { command: "sh -c 'sh -c \"cat; true\"; true'; true" }, "cat", linux],
  ["python's input() on pipes", { command: "python3 -c 'input()'" }, "python3", python],
  ["the first program of a pipeline", { command: "cat | tr a b" }, "cat", linux],
  ["read in a terminal", { command: "read -r x; true", pty: true }, "bash", bash],
  ["read -n1 in a terminal", { command: "read -n1 x; true", pty: true }, "bash", bash],
  ["read -s in a terminal", { command: "read -rs -p 'Password: ' x; true", pty: true }, "bash", bash],
  ["cat in a terminal", { command: "cat", pty: true }, "cat", linuxTerminal],
  ["a reader of /dev/tty", { command: "read -r x </dev/tty; true", pty: true }, "bash", bash],
  ["a reader of /dev/tty behind a pipe", { command: "echo | (read -r x </dev/tty; true)", pty: true }, "bash", bash],
  ["an interactive bash", { command: "exec bash --norc --noprofile -i", pty: true }, "bash", bash],
  ["an interactive python", { command: "exec python3 -i", pty: true }, "python3", python],
  ["ssh-keygen in a terminal", { command: "ssh-keygen -t ed25519 -f /dev/null", pty: true }, "ssh-keygen", sshKeygen],
  ["a shell's job in the foreground", { command: "bash --norc -ic cat", pty: true }, "cat", bash],
];

for (const [what, params, reader, skip] of waiting) {
  test(`P30 ${what} waits for input, and that is known from the system [95]`, { skip }, async () => {
    const bench = closing(open({ killGraceMs: 200 }));
    const { agent } = bench;
    const { id } = await background(agent, { ...params, background: true });
    const startedAt = performance.now();
    const polled = await poll(agent, id, { until: "input", timeout: 30_000 });
    assertLess(performance.now() - startedAt, SEEN_MS);
    assertEquals([polled.wokenBy, polled.waitingForInput, polled.evidence], ["input", true, "blocked-in-read"]);
    assertStringIncludes(polled.text, `waiting for input: ${reader} is reading it`);
    const entry = await listed(agent, id);
    assertEquals([entry.waitingForInput, entry.evidence, entry.stdin], [true, "blocked-in-read", "open"]);
    assertMatch((await log(agent, id)).text, /waiting for input: /);
    assertEquals(entry.status, "running");
  });
}

// [95], programs that do not

const busy: readonly (readonly [what: string, params: ExecParams, skip: string | false])[] = [
  ["sleep", { command: "sleep 60" }, linux],
  ["sleep in a terminal", { command: "sleep 60", pty: true }, linuxTerminal],
  ["sleep after dots", { command: "echo 'collecting ...'; sleep 60", pty: true }, linuxTerminal],
  ["sleep after what looks like a prompt", { command: "printf 'root@host:~# $ '; sleep 60", pty: true }, linuxTerminal],
  ["sleep after a question", { command: "printf 'Continue? [y/N] '; sleep 60", pty: true }, linuxTerminal],
  ["a silent compile", { command: "sh -c 'while :; do :; done'; true" }, linux],
  ["a silent compile in a terminal", { command: "sh -c 'while :; do :; done'; true", pty: true }, linuxTerminal],
  ["a build of many short processes", { command: "while :; do sleep 0.01; done", pty: true }, linuxTerminal],
  ["a process that only holds the terminal", { command: "tail -f /dev/null", pty: true }, linuxTerminal],
  ["a shell that waits for a job", { command: "sleep 60 & wait", pty: true }, linuxTerminal],
  ["a job in the background that reads", { command: "bash --norc -ic 'cat & sleep 60'", pty: true }, bash],
  ["a reader of another pipe", { command: "sleep 60 | cat" }, linux],
  ["a reader of another pipe in a terminal", { command: "sleep 60 | cat", pty: true }, linuxTerminal],
  ["a program whose stdin was redirected", { command: "cat < <(sleep 60)", pty: true }, bash],
  [
    "a server",
    { command: "python3 -c 'import socket as s; l=s.create_server((\"127.0.0.1\",0)); l.accept()'" },
    python,
  ],
  ["a program with its stdin closed", { command: "exec sleep 60", stdin: "closed" }, linux],
];

test("P30 programs that are merely silent are never said to wait, however long [95]", { skip: linux }, async () => {
  const bench = closing(open({ inputWaitIdleMs: IDLE_MS, killGraceMs: 200 }));
  const { agent } = bench;
  const ids = new Map<string, string>();
  for (const [what, params, skip] of busy) {
    if (skip === false) ids.set(what, (await background(agent, { ...params, background: true })).id);
  }
  for (let look = 0; look < 5; look++) {
    await sleep(IDLE_MS / 2);
    for (const [what, id] of ids) {
      if (look === 0) await poll(agent, id);
      const { waitingForInput, evidence, text, status } = await poll(agent, id);
      assertEquals([waitingForInput, evidence, status], [false, null, "running"], what);
      assert(!text.includes("waiting for input"), `${what}: ${text}`);
      const entry = await listed(agent, id);
      assertEquals([entry.waitingForInput, entry.evidence], [false, null], what);
    }
  }
  const [anyId = ""] = ids.values();
  assertEquals((await poll(agent, anyId, { until: "input", timeout: 500 })).wokenBy, "timeout");
});

test("P30 a program waits, works and waits again, and each is seen [95]", { skip: linux }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const nap = uniqueSleep();
  const { id } = await background(agent, { command: `while read -r n; do echo go; ${nap}; done`, background: true });
  assertEquals((await poll(agent, id, { until: "input", timeout: 30_000 })).wokenBy, "input");
  await agent.process({ action: "write", sessionId: id, data: "1\n" });
  await pollUntil(agent, id, "go\n");
  assertEquals((await poll(agent, id, { until: "input", timeout: 500 })).wokenBy, "timeout");
  await eventually(() => processesWith(nap).length === 1, "the program works");
  for (const pid of processesWith(nap)) process.kill(pid);
  assertEquals((await poll(agent, id, { until: "input", timeout: 30_000 })).wokenBy, "input");
});

test("R8 the answer to a wait for input includes the prompt's bytes [95]", { skip: linuxTerminal }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  for (const pty of [true, false]) {
    const command = "printf 'Name? '; read -r name; printf 'Age? '; read -r age; echo \"$name is $age\"";
    const { id } = await background(agent, { command, pty, background: true });
    const first = await poll(agent, id, { until: "input", timeout: 30_000 });
    assertEquals([first.wokenBy, first.output], ["input", "Name? "]);
    await agent.process({ action: "write", sessionId: id, data: "Ada\n" });
    await pollUntil(agent, id, "Age? ");
    assertEquals((await poll(agent, id, { until: "input", timeout: 30_000 })).wokenBy, "input");
    await agent.process({ action: "write", sessionId: id, data: "36\n" });
    assertStringIncludes((await pollToEnd(agent, id)).output, "Ada is 36\n");
  }
});

test("R8 P30 each of a hundred typed lines is answered before the program is said to wait again", {
  skip: linuxTerminal,
}, async () => {
  const { agent } = closing(open());
  for (const pty of [true, false]) {
    const { id } = await background(agent, {
      command: 'while read -r n; do echo "got $n"; done',
      pty,
      background: true,
    });
    for (let line = 0; line < 100; line++) {
      await agent.process({ action: "write", sessionId: id, data: `${line}\n` });
      const { wokenBy, output } = await poll(agent, id, { until: "input", timeout: 30_000 });
      assertEquals([wokenBy, output], ["input", `${pty ? `${line}\n` : ""}got ${line}\n`]);
    }
    await kill(agent, id);
  }
});

test("P12 a wait for input ends with the program [95]", { skip: posix }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "sleep 0.5; echo done; exit 4", background: true });
  const { wokenBy, exitCode, output, waitingForInput } = await poll(bench.agent, id, {
    until: "input",
    timeout: 30_000,
  });
  assertEquals([wokenBy, exitCode, output, waitingForInput], ["exit", 4, "done\n", false]);
});

test("P30 nobody waits once the input has been ended, or the program has [95]", { skip: posix }, async () => {
  const bench = closing(open({ inputWaitIdleMs: IDLE_MS }));
  const { agent } = bench;
  const { id } = await background(agent, { command: "cat; exec sleep 60" });
  await agent.process({ action: "write", sessionId: id, eof: true });
  await sleep(IDLE_MS * 1.5);
  const ended = await listed(agent, id);
  assertEquals([ended.waitingForInput, ended.stdin], [false, "closed"]);
  await agent.process({ action: "kill", sessionId: id, wait: 30_000 });
  assertEquals((await listed(agent, id)).waitingForInput, false);
});

// Where the system does not tell

test(
  "P30 without the system's word, silence counts, and the hint says maybe and why [95]",
  { skip: posix },
  async () => {
    const bench = closing(
      await openWith(async (spawner, spec, sink) => {
        const { inspector: _, ...child } = await spawner.spawn(spec, sink);
        return child;
      }, { inputWaitIdleMs: IDLE_MS }),
    );
    const { agent } = bench;
    const { id } = await background(agent, {
      command: "printf 'Name? '; read -r x; echo $x; exec sleep 60",
      background: true,
    });
    await pollUntil(agent, id, "Name? ");
    const early = await listed(agent, id);
    if (early.idleMs < IDLE_MS) assertEquals([early.waitingForInput, early.evidence], [false, null]);
    const polled = await poll(agent, id, { until: "input", timeout: 30_000 });
    assertEquals([polled.wokenBy, polled.waitingForInput, polled.evidence], ["input", true, "idle"]);
    assertMatch(polled.text, /maybe waiting for input: silent for \d+ s/);
    const { status, waitingForInput } = await listed(agent, id);
    assertEquals([status, waitingForInput], ["running", true]); // a guess never ends anything
    await agent.process({ action: "write", sessionId: id, data: "Ada\n" });
    await pollUntil(agent, id, "Ada\n");

    const deaf = await background(agent, { command: "exec sleep 60", stdin: "closed", background: true });
    await sleep(IDLE_MS * 1.2);
    assertEquals((await listed(agent, deaf.id)).waitingForInput, false);
  },
);

// [98]

const less = linuxTerminal || await needs("less");
const git = linuxTerminal || await needs("git") || await needs("less");
const vim = linuxTerminal || await needs("vim");

test("P30 a pager that took the terminal is seen to wait, and can be left [98]", { skip: less }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "seq 1 500 | less; echo DONE", pty: true, env: { LESS: "" } });
  const { wokenBy, text } = await poll(agent, id, { until: "input", timeout: 30_000 });
  assertEquals(wokenBy, "input");
  assertStringIncludes(text, "waiting for input: less is reading it");
  await agent.process({ action: "send-keys", sessionId: id, keys: ["q"] });
  const { output, last } = await pollToEnd(agent, id);
  assertStringIncludes(output, "DONE\n");
  assertEquals(last.exitCode, 0);
});

test("P30 an editor is seen to wait, and can be left [98]", { skip: vim }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "vim -u NONE -i NONE -n; echo DONE", pty: true });
  const { wokenBy, text } = await poll(agent, id, { until: "input", timeout: 30_000 });
  assertEquals(wokenBy, "input");
  assertMatch(text, /waiting for input: vim\S* is reading it/);
  await agent.process({ action: "send-keys", sessionId: id, keys: ["Escape"], literal: "itext" });
  await agent.process({ action: "send-keys", sessionId: id, literal: ":q!", keys: ["Enter"] });
  assertStringIncludes((await pollToEnd(agent, id)).output, "DONE\n");
});

test("E22 on pipes git starts neither pager nor editor, in a terminal its pager is seen to wait [98]", {
  skip: git,
}, async () => {
  const folder = closing(await freshFolder());
  const bench = closing(open());
  const { agent } = bench;
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", LESS: "", GIT_PAGER: "less" };
  const identity = "git config user.name tester; git config user.email tester@example.invalid";
  const commit = 'git commit -q --allow-empty -m "commit $n"';
  const setup = `git init -q .; ${identity}; for n in $(seq 1 40); do ${commit}; done`;
  const made = await runToEnd(agent, { command: setup, workdir: folder.path, yieldMs: 120_000, env });
  assertEquals(made.details.ok, true, made.text);

  const { GIT_PAGER: _, ...plain } = env;
  const piped = await runToEnd(agent, { command: "git log", workdir: folder.path, env: plain, yieldMs: 60_000 });
  assertStringIncludes(piped.details.output, "commit 1\n");

  const { id } = await background(agent, { command: "git log; echo DONE", workdir: folder.path, env, pty: true });
  assertEquals((await poll(agent, id, { until: "input", timeout: 30_000 })).wokenBy, "input");
  await agent.process({ action: "send-keys", sessionId: id, keys: ["q"] });
  assertStringIncludes((await pollToEnd(agent, id)).output, "DONE\n");
});

test("E22 on pipes the usual pagers are cat and git asks nobody, unless the caller wants otherwise [98]", {
  skip: posix,
}, async () => {
  const bench = closing(open());
  const command = 'echo "$PAGER $GIT_PAGER $MANPAGER $GIT_TERMINAL_PROMPT"';
  const { details } = await runToEnd(bench.agent, { command });
  assertEquals(details.output, "cat cat cat 0\n");
  const own = await runToEnd(bench.agent, { command, env: { PAGER: "less", GIT_PAGER: "more" } });
  assertEquals(own.details.output, "less more cat 0\n");
});

// [99]

test(
  "E6 a program knows its terminal, also on a host without TERM [99]",
  { skip: terminal || await needs("tput") },
  async () => {
    const bench = closing(open({ inheritEnv: { deny: ["TERM", "COLUMNS", "LINES"] } }));
    const command = "echo $TERM; tput cols; tput lines; clear >/dev/null && echo cleared";
    const { details } = await runToEnd(bench.agent, { command, pty: true, cols: 77, rows: 11 });
    assertEquals(details.output, "xterm-256color\n77\n11\ncleared\n");
  },
);
