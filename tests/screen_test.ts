/**
 * P21, R12, R16: the screen as a person would see it, drawn early or late, and the position it answers with.
 *
 * @module
 */
import { assert, assertEquals, assertLessOrEqual, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { AbortError, OffstageError, type ScreenDetails } from "../mod.ts";
import { createRevisions } from "../src/terminal/revisions.ts";
import type { SessionFacts } from "../src/session/facts.ts";
import { drawn, screenOf } from "../src/session/screen.ts";
import { createSessionLog } from "../src/session/session_log.ts";
import { Session } from "../src/session/session.ts";
import { type Frame, loadScreens, type Screen } from "../src/terminal/screen.ts";
import { createFakeClock } from "./fakes/clock.ts";
import {
  act,
  answeredAfter,
  background,
  type Bench,
  countingSignal,
  open,
  refused,
  type Running,
} from "./fakes/bench.ts";

type Shown = ScreenDetails & { readonly text: string };

/** Draws pieces of output, each by itself, on a fresh screen. */
async function draw(pieces: readonly string[], size = { cols: 20, rows: 4 }): Promise<Screen> {
  const screen = (await loadScreens())(size);
  for (const piece of pieces) await screen.write(piece);
  return screen;
}

async function frameOf(...pieces: readonly string[]): Promise<Frame> {
  const screen = await draw(pieces);
  const frame = screen.frame();
  screen.close();
  return frame;
}

/** A session on a terminal of 20 by 4. */
function onTerminal(bench: Bench): Promise<Running> {
  return background(bench, { pty: true, cols: 20, rows: 4 });
}

/** A session that nobody has started, on a terminal of 20 by 4, which holds so many characters. */
function unstarted(chars: number): { readonly session: Session; readonly print: (output: string) => void } {
  const facts = { pty: true, terminal: { cols: 20, rows: 4 }, stdin: "open" } as SessionFacts;
  const session = new Session(facts, createFakeClock(), (of) => createSessionLog(of, { chars, head: 0 }));
  return { session, print: (output) => session.sink.chunk("terminal", new TextEncoder().encode(output)) };
}

function look(
  bench: Bench,
  sessionId: string,
  params: { until?: string; since?: number; timeout?: number; scrollback?: number } = {},
): Promise<Shown> {
  return act(bench.agent, { action: "screen", sessionId, ...params });
}

/** What a session shows that prints these pieces while somebody watches. */
async function shownOf(pieces: readonly Uint8Array[]): Promise<unknown> {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  await look(bench, id);
  for (const piece of pieces) {
    child.print(piece);
    await sleep(0);
  }
  const { rows, cursor, cursorVisible, title, alternateScreen, scrollback } = await look(bench, id, { scrollback: 99 });
  return { rows, cursor, cursorVisible, title, alternateScreen, scrollback, writes: child.writes };
}

/** Lets time pass, and what is to be drawn be drawn, until there is an answer; says how long it took. */
async function afterWait(
  bench: Bench,
  answer: Promise<Shown>,
  stepMs = 100,
): Promise<Shown & { readonly after: number }> {
  const from = bench.clock.monotonic();
  let isThere = false;
  const done = (): void => void (isThere = true);
  answer.then(done, done);
  while (!isThere) {
    await sleep(5);
    if (!isThere) await bench.clock.advance(stepMs);
  }
  return { ...await answer, after: bench.clock.monotonic() - from };
}

// what is on it

test("R12 rows without blanks at their ends, the cursor counted from 0", async () => {
  const { rows, cursor, cursorVisible, title, alternateScreen, scrollbackLines } = await frameOf(
    "one  \r\n  two\r\n> ",
  );
  assertEquals(rows, ["one", "  two", ">", ""]);
  assertEquals(cursor, { row: 2, col: 2 });
  assertEquals([cursorVisible, title, alternateScreen, scrollbackLines], [true, null, false, 0]);
});

test("P21 moves, erasures, colours and wide characters are what a person sees of them", async () => {
  const { rows } = await frameOf("\x1b[2;3Hx\x1b[31mred\x1b[0m\x1b[Hgone\x1b[2K\rab\bc 世界 é\x1b[4;1H日本");
  assertEquals(rows, ["ac 世界 é", "  xred", "", "日本"]);
});

test("P21 a cursor after the last column is on it", async () => {
  assertEquals((await frameOf("x".repeat(20))).cursor, { row: 0, col: 19 });
});

test("P21 the title is the last one set, bounded and harmless; a program may put the old one back", async () => {
  assertEquals((await frameOf("\x1b]2;first\x07\x1b]", "0;sec", "ond\x1b", "\\")).title, "second");
  assertEquals((await frameOf(`\x1b]0;${"t".repeat(5_000)}\x07`)).title, "t".repeat(200));
  assertEquals((await frameOf("\x1b]0;a\u202eb\x07")).title, "a\\u{202e}b");
  assertEquals((await frameOf("\x1b]0;mine\x07\x1b[22;2t\x1b]2;vim\x07\x1b[23;2t")).title, "mine");
  assertEquals((await frameOf("\x1b]0;mine\x07\x1b]0;\x07")).title, null);
});

test("P21 lines moved by more than there are rows are moved by as many, however long the program goes on with it", async () => {
  for (const final of ["L", "M", "S", "T"]) {
    const before = "one\r\ntwo\r\nthree\x1b[2;1H";
    const expected = await frameOf(`${before}\x1b[4${final}x`);
    for (const count of ["999", "0999", "5;1"]) {
      assertEquals(await frameOf(`${before}\x1b[${count}${final}x`), expected, count + final);
      assertEquals(await frameOf(before + `\x1b[${count}${final}`.repeat(3_000) + "x"), expected, count + final);
    }
  }
});

test("P21 a program may put lines in, take them out, scroll, and repeat a character", async () => {
  const { rows } = await frameOf("one\r\ntwo\x1b[H\x1b[L\x1b[Bx\x1b[2b\x1b[Iy\x1b[Zz");
  assertEquals(rows, ["", "xxx     z", "two", ""]);
  assertEquals((await frameOf("one\r\ntwo\x1b[H\x1b[M")).rows, ["two", "", "", ""]);
  assertEquals((await frameOf("one\r\ntwo\x1b[2T")).rows, ["", "", "one", "two"]);
  assertEquals((await frameOf("one\r\ntwo\x1b[S")).rows, ["two", "", "", ""]);
});

test("P21 a screen that is closed before anybody has looked can be read, and nothing is said on the console", async () => {
  const { error, warn } = console;
  const said: unknown[] = [];
  console.error = console.warn = (...words) => void said.push(words);
  try {
    const screen = await draw(["hello"]);
    screen.close();
    assertEquals([screen.frame().rows[0], said], ["hello", []]);
  } finally {
    Object.assign(console, { error, warn });
  }
});

test("P21 a full-screen program has a screen of its own, and the old one comes back", async () => {
  const up = await frameOf("shell$ ", "\x1b[?1049h\x1b[H\x1b[?25leditor");
  assertEquals([up.rows[0], up.alternateScreen, up.cursorVisible, up.scrollbackLines], ["editor", true, false, 0]);
  const down = await frameOf("shell$ ", "\x1b[?1049h\x1b[H\x1b[?25leditor", "\x1b[?1049l\x1b[?25h");
  assertEquals([down.rows[0], down.alternateScreen, down.cursorVisible], ["shell$", false, true]);
});

test("P21 a reset shows the cursor again", async () => {
  assertEquals((await frameOf("\x1b[?12;25l")).cursorVisible, false);
  assertEquals((await frameOf("\x1b[?25l\x1bc")).cursorVisible, true);
  assertEquals((await frameOf("\x1b[?25l\x1b[!p")).cursorVisible, true);
});

test("S6 bidi controls on the screen are named, not obeyed", async () => {
  assertEquals((await frameOf("a\u202eb")).rows[0], "a\\u{202e}b");
});

test("E38 a sequence that asks for two thousand million steps does not keep the host", async () => {
  for (const final of "@ABCDEFGHIJKLMPSTXZ^`abdefghlmnrstu") {
    const started = performance.now();
    await frameOf(`a\r\nb\x1b[2147483647${final}`);
    assert(performance.now() - started < 10_000, final);
  }
});

test("P21 [E38] however output is cut, whatever it is, the screen is the same", async () => {
  const control = fc.constantFrom(
    ..."\x1b[H|\x1b[2J|\x1b[K|\x1b[3;5H|\x1b[?1049h|\x1b[?1049l|\x1b[2;3r|\x1b[2L|\x1b[M|\x1b[5@|\x1b[3P|\x1bM|\x1bD"
      .split("|"),
    ..."\x1bc|\x1b]0;t\x07|\x1bP1$q\x1b\\|\x1b[4h|\x1b(0|\x1b[?6h|\x1b[?7l|\r\n|\n|\b|\t|世|é|\u202e|🙂|\x1b[7b|\x1b["
      .split("|"),
  );
  const bytes = fc.array(
    fc.oneof(fc.string({ maxLength: 8 }), control).map((text) => new TextEncoder().encode(text)),
    { maxLength: 30 },
  ).map((pieces) => Uint8Array.from(pieces.flatMap((piece) => [...piece])));
  const any = fc.oneof({ weight: 3, arbitrary: bytes }, { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) });
  await fc.assert(
    fc.asyncProperty(any, fc.array(fc.nat(), { maxLength: 6 }), async (whole, places) => {
      const cuts = [...new Set(places.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
      const pieces = [...cuts, whole.length].map((cut, index) => whole.subarray(cuts[index - 1] ?? 0, cut));
      assertEquals(await shownOf(pieces), await shownOf([whole]));
    }),
    { numRuns: 150 },
  );
});

// what changes

test("P21 a revision grows with what is seen, and tells which rows are new", async () => {
  const see = createRevisions();
  const screen = await draw(["one\r\ntwo\r\n"]);
  const first = see(screen.frame());
  assertEquals([first.revision, first.changedSince(0)], [1, [0, 1, 2, 3]]);
  assertEquals(see(screen.frame()).revision, 1);
  await screen.write("\x1b[2;1HTWO");
  const second = see(screen.frame());
  assertEquals([second.revision, second.changedSince(1), second.changedSince(2)], [2, [1], []]);
  await screen.write("\x1b[?25l");
  const third = see(screen.frame());
  assertEquals([third.revision, third.changedSince(2), third.changedSince(1)], [3, [], [1]]);
  assertEquals(third.changedSince(99), [0, 1, 2, 3]);
  await screen.write("\x1b[D");
  assertEquals(see(screen.frame()).revision, 4);
  await screen.write("\x1b[B");
  const fifth = see(screen.frame());
  assertEquals([fifth.revision, fifth.changedSince(4)], [5, []]);
});

// a session's screen

test("P21 the whole screen with few words, then with since only the rows that have changed", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  assertMatch(
    (await look(bench, id)).text,
    /^\(blank screen\)\n\[screen 20x4; cursor row 0 col 0; revision 1; running]/,
  );
  child.print("\x1b]0;menu\x07\x1b[?1049h\x1b[Hone\r\ntwo\r\n");
  const whole = await look(bench, id);
  assertEquals(whole.rows, ["one", "two", "", ""]);
  assertEquals(whole.rowNumbers, [0, 1, 2, 3]);
  assertEquals([whole.size, whole.title, whole.alternateScreen], [{ cols: 20, rows: 4 }, "menu", true]);
  assertEquals(
    whole.text.split("\n").slice(0, 3),
    ["one", "two", '[screen 20x4; cursor row 2 col 0; title "menu"; alternate screen; revision 2; running]'],
  );
  child.print("\x1b[2;1HTWO");
  const part = await look(bench, id, { since: whole.revision });
  assertEquals([part.rows, part.rowNumbers, part.wokenBy], [["TWO"], [1], "change"]);
  assertStringIncludes(part.text, "1| TWO\n[screen");
  const same = await look(bench, id, { since: part.revision });
  assertEquals([same.rows, same.revision, same.wokenBy], [[], part.revision, "timeout"]);
  assertStringIncludes(same.text, "(no row has changed)");
});

test("P21 scrollback on request, as much as there is", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  child.print(Array.from({ length: 10 }, (_, index) => `line ${index}`).join("\r\n"));
  const plain = await look(bench, id);
  assertEquals([plain.scrollback, plain.scrollbackLines], [[], 6]);
  assertStringIncludes(plain.text, "6 more lines above");
  const two = await look(bench, id, { scrollback: 2 });
  assertEquals(two.scrollback, ["line 4", "line 5"]);
  assert(two.text.startsWith("line 4\nline 5\nline 6\n"), two.text);
  assertEquals((await look(bench, id, { scrollback: 500 })).scrollback.length, 6);
});

