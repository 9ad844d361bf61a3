/**
 * What a program prints is what the model reads: characters stay whole, control sequences do not show. Section E of the
 * cases from the field, first half.
 *
 * @module
 */
import process from "node:process";
import { assert, assertEquals, assertGreater, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import type { Agent } from "../../mod.ts";
import { skipUnless } from "../skip.ts";
import { background, log, open, poll, pollToEnd, pollUntil, repeat, runToEnd, tryOut } from "./agent.ts";
import { closing, test } from "../closing.ts";

const posix = skipUnless(process.platform !== "win32", "the commands are written for a POSIX shell");
const pty = posix || skipUnless(await has("test -t 1", true), "this runtime has no terminals");
const tools = pty || skipUnless(await has("command -v top && command -v tput", false), "there is no top or no tput");
const script = posix || skipUnless(await has("command -v script", false), "there is no script(1)");

/** How a command's streams are connected, for what must hold either way. */
const CONNECTIONS = [{ how: "pipes", pty: false, skip: posix }, { how: "a terminal", pty: true, skip: pty }] as const;

/** A replacement character, or half of a surrogate pair. */
const BROKEN = /\ufffd|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

async function has(command: string, pty: boolean): Promise<boolean> {
  return (await tryOut({ command, pty })).ok;
}

/** Runs a command to its end and gives its output, with line ends as on pipes. */
async function outputOf(agent: Agent, command: string, pty = false): Promise<string> {
  return (await runToEnd(agent, { command, pty })).details.output;
}

/** A `printf` of exactly these bytes, which contains none of them itself. */
function printBytes(bytes: Iterable<number>): string {
  return `printf '${Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}'`;
}

const printText = (text: string): string => printBytes(new TextEncoder().encode(text));

/** A `printf` of each byte by itself, with a pause after it so that it is read by itself. */
function printSlowly(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => printBytes([byte])).join("; sleep 0.01; ");
}

const times = (count: number, text: string): string => text.repeat(count);

// [68] characters split over chunks

for (const { how, pty, skip } of CONNECTIONS) {
  test(`S5 a character whose bytes come one by one is one character on ${how} [68]`, { skip }, async () => {
    const bench = closing(open());
    assertEquals(await outputOf(bench.agent, printSlowly("é€😀e\u0301👩‍💻"), pty), "é€😀e\u0301👩‍💻");
  });

  test(`S5 a character that stays incomplete is one U+FFFD at the end on ${how} [68]`, { skip }, async () => {
    const bench = closing(open());
    for (const start of [[0xc3], [0xe2, 0x82], [0xf0, 0x9f], [0xf0, 0x9f, 0x98]]) {
      assertEquals(await outputOf(bench.agent, printBytes([0x41, ...start]), pty), "A\ufffd");
    }
  });

  test(`S5 invalid bytes become U+FFFD and take nothing with them on ${how} [68]`, { skip }, async () => {
    const bench = closing(open());
    const bytes = [0x41, 0xff, 0x42, 0xc3, 0x43, 0xf0, 0x9f, 0x44, 0x80, 0x45];
    assertEquals(await outputOf(bench.agent, printBytes(bytes), pty), "A\ufffdB\ufffdC\ufffdD\ufffdE");
  });

  test(`P10 a poll never delivers half of a character on ${how} [68]`, { skip }, async () => {
    const bench = closing(open());
    const { id } = await background(bench.agent, { command: `${printSlowly("€😀".repeat(4))}`, pty, background: true });
    let output = "";
    for (;;) {
      const answer = await poll(bench.agent, id, { timeout: 30_000 });
      assert(!BROKEN.test(answer.output), JSON.stringify(answer.output));
      output += answer.output;
      if (answer.status !== "running") break;
    }
    assertEquals(output, "€😀".repeat(4));
  });
}

test(
  "S5 stdout and stderr are decoded each by itself, however they are interleaved [68]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const command = "printf '\\360\\237'; sleep 0.1; printf '\\342\\202' >&2; sleep 0.1; " +
      "printf '\\230\\200'; sleep 0.1; printf '\\254' >&2; sleep 0.1; printf '\\360\\237' >&2; printf '\\302'";
    const { details, id } = await background(bench.agent, { command, background: true });
    assertEquals(details.status, "running");
    const { output } = await pollToEnd(bench.agent, id);
    assertEquals([...output].sort(), ["€", "😀", "\ufffd", "\ufffd"]);
    assertEquals((await log(bench.agent, id, { stream: "stdout" })).lines.map(({ text }) => text), ["😀\ufffd"]);
    assertEquals((await log(bench.agent, id, { stream: "stderr" })).lines.map(({ text }) => text), ["€\ufffd"]);
  },
);

