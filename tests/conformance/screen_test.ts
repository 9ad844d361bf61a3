/**
 * P21 with real programs: what a person would see, on every runtime.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent, ScreenDetails } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { background, kill, open, poll, pollToEnd } from "./agent.ts";
import { freshFolder, needs, terminal } from "./machine.ts";

const bash = terminal || await needs("bash");
const vim = terminal || await needs("vim");
const less = terminal || await needs("less");
const nano = terminal || await needs("nano");
const top = terminal || await needs("top");

/** Longest wait of one call, ms. */
const WAIT_MS = 30_000;

/** One look at the screen. */
async function look(
  agent: Agent,
  sessionId: string,
  options: {
    readonly until?: string;
    readonly since?: number;
    readonly timeout?: number;
    readonly scrollback?: number;
  } = {},
): Promise<ScreenDetails & { text: string }> {
  const { details, text } = await agent.process({ action: "screen", sessionId, ...options });
  if (!("rowNumbers" in details)) throw new Error(`Expected a screen but got: ${text}`);
  return { ...details, text };
}

/** Waits until that is on the screen. */
async function see(
  agent: Agent,
  id: string,
  pattern: string,
  since?: number,
): Promise<ScreenDetails & { text: string }> {
  const shown = await look(agent, id, { until: pattern, timeout: WAIT_MS, ...(since !== undefined && { since }) });
  assertEquals(shown.wokenBy, "match", `${pattern} in\n${shown.text}`);
  return shown;
}

async function keys(agent: Agent, sessionId: string, ...names: readonly string[]): Promise<void> {
  const { isError, text } = await agent.process({ action: "send-keys", sessionId, keys: names });
  assert(!isError, text);
}

async function type(agent: Agent, sessionId: string, data: string): Promise<void> {
  const { isError, text } = await agent.process({ action: "write", sessionId, data });
  assert(!isError, text);
}

test("P21 vim: its screen, the cursor, what has changed, the file it wrote, and the shell's screen again", {
  skip: vim,
}, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const command = "echo before; vim -u NONE -N -i NONE poem.txt; echo after; read end";
  const { id } = await background(agent, { command, workdir: folder.path, pty: true, cols: 60, rows: 10, yieldMs: 10 });
  const start = await see(agent, id, '^(~\\n){8}"poem\\.txt" \\[New');
  assertEquals([start.alternateScreen, start.size, start.rows.length], [true, { cols: 60, rows: 10 }, 10]);
  assertEquals(start.rows.slice(1, 9), Array(8).fill("~"));
  await keys(agent, id, "i");
  await type(agent, id, "roses are red");
  const typed = await see(agent, id, "^roses are red$", start.revision);
  assert(typed.rowNumbers.includes(0) && !typed.rowNumbers.includes(5), typed.text);
  assertEquals(typed.cursor, { row: 0, col: 13 });
  await keys(agent, id, "Escape", ":", "w", "q", "Enter");
  const end = await see(agent, id, "^after$");
  assertEquals([end.rows.slice(0, 2), end.alternateScreen], [["before", "after"], false]);
  assertEquals(await readFile(join(folder.path, "poem.txt"), "utf8"), "roses are red\n");
  await keys(agent, id, "Enter");
  assertEquals((await pollToEnd(agent, id)).last.ok, true);
});

test("P21 less: pages, a search, and the end", { skip: less }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  await writeFile(
    join(folder.path, "lines.txt"),
    Array.from({ length: 300 }, (_, index) => `row ${index}.\n`).join(""),
  );
  const { id } = await background(agent, {
    command: "less lines.txt",
    workdir: folder.path,
    pty: true,
    cols: 40,
    rows: 6,
    env: { LESS: "" },
  });
  assertEquals((await see(agent, id, "^row 4\\.")).rows.slice(0, 5), [0, 1, 2, 3, 4].map((row) => `row ${row}.`));
  await keys(agent, id, "Space");
  assertEquals((await see(agent, id, "^row 9\\.")).rows[0], "row 5.");
  await type(agent, id, "/row 200\\.\r");
  assertEquals((await see(agent, id, "^row 204\\.")).rows[0], "row 200.");
  await keys(agent, id, "q");
  const end = await look(agent, id, { until: "exit", timeout: WAIT_MS });
  assertEquals([end.status, end.alternateScreen], ["completed", false]);
});

test("P21 nano: the text, the bars, and a question at the bottom", { skip: nano }, async () => {
  const { agent } = closing(open());
  const folder = closing(await freshFolder());
  const { id } = await background(agent, {
    command: "nano --ignorercfiles note.txt",
    workdir: folder.path,
    pty: true,
    cols: 80,
    rows: 12,
  });
  await see(agent, id, "GNU nano .* note\\.txt");
  await type(agent, id, "a note");
  await see(agent, id, "^a note");
  await keys(agent, id, "C-x");
  assertMatch((await see(agent, id, "Save modified buffer")).rows.at(-3) ?? "", /^Save modified buffer/);
  await keys(agent, id, "n");
  assertEquals((await look(agent, id, { until: "exit", timeout: WAIT_MS })).status, "completed");
});

