/**
 * What is typed arrives as a terminal would send it: keys, Enter and pastes, sections H and P32–P34 of the contract.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  assert,
  assertEquals,
  assertGreater,
  assertGreaterOrEqual,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import type { Agent, ExecParams, ProcessParams, WriteDetails } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import {
  background,
  type Bench,
  eventually,
  kill,
  log,
  open,
  poll,
  pollToEnd,
  pollUntil,
  processState,
} from "./agent.ts";
import { needs, openWith, posix, proc, terminal } from "./machine.ts";

const python = terminal || await needs("python3");

/** Prints each read of its raw terminal as a line of hex, so that what arrived together is seen together. */
const READER = `python3 -uc '
import os, tty
tty.setraw(0)
print("ready", end="\\r\\n")
while True: print(os.read(0, 1024).hex(), end="\\r\\n")
'`;

/** A program that prints what it reads, in a terminal, after `setup`. */
async function reader(agent: Agent, setup = ":"): Promise<string> {
  const { id } = await background(agent, { command: `${setup}; exec ${READER}`, pty: true });
  await pollUntil(agent, id, "ready\n");
  return id;
}

/** All that a {@linkcode reader} has read so far: one string of hex for each read. */
async function readsOf(agent: Agent, sessionId: string): Promise<readonly string[]> {
  const { lines } = await log(agent, sessionId, { offset: 0 });
  const texts = lines.map(({ text }) => text).filter((text) => text !== "");
  return texts.slice(texts.indexOf("ready") + 1);
}

/** Waits until a {@linkcode reader} has read that much, and gives it as one string of hex. */
async function received(agent: Agent, sessionId: string, bytes: number): Promise<string> {
  let hex = "";
  await eventually(
    async () => (hex = (await readsOf(agent, sessionId)).join("")).length >= 2 * bytes,
    `${bytes} bytes`,
  );
  return hex;
}

/** One call of an action that writes, which must succeed. */
async function type(
  agent: Agent,
  params: ProcessParams & { readonly action: "send-keys" | "submit" | "paste" | "write" },
): Promise<WriteDetails & { text: string }> {
  const { details, text, isError } = await agent.process(params);
  if (isError || !("accepted" in details)) throw new Error(text);
  return { ...details, text };
}

