/**
 * What `process` takes: one flat object, of which each action uses its own keys.
 *
 * @module
 */
import * as v from "valibot";
import type { Problem } from "../errors.ts";
import { nearest } from "../nearest.ts";
import type { SignalName } from "../runtime.ts";
import { check, type Checked, numberLike, readOnce } from "../validate.ts";
import { isPattern, patternTrouble } from "../pattern.ts";
import { sendableSignal } from "./signals.ts";
import { CONDITION_FORMS, conditionTrouble, isCondition, stableMs, type Until } from "./until.ts";

/** Parameters of `process`, as a caller may write them. Numbers may come as strings. */
export interface ProcessParams {
  /** What to do. */
  readonly action: ProcessAction;
  /** Which session; every action but `list` needs it. */
  readonly sessionId?: string;
  /** `poll`, `screen`: longest wait, ms, clamped to 0…30000. Default 0; with `until` 10000. */
  readonly timeout?: number;
  /**
   * What ends the wait. `poll`: instead of any output, a regular expression (in an object if it reads like one of the
   * words), `exit`, `idle:<ms>`, `input` or `port:<n>`. `screen`: the same, the expression on the text of the screen, or
   * `stable`: nothing on it has changed for 500 ms, or `stable:<ms>`.
   */
  readonly until?: Until;
  /** `log`: first line, 0-based; negative counts from the end. */
  readonly offset?: number;
  /** `log`: how many lines; alone, the last ones. With neither `offset` nor `limit`: the last 200. */
  readonly limit?: number;
  /** `log`: only this stream. */
  readonly stream?: "stdout" | "stderr";
  /** `log`: only lines that match this regular expression. */
  readonly grep?: string;
  /** `log`: the lines as they came, nothing removed or folded. */
  readonly raw?: boolean;
  /** `log`: the output's bytes, base64, from `since` on instead of lines. */
  readonly bytes?: boolean;
  /**
   * `poll`: read again from this byte offset; the shared place is not moved. `screen`: only rows that have changed since
   * this revision, and with `timeout` wait until one has. `log` with `bytes`: from this byte offset on.
   */
  readonly since?: number;
  /** `screen`: also so many of the lines that have scrolled off the top, at most 1000. @default {0} */
  readonly scrollback?: number;
  /** `write`: text. */
  readonly data?: string;
  /** `write`: bytes, base64. */
  readonly base64?: string;
  /** `write`: close stdin afterwards (on a terminal: type ^D). */
  readonly eof?: boolean;
  /** `send-keys`: names of keys, see `KEY_NAMES`, with `C-`, `M-` or `S-` in front; a single character stands for itself. */
  readonly keys?: readonly string[];
  /** `send-keys`: text typed before the keys. */
  readonly literal?: string;
  /** `send-keys`: bytes in hex, typed between literal and keys. */
  readonly hex?: string | readonly string[];
  /** `send-keys`: pause between two keys, ms, 0…5000; all pauses of a call together at most 30 s. */
  readonly delayMs?: number;
  /** `paste`: the text. */
  readonly text?: string;
  /** `paste`: whether to mark it as a paste; default as the program asked. */
  readonly bracketed?: boolean;
  /** `write`, `send-keys`, `paste`: it is a secret, its echo is kept out of logs and events. */
  readonly sensitive?: boolean;
  /** `resize`: columns, 1…1000. */
  readonly cols?: number;
  /** `resize`: rows, 1…1000. */
  readonly rows?: number;
  /** `kill`: send only this signal instead of ending the tree; a number such as 9 is fine too. */
  readonly signal?: SignalName;
  /** `kill`: wait up to that long for the confirmed end, ms, at most 30000. @default {0} */
  readonly wait?: number;
}

/** The actions of `process`. */
export type ProcessAction =
  | "list"
  | "poll"
  | "log"
  | "screen"
  | "write"
  | "send-keys"
  | "submit"
  | "paste"
  | "resize"
  | "kill"
  | "clear"
  | "remove";

/** Parameters with a session. */
export type SessionParams = ProcessParams & { readonly sessionId: string };

/** The keys each action takes beside `action`; those in `required` must be there. */
const ACTIONS: Readonly<
  Record<ProcessAction, { readonly required: readonly string[]; readonly optional: readonly string[] }>