test("P21 without a terminal, and without the emulator, the answer says what to do", async () => {
  const bench = open();
  const { id } = await background(bench);
  const { text, reason } = await refused(bench.agent, { action: "screen", sessionId: id });
  assertEquals(reason, "not-possible");
  assertStringIncludes(text, "pty: true");
  const hidden = (): Promise<never> => Promise.reject(new Error("Cannot find package '@xterm/headless'\nat once"));
  const error = await assertRejects(() => loadScreens(hidden), OffstageError, "npm install @xterm/headless");
  assertEquals(error.code, "unsupported");
  await assertRejects(() => loadScreens(() => Promise.reject("no reason")), OffstageError, "[no reason]");
});

test("P21 an ended session shows its last screen, asked for early or late", async () => {
  for (const asksEarly of [true, false]) {
    const bench = open();
    const { id, child } = await onTerminal(bench);
    if (asksEarly) await look(bench, id);
    child.print("almost\r\n");
    child.print("done\x1b[");
    child.end(3);
    await bench.clock.advance(0);
    const shown = await look(bench, id, { until: "stable" });
    assertEquals(shown.rows, ["almost", "done", "", ""]);
    assertEquals([shown.wokenBy, shown.exitCode], ["exit", 3]);
  }
});

test("P21 one that asks late, after more output than is held, is told what is missing", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await onTerminal(bench);
  child.print("\x1b[?1049h");
  for (let index = 0; index < 5_000; index++) child.print(`\x1b[1;1H\x1b[31mframe ${index}\x1b[0m\x1b[K`);
  child.print("\x1b[3;1Hbelow");
  const shown = await look(bench, id);
  assertEquals(shown.rows, ["frame 4999", "", "below", ""]);
  assertEquals(shown.alternateScreen, true);
  assert(shown.missingBytes > 0);
  assertStringIncludes(shown.text, "older bytes are not held");
});