function hexOf(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** An instance that notes each write of a command's input with its time, ms. */
async function openNoting(): Promise<Bench & { readonly writes: { readonly hex: string; readonly at: number }[] }> {
  const writes: { readonly hex: string; readonly at: number }[] = [];
  const bench = await openWith(async (spawner, spec, sink) => {
    const child = await spawner.spawn(spec, sink);
    return {
      ...child,
      write: (bytes) => {
        writes.push({
          hex: [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
          at: performance.now(),
        });
        return child.write(bytes);
      },
    };
  });
  return { ...bench, writes };
}

// [102]

for (
  const [what, setup, application] of [
    ["without any mode", ":", false],
    ["after ESC[?1h", "printf '\\033[?1h'", true],
    ["after a mode set together with another", "printf '\\033[?1;2004h'", true],
    ["after a mode set in two pieces", "printf '\\033[?'; sleep 0.3; printf '1h'", true],
    ["after a mode set a byte at a time", "for c in '\\033' '[' '?' 1 h; do printf $c; sleep 0.05; done", true],
    ["after the mode was reset", "printf '\\033[?1h\\033[?1l'", false],
    ["after a full reset", "printf '\\033[?1h\\033c'", false],
    ["after a mode set amid text and colours", "printf 'a\\033[31mb\\033[?1hc\\033[0m\\n'", true],
  ] as const
) {
  test(`P32 arrow keys are sent in ${application ? "application" : "normal"} form ${what} [102]`, {
    skip: python,
  }, async () => {
    const bench = closing(open());
    const id = await reader(bench.agent, setup);
    await type(bench.agent, { action: "send-keys", sessionId: id, keys: ["Up", "Left", "Home", "End", "C-Up"] });
    const letter = application ? "O" : "[";
    const expected = hexOf(`\x1b${letter}A\x1b${letter}D\x1b${letter}H\x1b${letter}F\x1b[1;5A`);
    assertEquals(await received(bench.agent, id, expected.length / 2), expected);
  });
}

test(
  "P32 a program that sets the mode while it runs changes what the next key sends [102]",
  { skip: python },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const script = 'import os,sys,tty\ntty.setraw(0)\nprint("ready",end="\\r\\n",flush=True)\n' +
      'for mode in ["\\x1b[?1h","\\x1b[?1l",""]:\n' +
      ' print(os.read(0,8).hex(),end=mode+"done\\r\\n",flush=True)';
    const { id } = await background(agent, { command: `python3 -c '${script}'`, pty: true });
    await pollUntil(agent, id, "ready\n");
    for (const expected of ["1b5b41done", "1b4f41done", "1b5b41done"]) {
      await type(agent, { action: "send-keys", sessionId: id, keys: ["up"] });
      await pollUntil(agent, id, expected);
    }
  },
);

// [107], [110], the table of section 7

const SEVENTH_SECTION: readonly (readonly [key: string, bytes: string])[] = [
  ["Enter", "\r"],
  ["return", "\r"],
  ["Tab", "\t"],
  ["S-Tab", "\x1b[Z"],
  ["BTab", "\x1b[Z"],
  ["Space", " "],
  ["BSpace", "\x7f"],
  ["Backspace", "\x7f"],
  ["Up", "\x1b[A"],
  ["Down", "\x1b[B"],
  ["Right", "\x1b[C"],
  ["Left", "\x1b[D"],
  ["Home", "\x1b[H"],
  ["End", "\x1b[F"],
  ["Insert", "\x1b[2~"],
  ["IC", "\x1b[2~"],
  ["Delete", "\x1b[3~"],
  ["DC", "\x1b[3~"],
  ["PageUp", "\x1b[5~"],
  ["PPage", "\x1b[5~"],
  ["PgDn", "\x1b[6~"],
  ["NPage", "\x1b[6~"],
  ["F1", "\x1bOP"],
  ["F4", "\x1bOS"],
  ["F5", "\x1b[15~"],
  ["F6", "\x1b[17~"],
  ["F12", "\x1b[24~"],
  ["KP0", "\x1bOp"],
  ["KP9", "\x1bOy"],
  ["KPEnter", "\x1bOM"],
  ["KP+", "\x1bOk"],
  ["S-Up", "\x1b[1;2A"],
  ["C-M-Left", "\x1b[1;7D"],
  ["M-C-S-Left", "\x1b[1;8D"],
  ["C-F1", "\x1b[1;5P"],
  ["S-Delete", "\x1b[3;2~"],
  ["C-c", "\x03"],
  ["^d", "\x04"],
  ["C-Space", "\0"],
  ["C-?", "\x7f"],
  ["C-\\", "\x1c"],
  ["M-x", "\x1bx"],
  ["j", "j"],
  ["é", "é"],
  ["😀", "😀"],
];

test("P32 every key arrives as section 7 has it, and nothing is added [107] [110]", { skip: python }, async () => {
  const bench = closing(open());
  const id = await reader(bench.agent);
  for (const [key, bytes] of SEVENTH_SECTION) {
    const before = (await readsOf(bench.agent, id)).join("").length;
    const { accepted } = await type(bench.agent, { action: "send-keys", sessionId: id, keys: [key] });
    const expected = hexOf(bytes);
    assertEquals(accepted, expected.length / 2, key);
    const all = await received(bench.agent, id, (before + expected.length) / 2);
    assertEquals(all.slice(before), expected, key);
  }
});

test("R12 literal, hex and keys are sent in that order, and literal text is never read as a key [109]", {
  skip: python,
}, async () => {
  const bench = closing(open());
  const id = await reader(bench.agent);
  const call = { literal: "C-c Enter\n", hex: ["0x1b", "5b 41"], keys: ["C-x", "C-x"] };
  await type(bench.agent, { action: "send-keys", sessionId: id, ...call });
  const expected = hexOf("C-c Enter\n\x1b[A\x18\x18");
  assertEquals(await received(bench.agent, id, expected.length / 2), expected);
});

// [109]

test("P32 C-c interrupts, however it is spelt [109]", { skip: terminal }, async () => {
  const bench = closing(open());
  for (const key of ["C-c", "c-C", "^C", "Ctrl+C", "ctrl-c"]) {
    const command = "trap 'echo caught; exit 3' INT; echo up; while :; do sleep 0.05; done";
    const { id } = await background(bench.agent, { command, pty: true });
    await pollUntil(bench.agent, id, "up\n");
    await type(bench.agent, { action: "send-keys", sessionId: id, keys: [key] });
    const { output, last } = await pollToEnd(bench.agent, id);
    assertMatch(output, /caught/);
    assertEquals([last.status, last.exitCode], ["completed", 3], key);
  }
});

test("P32 one unknown key refuses the whole call, names the nearest, and nothing is sent [109]", {
  skip: python,
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const id = await reader(agent);
  for (
    const [wrong, nearest] of [
      ["Entr", "enter"],
      ["C-Entr", "enter"],
      ["Ecs", "esc"],
      ["pgdwn", "pgdn"],
      ["F13", "f1"],
      ["", ""],
    ]
  ) {
    const call = { action: "send-keys", sessionId: id, literal: "never", keys: ["a", wrong ?? "", "b"] } as const;
    const { details, text, isError } = await agent.process(call);
    assert(isError && "problems" in details && details.reason === "invalid", text);
    assertStringIncludes(text.toLowerCase(), nearest ?? "");
    assertEquals(details.problems.map(({ key }) => key), ["keys"]);
  }
  for (const hex of ["1b5", "zz", ["1b", "5"]]) {
    const { details, text, isError } = await agent.process({ action: "send-keys", sessionId: id, hex, keys: ["a"] });
    assert(isError && "problems" in details && details.reason === "invalid", text);
  }
  await type(agent, { action: "send-keys", sessionId: id, keys: ["z"] });
  assertEquals(await received(agent, id, 1), hexOf("z"));
});

test("P32 a call that sends nothing says what it may hold [109]", { skip: terminal }, async () => {
  const bench = closing(open());
  const { id } = await background(bench.agent, { command: "cat", pty: true });
  for (const empty of [{}, { keys: [] }, { literal: "" }, { hex: "" }]) {
    const { text, isError } = await bench.agent.process({ action: "send-keys", sessionId: id, ...empty });
    assert(isError, text);
    assertMatch(text, /keys.*literal.*hex|literal.*hex/);
  }
});

// [104], [105]

test(
  "P32 keys with a delay reach even a program that throws away what came early [104]",
  { skip: python },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const slow = READER.replace("while True: ", "import termios, time\nwhile True:\n termios.tcflush(0, 0); ")
      .replace(/\n'$/, "; time.sleep(0.05)\n'");
    const { id } = await background(agent, { command: slow, pty: true });
    await pollUntil(agent, id, "ready\n");
    await sleep(500); // until it reads for the first time: what comes before that is thrown away as well
    await type(agent, { action: "send-keys", sessionId: id, keys: ["Down", "Down", "Enter"], delayMs: 900 });
    await received(agent, id, 7);
    assertEquals(await readsOf(agent, id), ["1b5b42", "1b5b42", "0d"]);
  },
);

test(
  "P32 each key is a write of its own, no sooner than the delay after the one before [104]",
  { skip: terminal },
  async () => {
    const bench = closing(await openNoting());
    const { agent, writes } = bench;
    const { id } = await background(agent, { command: "stty raw -echo; cat", pty: true });
    await type(agent, {
      action: "send-keys",
      sessionId: id,
      literal: "abc",
      keys: ["Down", "Down", "Enter"],
      delayMs: 120,
    });
    assertEquals(writes.map(({ hex }) => hex), ["616263", "1b5b42", "1b5b42", "0d"]);
    assertPaced(writes, 120);
  },
);

test("P32 a key after Escape comes late enough not to be read as Alt [104]", { skip: terminal }, async () => {
  const bench = closing(await openNoting());
  const { agent, writes } = bench;
  const { id } = await background(agent, { command: "stty raw -echo; cat", pty: true });
  await type(agent, { action: "send-keys", sessionId: id, keys: ["Escape", "j", "k", "M-j", "C-["] });
  await type(agent, { action: "send-keys", sessionId: id, hex: "1b", keys: ["esc"], literal: "x" });
  assertEquals(writes.map(({ hex }) => hex), ["1b", "6a", "6b", "1b6a", "1b", "78", "1b", "1b"]);
  assertPaced(writes.slice(0, 2), 100);
  assertPaced(writes.slice(6), 100);
});

/** The times between writes; a busy machine makes them longer but never shorter. */
function assertPaced(writes: readonly { readonly at: number }[], leastMs: number): void {
  for (const [index, { at }] of writes.slice(1).entries()) {
    assertGreaterOrEqual(at - (writes[index]?.at ?? 0), leastMs - 5);
  }
}

test("P33 submit is CR alone, a moment after the text before it [105]", { skip: terminal }, async () => {
  const bench = closing(await openNoting());
  const { agent, writes } = bench;
  const { id } = await background(agent, { command: "stty raw -echo; cat", pty: true });
  await type(agent, { action: "write", sessionId: id, data: "hello" });
  const { accepted } = await type(agent, { action: "submit", sessionId: id });
  assertEquals(accepted, 1);
  assertEquals(writes.map(({ hex }) => hex), [hexOf("hello"), "0d"]);
  assertPaced(writes, 40);
});

test("P33 submit ends a line of a cooked terminal and of a pipe [105]", { skip: terminal }, async () => {
  const bench = closing(open());
  for (const pty of [true, false]) {
    const { id } = await background(bench.agent, { command: 'read -r line; echo "<$line>"', pty });
    await type(bench.agent, { action: "write", sessionId: id, data: "some words" });
    await type(bench.agent, { action: "submit", sessionId: id });
    const { output, last } = await pollToEnd(bench.agent, id);
    assertStringIncludes(output, "<some words>\n");
    assertEquals(last.exitCode, 0);
  }
});

// Keys without a terminal

test("P32 on pipes C-c and C-\\ are signals to the whole group [109]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  for (const [key, signal] of [["C-c", "INT"], ["^C", "INT"], ["C-\\", "QUIT"]] as const) {
    const inner = `trap "echo inner; exit" ${signal}; echo up; while :; do sleep 0.05; done`;
    const command = `trap 'echo outer' ${signal}; bash -c '${inner}'; exit 5`;
    const { id } = await background(agent, { command });
    await pollUntil(agent, id, "up\n");
    const { text } = await type(agent, { action: "send-keys", sessionId: id, keys: [key] });
    assertStringIncludes(text, `SIG${signal}`);
    const { output, last } = await pollToEnd(agent, id);
    assertEquals([output.split("\n").filter((line) => /^(in|out)/.test(line)).sort().join(), last.exitCode], [
      "inner,outer",
      5,
    ]);
  }
});