test("P21 P35 top: redraws in place, and draws for the new size", { skip: top }, async () => {
  const { agent } = closing(open());
  const { id } = await background(agent, { command: "top -d 0.5", pty: true, cols: 100, rows: 20 });
  const first = await see(agent, id, "^ +PID .*COMMAND");
  assertMatch(first.rows[0] ?? "", /^top - .*load average/);
  const next = await look(agent, id, { since: first.revision, timeout: WAIT_MS });
  assertEquals(next.wokenBy, "change");
  await agent.process({ action: "resize", sessionId: id, cols: 50, rows: 9 });
  const small = await see(agent, id, "^ +PID ");
  assertEquals([small.rows.length, small.size], [9, { cols: 50, rows: 9 }]);
  assert(small.rows.every((row) => row.length <= 50), small.text);
  await keys(agent, id, "q");
  assertEquals((await look(agent, id, { until: "exit", timeout: WAIT_MS })).status, "completed");
});

test("P21 stable: when a program that draws step by step has come to rest", { skip: bash }, async () => {
  const { agent } = closing(open());
  const command = "for i in 1 2 3 4 5 6; do printf '\\033[Hstep %s' $i; sleep 0.1; done; read end";
  const { id } = await background(agent, { command, pty: true, yieldMs: 10 });
  const shown = await look(agent, id, { until: "stable:1500", timeout: WAIT_MS });
  assertEquals([shown.wokenBy, shown.rows[0]], ["stable", "step 6"]);
});

test("P21 asked for late, after far more output than is held: the end of it, and its scrollback", {
  skip: bash,
}, async () => {
  const { agent } = closing(open({ maxOutputChars: 20_000 }));
  const command = "printf '\\033]0;a title\\007'; seq 1 199999; printf '\\033]2;counted\\007'; echo 200000; read end";
  const { id } = await background(agent, { command, pty: true, cols: 30, rows: 5, yieldMs: 10 });
  await poll(agent, id, { until: "^200000\n", timeout: WAIT_MS });
  const shown = await look(agent, id, { until: "^200000$", scrollback: 2, timeout: WAIT_MS });
  assertEquals(shown.rows, ["199997", "199998", "199999", "200000", ""]);
  assertEquals(shown.scrollback, ["199995", "199996"]);
  assertEquals(shown.title, "counted");
  assert(shown.missingBytes > 0);
});

test("P21 drawn live through a flood: the end of it", { skip: bash }, async () => {
  const { agent } = closing(open());
  const { id } = await background(agent, { command: "read go; seq 1 300000; read end", pty: true, cols: 30, rows: 5 });
  await look(agent, id);
  await type(agent, id, "go\n");
  assertEquals((await see(agent, id, "^300000$")).rows, ["299997", "299998", "299999", "300000", ""]);
});

test("R16 [100] the position is the true one once somebody has asked for the screen, before that 1;1", {
  skip: bash,
}, async () => {
  const { agent } = closing(open());
  const ask = "printf '\\033[5;7H\\033[6n'; IFS= read -rs -d R p; printf '\\033[%s;1Hsaid %s.' $1 \"${p#?}\"";
  const command = `stty -icanon -echo; ask() { ${ask}; }; ask 1; read go; ask 2; read end`;
  const { id } = await background(agent, { command, pty: true });
  await poll(agent, id, { until: "said \\[1;1\\.", timeout: WAIT_MS });
  assertEquals((await look(agent, id)).rows[0], "said [1;1.");
  await type(agent, id, "go\n");
  const shown = await see(agent, id, "^said \\[5;7\\.");
  assertEquals(shown.rows[1], "said [5;7.");
});

test("P21 an ended session shows its last screen", { skip: bash }, async () => {
  const { agent } = closing(open());
  const { id } = await background(agent, { command: "printf 'one\\ntwo\\033[1;1HONE'", pty: true, background: true });
  const shown = await look(agent, id, { until: "exit", timeout: WAIT_MS });
  assertEquals([shown.rows.slice(0, 2), shown.exitCode], [["ONE", "two"], 0]);
  assertEquals((await look(agent, id)).rows, shown.rows);
});

test("P21 a killed or removed session lets its screen go, whoever waits for it", { skip: bash }, async () => {
  const { agent } = closing(open());
  const { id } = await background(agent, { command: "echo up; read end", pty: true });
  await see(agent, id, "^up$");
  const pending = look(agent, id, { until: "never", timeout: WAIT_MS });
  await agent.process({ action: "remove", sessionId: id });
  assertEquals((await pending).wokenBy, "exit");
});

test("P21 a session on pipes has no screen, and says so", { skip: bash }, async () => {
  const { agent } = closing(open());
  const { id } = await background(agent, { command: "sleep 60", yieldMs: 10 });
  const { isError, text } = await agent.process({ action: "screen", sessionId: id });
  assert(isError);
  assertStringIncludes(text, "pty: true");
  await kill(agent, id);
});