test("P21 what is drawn from the middle of the output begins with a whole sequence", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await onTerminal(bench);
  for (let index = 0; index < 5_000; index++) child.print(`\x1b[2;1Hframe ${index}\x1b[K`);
  assertEquals((await look(bench, id)).rows, ["", "frame 4999", "", ""]);
});

test("P21 a screen that somebody asked for early misses nothing of what is no longer held", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await onTerminal(bench);
  child.print("\x1b[2;1Hstays");
  await look(bench, id);
  for (let index = 0; index < 200; index++) {
    child.print(`\x1b[1;1Hframe ${index}\x1b[K`);
    if (index % 20 === 0) await look(bench, id);
  }
  const shown = await look(bench, id);
  assertEquals([shown.rows.slice(0, 2), shown.missingBytes], [["frame 199", "stays"], 0]);
});

test("P21 after output that is dropped but still known a screen goes on where it was, in the middle of a line", async () => {
  const { session, print } = unstarted(1_000);
  print("\x1b[2;1Hstays");
  const screen = await screenOf(session);
  print(`AB${"\x1b[1;1Hx".repeat(1_000)}`);
  await drawn(screen);
  assertEquals([screen.look().frame.rows, screen.missingBytes], [["x", "staysAB", "", ""], 0]);
  screen.close();
});

