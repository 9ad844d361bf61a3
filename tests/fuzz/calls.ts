/**
 * Calls of the two tools that were valid before somebody changed them.
 *
 * @module
 */
import fc from "fast-check";

/** A call and what is done to it. Plain data, so that it can be printed and tried again. */
export interface Call {
  readonly call: Readonly<Record<string, unknown>>;
  readonly changes: readonly Change[];
}

/** One change. A `value` may be the name of a {@linkcode HOSTILE} one. */
export type Change =
  | { readonly set: string; readonly value: unknown }
  | { readonly rename: string; readonly to: string }
  | { readonly drop: string }
  | { readonly whole: unknown };

/** Values that no JSON holds; made anew for each call. */
export const HOSTILE: Readonly<Record<string, () => unknown>> = {
  "a throwing getter": () => Object.defineProperty({}, "a", { enumerable: true, get: fails }),
  "a getter": () => Object.defineProperty({}, "memoryBytes", { enumerable: true, get: () => 2 ** 30 }),
  "a revoked proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  "a throwing proxy": () => new Proxy({}, { get: fails, ownKeys: fails, has: fails, getOwnPropertyDescriptor: fails }),
  "a silent proxy": () => new Proxy({}, { get: () => undefined, ownKeys: () => ["command", "action"] }),
  "a symbol": () => Symbol("s"),
  "a bigint": () => 10n,
  "a function": () => () => "x",
  "a date": () => new Date(0),
  "a map": () => new Map([["command", "true"]]),
  "bytes": () => new Uint8Array(8),
  "a hole": () => new Array(3),
  "no prototype": () => Object.assign(Object.create(null), { name: "A", value: "1" }),
  "a cycle": () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    return cycle;
  },
  "a throwing toString": () => ({ toString: fails, toJSON: fails }),
  "a boxed string": () => Object("exit"),
  "deep": () => JSON.parse("[".repeat(5_000) + "]".repeat(5_000)),
  "long": () => "x".repeat(200_000),
  "long base64": () => "aGkK".repeat(300_000),
  "many keys": () => Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index])),
  "many": () => Array.from({ length: 20_000 }, () => "Entr"),
  "many pairs": () => Array.from({ length: 5_000 }, (_, index) => ({ name: `LD_${index}`, value: "x" })),
};

function fails(): never {
  throw new Error("nobody may read this");
}

/** Ids of the sessions that stand ready. */
export const PIPE = "<pipe>";
export const TERMINAL = "<terminal>";

const EXEC_KEYS = [
  ..."command workdir env yieldMs background timeout timeoutSeconds pty cols rows stdin mergeStreams limits".split(" "),
  ..."notifyOnExit notifyOn elevated host node".split(" "),
];
const PROCESS_KEYS = [
  ..."action sessionId timeout until offset limit stream grep raw bytes since scrollback data base64 eof keys".split(
    " ",
  ),
  ..."literal hex delayMs text bracketed sensitive cols rows signal wait".split(" "),
];
const ODD_KEYS = [
  ..."__proto__ constructor toString hasOwnProperty prototype valueOf cmd cwd yield_ms YIELDMS session_id id key".split(
    " ",
  ),
  ...["", " ", "\0", "\ud800", "a.b", "env.PATH", "x".repeat(70), "0", "length", "then", "toJSON", "💥"],
];

const ODD_VALUES: readonly unknown[] = [
  null,
  undefined,
  true,
  false,
  "true",
  "false",
  0,
  -0,
  1,
  -1,
  0.5,
  2,
  80,
  1_000,
  1_001,
  5_000.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 53),
  1e300,
  Infinity,
  -Infinity,
  NaN,
  "",
  " ",
  "0",
  "1",
  "80",
  " 12 ",
  "1e3",
  "0x10",
  "-5",
  "1.5",
  "NaN",
  "Infinity",
  "١٢",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff x",
  "__proto__",
  "constructor",
  "exit",
  "input",
  "stable",
  "stable:x",
  "idle:1",
  "idle:",
  "idle:99999999999",
  "port:80",
  "port:0",
  "port:65536",
  "(",
  "[",
  "(?i)x",
  "(?<n>",
  "\\",
  "SIGKILL",
  "term",
  "9",
  9,
  "SIGNOPE",
  "auto",
  "sandbox",
  "gateway",
  "node",
  "builder",
  "open",
  "closed",
  "stdout",
  "stderr",
  "list",
  "aGk=",
  "aGk",
  "====",
  "1b 5b",
  "1b5",
  "zz",
  "Enter",
  "C-c",
  "Entr",
  [],
  {},
  [""],
  [null],
  ["Enter"],
  ["C-c"],
  [[]],
  ["A=1"],
  [{ name: "A", value: "1" }],
  [{ name: "A", value: 1 }],
  { A: "1" },
  { A: 1 },
  { "A=B": "1" },
  { "": "1" },
  { PATH: "/" },
  { ld_preload: "x" },
  { pattern: "x" },
  { pattern: "(" },
  { pattern: "x", once: true, max: 1 },
  { memoryBytes: 2 ** 30 },
  { memoryBytes: 1 },
  { memoryBytes: "33554432" },
  { cpuSeconds: -1 },
  { nope: 1 },
  JSON.parse('{"__proto__": "x"}'),
  JSON.parse('{"__proto__": {"command": "true"}}'),
  { length: 2 ** 32 },
  { a: { b: { c: { d: [] } } } },
  { toString: "x" },
  { then: "x" },
]; // deno-fmt-ignore

