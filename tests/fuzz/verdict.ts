/**
 * What is a valid call, written down a second time and simpler, after the reference in README.md. Where the reference
 * leaves it open, or it takes more than a glance, nothing is said.
 *
 * @module
 */

/** Whether a call is to be taken. */
export type Verdict = "valid" | "invalid" | "unclear";

type Rule = (value: unknown) => Verdict;

const says = (valid: boolean): Verdict => valid ? "valid" : "invalid";
const unlessText = (value: unknown, isValid: boolean): Verdict =>
  typeof value === "string" && value.trim() !== "" ? textVerdict(value, isValid) : says(isValid);

/** Numbers come as decimal strings too; how odd these may be is left open. */
function textVerdict(text: string, isValid: boolean): Verdict {
  return /^-?\d+$/.test(text) ? says(isValid) : /\d/.test(text) ? "unclear" : "invalid";
}

const numberOf = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" && /^-?\d+$/.test(value) ? Number(value) : NaN;
const number: Rule = (value) => unlessText(value, !Number.isNaN(numberOf(value)));
const whole = (least: number, most = Infinity): Rule => (value) => {
  const given = numberOf(value);
  return unlessText(value, Number.isInteger(given) && given >= least && given <= most);
};
const within = (least: number, most: number): Rule => (value) => {
  const given = numberOf(value);
  return unlessText(value, given >= least && given <= most);
};
const flag: Rule = (value) => says(typeof value === "boolean");
const text: Rule = (value) => says(typeof value === "string");
const filled: Rule = (value) => says(typeof value === "string" && value !== "");
const oneOf = (...words: readonly string[]): Rule => (value) => says(words.some((word) => word === value));

const pattern: Rule = (value) => {
  if (typeof value !== "string" || value === "" || value.length > 10_000) return "invalid";
  return /^[\w ]+$/.test(value) ? "valid" : ["(", "[", "\\", "(?<n>"].includes(value) ? "invalid" : "unclear";
};

/** A plain object whose values all follow a rule; unknown keys are invalid. */
const record = (rules: Readonly<Record<string, Rule>>, required: readonly string[] = []): Rule => (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "invalid";
  if (Object.getPrototypeOf(value) !== Object.prototype) return "unclear";
  return worst([
    ...required.map((key) => says(Object.hasOwn(value, key))),
    ...Object.entries(value).map(([key, given]) => entryVerdict(rules, key, given)),
  ]);
};

function entryVerdict(rules: Readonly<Record<string, Rule>>, key: string, given: unknown): Verdict {
  if (given === null || given === undefined) return "valid";
  return Object.hasOwn(rules, key) ? judge(() => (rules[key] as Rule)(given)) : "invalid";
}

function worst(verdicts: readonly Verdict[]): Verdict {
  return verdicts.includes("invalid") ? "invalid" : verdicts.includes("unclear") ? "unclear" : "valid";
}

const env: Rule = (value) => {
  if (typeof value !== "object" || value === null) return "invalid";
  if (Array.isArray(value)) return value.length === 0 ? "valid" : typeof value[0] === "object" ? "unclear" : "invalid";
  if (Object.getPrototypeOf(value) !== Object.prototype) return "unclear";
  return worst(
    Object.entries(value).map(([name, given]) => {
      if (typeof given !== "string" || name.includes("=") || name === "" || name === "PATH") return "invalid";
      return /^[A-Z]$/.test(name) ? "valid" : "unclear";
    }),
  );
};

const EXEC: Readonly<Record<string, Rule>> = {
  command: (value) =>
    typeof value !== "string" || value.trim() === "" || value.length > 2 ** 20
      ? "invalid"
      : value.includes("\0")
      ? "unclear"
      : "valid",
  workdir: (value) => says(typeof value === "string" && !value.includes("\0") && value.length < 2 ** 15),
  env,
  yieldMs: number,
  background: flag,
  timeout: number,
  timeoutSeconds: number,
  pty: flag,
  cols: whole(1, 1_000),
  rows: whole(1, 1_000),
  stdin: oneOf("open", "closed"),
  mergeStreams: flag,
  limits: record({
    memoryBytes: whole(16_777_216, Number.MAX_SAFE_INTEGER),
    cpuSeconds: whole(1, Number.MAX_SAFE_INTEGER),
    processes: whole(1, Number.MAX_SAFE_INTEGER),
    openFiles: whole(16, Number.MAX_SAFE_INTEGER),
    outputBytes: whole(1, Number.MAX_SAFE_INTEGER),
  }),
  notifyOnExit: flag,
  notifyOn: record({ pattern, once: flag, cooldownMs: within(0, Infinity), max: whole(1) }, ["pattern"]),
  elevated: flag,
  host: oneOf("auto", "gateway", "node"),
  node: oneOf("builder"),
};

/** What nobody can read is not valid. */
function judge(verdict: () => Verdict): Verdict {
  try {
    return verdict();
  } catch {
    return "invalid";
  }
}