test("P21 what a full-screen program has drawn is not on the screen it has left, when its start is not held either", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await onTerminal(bench);
  child.print("\x1b[?1049h");
  for (let index = 0; index < 5_000; index++) child.print(`\x1b[2;1Hframe ${index}\x1b[K`);
  child.print("\x1b[?1049l\x1b[Hback");
  const { rows, alternateScreen } = await look(bench, id);
  assertEquals([rows, alternateScreen], [["back", "", "", ""], false]);
});

test("P21 a screen that is closed keeps nobody waiting, and whoever asks again gets another one", async () => {
  const { session, print } = unstarted(1_000_000);
  print("x".repeat(200_000));
  const screen = await screenOf(session);
  const waiting = drawn(screen);
  screen.close();
  await waiting;
  const other = await screenOf(session);
  assert(other !== screen);
  other.close();
});

test("P21 a flood that is dropped before it can be drawn costs parts of the picture, not the end of it", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await onTerminal(bench);
  await look(bench, id);
  for (let index = 0; index < 50_000; index++) child.print(`${index}\r\n`);
  const shown = await look(bench, id);
  assertEquals(shown.rows, ["49997", "49998", "49999", ""]);
  assert(shown.missingBytes > 0);
});

test("P21 P35 drawn late is as drawn live, with every change of size in its place", async () => {
  const print = fc.record({
    print: fc.oneof(fc.string({ maxLength: 30 }), fc.constantFrom("\r\n", "\x1b[H", "\x1b[K")),
  });
  const resize = fc.record({ cols: fc.integer({ min: 2, max: 30 }), rows: fc.integer({ min: 1, max: 8 }) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 4, arbitrary: print }, { weight: 1, arbitrary: resize })),
      async (steps) => {
        const bench = open();
        const [early, late] = [await onTerminal(bench), await onTerminal(bench)];
        await look(bench, early.id);
        for (const step of steps) {
          for (const { id, child } of [early, late]) {
            if ("print" in step) child.print(step.print);
            else await act(bench.agent, { action: "resize", sessionId: id, ...step });
          }
        }
        const [one, other] = [await look(bench, early.id), await look(bench, late.id)];
        assertEquals([one.rows, one.cursor, one.size, one.title], [other.rows, other.cursor, other.size, other.title]);
        assertEquals(one.rows.length, one.size.rows);
      },
    ),
    { numRuns: 60 },
  );
});