const VALID_EXECS: readonly Readonly<Record<string, unknown>>[] = [
  { command: "make" },
  { command: "make", workdir: "/project", env: { A: "1" }, yieldMs: 100 },
  { command: "make", background: true, pty: true, cols: 80, rows: 24 },
  { command: "make", timeout: 5, stdin: "open", mergeStreams: true },
  { command: "make", limits: { memoryBytes: 2 ** 30, openFiles: 64 }, notifyOnExit: false },
  { command: "make", notifyOn: { pattern: "done", max: 2 }, host: "gateway" },
  { command: "make", host: "node", node: "builder", timeoutSeconds: "7" },
  { command: "make", elevated: true, yieldMs: 0 },
];

const VALID_PROCESSES: readonly Readonly<Record<string, unknown>>[] = [
  { action: "list" },
  { action: "poll", sessionId: PIPE },
  { action: "poll", sessionId: TERMINAL, timeout: 1_000, until: "idle:500" },
  { action: "poll", sessionId: PIPE, since: 0 },
  { action: "log", sessionId: PIPE, offset: 0, limit: 10, grep: "x", stream: "stdout" },
  { action: "log", sessionId: PIPE, bytes: true, since: 0 },
  { action: "screen", sessionId: TERMINAL, scrollback: 5 },
  { action: "write", sessionId: PIPE, data: "hello\n", sensitive: true },
  { action: "write", sessionId: TERMINAL, base64: "aGkK", eof: true },
  { action: "send-keys", sessionId: TERMINAL, literal: "hi", hex: "1b 5b", keys: ["Enter", "C-c"], delayMs: 1 },
  { action: "send-keys", sessionId: PIPE, keys: ["C-z"] },
  { action: "submit", sessionId: PIPE },
  { action: "paste", sessionId: TERMINAL, text: "some text", bracketed: true },
  { action: "resize", sessionId: TERMINAL, cols: 80, rows: "24" },
  { action: "kill", sessionId: PIPE, signal: "SIGINT", wait: 100 },
  { action: "clear", sessionId: TERMINAL },
  { action: "remove", sessionId: PIPE },
];

const jsonValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...ODD_VALUES) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: jsonValue },
  { weight: 1, arbitrary: fc.constantFrom(...Object.keys(HOSTILE)).map((hostile) => ({ hostile })) },
);

function changesOf(keys: readonly string[], value: fc.Arbitrary<unknown>): fc.Arbitrary<readonly Change[]> {
  const key = fc.oneof(
    { weight: 10, arbitrary: fc.constantFrom(...keys) },
    { weight: 2, arbitrary: fc.constantFrom(...ODD_KEYS) },
  );
  return fc.array(
    fc.oneof(
      { weight: 12, arbitrary: fc.record({ set: key, value }, { noNullPrototype: true }) },
      { weight: 2, arbitrary: fc.record({ rename: key, to: key }, { noNullPrototype: true }) },
      { weight: 1, arbitrary: fc.record({ drop: key }, { noNullPrototype: true }) },
      { weight: 1, arbitrary: fc.record({ whole: value }, { noNullPrototype: true }) },
    ),
    { maxLength: 3, size: "max" },
  );
}

function callsOf(
  valid: readonly Readonly<Record<string, unknown>>[],
  keys: readonly string[],
  value: fc.Arbitrary<unknown>,
): fc.Arbitrary<Call> {
  return fc.record({ call: fc.constantFrom(...valid), changes: changesOf(keys, value) }, { noNullPrototype: true });
}

/** Calls of `exec` as a program may make them. */
export const execCalls: fc.Arbitrary<Call> = callsOf(VALID_EXECS, EXEC_KEYS, anyValue);

/** Calls of `process` as a program may make them. */
export const processCalls: fc.Arbitrary<Call> = callsOf(VALID_PROCESSES, PROCESS_KEYS, anyValue);

/** Calls of `exec` that JSON can hold. */
export const jsonExecCalls: fc.Arbitrary<Call> = callsOf(VALID_EXECS, EXEC_KEYS, jsonValue);

/** Calls of `process` that JSON can hold. */
export const jsonProcessCalls: fc.Arbitrary<Call> = callsOf(VALID_PROCESSES, PROCESS_KEYS, jsonValue);