test("P32 on pipes C-d is the end of input, once [109]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "cat; echo end; exec sleep 60" });
  await type(agent, { action: "write", sessionId: id, data: "text\n" });
  assert((await type(agent, { action: "send-keys", sessionId: id, keys: ["C-d"] })).eof);
  await pollUntil(agent, id, "text\nend\n");
  const { details, text } = await agent.process({ action: "send-keys", sessionId: id, keys: ["C-d"] });
  assert("reason" in details && details.reason === "not-possible", text);
});

test("P32 on pipes C-z is SIGTSTP, and the answer says what does stop a program that ignores it [109]", {
  skip: proc,
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id, details } = await background(agent, {
    command: "trap 'echo asked to stop' TSTP; echo up; while :; do sleep 0.05; done",
  });
  await pollUntil(agent, id, "up\n");
  const { text, warnings } = await type(agent, { action: "send-keys", sessionId: id, keys: ["C-z"] });
  await pollUntil(agent, id, "asked to stop\n");
  assertMatch(text, /SIGSTOP/);
  assertEquals(warnings.length, 1);
  await kill(agent, id, { signal: "SIGSTOP" });
  await eventually(() => processState(details.pid ?? 0) === "T", "the process is stopped");
  await kill(agent, id, { signal: "SIGCONT" });
  await eventually(() => processState(details.pid ?? 0) !== "T", "the process goes on");
});

