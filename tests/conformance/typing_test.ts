/**
 * What is typed, pasted or sent as keys reaches the program in a terminal whole, however it reads, on each back-end that
 * opens terminals (spec section 7, P31–P34, R5).
 *
 * @module
 */
import { createHash } from "node:crypto";
import { assert, assertEquals, assertGreater, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import type { Agent, ProcessParams, WriteDetails } from "../../mod.ts";
import { closing, test } from "../closing.ts";
import { runtimeName } from "../skip.ts";
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
import { openOn, proc, terminal } from "./machine.ts";

type Typing = ProcessParams & { readonly action: "write" | "send-keys" | "submit" | "paste" };

const MEBIBYTE = 1_048_576;

/** What opens terminals on this runtime, and whether it tells how much of its input has been taken. */
const BACK_ENDS: readonly { readonly how: string; readonly open: () => Promise<Bench>; readonly tells: boolean }[] = [
  { how: "a terminal", open: () => Promise.resolve(open()), tells: true },
  ...(runtimeName === "bun" ? [{ how: "a terminal of bun-pty", open: openBunPty, tells: false }] : []),
];

async function openBunPty(): Promise<Bench> {
  const { bunRuntime } = await import("../../adapters/bun.ts");
  return openOn(bunRuntime({ pty: "bun-pty" }));
}

/** Starts a command in a terminal and waits until it says that it is ready. */
async function start(agent: Agent, command: string): Promise<{ readonly id: string; readonly pid: number }> {
  const { id, details } = await background(agent, { command, background: true, pty: true });
  await pollUntil(agent, id, "ready");
  return { id, pid: details.pid ?? 0 };
}

async function type(agent: Agent, params: Typing): Promise<WriteDetails & { readonly text: string }> {
  const { details, text } = await agent.process(params);
  if (!("accepted" in details)) throw new Error(`Expected a write's answer but got: ${text}`);
  return { ...details, text };
}

/** Text in which no two stretches are alike, so that a lost, doubled or misplaced one shows. */
function numbered(bytes: number, separator: string): string {
  let text = "";
  for (let index = 0; text.length < bytes; index++) text += `${index.toString(36)}${separator}`;
  return text.slice(0, bytes - 1) + separator;
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

function hexOf(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Section 7

/** Section 7 as it stands there, with E for ESC; `K` in front of what follows cursor mode, `P` of the keypad's. */
const KEYS: readonly (readonly [names: string, sent: string])[] = [
  ["enter return", "\r"],
  ["tab", "\t"],
  ["S-tab btab", "E[Z"],
  ["escape esc", "E"],
  ["space", " "],
  ["bspace backspace", "\x7f"],
  ...["up A", "down B", "right C", "left D", "home H", "end F"].map((pair) => {
    const [name = "", final = ""] = pair.split(" ");
    return [name, `K${final}`] as const;
  }),
  ["insert ic", "E[2~"],
  ["delete dc del", "E[3~"],
  ["pageup pgup ppage", "E[5~"],
  ["pagedown pgdn npage", "E[6~"],
  ["f1", "EOP"],
  ["f2", "EOQ"],
  ["f3", "EOR"],
  ["f4", "EOS"],
  ...[15, 17, 18, 19, 20, 21, 23, 24].map((code, index) => [`f${index + 5}`, `E[${code}~`] as const),
  ...[..."pqrstuvwxy"].map((final, digit) => [`kp${digit}`, `P${final}${digit}`] as const),
  ...[..."/o*j-m+k.n"].flatMap((sign, index, all) =>
    index % 2 === 0 ? [[`kp${sign}`, `P${all[index + 1]}${sign}`] as const] : []
  ),
  ["kpenter", "PM\r"],
  ["S-Up", "E[1;2A"],
  ["M-down", "E[1;3B"],
  ["M-S-Right S-M-right", "E[1;4C"],
  ["C-Left", "E[1;5D"],
  ["C-S-Left S-C-left", "E[1;6D"],
  ["C-M-Home", "E[1;7H"],
  ["C-M-S-End S-M-C-end m-c-s-END", "E[1;8F"],
  ["S-F1", "E[1;2P"],
  ["C-f4", "E[1;5S"],
  ["M-f5", "E[15;3~"],
  ["C-Delete", "E[3;5~"],
  ["S-Insert", "E[2;2~"],
  ["C-S-PageUp", "E[5;6~"],
  ["M-Enter", "E\r"],
  ["C-a ^a c-A", "\x01"],
  ["C-z ^Z", "\x1a"],
  ["C-[ ^[", "E"],
  ["C-\\", "\x1c"],
  ["C-]", "\x1d"],
  ["C-^ ^^", "\x1e"],
  ["C-_", "\x1f"],
  ["C-space C-@ ^@", "\0"],
  ["C-? ^?", "\x7f"],
  ["M-x", "Ex"],
  ["M-X", "EX"],
  ["C-M-a M-C-a M-^a", "E\x01"],
  ["j", "j"],
  ["J S-j", "J"],
  ["-", "-"],
  ["é", "é"],
  ["M-é", "Eé"],
  ["€", "€"],
  ["😀", "😀"],
  ["👨‍👩‍👧", "👨‍👩‍👧"],
];

const MODES: readonly {
  readonly how: string;
  readonly setup: string;
  readonly cursor: string;
  readonly keypad: "application" | "numeric";
}[] = [
  { how: "as it starts", setup: "", cursor: "[", keypad: "application" },
  { how: "in application mode", setup: "\\033[?1h\\033=", cursor: "O", keypad: "application" },
  { how: "in numeric mode", setup: "\\033[?1;66h\\033[?1l\\033>", cursor: "[", keypad: "numeric" },
];

for (const { how, open } of BACK_ENDS) {
  for (const { how: mode, setup, cursor, keypad } of MODES) {
    test(`P32 every key of section 7 arrives in ${how} ${mode}, in one call [102] [107] [110]`, {
      skip: terminal,
    }, async () => {
      const bench = closing(await open());
      const names = KEYS.flatMap(([spelt, bytes]) => spelt.split(" ").map((name) => [name, bytes] as const));
      const expected = names.map(([, bytes]) => {
        if (bytes.startsWith("K")) return `\x1b${cursor}${bytes.slice(1)}`;
        if (bytes.startsWith("P")) return keypad === "numeric" ? bytes.slice(2) : `\x1bO${bytes[1]}`;
        return bytes.replace(/^E/, "\x1b");
      });
      const hex = hexOf(expected.join(""));
      const count = hex.length / 2;
      const command = `stty raw -echo; printf '${setup}'; echo ready; head -c ${count} | od -An -v -tx1`;
      const { id } = await start(bench.agent, command);
      const keys = names.map(([name]) => name);
      const { sent, accepted } = await type(bench.agent, { action: "send-keys", sessionId: id, keys });
      assertEquals([sent, accepted], [keys.length, count]);
      assertEquals((await pollToEnd(bench.agent, id)).output.replaceAll(/\s/g, "").replace("ready", ""), hex);
    });
  }

  // [88], R5

  test(`P34 1 MiB pasted into a program that reads raw arrives whole in ${how} [88]`, { skip: terminal }, async () => {
    const bench = closing(await open());
    const text = numbered(MEBIBYTE - 12, " "); // with its marks a bracketed paste is 1 MiB: what the queue takes
    for (const [setup, sent] of [["", text], ["\\033[?2004h", `\x1b[200~${text}\x1b[201~`]] as const) {
      const command = `stty raw -echo; printf '${setup}'; echo ready; sleep 0.3; head -c ${sent.length} | md5sum`;
      const { id } = await start(bench.agent, command);
      const { accepted, refused, warnings } = await type(bench.agent, { action: "paste", sessionId: id, text });
      assertEquals([accepted, refused, warnings], [sent.length, 0, []]);
      assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(sent));
    }
  });

  test(`P34 1 MiB of lines pasted into a program that reads line by line arrives whole in ${how} [88]`, {
    skip: terminal,
  }, async () => {
    const bench = closing(await open());
    const text = numbered(MEBIBYTE, "\n");
    const { id } = await start(bench.agent, "stty -echo; echo ready; sleep 0.3; md5sum");
    const { accepted, refused, warnings } = await type(bench.agent, { action: "paste", sessionId: id, text });
    assertEquals([accepted, refused, warnings], [text.length, 0, []]);
    await type(bench.agent, { action: "write", sessionId: id, eof: true });
    assertStringIncludes((await pollToEnd(bench.agent, id)).output, md5(text));
  });

  test(`R5 a program that is stopped for a while and goes on loses nothing of a paste in ${how} [88]`, {
    skip: terminal || proc,
  }, async () => {
    const bench = closing(await open());
    const { agent } = bench;
    const text = numbered(400_000, " ");
    const { id, pid } = await start(agent, `stty raw -echo; echo ready; head -c 400000 | md5sum`);
    await kill(agent, id, { signal: "SIGSTOP" });
    await eventually(() => processState(pid) === "T", "it is stopped");
    const { accepted, queued } = await type(agent, { action: "paste", sessionId: id, text });
    assertEquals(accepted, text.length);
    if (how === "a terminal") assertGreater(queued, 0);
    await kill(agent, id, { signal: "SIGCONT" });
    assertStringIncludes((await pollToEnd(agent, id)).output, md5(text));
  });

  // [89]

  test(`P31 P34 a line that ${how} would cut is not sent, whatever types it, and shorter ones still are [89]`, {
    skip: terminal,
  }, async () => {
    const bench = closing(await open());
    const { agent } = bench;
    const long = "a".repeat(4_096);
    const { id } = await start(agent, 'stty -echo; echo ready; while read -r x; do echo "<${#x}>"; done');
    for (
      const typing of [
        { action: "write", sessionId: id, data: `${long}\n` },
        { action: "paste", sessionId: id, text: `short\n${long}\n` },
        { action: "paste", sessionId: id, text: long, bracketed: true },
        { action: "send-keys", sessionId: id, literal: long, keys: ["Enter"] },
      ] as const
    ) {
      const { accepted, warnings, text } = await type(agent, typing);
      assertEquals([accepted, warnings.length], [0, 1], text);
      assertMatch(text, /Nothing was sent.*4095/);
    }
    await type(agent, { action: "paste", sessionId: id, text: "b".repeat(4_000) });
    assertEquals((await type(agent, { action: "send-keys", sessionId: id, literal: "c".repeat(96) })).accepted, 0);
    await type(agent, { action: "send-keys", sessionId: id, literal: "c".repeat(95) });
    await type(agent, { action: "submit", sessionId: id });
    await type(agent, { action: "write", sessionId: id, eof: true });
    const { output } = await pollToEnd(agent, id);
    assertEquals(output.match(/<\d+>/g), ["<4095>"]);
  });

  test(`P31 a line of any length goes to a program that reads ${how} raw, without a warning [89]`, {
    skip: terminal,
  }, async () => {
    const bench = closing(await open());
    const { id } = await start(bench.agent, "stty raw -echo; echo ready; head -c 9000 | wc -c");
    const { warnings } = await type(bench.agent, { action: "write", sessionId: id, data: "a".repeat(9_000) });
    assertEquals(warnings, []);
    assertStringIncludes((await pollToEnd(bench.agent, id)).output, "9000");
  });

  // [93]

  test(`P31 a secret is redacted whatever types it, as ${how} echoes it [93]`, { skip: terminal }, async () => {
    const bench = closing(await open());
    const { agent } = bench;
    const secret = "hunter2-correct-horse";
    const { id } = await start(agent, 'echo ready; while read -r p; do echo "got ${#p}"; done');
    for (
      const typing of [
        { action: "write", sessionId: id, data: secret },
        { action: "paste", sessionId: id, text: secret },
        { action: "send-keys", sessionId: id, literal: secret },
        { action: "send-keys", sessionId: id, keys: [...secret] },
        { action: "send-keys", sessionId: id, hex: hexOf(secret) },
      ] as const
    ) {
      await type(agent, { ...typing, sensitive: true });
      await type(agent, { action: "submit", sessionId: id });
      await pollUntil(agent, id, `[redacted]\ngot ${secret.length}\n`);
    }
    const shown = JSON.stringify([await log(agent, id), await poll(agent, id, { since: 0 })]);
    assert(!shown.includes("hunter2") && !shown.includes("horse"), shown);
  });
}

test("P31 P32 a program that ends in the middle of a paste is said to have taken so much of it [88]", {
  skip: terminal,
}, async () => {
  const bench = closing(open());
  const { id } = await start(bench.agent, "stty raw -echo; echo ready; head -c 300000 >/dev/null; exit 3");
  const { details, text } = await bench.agent.process({ action: "paste", sessionId: id, text: "x".repeat(MEBIBYTE) });
  assert("taken" in details, text);
  assertMatch(text, /stdin closed by the process after \d+ of 1048576 bytes were handed over/);
  assertGreater(details.taken ?? 0, 290_000);
  assertLess(details.taken ?? 0, MEBIBYTE);
  assertEquals((await pollToEnd(bench.agent, id)).last.exitCode, 3);
});

test("P32 keys for a program that one of them ends are not said to have been sent [104]", {
  skip: terminal,
}, async () => {
  const bench = closing(open());
  const { id } = await start(bench.agent, "stty raw -echo; echo ready; head -c 1 >/dev/null; exit 3");
  const keys = ["q", "y", "y", "y"];
  const call = { action: "send-keys", sessionId: id, keys, delayMs: 1_500 } as const;
  const { isError, text } = await bench.agent.process(call);
  assert(isError, text);
  assertMatch(text, /[123] of 4 keys were sent/);
});