/** The input that a call describes. */
export function inputOf({ call, changes }: Call, ids: Readonly<Record<string, string>>): unknown {
  let input: unknown = { ...call };
  for (const change of changes) {
    if ("whole" in change) input = made(change.whole);
    else if (typeof input === "object" && input !== null) input = changed(input as Record<string, unknown>, change);
  }
  if (typeof input === "object" && input !== null && isReadable(input, "sessionId")) {
    const given = input as Record<string, unknown>;
    const id = given["sessionId"];
    if (typeof id === "string" && Object.hasOwn(ids, id)) return { ...given, sessionId: ids[id] };
  }
  return input;
}

function changed(input: Record<string, unknown>, change: Exclude<Change, { readonly whole: unknown }>): unknown {
  try {
    const entries = new Map(Object.entries(input));
    if ("set" in change) entries.set(change.set, made(change.value));
    else if ("drop" in change) entries.delete(change.drop);
    else if (entries.has(change.rename)) {
      entries.set(change.to, entries.get(change.rename));
      entries.delete(change.rename);
    }
    return Object.fromEntries(entries); // own keys, `__proto__` too
  } catch {
    return input;
  }
}

function made(value: unknown): unknown {
  const { hostile } = (value ?? {}) as { readonly hostile?: unknown };
  return typeof hostile === "string" ? HOSTILE[hostile]?.() : value;
}

function isReadable(input: object, key: string): boolean {
  try {
    return Object.hasOwn(input, key) && (input as Record<string, unknown>)[key] !== undefined;
  } catch {
    return false;
  }
}

/** A call as JSON and what is done to its text. */
export interface JsonCall extends Call {
  readonly damage: readonly Damage[];
}

/** `at` is a share of the text, 0 to 1. */
export type Damage =
  | { readonly at: number; readonly insert: string }
  | { readonly at: number; readonly byte: number }
  | { readonly at: number; readonly cut: true };

const TORN = [
  ..."{ } [ ] \" , : \\ null true 1e999 -0 -1e999 1e-400 // /**/ NaN Infinity undefined '".split(" "),
  ...["\0", "\ufeff", "\\u0000", "\\ud800", "\\udc00\\ud800", "\\u", "\n", "\u2028", "💥"],
  ...[
    '"command":"false",',
    '"action":"kill",',
    '"__proto__":{"command":"x"},',
    '"constructor":1,',
    '{"command":"true"}',
  ],
  "[".repeat(20_000),
  '{"a":'.repeat(20_000),
  "9".repeat(10_000),
];

const damage: fc.Arbitrary<Damage> = fc.tuple(
  fc.constantFrom(0, 0.1, 0.25, 0.5, 0.75, 0.9, 1),
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...TORN).map((insert) => ({ insert })) },
    { weight: 2, arbitrary: fc.constantFrom(0, 0x80, 0xc0, 0xed, 0xf5, 0xff).map((byte) => ({ byte })) },
    { weight: 2, arbitrary: fc.constant({ cut: true as const }) },
  ),
).map(([at, what]) => ({ at, ...what }));

/** Every second one is damaged. */
export function damaged(calls: fc.Arbitrary<Call>): fc.Arbitrary<JsonCall> {
  const some = fc.array(damage, { minLength: 1, maxLength: 2 });
  return fc.tuple(calls, fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some }))
    .map(([call, damage]) => ({ ...call, damage }));
}

/** The bytes of a call as it is sent. */
export function bytesOf(input: unknown, damage: readonly Damage[]): Uint8Array<ArrayBuffer> {
  let bytes = [...new TextEncoder().encode(JSON.stringify(input) ?? "")];
  for (const one of damage) {
    const at = Math.floor(one.at * bytes.length);
    if ("cut" in one) bytes = bytes.slice(0, at);
    else bytes.splice(at, 0, ...("byte" in one ? [one.byte] : new TextEncoder().encode(one.insert)));
  }
  return Uint8Array.from(bytes);
}

/** What JSON says; `undefined` if it is none. */
export function parsed(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes)) };
  } catch {
    return undefined;
  }
}

const CONFIG_KEYS = [
  ..."backgroundMs timeoutSeconds timeoutSec cleanupMs maxOutputChars pendingMaxOutputChars inputWaitIdleMs".split(" "),
  ..."maxResultChars maxSessions killGraceMs idleEndMs maxFinished maxFinishedChars notifyOnExit foldRepeats".split(
    " ",
  ),
  ..."plainTerminal orphanGuard sandboxRequired shell inheritEnv host limits".split(" "),
  ..."sandbox nodes elevated authorize onEvent requestHeartbeat endOnSignals".split(" "),
];

/** What is done to an empty configuration. */
export const configChanges: fc.Arbitrary<readonly Change[]> = changesOf(CONFIG_KEYS, anyValue);