test(
  "P32 on pipes any other key is an error that names the way, and nothing is sent [109]",
  { skip: posix },
  async () => {
    const bench = closing(open());
    const { agent } = bench;
    const { id } = await background(agent, { command: "trap 'echo INT' INT; cat" });
    for (const keys of [["Up"], ["j"], ["C-c", "Enter"], ["C-x"], ["C-c", "C-d", "nonsense"]]) {
      const { details, text, isError } = await agent.process({ action: "send-keys", sessionId: id, keys });
      assert(isError && "problems" in details && details.reason === "invalid", text);
      assertMatch(text, /pty: true/);
    }
    for (const other of [{ literal: "x" }, { hex: "78" }]) {
      const { text, isError } = await agent.process({ action: "send-keys", sessionId: id, keys: ["C-c"], ...other });
      assert(isError, text);
    }
    await type(agent, { action: "write", sessionId: id, data: "only this", eof: true });
    const { output, last } = await pollToEnd(agent, id);
    assertEquals([output, last.exitCode], ["only this", 0]);
  },
);

test("P32 after the end each way of typing fails and states the exit", { skip: terminal }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  for (const pty of [true, false]) {
    const { id } = await background(agent, { command: "exit 9", pty, background: true });
    await pollToEnd(agent, id);
    for (
      const call of [
        { action: "send-keys", keys: pty ? ["Enter"] : ["C-d"] },
        { action: "submit" },
        { action: "paste", text: "x" },
        { action: "write", data: "x" },
      ] as const
    ) {
      const { details, text, isError } = await agent.process({ ...call, sessionId: id });
      assert(isError && "reason" in details && details.reason === "not-possible", text);
      assertStringIncludes(text, "exit code 9");
    }
  }
});

