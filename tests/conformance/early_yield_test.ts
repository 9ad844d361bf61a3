/**
 * `exec` answers as soon as its program waits for input, and not before `yieldMs` for one that is merely silent (P30, R8).
 *
 * @module
 */
import process from "node:process";
import { assert, assertEquals, assertGreaterOrEqual, assertLess, assertStringIncludes } from "@std/assert";
import type { ExecParams } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { background, open, pollToEnd, runToEnd } from "./agent.ts";
import { needs, proc, terminal } from "./machine.ts";
import { closing, test } from "../closing.ts";

const linux = proc || skipUnless(process.platform === "linux", "only Linux tells who reads");
const linuxTerminal = linux || terminal;
const bash = linuxTerminal || await needs("bash");
const python = linuxTerminal || await needs("python3");
const sshKeygen = linuxTerminal || await needs("ssh-keygen");
const otherUser = bash || await needs("setpriv", "setpriv --reuid 65534 --clear-groups true");

/** What a caller would have waited without the platform's word, ms; far more than it takes to see who reads. */
const YIELD_MS = 60_000;
const SEEN_MS = 30_000;

const SUDO = "[sudo] password for ada: ";

/** Programs that ask: how each is started, what it prints before it waits, and who reads. */
const asking: readonly (readonly [
  what: string,
  params: ExecParams,
  prompt: string,
  reader: string,
  skip: string | false,
])[] = [
  ["read -p", { command: "read -rp 'Name? ' x; true", pty: true }, "Name? ", "bash", bash],
  ["read -n1", { command: "printf 'Go on? [y/N] '; read -rn1 x; true", pty: true }, "Go on? [y/N] ", "bash", bash],
  ["read -s", { command: "read -rsp 'Password: ' x; true", pty: true }, "Password: ", "bash", bash],
  ["cat with yieldMs", { command: "cat" }, "", "cat", linux],
  ["cat with its stdin open", { command: "echo up; cat", stdin: "open" }, "up\n", "cat", linux],
  [
    "python3 -i",
    { command: "exec python3 -iqc 'import sys; sys.ps1 = \"py> \"'", pty: true },
    "py> ",
    "python3",
    python,
  ],
  ["bash -i", { command: "PS1='sh> ' exec bash --norc --noprofile -i", pty: true }, "sh> ", "bash", bash],
  ["ssh-keygen", { command: "ssh-keygen -t ed25519 -f /dev/null", pty: true }, "(y/n)? ", "ssh-keygen", sshKeygen],
  [
    "a password prompt of another user's process",
    { command: `exec setpriv --reuid 65534 --clear-groups bash -c 'read -rsp "${SUDO}" x </dev/tty'`, pty: true },
    SUDO,
    "bash",
    otherUser,
  ],
  [
    "python's getpass",
    { command: "python3 -c 'import getpass; getpass.getpass()'", pty: true },
    "Password: ",
    "python3",
    python,
  ],
];

for (const [what, params, prompt, reader, skip] of asking) {
  test(`P30 exec answers at once when its program waits for input: ${what}`, { skip }, async () => {
    const bench = closing(open({ killGraceMs: 200, inputWaitIdleMs: 600_000 }));
    const startedAt = performance.now();
    const { details, text } = await background(bench.agent, { yieldMs: YIELD_MS, ...params });
    assertLess(performance.now() - startedAt, SEEN_MS);
    assertEquals([details.waitingForInput, details.evidence, details.reader], [true, "blocked-in-read", reader]);
    assert(details.tail.endsWith(prompt), JSON.stringify(details.tail));
    assertStringIncludes(text, `waiting for input: ${reader} is reading it`);
    assertStringIncludes(text, "answers it]");
  });
}

test("P30 the answer's own words are enough to go on: what it says is written, and the program ends", {
  skip: bash,
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  for (const pty of [true, false]) {
    const command = "printf 'Name? '; read -r name; echo \"hello $name\"";
    const { id, text } = await background(agent, { command, pty, yieldMs: YIELD_MS });
    const [, data = ""] = /action: "write", sessionId: "[^"]+", data: ("[^"]*")/.exec(text) ?? [];
    await agent.process({ action: "write", sessionId: id, data: (JSON.parse(data) as string).replace("…", "Ada") });
    if (text.includes('action: "submit"')) await agent.process({ action: "submit", sessionId: id });
    assertStringIncludes((await pollToEnd(agent, id)).output, "hello Ada\n");
  }
});

const RELAY = "python3 -c 'import select, socket; a, b = socket.socketpair(); select.select([0, a], [], [])'";
const THREADED_RELAY = "python3 -c 'import socket, threading, time; a, b = socket.socketpair(); " +
  "threading.Thread(target=a.recv, args=[1]).start(); time.sleep(0.5); input()'";

/** Programs that are silent and do not ask. */
const silent: readonly (readonly [what: string, params: ExecParams, skip: string | false])[] = [
  ["sleep", { command: "sleep 60" }, linux],
  ["sleep in a terminal", { command: "sleep 60", pty: true }, linuxTerminal],
  ["a silent compile", { command: "sh -c 'while :; do :; done'; true", pty: true }, linuxTerminal],
  ["a process that only holds the terminal", { command: "tail -f /dev/null", pty: true }, linuxTerminal],
  ["a reader of another pipe", { command: "sleep 60 | cat", pty: true }, linuxTerminal],
  ["a program whose stdin was redirected", { command: "cat < <(sleep 60)", pty: true }, bash],
  ["a relay, which waits for a socket as well", { command: RELAY, pty: true }, python],
  ["a relay that has threads for it", { command: THREADED_RELAY, pty: true }, python],
  ["what looks like a prompt", { command: "printf 'Continue? [y/N] '; sleep 60", pty: true }, linuxTerminal],
];

test("P30 exec waits out yieldMs for a program that is merely silent", { skip: linux }, async () => {
  const bench = closing(open({ inputWaitIdleMs: 1_000, killGraceMs: 200 }));
  await Promise.all(
    silent.filter(([, , skip]) => skip === false).map(async ([what, params]) => {
      const startedAt = performance.now();
      const { details, text } = await background(bench.agent, { yieldMs: 3_000, ...params });
      assertGreaterOrEqual(performance.now() - startedAt, 2_990, what);
      assertEquals([details.waitingForInput, details.evidence, details.reader], [false, null, null], what);
      assert(!text.includes("waiting for input"), `${what}: ${text}`);
    }),
  );
});

test(
  "E7 E31 a reader whose stdin is closed, or that nobody could answer, is not waited for",
  { skip: linux },
  async () => {
    const bench = closing(open());
    assertEquals((await runToEnd(bench.agent, { command: "cat" })).details.output, "");
    const alone = bench.offstage.agent("alone", { processTool: false });
    const { details } = await runToEnd(alone, { command: "cat; echo over", stdin: "open", timeout: 1 });
    assertEquals([details.reason, details.output], ["timeout", ""]);
  },
);