/** The verdict on a call of `exec` where there is one node, `builder`, no sandbox, and whoever asks may be elevated. */
export function execVerdict(input: unknown): Verdict {
  const { notifyOn, timeout, timeoutSeconds, elevated, host, node } = readable(input);
  const { once, max, cooldownMs } = readable(notifyOn);
  const isRouted = (node ?? undefined) === undefined || host === "node";
  const twice = [timeout, timeoutSeconds].every((value) => value !== undefined && value !== null);
  return worst([
    judge(() => record(EXEC, ["command"])(input)),
    says((readable(input)["command"] ?? null) !== null),
    twice ? numberOf(timeout) === numberOf(timeoutSeconds) ? "valid" : "unclear" : "valid",
    elevated === true && (node ?? host ?? null) !== null ? "unclear" : says(isRouted),
    once === true && (max ?? cooldownMs ?? null) !== null ? "invalid" : "valid",
  ]);
}

const until: Rule = (value) => {
  if (typeof value !== "string") return typeof value === "object" ? record({ pattern }, ["pattern"])(value) : "invalid";
  return ["exit", "input", "idle:1", "idle:500", "port:80"].includes(value)
    ? "valid"
    : value === ""
    ? "invalid"
    : "unclear";
};

/** Keys that a terminal and pipes take alike; which others there are is for the tests of keys. */
const keys: Rule = (value) => {
  const given = typeof value === "string" ? [value] : value;
  if (!Array.isArray(given) || Array.from(given).some((key) => typeof key !== "string")) return "invalid"; // holes too
  return given.every((key) => key === "C-c" || key === "C-z") ? "valid" : "unclear";
};

const PROCESS: Readonly<Record<string, Rule>> = {
  action: filled,
  sessionId: (value) => says(typeof value === "string" && value.trim() !== ""),
  timeout: number,
  until,
  offset: whole(-Infinity),
  limit: whole(0),
  stream: oneOf("stdout", "stderr"),
  grep: pattern,
  raw: flag,
  bytes: flag,
  since: whole(0),
  scrollback: whole(0),
  data: text,
  base64: (value) => typeof value !== "string" ? "invalid" : ["aGk=", "aGkK"].includes(value) ? "valid" : "unclear",
  eof: flag,
  keys,
  literal: text,
  hex: (value) => typeof value === "string" || Array.isArray(value) ? "unclear" : "invalid",
  delayMs: within(0, 5_000),
  text: filled,
  bracketed: flag,
  sensitive: flag,
  cols: whole(1, 1_000),
  rows: whole(1, 1_000),
  signal: (value) => ["SIGKILL", "SIGINT", "term", "9", 9].some((name) => name === value) ? "valid" : "unclear",
  wait: within(0, Infinity),
};

/** What each action takes; with `!` what it must be given. */
const ACTIONS: Readonly<Record<string, string>> = {
  "list": "",
  "poll": "sessionId! timeout until since",
  "log": "sessionId! offset limit stream grep raw bytes since",
  "screen": "sessionId! timeout until since scrollback",
  "write": "sessionId! data base64 eof sensitive",
  "send-keys": "sessionId! keys literal hex delayMs sensitive",
  "submit": "sessionId!",
  "paste": "sessionId! text! bracketed sensitive",
  "resize": "sessionId! cols! rows!",
  "kill": "sessionId! signal wait",
  "clear": "sessionId!",
  "remove": "sessionId!",
};

/** The verdict on a call of `process`; what the session makes of it is another matter. */
export function processVerdict(input: unknown): Verdict {
  const given = readable(input);
  const { action } = given;
  if (typeof action !== "string" || !Object.hasOwn(ACTIONS, action)) return "invalid";
  const words = (ACTIONS[action] as string).split(" ");
  const names = words.map((word) => word.replace("!", ""));
  const isGiven = (key: string): boolean => (given[key] ?? undefined) !== undefined;
  const isText = ["data", "base64", "keys", "literal", "hex"].some(isGiven);
  return worst([
    judge(() => record(PROCESS)(input)),
    ...Object.keys(given).filter(isGiven).map((key) => says(key === "action" || names.includes(key))),
    ...words.filter((word) => word.endsWith("!")).map((word) => says(isGiven(word.slice(0, -1)))),
    action === "log" || action === "screen" && isGiven("until") ? "unclear" : "valid",
    action === "write" ? says((isText || isGiven("eof")) && !(isGiven("data") && isGiven("base64"))) : "valid",
    action !== "send-keys"
      ? "valid"
      : !isText
      ? "invalid"
      : isGiven("keys") && !isGiven("literal")
      ? "valid"
      : "unclear",
  ]);
}

function readable(input: unknown): Readonly<Record<string, unknown>> {
  try {
    return typeof input === "object" && input !== null && !Array.isArray(input) ? { ...input } : {};
  } catch {
    return {};
  }
}
