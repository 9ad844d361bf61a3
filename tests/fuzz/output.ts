/**
 * Random bytes through what they pass on their way to a reader: the decoder, the log and its cursors, the renderer, the
 * pages and budgets, the watch of a terminal, its screen; and what is typed into it.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { boundedOutput, countChars, tailOfLog } from "../../src/output/budget.ts";
import { createCursor } from "../../src/output/cursor.ts";
import { readLines } from "../../src/output/lines.ts";
import { createOutputLog, type OutputLog } from "../../src/output/log.ts";
import { createRenderer, renderText } from "../../src/output/render.ts";
import { KEY_NAMES } from "../../src/terminal/key_table.ts";
import { encodeKeys, type KeyInput, pipeActions } from "../../src/terminal/keys.ts";
import { encodePaste } from "../../src/terminal/paste.ts";
import { loadScreens, type Screen } from "../../src/terminal/screen.ts";
import { createTerminalWatch } from "../../src/terminal/watch.ts";
import { type Cut, cutOutput, decoded, output as anyOutput, piecesOf, textPiecesOf } from "./bytes.ts";
import { type OpenPart, type Part, target } from "./target.ts";

/** The part. */
export const output: Part = { name: "output", runs: 1_000_000, open };

// deno-lint-ignore no-control-regex -- what nobody is to be shown
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

async function open(): Promise<OpenPart> {
  const openScreen = await loadScreens();
  const size = { cols: 12, rows: 5 };
  return {
    targets: [
      target("decoder", 30, cutOutput, decodes),
      target("cursor", 15, logged, reads),
      target("renderer", 24, cutOutput, renders),
      target("pages", 10, logged, fits),
      target("watch", 11, cutOutput, watches),
      target("keys", 6, keyInput, types),
      target("paste", 3, fc.tuple(anyOutput, fc.boolean()), pastes),
      target("screen", 1, cutOutput, (cut) => draws(cut, () => openScreen(size))),
    ],
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** However it is cut, what is decoded is what the Encoding Standard says, and all of it is counted. */
function decodes(cut: Cut): void {
  const log = createOutputLog({ maxChars: 1_000_000 });
  for (const piece of piecesOf(cut)) log.append("stdout", piece.slice());
  log.finish();
  const text = log.read(0).map(({ bytes }) => decoded(bytes)).join("");
  const whole = decoded(cut.bytes);
  assertEquals(text, whole);
  assertEquals([log.end, log.totalChars], [cut.bytes.length, countChars(whole)]);
}

/** Chunks of three streams in a log that holds little. */
interface Logged {
  readonly chunks: readonly Uint8Array[];
  readonly maxChars: number;
  readonly limit: number;
}

const logged: fc.Arbitrary<Logged> = fc.record({
  chunks: fc.array(anyOutput, { maxLength: 5 }),
  maxChars: fc.constantFrom(1, 3, 10, 40, 200, 1_000),
  limit: fc.constantFrom(1, 5, 30, 200, Infinity),
}, { noNullPrototype: true });

const STREAMS = ["stdout", "stderr", "terminal"] as const;

/** What is delivered and what is dropped add up, and nothing that is told obeys anybody. */
function reads({ chunks, maxChars, limit }: Logged): void {
  const log = createOutputLog({ maxChars });
  const cursor = createCursor(log);
  let at = 0;
  for (const [index, chunk] of chunks.entries()) {
    log.append(STREAMS[index % 3] ?? "stdout", chunk);
    if (index === chunks.length - 1) log.finish();
    const held = log.totalChars - log.droppedChars;
    assert(held <= maxChars && held === countChars(textOf(log)), `${held} of ${maxChars}`);
    const { from, to, text, dropped, droppedByStream } = cursor.read(limit);
    assertEquals([from, to], [at, log.end]);
    assertEquals(dropped, droppedByStream.stdout + droppedByStream.stderr + droppedByStream.terminal);
    assert(dropped >= 0 && dropped <= to - from, `${dropped} of ${to - from}`);
    assertShown(text);
    at = to;
  }
}

function textOf(log: OutputLog): string {
  return log.read(log.start).map(({ bytes }) => decoded(bytes)).join("");
}

/** However it is cut, it looks the same, and it is what people can look at. */
function renders({ bytes, cuts }: Cut): void {
  const text = decoded(bytes);
  const shown = renderText(text);
  const renderer = createRenderer();
  for (const piece of textPiecesOf(text, cuts)) renderer.write("stdout", piece);
  renderer.finish();
  assertEquals(renderer.take(), shown);
  assertShown(shown);
  assert(shown.includes("\ufffd") === false || text.includes("\ufffd"), "a character went to pieces");
}

function assertShown(text: string): void {
  assert(!CONTROL.test(text), `a control character is left: ${JSON.stringify(text)}`);
  assert(!/\p{Surrogate}/u.test(text), `half a character is left: ${JSON.stringify(text)}`);
}

/** Pages and budgets hold what they promise. */
function fits({ chunks, maxChars, limit }: Logged): void {
  const log = createOutputLog({ maxChars });
  log.keepHead(500);
  for (const [index, chunk] of chunks.entries()) log.append(STREAMS[index % 2] ?? "stdout", chunk);
  log.finish();
  const room = 200;
  for (const folded of [false, true]) {
    const { text, truncated, omittedChars } = boundedOutput(log, room, folded);
    assert(countChars(text) <= room, `${countChars(text)} characters`);
    assertEquals(truncated, omittedChars > 0);
    assertShown(text);
  }
  assert(countChars(tailOfLog(log, 50)) <= 50);
  for (const query of [{}, { offset: -3 }, { offset: 1, limit: 2 }, { limit, raw: true }, { grep: /a/ }]) {
    const { lines, total, firstHeld } = readLines(log, query, room);
    assert(lines.reduce((sum, { text }) => sum + countChars(text) + 1, 0) <= room, "a page is bounded");
    for (const [index, { number, text }] of lines.entries()) {
      assert(number >= firstHeld && number < total && number > (lines[index - 1]?.number ?? -1), `line ${number}`);
      if (!("raw" in query)) assertShown(text);
    }
  }
}

/** However it is cut, the log, the answers and the modes are the same. */
function watches(cut: Cut): void {
  assertEquals(watched(piecesOf(cut)), watched([cut.bytes]));
}

function watched(pieces: readonly Uint8Array[]): unknown {
  let log = "";
  let answers = "";
  const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes);
  const watch = createTerminalWatch({
    output: (bytes) => (log += text(bytes)),
    answer: (reply) => (answers += `${log.length} ${text(reply({ row: 1, col: 1 }))} `),
  });
  for (const piece of pieces) watch.feed(piece);
  watch.finish();
  return { log, answers, modes: watch.modes };
}

const token: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...KEY_NAMES),
  fc.tuple(
    fc.constantFrom("C-", "M-", "S-", "Ctrl+", "^", "c-m-", "alt-", "S-S-"),
    fc.constantFrom(...KEY_NAMES, "a", "1", "é", ""),
  ).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom(
    "",
    "-",
    "--",
    "C-",
    "C",
    "\ud800",
    "👨‍👩‍👧",
    "\r\n",
    "__proto__",
    "constructor",
    "x".repeat(10_000),
    "C-".repeat(2_000),
  ),
);

