/**
 * `offstage logs`: what a session has printed, and prints.
 *
 * @module
 */
import type { Client } from "../client.ts";
import process from "node:process";
import { clientOf, SERVER_HELP, SERVER_OPTIONS } from "./server.ts";
import { given, JSON_HELP, onlyId, print, printJson, say, usage, type Verb } from "./verb.ts";

const HELP = `Examples
  offstage logs amber-otter-7k3f                    its last 200 lines, as a person would see them
  offstage logs amber-otter-7k3f -f                 everything as it comes, until the session ends
  offstage logs amber-otter-7k3f -n 20 -f           the same from the 20th line before the end on
  offstage logs amber-otter-7k3f -n all --grep error

Options
  -f, --follow          go on until the session ends: stdout and stderr apart, escape codes as they come
  -n, --lines <n|all>   only the last lines; default 200, with -f all
  --grep <regex>        only lines that match; not with -f
  --stream <name>       only stdout, or stderr
  --raw                 with escape codes; -f always has them
${JSON_HELP}; with -f a line for each event
${SERVER_HELP}`;

const OPTIONS = {
  ...SERVER_OPTIONS,
  follow: { type: "boolean", short: "f" },
  lines: { type: "string", short: "n" },
  grep: { type: "string" },
  stream: { type: "string" },
  raw: { type: "boolean" },
  json: { type: "boolean" },
} as const;

/** The options as they are used. */
interface Wanted {
  readonly lines: number | undefined;
  readonly grep: string | undefined;
  readonly stream: "stdout" | "stderr" | undefined;
  readonly raw: boolean | undefined;
  readonly json: boolean | undefined;
}

/** The verb. */
export const logs: Verb = {
  help: HELP,
  run: async (args) => {
    const { values, positionals } = given(args, OPTIONS);
    const id = onlyId(positionals);
    const { stream, grep, raw, json, follow = false } = values;
    if (stream !== undefined && stream !== "stdout" && stream !== "stderr") {
      throw usage(`--stream: expected stdout or stderr but received "${stream}"`);
    }
    if (follow && grep !== undefined) throw usage("--grep is for lines that are there: pipe -f into grep instead");
    const wanted: Wanted = { lines: linesOf(values.lines, follow ? Infinity : undefined), grep, stream, raw, json };
    const client = clientOf(values);
    await (follow ? followLog(client, id, wanted) : showLog(client, id, wanted));
    return 0;
  },
};

/** How many lines are wanted; `undefined` is as many as the server thinks right. */
function linesOf(text: string | undefined, fallback: number | undefined): number | undefined {
  if (text === undefined) return fallback;
  if (text === "all") return Infinity;
  if (!/^\d+$/.test(text)) throw usage(`--lines: expected a number or all but received "${text}"`);
  return Number(text);
}

async function showLog(client: Client, id: string, { lines, grep, stream, raw, json }: Wanted): Promise<void> {
  const query = { ...(grep && { grep }), ...(stream && { stream }), ...(raw && { raw }) };
  const place = lines === Infinity ? { offset: 0 } : lines === undefined ? {} : { limit: lines };
  let page = await client.log(id, { ...query, ...place });
  const isWhole = lines === Infinity;
  for (;;) {
    if (json) await printJson(page);
    else await print(page.lines.map(({ text }) => `${text}\n`).join(""));
    if (!isWhole || page.nextOffset === null) break;
    page = await client.log(id, { ...query, offset: page.nextOffset });
  }
  if (page.olderOffset !== null && !json && !isWhole && lines === undefined) say("there are older lines: -n all");
  if (page.firstHeld > 0 && !json) say(`lines 0 to ${page.firstHeld - 1} are not held any more`);
}

async function followLog(client: Client, id: string, { lines = Infinity, stream, json }: Wanted): Promise<void> {
  const since = lines === Infinity ? 0 : await lastLines(client, id, lines);
  for await (const event of client.output(id, { since })) {
    if (event.type === "output" && stream !== undefined && event.stream !== stream) continue;
    if (json) await printJson(event);
    else if (event.type === "output") await printTo(event.stream, event.text);
    else if (event.type === "gap") say(`bytes ${event.from} to ${event.to} are missing`);
  }
}

/** Where the last lines begin, in bytes. */
async function lastLines(client: Client, id: string, lines: number): Promise<number> {
  const starts: number[] = [];
  let end = 0;
  for await (const event of client.output(id, { bytes: true, follow: false })) {
    if (event.type !== "output") continue;
    if (starts.length === 0) starts.push(event.offset);
    for (const [index, byte] of event.bytes.entries()) if (byte === 10) starts.push(event.offset + index + 1);
    end = event.next;
  }
  const begun = starts.filter((start) => start < end);
  return lines === 0 ? end : begun.at(-lines) ?? begun[0] ?? end;
}

function printTo(stream: string, text: string): Promise<void> {
  if (stream !== "stderr") return print(text);
  return new Promise((resolve) => process.stderr.write(text, () => resolve()));
}