// [111]

test("P34 a paste is marked only for a program that asked, unless told otherwise, and the answer says so [111]", {
  skip: python,
}, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const plain = hexOf("a\rb");
  const marked = hexOf("\x1b[200~a\rb\x1b[201~");
  for (
    const [setup, over, expected] of [
      [":", {}, plain],
      ["printf '\\033[?2004h'", {}, marked],
      ["printf '\\033[?20'; sleep 0.2; printf '04h'", {}, marked],
      ["printf '\\033[?2004h\\033[?2004l'", {}, plain],
      [":", { bracketed: true }, marked],
      ["printf '\\033[?2004h'", { bracketed: false }, plain],
    ] as const
  ) {
    const id = await reader(agent, setup);
    const { bracketed, text } = await type(agent, { action: "paste", sessionId: id, text: "a\nb", ...over });
    assertEquals(await received(agent, id, expected.length / 2), expected);
    assertEquals(bracketed, expected === marked);
    assertMatch(text, bracketed ? /Marked as a paste/ : /Not marked as a paste/);
  }
});

test("P34 cat gets a paste as typed lines [111]", { skip: terminal }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "cat", pty: true });
  const { bracketed } = await type(agent, { action: "paste", sessionId: id, text: "a\nb" });
  assertEquals(bracketed, false);
  await type(agent, { action: "submit", sessionId: id });
  const output = await pollUntil(agent, id, /(a[^]*){2}\nb\n/);
  assert(!output.includes("200~"), output);
});

test(
  "P34 what could end a bracketed paste early is taken out of it, and that is said [111]",
  { skip: python },
  async () => {
    const bench = closing(open());
    const id = await reader(bench.agent, "printf '\\033[?2004h'");
    const text = "x\x1b[201~y\x03z\u{9b}201~\r\nend";
    const { warnings } = await type(bench.agent, { action: "paste", sessionId: id, text });
    const expected = hexOf("\x1b[200~x[201~yz201~\rend\x1b[201~");
    assertEquals(await received(bench.agent, id, expected.length / 2), expected);
    assertMatch(warnings.join(), /could end the paste: 3\./);
  },
);