const keyInput: fc.Arbitrary<KeyInput> = fc.record({
  keys: fc.array(token, { maxLength: 4 }),
  literal: fc.option(fc.string({ unit: "binary", maxLength: 8 }), { nil: undefined }),
  hex: fc.option(fc.oneof(fc.stringMatching(/^[0-9a-fx, ]{0,12}$/), fc.string({ maxLength: 6 })), { nil: undefined }),
}, { noNullPrototype: true });

/** Keys are sent whole or refused whole. */
function types(input: KeyInput): void {
  for (const applicationCursor of [false, true]) {
    const result = encodeKeys(input, { applicationCursor });
    if (result.ok) assert(result.strokes.length > 0 && result.strokes.every(({ bytes }) => bytes.length > 0));
    else assert(result.problems.length > 0 && result.problems.every(({ message }) => message !== ""));
  }
  const onPipes = pipeActions(input);
  assert(onPipes.ok ? onPipes.actions.length > 0 : onPipes.problems.length > 0);
}

/** Nothing in a bracketed paste ends it. */
function pastes([bytes, bracketed]: readonly [Uint8Array, boolean]): void {
  const text = decoded(bytes);
  const encoded = encodePaste(text, { mode: false, bracketed });
  const sent = new TextDecoder("utf-8", { ignoreBOM: true }).decode(encoded.bytes);
  if (!bracketed) return assertEquals(sent, text.replaceAll(/\r?\n/g, "\r"));
  const inside = sent.slice("\x1b[200~".length, -"\x1b[201~".length);
  assert(sent.startsWith("\x1b[200~") && sent.endsWith("\x1b[201~"));
  // deno-lint-ignore no-control-regex -- what could end it
  assert(!/[\x1b\x03\x9b\n]/.test(inside), JSON.stringify(inside));
}

/** However it is cut, the screen is the same, as large as it is, and shows characters only. */
async function draws({ bytes, cuts }: Cut, openScreen: () => Screen): Promise<void> {
  const text = decoded(bytes);
  const [whole, pieced] = [openScreen(), openScreen()];
  try {
    await whole.write(text);
    for (const piece of textPiecesOf(text, cuts)) await pieced.write(piece);
    const frame = whole.frame();
    assertEquals(pieced.frame(), frame);
    const { rows, cursor, title, scrollbackLines } = frame;
    assertEquals(rows.length, 5);
    assert(cursor.row >= 0 && cursor.row < 5 && cursor.col >= 0 && cursor.col < 12, JSON.stringify(cursor));
    assert(scrollbackLines >= 0 && scrollbackLines <= 1_000 && (title ?? "").length <= 1_000);
    for (const shown of [...rows, ...whole.scrollback(20), title ?? ""]) assertShown(shown);
  } finally {
    whole.close();
    pieced.close();
  }
}
