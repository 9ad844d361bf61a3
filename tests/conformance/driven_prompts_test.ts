/**
 * Programs that ask: secrets, menus, series of questions, and programs that ask the terminal itself.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { closing, test } from "../closing.ts";
import { log, open, runToEnd } from "./agent.ts";
import { handsOn } from "./hands.ts";
import { freshFolder, needs, terminal } from "./machine.ts";

const bash = terminal || await needs("bash");
const python = terminal || await needs("python3");
const keygen = terminal || await needs("ssh-keygen");
const git = terminal || await needs("git with add -p", "git add -h 2>&1 | grep -q -- --patch && perl -e 1");

/** The path of a program beside the tests, for a command line. */
function fixture(name: string): string {
  return `'${fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))}'`;
}

test("P31 [93] read -s: the secret arrives, and is in no answer, list or event", { skip: bash }, async () => {
  const { agent } = closing(open());
  const secret = "tr0ub4dor & 3";
  for (const hides of [true, false]) {
    const read = `IFS= read -r${hides ? "s" : ""} -p 'Password: ' p`;
    const hands = await handsOn(agent, { command: `${read}; echo; echo "got \${#p} characters"; exit 3` });
    assertEquals(await hands.untilInput(), "Password: ");
    await hands.type(`${secret}\r`, { sensitive: true });
    await hands.look({ until: "exit" });
    const { events } = agent.events.list();
    const told = [
      events,
      await hands.look(),
      await agent.process({ action: "list" }),
      await hands.end(),
      await agent.process({ action: "poll", sessionId: hands.id, since: 0 }),
      await log(agent, hands.id),
      await agent.process({ action: "log", sessionId: hands.id, raw: true }),
    ];
    const text = JSON.stringify(told);
    assertStringIncludes(text, `got ${secret.length} characters`);
    assert(!text.includes("tr0ub4dor"), text);
  }
});

test("P31 P12 ssh-keygen: a passphrase that does not match, one that does, and the key that opens with it", {
  skip: keygen,
}, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const hands = await handsOn(agent, { command: "ssh-keygen -t ed25519 -C test -f key", workdir: folder.path });
  await hands.untilMatch("Enter passphrase.*: $");
  for (const answer of ["one phrase", "another", "right phrase", "right phrase"]) {
    await hands.untilInput();
    await hands.type(`${answer}\r`, { sensitive: true });
  }
  const end = await hands.end();
  assertEquals(end.exitCode, 0);
  assertStringIncludes(end.output, "The key fingerprint is:\nSHA256:");
  assertMatch(await readFile(join(folder.path, "key.pub"), "utf8"), /^ssh-ed25519 \S+ test\n$/);
  assert(!/phrase\b.*right|right phrase/.test((await log(agent, hands.id)).text));
  const opened = await handsOn(agent, { command: "ssh-keygen -y -f key", workdir: folder.path });
  await opened.untilInput();
  await opened.type("right phrase\r", { sensitive: true });
  const key = await opened.end();
  assertEquals(key.exitCode, 0, key.text);
  assertMatch(key.output, /^ssh-ed25519 /m);
});

test("P12 bash select: a wrong choice, then each choice by the number it shows", { skip: bash }, async () => {
  const { agent } = closing(open());
  const menu = 'select c in red "dark green" blue; do echo "took ${c:-nothing}"; [ "$c" = blue ] && break; done';
  const hands = await handsOn(agent, { command: `PS3='which? '; ${menu}` });
  const question = await hands.untilInput();
  assertMatch(question, /which\? $/);
  const [, number] = /(\d)\) dark green/.exec(question) ?? [];
  await hands.type("9\r");
  assertMatch(await hands.untilInput(), /took nothing\nwhich\? $/);
  await hands.type(`${number}\r`);
  assertMatch(await hands.untilInput(), /took dark green\nwhich\? $/);
  await hands.type("3\r");
  assertStringIncludes((await hands.end()).output, "took blue\n");
});

