/**
 * Shells and interpreters with their line editors, driven as an agent drives them.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closing, test } from "../closing.ts";
import { log, open } from "./agent.ts";
import { handsOn } from "./hands.ts";
import { freshFolder, needs, terminal } from "./machine.ts";

const python = terminal || await needs("python3");
const bash = terminal || await needs(
  "bash with line editing",
  "bash --norc --noprofile -ic 'bind -v' 2>/dev/null | grep -q editing-mode",
);
const zsh = terminal || await needs("zsh");
const fish = terminal || await needs("fish");

/** A bash that edits lines and has a prompt of its own; the shell that starts it has dropped any `PS1` of its caller. */
const BASH = "PS1='$ ' exec bash --norc --noprofile -i";

test("P34 P12 python: a block by one paste, an exception, a question of its own, and its exit code", {
  skip: python,
}, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const hands = await handsOn(agent, {
    command: "exec python3 -q",
    workdir: folder.path,
    env: { HOME: folder.path, PYTHON_COLORS: "0" },
  });
  assertMatch(await hands.untilInput(), />>> $/);
  // Without a blank line in it, since before 3.13 a pasted line is a typed one
  const bracketed = await hands.paste(
    "def factorial(n):\n    if n < 2:\n        return 1\n    return n * factorial(n - 1)\n",
  );
  if (!bracketed) await hands.untilMatch("\\.\\.\\. $");
  await hands.enter();
  await hands.untilInput();
  await hands.type("print('20! is', factorial(20))\r");
  assertStringIncludes(await hands.untilInput(), "20! is 2432902008176640000\n");
  await hands.type("factorial('x')\r");
  const error = await hands.untilInput();
  assertStringIncludes(error, "Traceback (most recent call last):\n");
  assertMatch(error, /TypeError: .*\n>>> $/);
  await hands.type("name = input('Who? ')\r");
  assertMatch(await hands.untilInput(), /Who\? $/);
  await hands.type("Ada\r");
  await hands.untilInput();
  await hands.type("raise SystemExit(len(name))\r");
  assertEquals((await hands.end()).exitCode, 3);
});

test("P32 python: C-c interrupts a loop and C-d leaves", { skip: python }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const hands = await handsOn(agent, { command: "exec python3 -q", env: { HOME: folder.path, PYTHON_COLORS: "0" } });
  await hands.untilInput();
  await hands.type("while print('lo' 'op') is None: pass\r\r");
  await hands.untilMatch("^loop$");
  await hands.press("C-c");
  await hands.untilMatch("KeyboardInterrupt");
  await hands.untilInput();
  await hands.press("C-d");
  await hands.end(); // some versions end themselves by SIGINT here, for the interrupt they have survived
});

test("P32 bash: history, C-r, and a line that is mended before it is run", { skip: bash }, async () => {
  const { agent } = closing(open());
  const hands = await handsOn(agent, {
    command: BASH,
    env: { HISTFILE: "", INPUTRC: "/dev/null" },
  });
  await hands.untilInput();
  for (const word of ["needle", "straw"]) {
    await hands.type(`echo ${word} $((40 + 2))\r`);
    assertStringIncludes(await hands.untilInput(), `${word} 42\n`);
  }
  await hands.press("C-r");
  await hands.type("need");
  await hands.see("^\\(reverse-i-search\\)`need': echo needle");
  await hands.enter();
  assertStringIncludes(await hands.untilInput(), "needle 42\n");
  await hands.press("Up", "Up");
  const { rows, cursor } = await hands.see("(needle 42\\n[^]*){2}^\\$ echo straw .*\\)$");
  const row = rows.findLastIndex((text) => text !== "");
  assertEquals(cursor, { row, col: rows[row]?.length ?? 0 });
  await hands.press("C-a", "M-d");
  await hands.type("printf '<%s>'");
  await hands.press("C-e");
  await hands.type("; exit 3");
  await hands.see("^\\$ printf '<%s>' straw \\$\\(\\(40 \\+ 2\\)\\); exit 3$");
  await hands.enter();
  const end = await hands.end();
  assertEquals(end.exitCode, 3);
  assertStringIncludes(end.output, "<straw><42>");
});

test("P32 bash: Tab completes a name, and Tab twice lists what there is", { skip: bash }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  for (const name of ["alpha-one.txt", "alpha-two.txt"]) await writeFile(join(folder.path, name), `in ${name}\n`);
  const hands = await handsOn(agent, {
    command: BASH,
    workdir: folder.path,
    env: { HISTFILE: "", INPUTRC: "/dev/null" },
  });
  await hands.untilInput();
  await hands.type("cat al");
  await hands.press("Tab");
  await hands.see("^\\$ cat alpha-$");
  await hands.press("Tab", "Tab");
  await hands.see("^alpha-one\\.txt +alpha-two\\.txt$");
  await hands.type("t");
  await hands.press("Tab");
  await hands.see("^\\$ cat alpha-two\\.txt$");
  await hands.enter();
  assertStringIncludes(await hands.untilInput(), "in alpha-two.txt\n");
  await hands.press("C-d");
  await hands.end();
});

test("P32 zsh: Tab completes, a line is recalled and mended in place", { skip: zsh }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  await writeFile(join(folder.path, "long-name.txt"), "inside\n");
  const hands = await handsOn(agent, {
    command: "PS1='zsh> ' exec zsh -f -i -o emacs",
    workdir: folder.path,
    env: { HOME: folder.path },
  });
  await hands.untilInput();
  await hands.type("cat lon");
  await hands.press("Tab");
  await hands.see("^zsh> cat long-name\\.txt$");
  await hands.enter();
  await hands.see("^inside\\nzsh>");
  await hands.press("Up");
  await hands.see("^inside\\nzsh> cat long-name\\.txt$");
  await hands.press("C-a", "C-k");
  await hands.paste("echo one\necho two");
  await hands.see("echo two$");
  await hands.enter();
  await hands.see("^one\\ntwo\\nzsh>");
  await hands.type("exit 4\r");
  assertEquals((await hands.end()).exitCode, 4);
});

test("R16 P32 fish: its questions to the terminal are answered, its suggestion is taken, and it ends", {
  skip: fish,
}, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  await writeFile(join(folder.path, "long-name.txt"), "inside\n");
  const hands = await handsOn(agent, {
    command: "exec fish --no-config -i --init-command 'function fish_prompt; echo \"fish> \"; end'",
    workdir: folder.path,
    env: { HOME: folder.path, XDG_CONFIG_HOME: folder.path, XDG_DATA_HOME: folder.path },
  });
  await hands.see("^fish> *$");
  await hands.type("cat lon");
  await hands.press("Tab");
  await hands.see("^fish> cat long-name\\.txt$");
  await hands.enter();
  await hands.see("^inside\\n");
  await hands.untilInput();
  await hands.type("exit 4\r");
  assertEquals((await hands.end()).exitCode, 4);
  const { text } = await log(agent, hands.id);
  assert(!/\\x1b|\[\?|warning/i.test(text), text);
});
