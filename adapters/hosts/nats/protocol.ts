/**
 * What gateways and nodes say to each other over NATS, version 1.
 *
 * Subjects, all under `<prefix>.v1`; `<node>` is a node's id, `<gateway>` the random id of one that uses it:
 *
 * | subject | from → to | what |
 * | --- | --- | --- |
 * | `find` | gateway → all nodes | request: who is there? Each answers with its {@linkcode NodeState} |
 * | `node.<node>.hello` | gateway → node | request: what is it like? A {@linkcode HelloAnswer} |
 * | `node.<node>.place` | gateway → node | request: a look at a path, a {@linkcode PlaceQuestion}; a {@linkcode PlaceAnswer} |
 * | `node.<node>.spawn` | gateway → node | request: start a command, a {@linkcode SpawnRequest}; a {@linkcode SpawnAnswer} |
 * | `node.<node>.look` | gateway → node | request: a look at processes, a {@linkcode LookQuestion}; a {@linkcode LookAnswer} |
 * | `node.<node>.frame` | gateway → node | frames: input, {@linkcode Control}, {@linkcode Ack} |
 * | `node.<node>.beat` | gateway → node | which commands it still wants: a {@linkcode Beat} |
 * | `from.<node>.beat` | node → all gateways | its {@linkcode NodeState} |
 * | `from.<node>.to.<gateway>` | node → gateway | frames: output, and how far a command is: {@linkcode Progress} |
 * | `inbox.<who>.>` | | answers |
 *
 * NATS delivers at most once. So output carries absolute offsets and is kept by the node until it is acknowledged; input
 * and signals carry numbers, are kept by the gateway until the node has applied them, and are applied in order and once.
 * How far a command is, is told as a whole each time, so that it may be told again.
 *
 * @module
 */
import type { Exit, SignalName, SpawnerCapabilities, SpawnSpec } from "../../../mod.ts";

/** Version of the protocol, part of every subject: other versions do not meet. */
const VERSION = "v1";

/** Most bytes of output or input in one frame. */
export const CHUNK_BYTES = 65_536;

/** How often both sides tell that they are there, ms. */
export const BEAT_MS = 2_000;

/** Longest id of a node, characters: it is shown to people and models. */
const MAX_ID_CHARACTERS = 64;

/** Requests that a node answers. */
export type Operation = "hello" | "place" | "spawn" | "look";

/** The subjects under one prefix. */
export interface Subjects {
  /** Asks all nodes. */
  readonly find: string;
  /** Beats of all nodes. */
  readonly beats: string;
  /** What a node is asked, told and sent. */
  to(node: string, what: Operation | "frame" | "beat"): string;
  /** A node's beats. */
  beatOf(node: string): string;
  /** What a node sends to a gateway; `*`: any node. */
  from(node: string, gateway: string): string;
  /** Where answers go to. */
  inbox(who: string): string;
  /** The node that a message of {@linkcode Subjects.from} or {@linkcode Subjects.beats} is from. */
  nodeOf(subject: string): string;
}

/** The subjects under a prefix. */
export function subjectsOf(prefix: string): Subjects {
  const base = `${prefix}.${VERSION}`;
  const sender = base.split(".").length + 1;
  return {
    find: `${base}.find`,
    beats: `${base}.from.*.beat`,
    to: (node, what) => `${base}.node.${node}.${what}`,
    beatOf: (node) => `${base}.from.${node}.beat`,
    from: (node, gateway) => `${base}.from.${node}.to.${gateway}`,
    inbox: (who) => `${base}.inbox.${who}`,
    nodeOf: (subject) => subject.split(".")[sender] ?? "",
  };
}

/** Whether a node may be called that: one token of a NATS subject, and a word for a model. */
export function isNodeId(id: string): boolean {
  return id.length <= MAX_ID_CHARACTERS && /^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(id) && id !== "any";
}

/** Whether that can stand in front of all subjects: tokens of NATS with points between them. */
export function isPrefix(prefix: string): boolean {
  return /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(prefix);
}

/** A new random id of a gateway, a command or a node's run, which nobody guesses. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What a node tells of itself, every {@linkcode BEAT_MS} and when asked. */
export interface NodeState {
  /** Its id. */
  readonly id: string;
  /** Random id of this run of it: after another start nothing of what ran there is left. */
  readonly instance: string;
  /** When it was started, ms since the epoch. */
  readonly since: number;
  /** What it was registered with. */
  readonly labels: Readonly<Record<string, string>>;
  /** Whom it serves; absent: everybody. */
  readonly scopes?: readonly string[] | undefined;
  /** How many commands run there. */
  readonly running: number;
  /** Its system, for people. */
  readonly system: string;
  /** Its runtime, for people. */
  readonly runtime: string;
  /** Commands of a gateway that has not been heard of for that long are ended, ms. */
  readonly leaseMs: number;
  /** It is about to end. */
  readonly isLeaving?: boolean | undefined;
}