> = {
  "list": { required: [], optional: [] },
  "poll": { required: ["sessionId"], optional: ["timeout", "until", "since"] },
  "log": { required: ["sessionId"], optional: ["offset", "limit", "stream", "grep", "raw", "bytes", "since"] },
  "screen": { required: ["sessionId"], optional: ["timeout", "until", "since", "scrollback"] },
  "write": { required: ["sessionId"], optional: ["data", "base64", "eof", "sensitive"] },
  "send-keys": { required: ["sessionId"], optional: ["keys", "literal", "hex", "delayMs", "sensitive"] },
  "submit": { required: ["sessionId"], optional: [] },
  "paste": { required: ["sessionId", "text"], optional: ["bracketed", "sensitive"] },
  "resize": { required: ["sessionId", "cols", "rows"], optional: [] },
  "kill": { required: ["sessionId"], optional: ["signal", "wait"] },
  "clear": { required: ["sessionId"], optional: [] },
  "remove": { required: ["sessionId"], optional: [] },
};

/** The names of all actions. */
export const PROCESS_ACTIONS: readonly ProcessAction[] = Object.keys(ACTIONS) as ProcessAction[];

const whole = v.pipe(numberLike(), v.integer("expected a whole number"));
const fromZero = v.pipe(whole, v.minValue(0, "expected 0 or more"));
const pattern = v.pipe(
  v.string(),
  v.nonEmpty("is empty"),
  v.check(isPattern, (issue) => patternTrouble(issue.input) ?? ""),
);
const cells = v.pipe(whole, v.minValue(1, "expected 1 to 1000"), v.maxValue(1000, "expected 1 to 1000"));

const entries = {
  action: v.picklist(PROCESS_ACTIONS),
  sessionId: v.optional(v.pipe(v.string(), v.trim(), v.nonEmpty("is empty: give the id that exec answered"))),
  timeout: v.optional(numberLike()),
  until: v.optional(
    v.union([
      v.pipe(v.string(), v.nonEmpty("is empty"), v.check(isCondition, (issue) => conditionTrouble(issue.input) ?? "")),
      v.strictObject({ pattern }),
    ], `${CONDITION_FORMS}, or { pattern }`),
  ),
  offset: v.optional(whole),
  limit: v.optional(fromZero),
  stream: v.optional(v.picklist(["stdout", "stderr"])),
  grep: v.optional(pattern),
  raw: v.optional(v.boolean()),
  bytes: v.optional(v.boolean()),
  since: v.optional(fromZero),
  scrollback: v.optional(fromZero),
  data: v.optional(v.string()),
  base64: v.optional(v.pipe(v.string(), v.base64("expected base64"))),
  eof: v.optional(v.boolean()),
  keys: v.optional(
    v.union(
      [v.array(v.string()), v.pipe(v.string(), v.transform((key) => [key]))],
      'expected a list of keys, such as ["Up", "Enter"]',
    ),
  ),
  literal: v.optional(v.string()),
  hex: v.optional(v.union([v.string(), v.array(v.string())], 'expected bytes in hex, such as "1b 5b 41"')),
  delayMs: v.optional(
    v.pipe(numberLike(), v.minValue(0, "expected 0 to 5000"), v.maxValue(5000, "expected 0 to 5000")),
  ),
  text: v.optional(v.pipe(v.string(), v.nonEmpty("is empty: give the text to paste"))),
  bracketed: v.optional(v.boolean()),
  sensitive: v.optional(v.boolean()),
  cols: v.optional(cells),
  rows: v.optional(cells),
  signal: v.optional(sendableSignal),
  wait: v.optional(v.pipe(numberLike(), v.minValue(0, "expected 0 to 30000"))),
};

/** The schema of {@linkcode ProcessParams}, all actions in one. */
export const processSchema: v.GenericSchema<unknown, ProcessParams> = v.object(entries) as v.GenericSchema<
  unknown,
  ProcessParams
>;

const KNOWN = {
  keys: Object.keys(entries),
  required: ["action"],
  aliases: {
    id: "sessionId",
    session: "sessionId",
    sessionid: "sessionId",
    timeoutms: "timeout",
    waitms: "wait",
    key: "keys",
    input: "data",
    from: "offset",
    lines: "limit",
    pattern: "grep",
    filter: "grep",
    columns: "cols",
    revision: "since",
    history: "scrollback",
  },
};