/** A bash that edits its command line: it asks for bracketed paste since 5.1, and ignores SIGTERM. */
async function editingShell(agent: Agent): Promise<string> {
  const params: ExecParams = {
    command: "exec bash --norc --noprofile -i",
    pty: true,
    env: { INPUTRC: "/dev/null" },
    background: true,
  };
  const { id } = await background(agent, params);
  await poll(agent, id, { until: "input", timeout: 30_000 });
  return id;
}

const bracketingBash = terminal || await needs(
  "bash 5.1",
  "bash -c '((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501))'",
);

test("P34 in an editing shell a paste of two commands is one edit, and runs on submit [111]", {
  skip: bracketingBash,
}, async () => {
  const bench = closing(open({ killGraceMs: 200 }));
  const { agent } = bench;
  const id = await editingShell(agent);
  const { bracketed } = await type(agent, {
    action: "paste",
    sessionId: id,
    text: "echo ran$((1+1))\necho ran$((2+2))",
  });
  assertEquals(bracketed, true);
  let output = await pollUntil(agent, id, "ran$((2+2))");
  await poll(agent, id, { until: "input", timeout: 30_000 });
  output += (await poll(agent, id)).output;
  assert(!/ran2|ran4/.test(output), output);
  await type(agent, { action: "submit", sessionId: id });
  await pollUntil(agent, id, /ran2[^]*ran4/);
});

test("P34 bracketed: false makes the same paste run line by line [111]", { skip: bracketingBash }, async () => {
  const bench = closing(open({ killGraceMs: 200 }));
  const { agent } = bench;
  const id = await editingShell(agent);
  const text = "echo ran$((1+1))\necho ran$((2+2))";
  assertEquals((await type(agent, { action: "paste", sessionId: id, text, bracketed: false })).bracketed, false);
  const output = await pollUntil(agent, id, "ran2");
  assert(!/ran4/.test(output), output);
  await type(agent, { action: "submit", sessionId: id });
  await pollUntil(agent, id, "ran4");
});

test("P34 an empty paste is an error, on pipes a paste is plain text [111]", { skip: posix }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const { id } = await background(agent, { command: "cat" });
  const { text, isError } = await agent.process({ action: "paste", sessionId: id, text: "" });
  assert(isError, text);
  assertMatch(text, /text/);
  assertEquals((await type(agent, { action: "paste", sessionId: id, text: "a\r\nb\n" })).bracketed, false);
  await type(agent, { action: "write", sessionId: id, eof: true });
  assertEquals((await pollToEnd(agent, id)).output, "a\nb\n");
});

test("P34 a paste of 300 KB arrives whole in a program that reads it [111]", { skip: python }, async () => {
  const bench = closing(open());
  const { agent } = bench;
  const counting = `python3 -uc '
import os, tty
tty.setraw(0)
print("ready", end="\\r\\n")
seen = b""
while not seen.endswith(b"\\x1b[201~"): seen += os.read(0, 65536)
import hashlib
print(len(seen), hashlib.sha256(seen).hexdigest(), end="\\r\\n")
'`;
  const { id } = await background(agent, { command: `printf '\\033[?2004h'; exec ${counting}`, pty: true });
  await pollUntil(agent, id, "ready\n");
  const text = Array.from({ length: 6_000 }, (_, line) => `line ${line} ${"é".repeat(20)}`).join("\n");
  const { accepted, queued } = await type(agent, { action: "paste", sessionId: id, text });
  const sent = new TextEncoder().encode(`\x1b[200~${text.replaceAll("\n", "\r")}\x1b[201~`);
  assertGreater(sent.length, 300_000);
  assertEquals([accepted, queued], [sent.length, 0]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", sent));
  const expected = `${sent.length} ${[...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  assertStringIncludes((await pollToEnd(agent, id)).output, expected);
});
