/**
 * What every verb of the command line has in common.
 *
 * @module
 */
import process from "node:process";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { nearest, OffstageError, type Problem } from "../../mod.ts";

/** One verb of the command line. */
export interface Verb {
  /** What `--help` prints: examples first, then the options. */
  readonly help: string;
  /** Those of its words that are its own, where others are a command's. Default: all before `--`. */
  readonly ownWords?: (args: readonly string[]) => readonly string[];
  /**
   * Does it.
   *
   * @param args what stands behind the verb
   * @returns the exit code to end with
   */
  run(args: readonly string[]): Promise<number>;
}

/** Help of the options that many verbs have. */
export const JSON_HELP = "  --json                print JSON instead of text";

/** Options as `parseArgs` wants them described. */
export type Options = NonNullable<ParseArgsConfig["options"]>;

/** What a verb was given: its options, and its other words. */
export type Given<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: T }>
>;

/**
 * Reads the options of a verb.
 *
 * @throws {TypeError} naming an option that it does not have, and the nearest one that it has
 */
export function given<T extends Options>(args: readonly string[], options: T): Given<T> {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    throw misspelt(error, Object.keys(options));
  }
}

/**
 * Reads the options of a verb that takes nothing else.
 *
 * @throws {OffstageError} `invalid` if there is another word; else as {@linkcode given}
 */
export function givenOptions<T extends Options>(args: readonly string[], options: T): Given<T>["values"] {
  const { values, positionals } = given(args, options);
  if (positionals.length > 0) throw usage(`Unexpected word "${positionals[0]}": it takes options only`);
  return values;
}

/** The error about an unknown option, with the nearest one instead of advice about words that begin with a dash. */
function misspelt(error: unknown, known: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const [told, name = ""] = /^Unknown option '--([^']+)'/.exec(error.message) ?? [];
  const [near] = nearest(name, known, 1);
  if (near !== undefined) error.message = `${told}: did you mean --${near}?`;
  return error;
}

/** The only word, which is an id. */
export function onlyId(words: readonly string[]): string {
  const [id, ...more] = words;
  if (!id) throw usage("Which session? Give its id: offstage ps lists them");
  if (more.length > 0) throw usage(`One session at a time, but there is also "${more[0]}"`);
  return id;
}

/** At least one word, all of them ids. */
export function someIds(words: readonly string[]): readonly string[] {
  if (words.length === 0 || words.includes("")) throw usage("Which sessions? Give their ids: offstage ps lists them");
  return words;
}

/** A number of seconds, which an option was given. */
export function secondsOf(option: string, text: string): number {
  const seconds = text.trim() === "" ? NaN : Number(text);
  if (Number.isNaN(seconds)) throw usage(`--${option}: expected seconds but received "${text}"`);
  return seconds;
}

/** Where a person finds a server's token. */
export const TOKEN_ORIGIN = "offstage serve prints the one that it has made";

/** An error as it comes from a verb: of ours, of the client, or of `parseArgs`. */
interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly hint?: string;
  readonly problems?: readonly Problem[];
}

const isOfParseArgs = (code: string): boolean => code.startsWith("ERR_PARSE_ARGS");

/** What to do about it. A server tells of headers, and knows nothing of our options. */
function hintOf({ code, hint }: Failure): string | undefined {
  if (code === "unauthorized") return `Give its token by --token-file or OFFSTAGE_TOKEN: ${TOKEN_ORIGIN}`;
  if (typeof code === "string" && isOfParseArgs(code)) return "--help behind the verb lists its options";
  return hint;
}

/** What is wrong, with every problem that it does not name itself. */
function messageOf({ message, problems = [] }: Failure): string {
  const untold = problems.filter((problem) => !message.includes(problem.message));
  return [message, ...untold.map((problem) => `${problem.key}: ${problem.message}`)].join("; ");
}

/** Tells why a verb has failed: as JSON on stdout, in the shape of a tool's failure, or as text on stderr. */
export async function fail(error: unknown, json: boolean): Promise<void> {
  const failure: Failure = error instanceof Error ? error : { message: String(error) };
  const message = messageOf(failure);
  const reason = typeof failure.code !== "string" || isOfParseArgs(failure.code) ? "invalid" : failure.code;
  const hint = hintOf(failure);
  if (json) {
    return await printJson({ status: "failed", reason, message, ...(hint && { hint }) });
  }
  say(message);
  if (hint) say(hint);
}

/** A call that cannot be understood. */
export function usage(message: string): OffstageError {
  return new OffstageError("invalid", message);
}

/** Prints on stdout; resolves once it is written: nothing is printed faster than it is read. */
export function print(text: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** Prints a value as one line of JSON. */
export function printJson(value: unknown): Promise<void> {
  return print(`${JSON.stringify(value)}\n`);
}

/** Says something about what is being done, beside its output. */
export function say(text: string): void {
  process.stderr.write(`offstage: ${text}\n`);
}
