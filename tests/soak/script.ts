/**
 * Commands that print what is known beforehand, byte for byte.
 *
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createRandom, type Random } from "../random.ts";

/** Known content in files, of which commands print slices. */
export interface Pool {
  /** The folder the files are in. */
  readonly folder: string;
  /** Numbered lines, a few characters of each kind in them; no two lines are the same. */
  readonly text: Uint8Array;
  /** Where its lines begin, and its length. */
  readonly lineStarts: readonly number[];
  /** Every byte there is. */
  readonly binary: Uint8Array;
}

/** What a command prints, of its own will, if nobody stops it. */
export interface Script {
  /** Commands for a shell, without an end. */
  readonly command: string;
  /** All that goes to stdout. */
  readonly stdout: Uint8Array;
  /** All that goes to stderr. */
  readonly stderr: Uint8Array;
  /** Whether it is text in whole lines, without controls. */
  readonly isText: boolean;
}

/** How much a command prints, and how. */
export type Manner = "quick" | "chatty" | "slow" | "bulk" | "binary" | "silent";

interface Part {
  readonly isError: boolean;
  readonly bytes: Uint8Array;
  readonly command: string;
}

const TEXT_BYTES = 1_048_576;
const BINARY_BYTES = 262_144;
const WORDS = [
  "alpha",
  "naïve",
  "Ωmega",
  "日本語",
  "🙂",
  "x",
  "--flag=1",
  "C:\\dir",
  "100%",
  "it's",
  '"so"',
  "e\u0301",
];
const encoder = new TextEncoder();

/** Fills a folder with known content. */
export async function fillPool(folder: string, seed: number): Promise<Pool> {
  const random = createRandom(seed, -1);
  let written = "";
  for (let number = 0; written.length < TEXT_BYTES; number++) {
    const words = Array.from({ length: 1 + random.below(14) }, () => WORDS[random.below(WORDS.length)]);
    written += `${number} ${words.join(" ")}\n`;
  }
  const text = encoder.encode(written);
  const lineStarts = [0];
  for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) lineStarts.push(at + 1);
  const binary = Uint8Array.from({ length: BINARY_BYTES }, () => random.below(256));
  await writeFile(join(folder, "text"), text);
  await writeFile(join(folder, "binary"), binary);
  return { folder, text, lineStarts, binary };
}

/** Writes a command. */
export function writeScript(random: Random, pool: Pool, manner: Manner): Script {
  const streams = random.weighted([
    { weight: 6, errors: () => false },
    { weight: 2, errors: () => true },
    { weight: 3, errors: () => random.chance(0.4) },
  ]);
  const parts: Part[] = [];
  for (let left = partsOf(random, manner); left > 0; left--) {
    const bytes = contentOf(random, pool, manner);
    const isError = streams.errors();
    const print = "from" in bytes ? sliceCommand(pool, bytes) : `printf '${escaped(bytes.bytes)}'`;
    parts.push({ isError, bytes: bytes.bytes, command: isError ? `${print} >&2` : print });
  }
  const nap = (): string => {
    if (manner === "slow") return ` sleep 0.0${1 + random.below(9)};`;
    return random.chance(manner === "chatty" ? 0.15 : 0.05) ? ` sleep 0.00${1 + random.below(9)};` : "";
  };
  return {
    command: parts.map(({ command }) => `${command};${nap()}`).join(" "),
    stdout: joined(parts.filter(({ isError }) => !isError).map(({ bytes }) => bytes)),
    stderr: joined(parts.filter(({ isError }) => isError).map(({ bytes }) => bytes)),
    isText: manner !== "binary",
  };
}

/** Pieces one after the other. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** What a terminal in its normal mode makes of what is printed: each line feed gets a carriage return. */
export function throughTerminal(bytes: Uint8Array): Uint8Array {
  const through = new Uint8Array(bytes.length + bytes.filter((byte) => byte === 10).length);
  let at = 0;
  for (const byte of bytes) {
    if (byte === 10) through[at++] = 13;
    through[at++] = byte;
  }
  return through;
}

function partsOf(random: Random, manner: Manner): number {
  switch (manner) {
    case "quick":
      return 1 + random.below(3);
    case "chatty":
      return 10 + random.below(50);
    case "slow":
      return 4 + random.below(12);
    case "bulk":
      return 1 + random.below(3);
    case "binary":
      return 1 + random.below(6);
    case "silent":
      return 0;
  }
}

interface Slice {
  readonly bytes: Uint8Array;
  readonly file: "text" | "binary";
  readonly from: number;
}

function contentOf(random: Random, pool: Pool, manner: Manner): Slice | { readonly bytes: Uint8Array } {
  if (manner === "binary") {
    const from = random.below(pool.binary.length - 60_000);
    return { file: "binary", from, bytes: pool.binary.subarray(from, from + 1 + random.below(60_000)) };
  }
  const lines = manner === "bulk" ? 500 + random.below(10_000) : 1 + random.below(manner === "quick" ? 40 : 10);
  const first = random.below(pool.lineStarts.length - 1 - lines);
  const from = pool.lineStarts[first] ?? 0;
  const bytes = pool.text.subarray(from, pool.lineStarts[first + lines]);
  return manner === "bulk" || random.chance(0.1) ? { file: "text", from, bytes } : { bytes };
}

function sliceCommand({ folder }: Pool, { file, from, bytes }: Slice): string {
  return `tail -c +${from + 1} ${join(folder, file)} | head -c ${bytes.length}`;
}

/** For the format of `printf`, inside single quotes. */
function escaped(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const character = String.fromCharCode(byte);
    text += /[A-Za-z0-9 =:.-]/.test(character) ? character : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return text;
}