test("P31 a secret's echo is not on the screen either", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  await act(bench.agent, { action: "write", sessionId: id, data: "hunter2hunter2\n", sensitive: true });
  child.print("Password: hunter2hunter2\r\n");
  child.print("ok\r\n");
  const { rows } = await look(bench, id);
  assert(!rows.join().includes("hunter2"), rows.join());
  assertEquals(rows[1], "ok");
});

// questions

test("R16 a question is answered for its place, although what was printed after it is there by then", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  await look(bench, id);
  for (const output of ["xx", "ab\x1b[6ncd"]) child.print(output);
  await look(bench, id);
  assertEquals(child.writes, ["\x1b[1;5R"]);
});

test("R16 with a screen the position is the true one at that point of the output, in the order of the questions", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  child.print("\x1b[2;5H\x1b[6n");
  assertEquals(child.writes, ["\x1b[1;1R"]);
  await look(bench, id);
  child.print("ab\x1b[6");
  child.print("ncd\x1b[?6n\x1b[c\r\n\x1b[6n\x1b[?u\x1b[5nrest\x1b[20Gx\x1b[6n");
  await look(bench, id);
  assertEquals(child.writes.slice(1), [
    "\x1b[2;7R",
    "\x1b[?2;9R",
    "\x1b[?1;2c",
    "\x1b[3;1R",
    "\x1b[0n",
    "\x1b[3;20R",
  ]);
  const { lines } = await act(bench.agent, { action: "log", sessionId: id });
  assert(!lines.some(({ text }) => text.includes("6n")));
});

test("R16 a question is answered even if the output before it is dropped before it is drawn", async () => {
  const bench = open({ maxOutputChars: 1_000 });
  const { id, child } = await onTerminal(bench);
  await look(bench, id);
  child.print("x\x1b[6n");
  child.print("\r\nlong".repeat(5_000));
  await look(bench, id);
  assertEquals(child.writes.length, 1);
  // deno-lint-ignore no-control-regex -- an answer
  assertMatch(child.writes[0] ?? "", /^\x1b\[\d+;\d+R$/);
});

// waiting

test("P21 until a pattern: woken when it is on the screen, wherever it was printed", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  child.print("ready\r\x1b[K");
  const pending = look(bench, id, { until: "^\\$ read" });
  await sleep(20);
  child.print("\x1b[3;3Hready");
  child.print("\x1b[3;1H$");
  const shown = await pending;
  assertEquals([shown.wokenBy, shown.rows[2]], ["match", "$ ready"]);
});

test("P21 until a pattern that never comes: the time, ten seconds unless said otherwise, or the end", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  await look(bench, id); // from here on nothing has to be loaded or drawn, so that only the clock tells the time
  const late = await afterWait(bench, look(bench, id, { until: "never" }));
  assertEquals([late.wokenBy, late.after], ["timeout", 10_000]);
  assertStringIncludes(late.text, "waited 10 s in vain");
  const pending = look(bench, id, { until: "never", timeout: 30_000 });
  child.print("bye");
  child.end(0);
  const end = await afterWait(bench, pending);
  assertEquals([end.wokenBy, end.rows[0]], ["exit", "bye"]);
});

