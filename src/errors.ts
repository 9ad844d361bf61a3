/**
 * The one error class of the package and the closed list of its codes.
 *
 * @module
 */

/**
 * Why something failed, for machines.
 *
 * - `invalid` – parameters or configuration are wrong; see {@linkcode OffstageError.problems}
 * - `unknown-session` – no session of that id in the caller's scope (nothing throws it so far: `process` answers it)
 * - `spawn-failed` – the command could not be started; nothing runs
 * - `refused` – `authorize`, `maxSessions`, a suspend lease or the runtime's permissions said no
 * - `stdin-closed` – the child no longer reads its stdin, or it was never open
 * - `unreachable` – the nodes cannot be asked at present
 * - `unsupported` – this host or runtime cannot do that
 * - `closed` – the Offstage instance has been closed
 */
export type ErrorCode =
  | "invalid"
  | "unknown-session"
  | "spawn-failed"
  | "refused"
  | "stdin-closed"
  | "unreachable"
  | "unsupported"
  | "closed";

/** One thing that is wrong with the input: which key, and what to do about it. */
export interface Problem {
  /** Dotted path of the offending key, e.g. `timeout` or `env.PATH`. */
  readonly key: string;
  /** What is wrong and what is expected instead. */
  readonly message: string;
}

/** All problems in one line, for an error's message. */
export function listProblems(problems: readonly Problem[]): string {
  return problems.map(({ key, message }) => (key === "" ? message : `${key}: ${message}`)).join("; ");
}

/** Problems that an answer lists: whoever has more learns nothing from the rest, and a model has to read them. */
const MOST_PROBLEMS = 40;

/** Longest key and message of a problem, UTF-16 units: what was given may be repeated in them, and may be megabytes. */
const LONGEST_KEY = 100;
const LONGEST_MESSAGE = 600;

/** As many problems as an answer has room for; the last one says how many more there are. */
export function fewProblems(problems: readonly Problem[]): readonly Problem[] {
  const shown = problems.slice(0, MOST_PROBLEMS).map(({ key, message }) => ({
    key: clipped(key, LONGEST_KEY),
    message: clipped(message, LONGEST_MESSAGE),
  }));
  const more = problems.length - shown.length;
  return more === 0 ? shown : [...shown, { key: "", message: `${more} more problems` }];
}

/** The beginning of a text that may be long. */
export function clipped(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** What somebody else's code has thrown, in words, whatever it was: an object may throw when it is asked for them. */
export function messageOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "it cannot be told";
  }
}

/**
 * Every error this package throws, but for {@linkcode AbortError}.
 *
 * Users meet it from `createOffstage` and `agent`; the two tools answer failures instead of throwing them. Spawners throw
 * it from `spawn` (`spawn-failed`, `refused`, `unsupported`) and `write` (`stdin-closed`).
 *
 * @example Tell a spawn failure from a refusal
 * ```ts
 * import { OffstageError } from "offstage";
 *
 * function explain(error: unknown): string {
 *   if (error instanceof OffstageError && error.code === "spawn-failed") return "nothing was started";
 *   return String(error);
 * }
 * ```
 */
export class OffstageError extends Error {
  /** Always `OffstageError`. */
  override readonly name: string = "OffstageError";
  /** Why it failed, for machines. */
  readonly code: ErrorCode;
  /** Every problem of the input, when `code` is `invalid`; otherwise empty. */
  readonly problems: readonly Problem[];

  /**
   * Makes an error; users only catch them.
   *
   * @param code why it failed
   * @param message what happened and what to do next
   * @param options the underlying `cause`, and the list of `problems`
   */
  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly problems?: readonly Problem[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.problems = options.problems ?? [];
  }
}

/** The rejection of a call whose `AbortSignal` fired. `name` is `AbortError`, `cause` the signal's reason. */
export class AbortError extends Error {
  /** Always `AbortError`. */
  override readonly name: string = "AbortError";
  /** Output the command had printed by then, rendered; empty if the call was only waiting. */
  readonly output: string;

  /**
   * Makes an error; users only catch them.
   *
   * @param message what was aborted
   * @param cause the `reason` of the signal
   * @param output what the command had printed by then
   */
  constructor(message: string, cause: unknown, output = "") {
    super(message, { cause });
    this.output = output;
  }
}
