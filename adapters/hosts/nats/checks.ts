/**
 * What comes from the wire is checked here before anybody believes it.
 *
 * @module
 */
import * as v from "valibot";
import type { Exit, SignalName } from "../../../mod.ts";
import {
  type Ack,
  type Beat,
  type Control,
  type HelloAnswer,
  isNodeId,
  type LookAnswer,
  type LookQuestion,
  type NodeState,
  type PlaceAnswer,
  type PlaceQuestion,
  type Progress,
  type SpawnAnswer,
  type SpawnRequest,
} from "./protocol.ts";

/** A check of a message in JSON. */
export type Check<T> = v.GenericSchema<unknown, T>;

const word = v.pipe(v.string(), v.maxLength(1_024));
const key = v.pipe(v.string(), v.regex(/^[A-Za-z0-9]{8,64}$/));
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const cells = v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000));
const signalName = v.custom<SignalName>((name) => typeof name === "string" && /^SIG[A-Z0-9]{1,12}$/.test(name));

/** Takes any message in JSON. */
export const anything: Check<unknown> = v.unknown();

/** Checks a {@linkcode NodeState}. */
export const nodeState: Check<NodeState> = v.object({
  id: v.pipe(v.string(), v.check(isNodeId)),
  instance: key,
  since: v.pipe(v.number(), v.finite()),
  labels: v.record(word, word),
  scopes: v.optional(v.array(word)),
  running: count,
  system: word,
  runtime: word,
  leaseMs: v.pipe(v.number(), v.finite(), v.minValue(1)),
  isLeaving: v.optional(v.boolean()),
});

/** Checks a {@linkcode HelloAnswer}. */
export const helloAnswer: Check<HelloAnswer> = v.object({
  node: nodeState,
  cwd: v.pipe(v.string(), v.minLength(1)),
  home: v.optional(v.string()),
  capabilities: v.object({
    pty: v.union([v.literal(true), v.string()]),
    signals: v.boolean(),
    groups: v.boolean(),
  }),
});

/** Checks a {@linkcode PlaceQuestion}. */
export const placeQuestion: Check<PlaceQuestion> = v.object({
  what: v.picklist(["directory", "program"]),
  name: v.string(),
});

/** Checks a {@linkcode PlaceAnswer}. */
export const placeAnswer: Check<PlaceAnswer> = v.object({
  is: v.picklist(["ok", "missing", "not-a-directory", "not-permitted", "outside"]),
});

const argv = v.pipe(
  v.array(v.string()),
  v.minLength(1),
  v.transform((words) => words as [string, ...string[]]),
);

const spec = {
  argv,
  cwd: v.pipe(v.string(), v.minLength(1)),
  env: v.record(v.string(), v.string()),
  stdin: v.picklist(["open", "closed"]),
  sessionId: v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
  scope: word,
};

/** Checks a {@linkcode SpawnRequest}. */
export const spawnRequest: Check<SpawnRequest> = v.object({
  gateway: key,
  instance: key,
  link: key,
  spec: v.union([
    v.strictObject(spec),
    v.strictObject({ ...spec, terminal: v.object({ cols: cells, rows: cells }) }),
  ]),
  limit: count,
});

/** Checks a {@linkcode SpawnAnswer}. */
export const spawnAnswer: Check<SpawnAnswer> = v.variant("ok", [
  v.object({
    ok: v.literal(true),
    pid: v.optional(count),
    has: v.array(v.picklist(["groupAnswers", "inspector", "isCooked", "resize"])),
    warnings: v.array(v.string()),
  }),
  v.object({
    ok: v.literal(false),
    code: v.picklist(["spawn-failed", "refused", "unsupported", "invalid"]),
    message: v.string(),
  }),
]);

/** Checks a {@linkcode LookQuestion}. */
export const lookQuestion: Check<LookQuestion> = v.object({
  link: key,
  what: v.picklist(["tree", "reader", "cooked"]),
});

/** Checks a {@linkcode LookAnswer}. */
export const lookAnswer: Check<LookAnswer> = v.object({
  look: count,
  processes: v.array(v.object({
    pid: count,
    name: word,
    inGroup: v.boolean(),
    relays: v.optional(v.boolean()),
    sleep: v.optional(word),
  })),
  isHidden: v.optional(v.boolean()),
  isCooked: v.optional(v.boolean()),
});

/** Checks a {@linkcode Beat}. */
export const beat: Check<Beat> = v.object({ gateway: key, instance: key, links: v.optional(v.array(key)) });

/** Checks a {@linkcode Control}. */
export const control: Check<Control> = v.variant("op", [
  v.object({ op: v.picklist(["end", "release"]) }),
  v.object({ op: v.literal("signal"), name: signalName, target: v.picklist(["child", "group"]) }),
  v.object({ op: v.literal("signal-one"), name: signalName, look: count, pid: count }),
  v.object({ op: v.literal("resize"), cols: cells, rows: cells }),
]);

/** Checks an {@linkcode Ack}. */
export const ack: Check<Ack> = v.object({ limit: count, rev: count, isLost: v.optional(v.boolean()) });

const exit: Check<Exit> = v.union([
  v.strictObject({ code: v.nullable(count) }),
  v.strictObject({ signal: signalName }),
  v.strictObject({ lost: v.string() }),
]);

/** Checks a {@linkcode Progress}. */
export const progress: Check<Progress> = v.object({
  rev: count,
  applied: count,
  settled: count,
  refusedFrom: v.optional(count),
  exit: v.optional(v.object({ how: exit, at: count })),
  endAt: v.optional(count),
  isLeft: v.boolean(),
  isUnknown: v.optional(v.boolean()),
});

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** A message in JSON, as bytes. */
export function encode<T>(message: T): Uint8Array {
  return encoder.encode(JSON.stringify(message));
}

/** What the bytes say, if that is such a message. */
export function decode<T>(check: Check<T>, bytes: Uint8Array): T | undefined {
  try {
    const result = v.safeParse(check, JSON.parse(decoder.decode(bytes)));
    return result.success ? result.output : undefined;
  } catch {
    return undefined; // no UTF-8, or no JSON
  }
}