test("P32 P21 [104] a menu for the arrow keys: what is marked is seen to move, and Enter takes it", {
  skip: terminal,
}, async () => {
  const { agent } = closing(open());
  const command = `sh ${fixture("arrow_menu.sh")} apple banana cherry date`;
  const hands = await handsOn(agent, { command, cols: 40, rows: 8 });
  const start = await hands.see("^> apple\\n  banana\\n  cherry\\n  date$");
  assertEquals(start.cursorVisible, false);
  await hands.press("Down");
  const { rowNumbers } = await hands.see("^> banana$", { since: start.revision });
  assert(rowNumbers.includes(0) && rowNumbers.includes(1) && !rowNumbers.includes(4), `${rowNumbers}`);
  await hands.press("Down", "Down", "Down", "Down", "Up");
  await hands.see("^> cherry\\n  date$");
  await hands.press("Up", "Enter");
  const end = await hands.end();
  assertEquals([end.exitCode, end.output.trimEnd().split("\n").at(-1)], [0, "chosen: banana"]);
});

test("P12 git add -p: one hunk is left, one staged, and only that is in the index", { skip: git }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_PAGER: "cat" };
  const command = `git init -q && seq 40 >f && git add f && sed -e 's/^3$/three/' -e 's/^33$/thirty-three/' f >g &&
    mv g f && git add -p`;
  const hands = await handsOn(agent, { command, workdir: folder.path, env });
  const first = await hands.untilInput();
  assertMatch(first, /-3\n\+three\n[^]*Stage this hunk \[.*\]\? $/);
  await hands.type("n\r");
  assertMatch(await hands.untilInput(), /-33\n\+thirty-three\n[^]*Stage this hunk \[.*\]\? $/);
  await hands.type("y\r");
  assertEquals((await hands.end()).exitCode, 0);
  const { details } = await runToEnd(agent, {
    command: "git show :f | grep three; git diff",
    workdir: folder.path,
    env,
  });
  assertMatch(details.output, /^thirty-three\n/);
  assertMatch(details.output, /^-3\n\+three$/m);
});

test("P12 P33 a series of questions: defaults taken, an answer refused, and a file made of them", {
  skip: terminal,
}, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const hands = await handsOn(agent, { command: `sh ${fixture("questions.sh")}`, workdir: folder.path });
  assertMatch(await hands.untilInput(), /^package name: \(offstage-.*\) $/);
  await hands.type("my-app\r");
  assertMatch(await hands.untilInput(), /version: \(1\.0\.0\) $/);
  await hands.type("two\r");
  assertMatch(await hands.untilInput(), /Invalid version: "two"\nversion: \(1\.0\.0\) $/);
  await hands.enter();
  assertMatch(await hands.untilInput(), /license: \(ISC\) $/);
  await hands.type("MIT\r");
  assertMatch(await hands.untilInput(), /name=my-app version=1\.0\.0 license=MIT\n\nIs this OK\?: \(yes\) $/);
  await hands.enter();
  assertEquals((await hands.end()).exitCode, 0);
  assertEquals(await readFile(join(folder.path, "answers.txt"), "utf8"), "name=my-app version=1.0.0 license=MIT\n");
});

test("R16 [100] a program that measures what it prints by asking for the cursor gets it right", {
  skip: bash,
}, async () => {
  const { agent } = closing(open());
  const ask = "where() { printf '\\033[6n'; IFS='[;' read -rs -d R _ row col; }";
  const measure = 'measure() { where; from=$col; printf %s "$1"; where; width=$((col - from)); }';
  const command = `stty -icanon -echo; ${ask}; ${measure}; read -r text; measure "$text"; echo " is $width wide"; read`;
  const hands = await handsOn(agent, { command });
  await hands.look(); // from now on there is a screen, and a true position on it
  await hands.type("日本 tea\n");
  await hands.see("^日本 tea is 8 wide$");
  await hands.enter();
  await hands.end();
});

test("P35 P21 a full-screen program draws anew for each size, and its screen goes when it ends", {
  skip: python,
}, async () => {
  const { agent } = closing(open());
  const command = `echo before; python3 ${fixture("draws_size.py")}`;
  const hands = await handsOn(agent, { command, cols: 60, rows: 10 });
  for (const [cols, rows] of [[60, 10], [100, 30], [20, 4], [132, 43]] as const) {
    await agent.process({ action: "resize", sessionId: hands.id, cols, rows });
    const shown = await hands.see(`^size ${cols}x${rows}\\n+ *corner$`);
    assertEquals([shown.rows.length, shown.rows.at(-1)], [rows, `${" ".repeat(cols - 6)}corner`]);
  }
  await hands.enter();
  assertEquals((await hands.end()).exitCode, 0);
  const last = await hands.look();
  assertEquals([last.alternateScreen, last.rows.slice(0, 2)], [false, ["before", "done"]]);
});