// [69] cuts

for (const character of ["€", "😀", "𝒜"]) {
  test(`S5 no cut splits a ${character}, at any phase of any cap [69]`, { skip: posix }, async () => {
    const bench = closing(open({ maxOutputChars: 1_000, maxResultChars: 1_000, pendingMaxOutputChars: 1_000 }));
    const shapes = [997, 998, 999, 1_000, 1_001, 1_002, 1_003, 2_999, 3_000, 3_001]
      .flatMap((count) => ["", "a", "ab", "abc"].map((start) => start + times(count, character)));
    await repeat(shapes.length, async (round) => {
      const text = shapes[round] as string;
      const command = `printf %s '${text}'`;
      const { details, text: answer } = await runToEnd(bench.agent, { command });
      const { id } = await background(bench.agent, { command, background: true });
      const { output } = await poll(bench.agent, id, { timeout: 30_000, until: "exit" });
      const { lines, text: page } = await log(bench.agent, id);
      for (const seen of [details.output, answer, output, lines[0]?.text ?? "", page]) {
        assert(!BROKEN.test(seen), JSON.stringify(seen));
      }
      const length = [...text].length;
      assertEquals(details.omittedChars > 0, length > 1_000);
      assert(output === [...text].slice(-1_000).join(""), `${length} characters, ${[...output].length} of them polled`);
    });
  });

  test(`S5 neither a list's tail nor an answer's splits a ${character} [69]`, { skip: posix }, async () => {
    const bench = closing(open());
    for (const count of [119, 120, 121, 1_999, 2_000, 2_001]) {
      const text = times(count, character);
      const { details, text: answer } = await background(bench.agent, { command: `printf %s '${text}'; sleep 9` });
      const list = await bench.agent.process({ action: "list" });
      assert("sessions" in list.details, list.text);
      const [entry] = list.details.sessions;
      assertEquals(details.tail, times(Math.min(count, 2_000), character));
      assertEquals(entry?.tail, times(Math.min(count, 120), character));
      for (const seen of [answer, list.text]) assert(!BROKEN.test(seen), JSON.stringify(seen));
    }
  });
}

test("P1 no name is cut in the middle of a character [69]", { skip: posix }, async () => {
  const bench = closing(open());
  for (let phase = 0; phase < 4; phase++) {
    const target = times(phase, "a") + times(60, "𝒜");
    await background(bench.agent, { command: `sleep 9 ${target}; :`, background: true });
    const { details, text } = await bench.agent.process({ action: "list" });
    assert("sessions" in details, text);
    const name = details.sessions[0]?.name ?? "";
    assert(!BROKEN.test(name) && name.startsWith("sleep "), name);
    assertLess([...name].length, 49);
  }
});

// [70], [71] control sequences

test("S6 what a full-screen program says is its text, not its control sequences [70]", { skip: tools }, async () => {
  const bench = closing(open());
  const command = "tput clear; top -b -n1 | head -20; tput bold; ls --color=always /; tput cup 3 7; tput sgr0";
  const { details, text } = await runToEnd(bench.agent, { command, pty: true });
  for (const seen of [text, details.output]) assert(!seen.includes("\x1b"), seen);
  assert(!details.output.includes("\\x"), details.output);
  for (const word of ["load average", "usr", "tmp"]) assertStringIncludes(details.output, word);
});

test("S6 a recorded session of a full-screen program shrinks to its last frame [70]", { skip: script }, async () => {
  const bench = closing(open());
  const frame = "\\033[2J\\033[H\\033[1;32mframe\\033[0m\\033[38;2;1;2;3m.\\033[39m\\033[K\\033[?25l";
  const command = `script -qc 'for i in 1 2 3 4 5 6 7 8 9; do printf "${frame}"; done; echo' /dev/null </dev/null`;
  const { details } = await runToEnd(bench.agent, { command });
  assertEquals(details.output.replace(/\r?\n/g, ""), "frame.");
});