/** What a node is like. */
export interface HelloAnswer {
  /** Itself. */
  readonly node: NodeState;
  /** Where its commands run unless they say otherwise. */
  readonly cwd: string;
  /** Its home directory. */
  readonly home?: string | undefined;
  /** What it can do. */
  readonly capabilities: SpawnerCapabilities;
}

/** A question about a directory's path, or a program's name or path. */
export interface PlaceQuestion {
  /** What is asked. */
  readonly what: "directory" | "program";
  /** Of which path or name. */
  readonly name: string;
}

/** What is there: a `DirectoryStatus`, or whether the program can be run. */
export interface PlaceAnswer {
  /** The answer. */
  readonly is: "ok" | "missing" | "not-a-directory" | "not-permitted" | "outside";
}

/** Asks for a command to be started; asked again with the same `link`, it is the same command. */
export interface SpawnRequest {
  /** Who asks. */
  readonly gateway: string;
  /** Which run of the node is meant: another one that has its id for a moment does not answer. */
  readonly instance: string;
  /** Random id of the command between these two. */
  readonly link: string;
  /** What to start. */
  readonly spec: SpawnSpec;
  /** Up to which offset its output may be sent. */
  readonly limit: number;
}

/** How a start went. */
export type SpawnAnswer =
  | {
    /** It was started. */
    readonly ok: true;
    /** Its process id there. */
    readonly pid?: number | undefined;
    /** Methods that the child has. */
    readonly has: readonly ("groupAnswers" | "inspector" | "isCooked" | "resize")[];
    /** What the caller ought to know. */
    readonly warnings: readonly string[];
  }
  | {
    /** Nothing was. */
    readonly ok: false;
    /** Why, for machines. */
    readonly code: "spawn-failed" | "refused" | "unsupported" | "invalid";
    /** Why, for people. */
    readonly message: string;
  };

/** A question about the processes of a command. */
export interface LookQuestion {
  /** The command. */
  readonly link: string;
  /** All processes, the one that waits for input, or whether the terminal is in cooked mode. */
  readonly what: "tree" | "reader" | "cooked";
}

/** A process as it was seen. */
export interface SeenProcess {
  /** Its process id there. */
  readonly pid: number;
  /** Its name. */
  readonly name: string;
  /** Whether it is in the command's group. */
  readonly inGroup: boolean;
  /** See `InputReader`. */
  readonly relays?: boolean | undefined;
  /** See `InputReader`. */
  readonly sleep?: string | undefined;
}

/** What a node has seen. */
export interface LookAnswer {
  /** Number of the look; it goes with a signal to somebody who was seen. */
  readonly look: number;
  /** Processes of the tree; the one that waits for input, or nobody. */
  readonly processes: readonly SeenProcess[];
  /** Who waits for input cannot be seen. */
  readonly isHidden?: boolean | undefined;
  /** Whether the terminal is in cooked mode, where that can be told. */
  readonly isCooked?: boolean | undefined;
}

/** What a gateway tells each node that it has commands on, every {@linkcode BEAT_MS}. */
export interface Beat {
  /** The gateway. */
  readonly gateway: string;
  /** Which run of the node is meant. */
  readonly instance: string;
  /** Its commands there: any other one of its commands is ended. Absent: more than a message has room for. */
  readonly links?: readonly string[] | undefined;
}

/** What is to be done to a command beside writing to it. The frame's number is its place in the order. */
export type Control =
  | { readonly op: "end" | "release" }
  | { readonly op: "signal"; readonly name: SignalName; readonly target: "child" | "group" }
  | { readonly op: "signal-one"; readonly name: SignalName; readonly look: number; readonly pid: number }
  | { readonly op: "resize"; readonly cols: number; readonly rows: number };

/** How far a gateway has got with a command's output, which is the frame's number. */
export interface Ack {
  /** Up to which offset the node may send. */
  readonly limit: number;
  /** The latest {@linkcode Progress} that it has seen. */
  readonly rev: number;
  /** Whether the output is to be sent again from there. */
  readonly isLost?: boolean | undefined;
}

/** How far a command is, told as a whole. The frame's number is the offset that its output has been sent up to. */
export interface Progress {
  /** Counts up. */
  readonly rev: number;
  /** Number of the last control or write that was applied. */
  readonly applied: number;
  /** Number up to which all have been done with: written, or refused. */
  readonly settled: number;
  /** Number of the first write that was refused, since its input is closed. */
  readonly refusedFrom?: number | undefined;
  /** How it ended, and at which offset of its output. */
  readonly exit?: { readonly how: Exit; readonly at: number } | undefined;
  /** Offset of the end of its output. */
  readonly endAt?: number | undefined;
  /** Whether others of its process group live on. */
  readonly isLeft: boolean;
  /** The node does not know it, or not any more. */
  readonly isUnknown?: boolean | undefined;
}