test("P21 until a pattern that is the last thing printed: it is on the screen before the end is told", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  await look(bench, id);
  const pending = look(bench, id, { until: "ready" });
  await sleep(20);
  child.print("ready");
  child.end(0);
  const shown = await afterWait(bench, pending);
  assertEquals([shown.wokenBy, shown.rows[0]], ["match", "ready"]);
});

test("P21 until stable: nothing printed is not stable, and the last change counts, not the last output", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  await look(bench, id);
  const blank = await afterWait(bench, look(bench, id, { until: "stable", timeout: 3_000 }));
  assertEquals([blank.wokenBy, blank.after], ["timeout", 3_000]);
  const pending = look(bench, id, { until: "stable" });
  for (const frame of ["one", "two", "three", "three", "three", "three"]) {
    child.print(`\x1b[H${frame}\x1b[K`);
    await sleep(20);
    await bench.clock.advance(200);
  }
  const shown = await afterWait(bench, pending);
  assertEquals([shown.wokenBy, shown.rows[0]], ["stable", "three"]);
});

test("P21 until stable: what has just been typed may change the screen yet; stable:<ms> says how long", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  child.print("menu");
  await bench.clock.advance(5_000);
  const still = await afterWait(bench, look(bench, id, { until: "stable" }), 0);
  assertEquals([still.wokenBy, still.after], ["stable", 0]);
  await act(bench.agent, { action: "send-keys", sessionId: id, keys: ["Down"] });
  const typed = await afterWait(bench, look(bench, id, { until: "stable:2000" }));
  assertEquals([typed.wokenBy, typed.after], ["stable", 2_000]);
});

for (const params of [{ until: "stable" }, { until: "ready" }, { until: "exit" }, { since: 1 }] as const) {
  test(`P42 P21 who waits for ${JSON.stringify(params)} on the screen of a session that is removed is told at once`, async () => {
    const bench = open();
    const { id, child } = await onTerminal(bench);
    child.print("hello");
    await look(bench, id);
    child.onSignal = (signal) => {
      child.print("x".repeat(300_000)); // more than is drawn by then
      child.end(signal);
    };
    const waiting = look(bench, id, { ...params, timeout: 30_000 });
    await bench.clock.advance(0);
    await act(bench.agent, { action: "remove", sessionId: id });
    assertLessOrEqual(await answeredAfter(bench, waiting), 100);
    const { wokenBy, status } = await waiting;
    assertEquals([wokenBy, status, bench.clock.pending], ["exit", "killed", 0]);
  });
}

test("S9 R9 a screen that tells the end makes no event of it", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  const pending = look(bench, id, { until: "exit" });
  child.print("bye");
  child.end(1);
  assertEquals((await afterWait(bench, pending)).status, "completed");
  await bench.clock.advance(1_000);
  assertEquals(bench.agent.events.list().events, []);
});

test("P21 since with a timeout waits for a change", async () => {
  const bench = open();
  const { id, child } = await onTerminal(bench);
  const { revision } = await look(bench, id);
  const pending = look(bench, id, { since: revision, timeout: 30_000 });
  await sleep(20);
  child.print("\x1b[0m"); // changes nothing that can be seen
  await sleep(20);
  child.print("news");
  const shown = await pending;
  assertEquals([shown.wokenBy, shown.rows], ["change", ["news"]]);
});

test("P12 P21 until exit, idle and input are as for a poll, and a pattern may be an object", async () => {
  const bench = open({}, { host: { inspects: true } });
  const { id, child } = await onTerminal(bench);
  child.print("Name: exit");
  assertEquals((await afterWait(bench, look(bench, id, { until: "idle:300" }))).wokenBy, "idle");
  const { wokenBy } = await act(bench.agent, { action: "screen", sessionId: id, until: { pattern: "exit" } });
  assertEquals(wokenBy, "match");
  child.end(0);
  assertEquals((await afterWait(bench, look(bench, id, { until: "exit" }))).wokenBy, "exit");
});

test("P15 P21 an abort while waiting rejects and leaves no listener", async () => {
  const bench = open();
  const { id } = await onTerminal(bench);
  await look(bench, id);
  for (const until of ["never", "stable"]) {
    const { signal, abort, listeners } = countingSignal();
    const pending = bench.agent.process({ action: "screen", sessionId: id, until, timeout: 30_000 }, { signal });
    await sleep(20);
    abort();
    await assertRejects(() => pending, AbortError);
    assertEquals(listeners(), 0);
  }
  assertEquals(bench.clock.holding, 0);
});
