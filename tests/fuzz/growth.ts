/**
 * Time against length: output made of the same pieces over and over takes, four times as long, about four times the time.
 *
 * @module
 */
import { assert } from "@std/assert";
import type fc from "fast-check";
import process from "node:process";
import { createCursor } from "../../src/output/cursor.ts";
import { readLines } from "../../src/output/lines.ts";
import { createOutputLog } from "../../src/output/log.ts";
import { renderText } from "../../src/output/render.ts";
import { createTerminalWatch } from "../../src/terminal/watch.ts";
import { decoded, output } from "./bytes.ts";
import { type OpenPart, type Part, target } from "./target.ts";

/** The part. It measures, so it is not for tests that have to pass on a busy machine. */
export const growth: Part = { name: "growth", runs: 400, open };

/** Lengths that are compared, bytes: the longest row that is held, four times and sixteen times. */
const SHORT = 65_536;
const LONG = 4 * SHORT;

/** Quadratic is 2, and what was measured of it on busy machines was never below 1.7. */
const MOST = 1.6;

/** What takes less, ms, is over before it can be measured. */
const LEAST_MS = 20;

const unit: fc.Arbitrary<Uint8Array> = output.filter(({ length }) => length > 0);

function open(): OpenPart {
  const measured = (name: string, work: (bytes: Uint8Array) => void) =>
    target(name, 1, unit, (piece) => {
      const exponent = exponentOf(piece, work);
      // Once more, and again: what else runs on the machine is measured too
      assert(
        exponent <= MOST || exponentOf(piece, work) <= MOST || exponentOf(piece, work) <= MOST,
        `exponent ${exponent}`,
      );
    });
  return {
    targets: [
      measured("renderer", (bytes) => renderText(decoded(bytes))),
      measured("cursor", (bytes) => createCursor(logOf(bytes)).read(30_000)),
      measured("lines", (bytes) => readLines(logOf(bytes), { grep: /b/ }, 30_000)),
      measured("watch", (bytes) => {
        const watch = createTerminalWatch({ output: () => {}, answer: () => {} });
        for (let at = 0; at < bytes.length; at += 7) watch.feed(bytes.subarray(at, at + 7));
      }),
    ],
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function logOf(bytes: Uint8Array): ReturnType<typeof createOutputLog> {
  const log = createOutputLog({ maxChars: 10_000_000 });
  for (let at = 0; at < bytes.length; at += 1_000) log.append("stdout", bytes.subarray(at, at + 1_000));
  return log;
}

function exponentOf(piece: Uint8Array, work: (bytes: Uint8Array) => void): number {
  const long = fastest(piece, LONG, work);
  if (long < LEAST_MS) return 0;
  return Math.log(long / fastest(piece, SHORT, work)) / Math.log(LONG / SHORT);
}

function fastest(piece: Uint8Array, length: number, work: (bytes: Uint8Array) => void): number {
  const bytes = Uint8Array.from({ length }, (_, index) => piece[index % piece.length] as number);
  const times = [1, 2, 3].map(() => {
    const before = process.cpuUsage();
    work(bytes);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}