/**
 * Checks the parameters of a call; every problem is in the answer, and none was acted upon.
 *
 * @param actions those that the caller may use
 */
export function checkProcess(
  input: unknown,
  actions: readonly ProcessAction[] = PROCESS_ACTIONS,
): Checked<ProcessParams> {
  const read = readOnce(input);
  const given = read.ok ? read.value : {};
  const checked = read.ok ? check<ProcessParams>(entries, given, KNOWN) : read;
  const action = PROCESS_ACTIONS.find((known) => known === given["action"]);
  if (action === undefined || !actions.includes(action)) return withActionProblem(checked, given["action"], actions);
  const places = misplaced(action, given);
  const isTold = ({ key }: Problem): boolean => places.some((problem) => problem.key === key);
  const problems = [...(checked.ok ? [] : checked.problems.filter((problem) => !isTold(problem))), ...places];
  return checked.ok && problems.length === 0 ? checked : { ok: false, problems };
}

function withActionProblem(
  checked: Checked<unknown>,
  action: unknown,
  actions: readonly ProcessAction[],
): Checked<ProcessParams> {
  const others = checked.ok ? [] : checked.problems.filter((problem) => problem.key !== "action");
  return {
    ok: false,
    problems: [
      { key: "action", message: `${actionTrouble(action, actions)}; known are ${actions.join(", ")}` },
      ...others,
    ],
  };
}

function actionTrouble(action: unknown, actions: readonly ProcessAction[]): string {
  if (action === undefined || action === null) return "required";
  if (PROCESS_ACTIONS.some((known) => known === action)) return `"${action}" is left to the tool process`;
  const near = typeof action === "string" ? nearest(action, actions, 1)[0] : undefined;
  return near === undefined ? "unknown" : `unknown; did you mean "${near}"?`;
}

/** Known keys that this action has no use for, and those it misses. */
function misplaced(action: ProcessAction, input: Readonly<Record<string, unknown>>): readonly Problem[] {
  const { required, optional } = ACTIONS[action];
  const given = Object.keys(input).filter((key) => input[key] !== null && input[key] !== undefined);
  const useless = given.filter((key) => KNOWN.keys.includes(key) && key !== "action")
    .filter((key) => !required.includes(key) && !optional.includes(key));
  const users = (key: string): string =>
    PROCESS_ACTIONS.filter((other) => [...ACTIONS[other].required, ...ACTIONS[other].optional].includes(key)).join(
      ", ",
    );
  return [
    ...required.filter((key) => !given.includes(key)).map((key) => ({
      key,
      message: `required by action "${action}"`,
    })),
    ...useless.map((key) => ({ key, message: `not used by action "${action}", only by ${users(key)}` })),
    ...(action === "log" ? byteProblems(input, given) : []),
    ...(action === "screen" && isUnreadableStable(input["until"])
      ? [{ key: "until", message: 'expected "stable" or "stable:<ms>"' }]
      : []),
    ...(action === "write" && !["data", "base64", "eof"].some((key) => given.includes(key))
      ? [{ key: "data", message: 'required by action "write" (or base64, or eof: true)' }]
      : []),
    ...(action === "write" && given.includes("data") && given.includes("base64")
      ? [{ key: "base64", message: "give either data or base64" }]
      : []),
    ...(action === "send-keys" && !["keys", "literal", "hex"].some((key) => given.includes(key))
      ? [{ key: "keys", message: 'required by action "send-keys" (or literal, or hex)' }]
      : []),
  ];
}

/** Bytes have no lines. */
function byteProblems(input: Readonly<Record<string, unknown>>, given: readonly string[]): readonly Problem[] {
  if (input["bytes"] !== true) {
    return given.includes("since")
      ? [{ key: "since", message: "only used with bytes: true; lines begin at offset" }]
      : [];
  }
  return ["offset", "limit", "grep", "raw"].filter((key) => given.includes(key))
    .map((key) => ({ key, message: "not used with bytes: true; since says where to begin" }));
}

/** As a regular expression it would be fine, but that is not what is meant. */
function isUnreadableStable(until: unknown): boolean {
  return typeof until === "string" && until.startsWith("stable:") && stableMs(until) === undefined;
}
