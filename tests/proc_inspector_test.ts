/**
 * What the Linux `/proc` inspector says about real processes.
 *
 * @module
 */

import { assert, assertEquals, assertExists } from "@std/assert";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createTreeInspector,
  groupSignal,
  type Kill,
  leadsItsGroup,
  readStat,
  stdinOf,
} from "../adapters/linux/proc.ts";
import { nodeKill } from "../adapters/node/kill.ts";
import { nodeRuntime } from "../adapters/node/runtime.ts";
import type { Child, TreeInspector } from "../mod.ts";
import { runtimeName, skipUnless } from "./skip.ts";

const skip = skipUnless(existsSync("/proc/self/stat"), "there is no /proc");
const skipTerminal = skip || skipUnless(runtimeName === "node", "its terminals come from the Node adapter");
const LIMIT_MS = 20_000;

let sessions = 0;

/** Starts a script on pipes; whatever is left of it goes with the test. */
function start(t: TestContext, script: string, over: { readonly detached?: boolean } = {}) {
  const sessionId = `proc-test-${process.pid}-${++sessions}`;
  // Where stdin is a socket, as on Bun, a bash that is nobody's child shell would take itself for a login from afar
  const child = spawn("bash", ["--norc", "-c", script], {
    detached: true,
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, OFFSTAGE_SESSION_ID: sessionId },
    ...over,
  });
  const pid = child.pid ?? 0;
  const inspector = inspect(pid, sessionId, stdinOf(pid));
  t.after(async () => {
    for (const member of await inspector.tree()) member.signal("SIGKILL");
  });
  return { child, pid, sessionId, inspector };
}

function inspect(pid: number, sessionId: string, stdin: string | undefined): TreeInspector {
  const inspector = createTreeInspector({ pid, sessionId, kill: nodeKill, ...(stdin !== undefined && { stdin }) });
  assertExists(inspector);
  return inspector;
}

/** Looks until what is seen is as expected; the last look is what is compared. */
async function settle<Seen>(look: () => Promise<Seen>, isExpected: (seen: Seen) => boolean): Promise<Seen> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const seen = await look();
    if (isExpected(seen) || performance.now() > deadline) return seen;
    await sleep(20);
  }
}

async function expectTree(inspector: TreeInspector, expected: readonly string[]): Promise<void> {
  const names = async (): Promise<string> =>
    (await inspector.tree()).map(({ name, inGroup }) => inGroup ? name : `${name} (left the group)`).sort().join();
  assertEquals(await settle(names, (seen) => seen === expected.join()), expected.join());
}

async function line(child: ChildProcess): Promise<string> {
  const [bytes] = await once(child.stdout ?? child, "data");
  return String(bytes).trim();
}

test("a process's name may hold spaces and parentheses", { skip }, async (t) => {
  const { child } = start(t, "printf ') S 1 (' >/proc/self/comm; echo ready; read x; exit");
  await line(child);
  const stat = readStat(child.pid ?? 0);
  assertEquals([stat?.name, stat?.parent, stat?.group], [") S 1 (", process.pid, child.pid]);
});

test("of a process that is not there nothing is known", { skip }, () => {
  const nobody = 2 ** 22 + 1; // above the highest pid that Linux gives out
  assertEquals([readStat(nobody), leadsItsGroup(nobody), stdinOf(nobody)], [undefined, undefined, undefined]);
});

test("E34 the tree has the group's members and those that left the group", { skip }, async (t) => {
  const { inspector } = start(t, "setsid sleep 61 & (setsid setsid sleep 62 &); sleep 63; true");
  await expectTree(inspector, ["bash", "sleep", "sleep (left the group)", "sleep (left the group)"]);
});

test("E34 a descendant without the session's id is in the tree, a stranger is not", { skip }, async (t) => {
  const stranger = start(t, "sleep 64; true");
  const { inspector } = start(t, "setsid env -i sleep 65; true");
  await expectTree(inspector, ["bash", "sleep (left the group)"]);
  await expectTree(stranger.inspector, ["bash", "sleep"]);
});

test("E34 an id that only begins like the session's is a stranger's", { skip }, async (t) => {
  const { sessionId, pid } = start(t, "sleep 66; true");
  assertEquals(await inspect(2 ** 22 + 1, sessionId.slice(0, -1), undefined).tree(), []);
  assert(!(await inspect(2 ** 22 + 1, sessionId, undefined).tree()).every((member) => member.pid !== pid));
});

test("a zombie is not live, and a signal to a process that has gone says so", { skip }, async (t) => {
  // The first sleep ends unreaped: its parent has become a program that waits for nobody
  const { inspector } = start(t, "sleep 0.01 & exec sleep 67");
  await expectTree(inspector, ["sleep"]);
  const [member] = await inspector.tree();
  assertEquals(member?.signal("SIGKILL"), "sent");
  await settle(() => inspector.tree(), (tree) => tree.length === 0);
  assertEquals(member?.signal("SIGKILL"), "gone");
});

test("E21 a group is signalled when the child leads it, else the child alone", { skip }, (t) => {
  const sent: number[] = [];
  const kill: Kill = (pid) => {
    sent.push(pid);
    return "sent";
  };
  const leader = start(t, "read x");
  const member = start(t, "read x", { detached: false });
  assertEquals([leadsItsGroup(leader.pid), leadsItsGroup(member.pid)], [true, false]);
  groupSignal({ pid: leader.pid, sessionId: leader.sessionId, kill }, "SIGTERM");
  groupSignal({ pid: member.pid, sessionId: member.sessionId, kill }, "SIGTERM");
  assertEquals(sent, [-leader.pid, member.pid]);
});

