/**
 * Editors and pagers, driven as an agent drives them: through the two tools alone, to the effect on the disk.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closing, test } from "../closing.ts";
import { log, open } from "./agent.ts";
import { handsOn } from "./hands.ts";
import { freshFolder, needs, terminal } from "./machine.ts";

const vi = terminal || await needs("vi");
const less = terminal || await needs("less");
const nano = terminal || await needs("nano");
const top = terminal || await needs("top");
const pager = less || await needs("git");

/** Git as it is without anybody's settings. */
const GIT_ENV = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.org",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.org",
};

test("P34 P32 vi: a file is written by paste and keys, changed by a command, and left", { skip: vi }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const file = join(folder.path, "poem.txt");
  const hands = await handsOn(agent, {
    command: "vi -u NONE -N -i NONE poem.txt",
    workdir: folder.path,
    cols: 60,
    rows: 10,
  });
  await hands.untilInput();
  assertEquals((await hands.look()).alternateScreen, true);
  await hands.press("o");
  await hands.paste("roses are red\n\tviolets are blue");
  await hands.press("Escape", "g", "g", "d", "d", ":", "w", "Enter");
  await hands.see("written$");
  assertEquals(await readFile(file, "utf8"), "roses are red\n\tviolets are blue\n");
  await hands.type(":%s/blue/green/\r");
  const { cursor } = await hands.see("^ +violets are green$");
  assertEquals(cursor.row, 1);
  await hands.press("Up", "0", "x", "Z", "Z");
  assertEquals((await hands.end()).exitCode, 0);
  assertEquals(await readFile(file, "utf8"), "oses are red\n\tviolets are green\n");
});

test("P21 vi: a swap file's question is on the screen, and quitting without saving leaves the file", {
  skip: vi,
}, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const file = join(folder.path, "kept.txt");
  await writeFile(file, "as it was\n");
  const start = { command: "vi -u NONE -N -i NONE kept.txt", workdir: folder.path };
  const first = await handsOn(agent, start);
  await first.see("^as it was$");
  await first.type("ixyz");
  await first.see("^xyzas it was$");
  const second = await handsOn(agent, start);
  await second.see("[Ss]wap file .*already exists");
  await second.press("q");
  await second.end();
  await first.press("Escape");
  await first.type(":q\r");
  await first.see("^E37: No write");
  await first.type(":q!\r");
  assertEquals((await first.end()).exitCode, 0);
  assertEquals(await readFile(file, "utf8"), "as it was\n");
});

test("P21 nano: a file is searched, changed, saved under its name, and left", { skip: nano }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const file = join(folder.path, "note.txt");
  await writeFile(file, "first\nsecond\nthird\n");
  const hands = await handsOn(agent, {
    command: "nano --ignorercfiles note.txt",
    workdir: folder.path,
    cols: 80,
    rows: 14,
  });
  await hands.see("^third$");
  await hands.press("C-w");
  await hands.see("^Search");
  await hands.type("second");
  await hands.enter();
  assertEquals((await hands.look({ until: "stable" })).cursor.row, 2);
  await hands.press("C-k");
  await hands.paste("2nd\n");
  await hands.see("^first\\n2nd\\nthird$");
  await hands.press("C-o");
  await hands.see("^File Name to Write.*note\\.txt");
  await hands.enter();
  await hands.see("Wrote 3 lines");
  await hands.press("C-x");
  assertEquals((await hands.end()).exitCode, 0);
  assertEquals(await readFile(file, "utf8"), "first\n2nd\nthird\n");
});

test("P21 less: ends, a search that finds nothing, help and back, and its screen gone at the end", {
  skip: less,
}, async () => {
  const { agent } = closing(open());
  const command = "seq -f 'row %g.' 1 300 | less";
  const hands = await handsOn(agent, { command, cols: 60, rows: 6, env: { LESS: "" } });
  assertEquals((await hands.see("^row 5\\.")).rows[0], "row 1.");
  await hands.press("G");
  assertEquals((await hands.see("^\\(END\\)")).rows[4], "row 300.");
  await hands.type("?row 17\\.\r");
  assertEquals((await hands.see("^row 21\\.")).rows[0], "row 17.");
  await hands.type("/no such row\r");
  await hands.see("[Pp]attern not found");
  await hands.enter();
  await hands.press("h");
  await hands.see("SUMMARY OF LESS");
  await hands.press("q");
  await hands.see("^row 17\\.");
  await hands.press("q");
  assertEquals((await hands.end()).exitCode, 0);
  assertEquals((await hands.look()).alternateScreen, false);
  assert(!(await log(agent, hands.id)).text.includes("row 17."));
});

test("P30 [98] git log: its pager is seen to wait, is searched, and left", { skip: pager }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const command = `git init -q && tree=$(git write-tree) && head= &&
    for i in $(seq 30); do head=$(git commit-tree $tree \${head:+-p $head} -m "change $i."); done &&
    git update-ref HEAD $head && git log; echo code $?`;
  const hands = await handsOn(agent, {
    command,
    workdir: folder.path,
    rows: 12,
    env: { ...GIT_ENV, GIT_PAGER: "less -R" },
  });
  await hands.see("change 30\\.");
  const { evidence, text } = await hands.look({ until: "input" });
  assertEquals(evidence, "blocked-in-read");
  assertMatch(text, /waiting for input: (pager|less) is reading it/);
  await hands.type("/change 11\\.\r");
  await hands.see("change 11\\.");
  await hands.press("q");
  await hands.end();
  assertStringIncludes((await log(agent, hands.id)).text, "code 0");
});

test("P21 P35 top: its table, a key that asks, a smaller terminal, and the end", { skip: top }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const hands = await handsOn(agent, { command: "top -d 60", cols: 100, rows: 24, env: { HOME: folder.path } });
  const { rows } = await hands.see("^ +PID USER .*COMMAND");
  assertMatch(rows[0] ?? "", /^top - .*load average/);
  await hands.press("u");
  await hands.see("Which user");
  await hands.type("nobody-such\r");
  await hands.see("Invalid user");
  await agent.process({ action: "resize", sessionId: hands.id, cols: 60, rows: 12 });
  const small = await hands.look({ until: "^ +PID USER", since: 0 });
  assertEquals([small.wokenBy, small.size], ["match", { cols: 60, rows: 12 }]);
  await hands.press("q");
  assertEquals((await hands.end()).exitCode, 0);
});