/** Prints `AB CD` among everything that is not to be seen. */
const DECORATED: Readonly<Record<string, string>> = {
  "an OSC title, ended by BEL": "A\x1b]0;title\x07B CD",
  "an OSC title, ended by ST": "A\x1b]2;title\x1b\\B CD",
  "OSC 7, the working directory": "\x1b]7;file://host/tmp\x1b\\AB CD",
  "OSC 8, a link": "A\x1b]8;;http://localhost/\x1b\\B\x1b]8;;\x1b\\ CD",
  "OSC 133, a prompt's marks": "\x1b]133;A\x07AB\x1b]133;B\x07 \x1b]133;C\x07CD\x1b]133;D;0\x07",
  "C1 in one character": "A\u009d0;t\u009cB \u009b31mC\u0090q\u009cD",
  "DCS": "AB C\x1bP1$r0m\x1b\\D",
  "APC, PM and SOS": "A\x1b_Gf=100;AAAA\x1b\\B\x1b^pm\x1b\\ C\x1bXsos\x1b\\D",
  "CSI with private and sub-parameters": "\x1b[?2004h\x1b[>4;1mA\x1b[4:3mB\x1b[38:2::1:2:3m \x1b[?25lC\x1b[!pD\x1b[0 q",
  "escapes with intermediates": "\x1bc\x1b(BA\x1b)0B\x1b#8 \x1b=C\x1b>D\x1b7\x1b8",
};

for (const [what, text] of Object.entries(DECORATED)) {
  test(`S6 ${what} does not show [71]`, { skip: posix }, async () => {
    const bench = closing(open());
    assertEquals(await outputOf(bench.agent, printText(text)), "AB CD");
  });

  test(`S6 ${what} does not show either when it comes byte by byte [71]`, { skip: posix }, async () => {
    const bench = closing(open());
    const { id } = await background(bench.agent, { command: printSlowly(text), background: true });
    assertEquals((await pollToEnd(bench.agent, id)).output, "AB CD");
    assertEquals((await log(bench.agent, id)).lines.map((line) => line.text), ["AB CD"]);
  });
}

test("S6 a sequence that is never ended does not swallow what follows [71]", { skip: posix }, async () => {
  const bench = closing(open());
  for (const open of ["\x1b]0;", "\u009d0;", "\x1bP1$r", "\x1b_G", "\x1b^", "\x1b[31;", "\x1b"]) {
    const output = await outputOf(bench.agent, printText(`before${open}\nafter\nlast`));
    assertMatch(output, /^before.*\nafter\nlast$/);
    assertStringIncludes(await outputOf(bench.agent, printText(`before\n${open}text to the end`)), "ext to the end");
  }
});

test("S6 two streams' sequences do not end each other [71]", { skip: posix }, async () => {
  const bench = closing(open());
  const command = "printf 'A\\033]0;ti'; sleep 0.1; printf 'E\\033[3' >&2; sleep 0.1; printf 'tle\\007B\\n'; " +
    "sleep 0.1; printf '1mF\\n' >&2";
  const { id } = await background(bench.agent, { command, background: true });
  await pollToEnd(bench.agent, id);
  assertEquals((await log(bench.agent, id, { stream: "stdout" })).lines.map(({ text }) => text), ["AB"]);
  assertEquals((await log(bench.agent, id, { stream: "stderr" })).lines.map(({ text }) => text), ["EF"]);
});

test("S6 other controls are named, bidi overrides are shown and emoji joiners stay [71]", { skip: posix }, async () => {
  const bench = closing(open());
  const text = "a\x01b\x7fc\u202ed\u2066e\u200ff 👩‍💻 👍🏽 ❤\ufe0f\n";
  assertEquals(
    await outputOf(bench.agent, printText(text)),
    "a\\x01b\\x7fc\\u{202e}d\\u{2066}e\\u{200f}f 👩‍💻 👍🏽 ❤\ufe0f\n",
  );
});

// [73] redraws

const BAR = "for i in $(seq 1 2000); do printf '\\rprogress %d%% ####' $i; done; echo";

for (const { how, pty, skip } of CONNECTIONS) {
  test(`S6 a progress bar of 2000 frames leaves its last one on ${how} [73]`, { skip }, async () => {
    const bench = closing(open());
    const { details, text } = await runToEnd(bench.agent, { command: BAR, pty });
    assertEquals(details.output, "progress 2000% ####\n");
    assertEquals(text, "progress 2000% ####");
    const { id } = await background(bench.agent, { command: BAR, pty, background: true });
    const { last } = await pollToEnd(bench.agent, id);
    assertEquals(last.ok, true);
    assertEquals((await log(bench.agent, id)).lines.map((line) => line.text), ["progress 2000% ####"]);
  });
}

