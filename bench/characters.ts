/**
 * How much of what programs write to a terminal is handed to the model, for the recordings in `corpus/`, and whether it
 * holds every line that a person would still see: `node bench/characters.ts [--json]`.
 *
 * @module
 */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createOutputLog } from "../src/output/log.ts";
import { renderSegments } from "../src/output/reading.ts";
import { personSees, rowsOf } from "../tests/terminal_oracle.ts";

/** What came of one recording. */
export interface Characters {
  /** The recorded run. */
  readonly name: string;
  /** Characters of its raw output. */
  readonly raw: number;
  /** Characters handed to the model. */
  readonly rendered: number;
  /** Tokens of its raw output, as a model of today counts them. */
  readonly rawTokens: number;
  /** Tokens handed to the model. */
  readonly renderedTokens: number;
  /** Whether it draws over what it has drawn: without that there is nothing to save but colours. */
  readonly redraws: boolean;
  /** Lines that a person would still see at the end. */
  readonly seen: number;
  /** Those of them that the model is not given, in their order. */
  readonly missing: readonly string[];
}

const SIZE = { cols: 120, rows: 30 };
/** A carriage return that is not of a line end, a backspace, or a movement of the cursor. */
// deno-lint-ignore no-control-regex -- control characters are what this is about
const REDRAW = /\r(?!\r*\n)(?=[^])|\x08|\x1b\[[\d;]*[A-HJMLd]|\x1b\[\?1049h/;

/** What a program wrote. */
export interface Recorded {
  /** The recorded run. */
  readonly name: string;
  /** Its raw output. */
  readonly bytes: Uint8Array;
}

/** All recordings. */
export function recordings(): readonly Recorded[] {
  const folder = fileURLToPath(new URL(findCorpus(), import.meta.url));
  return readdirSync(folder).filter((file) => file.endsWith(".out")).sort()
    .map((file) => ({ name: file.replace(".out", ""), bytes: readFileSync(`${folder}${file}`) }));
}

/** Measures every recording. */
export async function measureCorpus(): Promise<readonly Characters[]> {
  return await Promise.all(recordings().map(measure));
}

async function measure({ name, bytes }: Recorded): Promise<Characters> {
  const log = createOutputLog({ maxChars: Infinity, terminal: { size: SIZE, fullScreen: () => false } });
  log.append("terminal", bytes);
  log.finish();
  const text = renderSegments(log, log.read(0), true);
  const raw = new TextDecoder().decode(bytes);
  const seen = (await personSees(bytes, SIZE, false)).filter((row) => row !== "");
  return {
    name,
    raw: Array.from(raw).length,
    rendered: Array.from(text).length,
    rawTokens: countTokens(raw),
    renderedTokens: countTokens(text),
    redraws: REDRAW.test(raw),
    seen: seen.length,
    missing: notInOrder(seen, rowsOf(text.split("\n"))),
  };
}

/** The rows that do not come in the lines, after those before them. */
function notInOrder(rows: readonly string[], lines: readonly string[]): readonly string[] {
  let at = 0;
  return rows.filter((row) => {
    const found = lines.findIndex((line, index) => index >= at && asSeen(line) === row);
    if (found >= 0) at = found + 1;
    return found < 0;
  });
}

/** Tabs are blanks on a screen. */
function asSeen(line: string): string {
  return line.split("\t").reduce((before, after) => before.padEnd(before.length - before.length % 8 + 8) + after);
}

/** Compiled, this file lies elsewhere; the recordings do not. */
function findCorpus(): string {
  return import.meta.url.includes("/.build/") ? "../../bench/corpus/" : "corpus/";
}

function share(
  of: readonly Characters[],
  given: (each: Characters) => number,
  all: (each: Characters) => number,
): number {
  const sum = (count: (each: Characters) => number): number => of.reduce((total, each) => total + count(each), 0);
  return sum(given) / sum(all);
}

function characterShare(of: readonly Characters[]): number {
  return share(of, ({ rendered }) => rendered, ({ raw }) => raw);
}

function tokenShare(of: readonly Characters[]): number {
  return share(of, ({ renderedTokens }) => renderedTokens, ({ rawTokens }) => rawTokens);
}

async function main(): Promise<void> {
  const all = await measureCorpus();
  const redrawn = all.filter(({ redraws }) => redraws);
  const missing = all.reduce((total, each) => total + each.missing.length, 0);
  if (process.argv.includes("--json")) {
    const numbers = { redrawn: characterShare(redrawn), redrawnTokens: tokenShare(redrawn), missing };
    return console.log(JSON.stringify(numbers));
  }
  for (const { name, raw, rendered, redraws, seen, missing } of all) {
    const percent = (100 * rendered / raw).toFixed(1).padStart(6);
    const rows = `${seen - missing.length} of ${seen} lines seen`;
    console.log(
      `${name.padEnd(16)}${String(raw).padStart(7)} → ${String(rendered).padStart(6)} ${percent} %  ${rows}${
        redraws ? "" : "  (no redraws)"
      }`,
    );
    for (const row of missing) console.log(`    missing: ${row}`);
  }
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  console.log(
    `with redraws: ${percent(characterShare(redrawn))} of the characters, ${
      percent(tokenShare(redrawn))
    } of the tokens; ` +
      `all: ${percent(characterShare(all))}, ${percent(tokenShare(all))}; lines missing: ${missing}`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
