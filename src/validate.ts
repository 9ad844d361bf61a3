/**
 * The gate for everything that comes from outside: a valibot schema plus a check for unknown keys, giving either a
 * typed value or the list of all problems at once.
 *
 * @module
 */
import * as v from "valibot";
import type { Problem } from "./errors.ts";
import { nearest } from "./nearest.ts";

/** What a gate lets through, or why it does not. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The keys an object may have, and what people write instead of them. */
export interface KnownKeys {
  /** Keys that are taken. */
  readonly keys: readonly string[];
  /** Common other names, each with the right one, for keys that no edit distance would find. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Keys that must be there. */
  readonly required?: readonly string[];
  /** Put before each key in a problem, e.g. `tools.exec.`. */
  readonly prefix?: string;
}

/** Unknown keys that are told the nearest known one: whoever has more has not misspelt them, and looking takes time. */
const MOST_HINTS = 20;

/**
 * Validates an object. A `null` value counts as absent: strict tool callers send it for every optional key.
 *
 * Only the keys that are there are looked at: most calls have few of many.
 *
 * @param entries the schema of each key, for one that is there
 * @returns the parsed value, or every problem: unknown keys with the nearest known one, and each schema issue
 */
export function check<T>(
  entries: Readonly<Record<string, v.GenericSchema>>,
  input: unknown,
  known: KnownKeys,
): Checked<T> {
  const prefix = known.prefix ?? "";
  const read = readOnce(input, prefix.replace(/\.$/, ""));
  if (!read.ok) return read;
  const shape = read.value;
  const unknown: Problem[] = [];
  const wrong: Problem[] = [];
  const taken: Record<string, unknown> = {};
  for (const key of Object.keys(shape)) {
    const value = shape[key];
    if (value === null || value === undefined) continue;
    const entry = Object.hasOwn(entries, key) ? entries[key] : undefined;
    if (entry === undefined) {
      unknown.push({ key: prefix + key, message: unknown.length < MOST_HINTS ? unknownKey(key, known) : "unknown" });
      continue;
    }
    try {
      const { output, issues = [] } = v.safeParse(entry, value);
      taken[key] = output;
      for (const issue of issues) wrong.push({ key: prefix + keyOf(key, issue), message: problemText(issue) });
    } catch (error) {
      wrong.push({ key: prefix + key, message: unreadable(error) });
    }
  }
  for (const key of known.required ?? []) {
    if (!Object.hasOwn(taken, key)) wrong.push({ key: prefix + key, message: "required" });
  }
  const problems = unknown.length + wrong.length === 0 ? undefined : [...unknown, ...wrong];
  return problems === undefined ? { ok: true, value: taken as T } : { ok: false, problems };
}

/** A number, also when it comes as a decimal string (models send those); never NaN. */
export function numberLike(): v.GenericSchema<unknown, number> {
  return v.pipe(
    v.union(
      [v.number("expected a number"), v.pipe(v.string(), v.trim(), v.decimal(), v.transform(Number))],
      (issue) => `expected a number but received ${describe(issue.input)}`,
    ),
    v.check((value) => !Number.isNaN(value), "expected a number but received NaN"),
  );
}

/**
 * What is wrong with the `signal` a call brings beside its parameters. To be asked before anything starts: one that
 * cannot be listened to would fail only once a command runs, and nobody would end it.
 */
export function signalProblems(signal: unknown, key = "signal"): readonly Problem[] {
  if (signal === undefined || signal === null) return [];
  const { aborted, addEventListener, removeEventListener } = signal as Partial<AbortSignal>;
  const isSignal = typeof aborted === "boolean" && typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
  return isSignal ? [] : [{ key, message: `expected an AbortSignal but received ${describe(signal)}` }];
}

/**
 * The own keys of an object with their values, each asked for once: what was checked is what is used, and a getter or a
 * proxy that throws is a problem like any other.
 *
 * @param key what the object is called in a problem
 */
export function readOnce(input: unknown, key = ""): Checked<Readonly<Record<string, unknown>>> {
  try {
    if (input === undefined || input === null) return { ok: true, value: {} };
    if (typeof input === "object" && !Array.isArray(input)) return { ok: true, value: { ...input } };
    return { ok: false, problems: [{ key, message: `expected an object but received ${describe(input)}` }] };
  } catch (error) {
    return { ok: false, problems: [{ key, message: unreadable(error) }] };
  }
}

function unreadable(error: unknown): string {
  return `cannot be read: ${error instanceof Error ? error.message : "it throws"}`;
}

function unknownKey(key: string, known: KnownKeys): string {
  const { aliases = {} } = known;
  const folded = key.toLowerCase().replace(/[_-]/g, "");
  const near = (Object.hasOwn(aliases, folded) ? aliases[folded] : undefined) ?? nearest(key, known.keys, 1)[0];
  return near === undefined ? `unknown; known are ${known.keys.join(", ")}` : `unknown; did you mean "${near}"?`;
}

function keyOf(key: string, issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  return path === null ? key : `${key}.${path}`;
}

function problemText(issue: v.BaseIssue<unknown>): string {
  if (issue.kind === "schema" && issue.input === undefined) {
    return `required: expected ${issue.expected ?? "a value"}`;
  }
  return issue.message.replace(/^Invalid (\w+): Expected/, "expected").replace(
    /^expected \((.*?)\)/,
    (_, options: string) => `expected ${options.replaceAll(" | ", ", ").replace(/, ([^,]*)$/, " or $1")}`,
  ).replace(
    / but received (.*)$/,
    (_, received) => ` but received ${received.length > 80 ? describe(issue.input) : received}`,
  );
}

/** A value in a few words, for one who has given the wrong one. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return value.length <= 40 ? JSON.stringify(value) : `a string of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