/** What is printed, and what a terminal would show in the end. */
const REDRAWS: readonly (readonly [what: string, printed: string, shown: string])[] = [
  ["CRLF is a line end", "one\r\ntwo\r\n", "one\ntwo\n"],
  ["CR CR LF is one too", "one\r\r\ntwo\r\n", "one\ntwo\n"],
  ["a shorter frame leaves the rest of a longer one (R10)", "long text\rab\n", "abng text\n"],
  ["ESC[K erases that rest (R10)", "long text\rab\x1b[K\n", "ab\n"],
  ["ESC[2K CR erases the line", "downloading 10 %\x1b[2K\rdone\n", "done\n"],
  ["CR ESC[2K does so as well", "downloading 10 %\r\x1b[2Kdone\n", "done\n"],
  ["a backspace overwrites", "10 %\b\b\b\b50 %\n", "50 %\n"],
  ["a spinner leaves its last state", "|\b/\b-\b\\\b|\b \bok\n", "ok\n"],
  ["backspaces do not go past the line's start", "ab\n\b\b\bcd\n", "ab\ncd\n"],
  ["ESC[G goes back to the first column", "10 %\x1b[G50 %\x1b[1Gxx\n", "xx %\n"],
  ["wide characters are overwritten whole", "😀😀\ra\n", "a😀\n"],
  ["a CR at the very end erases nothing", "50 %\r", "50 %"],
];

for (const [what, printed, shown] of REDRAWS) {
  test(`S6 ${what} [73]`, { skip: posix }, async () => {
    const bench = closing(open());
    assertEquals(await outputOf(bench.agent, printText(printed)), shown);
    const { id } = await background(bench.agent, { command: printSlowly(printed), background: true });
    await pollToEnd(bench.agent, id);
    const lines = (await log(bench.agent, id)).lines.map(({ text }) => text);
    assertEquals(lines, shown.replace(/\n$/, "").split("\n"));
  });
}

test("P10 polls in the middle of a progress bar cost a frame each, not all of them [73]", { skip: posix }, async () => {
  const bench = closing(open());
  const command =
    "for i in $(seq 1 300); do printf '\\rprogress %3d%%' $i; test $((i % 100)) = 0 && sleep 0.4; done; echo";
  const { id } = await background(bench.agent, { command, background: true });
  let polls = 0;
  let output = "";
  for (;;) {
    const answer = await poll(bench.agent, id, { timeout: 30_000, until: "idle:200" });
    polls += 1;
    output += answer.output;
    if (answer.status !== "running") break;
  }
  assertEquals(output.trimEnd().split("\n").at(-1), "progress 300%");
  assertLess(output.match(/progress/g)?.length ?? 0, polls + 1);
  assertGreater(polls, 1);
});

test("S6 a pattern that a poll waits for is matched in what is shown [70]", { skip: posix }, async () => {
  const bench = closing(open());
  const command = "sleep 0.2; printf '\\033[32mrea\\033[0m'; sleep 0.1; printf '\\033[1mdy\\033[0m on 80\\n'; sleep 9";
  const { id } = await background(bench.agent, { command, background: true });
  const answer = await poll(bench.agent, id, { timeout: 30_000, until: "^ready on \\d+" });
  assertEquals([answer.wokenBy, answer.output], ["match", "ready on 80\n"]);
});

// S5 binary

test("S5 output that is mostly binary is said to be, text with a stray byte is not [68]", { skip: posix }, async () => {
  const bench = closing(open());
  const binary = await runToEnd(bench.agent, { command: "head -c 4000 /dev/urandom" });
  assertStringIncludes(binary.text, "the output is mostly binary");
  const text = await runToEnd(bench.agent, { command: "printf 'caf\\351 au lait\\n'" });
  assertEquals(text.details.output, "caf\ufffd au lait\n");
  assert(!text.text.includes("binary"), text.text);
  const { id } = await background(bench.agent, { command: "head -c 4000 /dev/urandom; sleep 9" });
  await pollUntil(bench.agent, id, /[^]/);
});

test("S5 of binary output little is told, the words around it too, and log has the rest", { skip: posix }, async () => {
  const bench = closing(open());
  const command = "echo first; yes \"$(printf '\\200\\200\\200')\" | head -n 3000; echo last";
  const run = await bench.agent.exec({ command });
  const { id } = await background(bench.agent, { command, background: true });
  const polled = await bench.agent.process({ action: "poll", sessionId: id, until: "exit", timeout: 30_000 });
  for (const { text } of [run, polled]) {
    for (const words of ["first", "last", "left out …", "mostly binary"]) assertStringIncludes(text, words);
    assertLess([...text].length, 2_400);
  }
  assert("sessionId" in run.details && typeof run.details.sessionId === "string");
  const log = await bench.agent.process({ action: "log", sessionId: run.details.sessionId, limit: 3_000 });
  assertLess(11_000, log.text.length);
});