test("E21 after the child's exit its group is signalled by proof: a marked member, or one older than the exit", {
  skip,
}, async (t) => {
  for (const leftBehind of ["sleep 68 &", "env -i sleep 69 &"]) {
    const { child, pid, sessionId, inspector } = start(t, leftBehind);
    await once(child, "exit");
    const end = performance.now();
    const leader = { pid, sessionId, kill: nodeKill, exitedAt: () => end };
    assertEquals(groupSignal({ ...leader, sessionId: "other", exitedAt: () => end - 60_000 }, "SIGKILL"), "refused");
    assertEquals(groupSignal(leader, "SIGKILL"), "sent");
    assertEquals(await settle(() => inspector.tree(), (tree) => tree.length === 0), []);
  }
});

test("E21 a group whose number was given to another child is left alone", { skip }, async (t) => {
  const { pid } = start(t, "read x");
  const before = { pid, sessionId: "an-earlier-one", kill: nodeKill, exitedAt: () => performance.now() };
  assertEquals(groupSignal(before, "SIGKILL"), "refused");
  assertEquals(await createTreeInspector(before)?.tree(), []);
});

const reads: readonly (readonly [script: string, reader: string | undefined])[] = [
  ["cat; true", "cat"],
  ["read x; true", "bash"],
  ["python3 -c 'input()'; true", "python3"],
  ["sleep 70; true", undefined],
  ["sleep 70 | cat; true", undefined],
  ["exec </dev/zero; sleep 70 | cat; true", undefined],
  ["cat < <(sleep 70); true", undefined],
  ["python3 -c 'import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()'; true", "python3"],
  ["python3 -c 'import select; p = select.epoll(); p.register(1, select.EPOLLHUP); p.poll()'; true", undefined],
];
for (const [script, reader] of reads) {
  test(
    `P30 pipes: \`${script}\` ${reader ?? "nobody"} waits for our input`,
    { skip },
    async (t) => {
      const { inspector } = start(t, script);
      await expectReader(inspector, reader);
    },
  );
}

test("P30 without the child's stdin it is unknown who waits", { skip }, async (t) => {
  const { pid, sessionId } = start(t, "read x");
  assertEquals(await inspect(pid, sessionId, undefined).reader(), "unknown");
});

const terminalReads: readonly (readonly [argv: readonly [string, ...string[]], reader: string | undefined])[] = [
  [["cat"], "cat"],
  [["bash", "--norc", "-i"], "bash"],
  [["bash", "-c", "read -n1 x; true"], "bash"],
  [["bash", "-c", "read x </dev/tty; true"], "bash"],
  [["python3", "-c", "import sys, select; select.select([0], [], [])"], "python3"],
  [["python3", "-c", "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll()"], "python3"],
  [["python3", "-c", "import select; p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()"], "python3"],
  [["python3", "-c", "import select, os; r, w = os.pipe(); select.select([r], [], [])"], undefined],
  [["python3", "-c", "import threading; t = threading.Thread(target=input); t.start(); t.join()"], "python3"],
  [["sleep", "70"], undefined],
  [["bash", "-c", "sleep 70; true"], undefined],
  [["bash", "-c", "tail -f /dev/null; true"], undefined],
];
for (const [argv, reader] of terminalReads) {
  test(
    `P30 terminal: \`${argv.join(" ")}\` ${reader ?? "nobody"} waits for our input`,
    { skip: skipTerminal },
    async (t) => {
      const child = await inTerminal(t, argv);
      assertExists(child.inspector);
      await expectReader(child.inspector, reader);
    },
  );
}

test("P30 a reader's sleep is the same until it has run", { skip }, async (t) => {
  const { child, inspector } = start(t, "exec cat");
  const sleepOf = async (): Promise<string | undefined> => {
    const reader = await inspector.reader();
    return typeof reader === "object" ? reader.sleep : undefined;
  };
  const first = await settle(sleepOf, (sleep) => sleep !== undefined);
  assertEquals(await sleepOf(), first);
  child.stdin?.write("wake up\n");
  const second = await settle(sleepOf, (sleep) => sleep !== undefined && sleep !== first);
  assertExists(second);
  assertEquals([await sleepOf(), second === first], [second, false]);
});

async function inTerminal(t: TestContext, argv: readonly [string, ...string[]]): Promise<Child> {
  const sessionId = `proc-test-${process.pid}-${++sessions}`;
  const env = { PATH: process.env.PATH ?? "", TERM: "xterm", OFFSTAGE_SESSION_ID: sessionId };
  const size = { cols: 80, rows: 24 };
  const spec = { argv, cwd: "/", env, stdin: "open", sessionId, scope: "tester", terminal: size } as const;
  const child = await nodeRuntime().spawner.spawn(spec, { chunk: () => {}, end: () => {} });
  t.after(async () => {
    child.signal("SIGKILL", "group");
    await child.exited;
    child.release();
  });
  return child;
}

/** That somebody waits is found out in time; that nobody does must stay so for a while, once the program is under way. */
async function expectReader(inspector: TreeInspector, expected: string | undefined): Promise<void> {
  const look = async (): Promise<string | undefined> => {
    const reader = await inspector.reader();
    return typeof reader === "object" ? reader.name : reader;
  };
  if (expected !== undefined) return assertEquals(await settle(look, (name) => name === expected), expected);
  await sleep(500);
  for (let i = 0; i < 3; i++) {
    assertEquals(await look(), undefined);
    await sleep(50);
  }
}
