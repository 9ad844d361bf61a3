/**
 * One command on a node, as its gateway sees it: output out, input and signals in, each of them once and in order.
 *
 * @module
 */
import { clearTimeout, setImmediate, setTimeout } from "node:timers";
import type { Child, Exit, OrphanGuard, OutputSink, Spawner, SpawnSpec } from "../../../mod.ts";
import * as check from "./checks.ts";
import { endTree } from "./end_tree.ts";
import type { Frame } from "./frame.ts";
import { createNodeLooks } from "./node_looks.ts";
import { createOutbox } from "./outbox.ts";
import type { Control, LookAnswer, LookQuestion, Progress, SpawnAnswer } from "./protocol.ts";

/** What a session is made of. */
export interface NodeSessionParts {
  /** Its id between gateway and node. */
  readonly link: string;
  /** What to start. */
  readonly spec: SpawnSpec;
  /** Up to which offset output may be sent. */
  readonly limit: number;
  /** Starts it. */
  readonly spawner: Spawner;
  /** Sees to it that it does not outlive this process. */
  readonly guard: OrphanGuard | undefined;
  /** Most bytes of a frame's payload. */
  readonly chunkBytes: number;
  /** Most bytes of output that are kept: reading stops there. */
  readonly heldBytes: number;
  /** Sends to the gateway. */
  send(frame: Frame): void;
  /** It does not run any more. */
  onEnded(): void;
}

/** One command on this node. */
export interface NodeSession {
  /** Its id between gateway and node. */
  readonly link: string;
  /** Id of the session at its gateway. */
  readonly sessionId: string;
  /** How its start went; resolves once. */
  readonly started: Promise<SpawnAnswer>;
  /** Whether it runs. */
  isRunning(): boolean;
  /** Takes what the gateway has sent. */
  take(frame: Frame): void;
  /** Looks at its processes. */
  look(what: LookQuestion["what"]): Promise<LookAnswer>;
  /** Whether the gateway knows all there is to know. */
  isDelivered(): boolean;
  /** Tells how far it is, if the gateway may not know. */
  remind(isForced: boolean): void;
  /** Ends it and everything it has started; `lost` is what the gateway is told, if it is ever told anything. */
  end(lost: string | undefined, graceMs: number): Promise<void>;
}

/** How long after its exit a command's output is waited for, ms: what is left of it is in the pipes, and nobody writes. */
const TAIL_MS = 250;

/** That long if nobody is left who could hold the pipes, ms: then the end is on its way, however busy the machine. */
const LAST_TAIL_MS = 5_000;

/** Pauses between two looks whether a group has gone whose leader has, ms. */
const FIRST_GROUP_LOOK_MS = 20;
const LONGEST_GROUP_LOOK_MS = 500;

/** What was not acknowledged after that time may be lost, ms. */
const REMIND_MS = 1_000;

/** Input that was sent before the last was taken, bytes: a gateway stays far below. */
const MOST_INPUT_BYTES = 4_194_304;

/** Starts a command. */
export function startNodeSession(parts: NodeSessionParts): NodeSession {
  const { link, spec, spawner, guard, chunkBytes, heldBytes } = parts;
  const { sessionId } = spec;
  const outbox = createOutbox(chunkBytes, parts.limit);
  const looks = createNodeLooks();
  let child: Child | undefined;
  let isHeld = false;
  let isReleased = false;
  let isReadingTail = false;
  let hasExited = false;
  let lostBy: string | undefined;
  let inputBytes = 0; // that the child has not taken
  let progress: Progress = { rev: 1, applied: 0, settled: 0, isLeft: false };
  const unsettled = new Set<number>();
  let seenRev = 0; // by the gateway
  let remindedAt = 0;
  let isTelling = false;
  let onOutputEnd = (): void => {};
  let followed: Promise<void> | undefined;
  let ending: Promise<void> | undefined;
  let groupLook: ReturnType<typeof setTimeout> | undefined;

  const frame = (kind: Frame["kind"], number: number, payload: Uint8Array): void =>
    parts.send({ kind, link, number, payload });

  function tell(): void {
    isTelling = false;
    remindedAt = performance.now();
    frame("progress", outbox.sent(), check.encode(progress));
  }

  /** Something has changed; told with what else changes in this turn. */
  function change(what: Partial<Progress>): void {
    progress = { ...progress, ...what, rev: progress.rev + 1 };
    if (isTelling) return;
    isTelling = true;
    setImmediate(tell);
  }

  function pump(): void {
    for (let piece = outbox.next(); piece !== undefined; piece = outbox.next()) {
      frame(piece.stream, piece.offset, piece.bytes);
    }
  }

  /** Reads on, or not, as there is room. Not by halves: each change costs a little. */
  function makeRoom(): void {
    const held = outbox.held();
    if (isReadingTail || (isHeld ? held > heldBytes / 2 : held < heldBytes)) return;
    hold(!isHeld);
  }

  /** A runtime that cannot stop reading is given nothing to read. */
  function hold(isOn: boolean): void {
    isHeld = isOn;
    if (child?.hold !== undefined) child.hold(isOn);
    else child?.signal(isOn ? "SIGSTOP" : "SIGCONT", "group");
  }

  const sink: OutputSink = {
    chunk: (stream, bytes) => {
      if (isReleased) return;
      outbox.add(stream, bytes);
      pump();
      makeRoom();
    },
    end: () => {
      if (progress.endAt === undefined) change({ endAt: outbox.total() });
      onOutputEnd();
    },
  };

  /** Waits for what the command has printed before it ended; what others print later does not belong to it. */
  async function readTail(): Promise<void> {
    if (progress.endAt !== undefined) return;
    const ended = new Promise<void>((resolve) => onOutputEnd = resolve);
    const late = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms));
    await Promise.race([ended, late(TAIL_MS)]);
    if (progress.endAt !== undefined || child?.inspector === undefined) return;
    if ((await child.inspector.tree()).length === 0) await Promise.race([ended, late(LAST_TAIL_MS)]);
  }

  async function follow(started: Child): Promise<void> {
    const exit = await started.exited;
    hasExited = true;
    parts.onEnded();
    isReadingTail = true; // which is what a pipe holds
    if (isHeld) hold(false);
    await readTail();
    isReadingTail = false;
    makeRoom();
    const how: Exit = lostBy === undefined ? exit : { lost: lostBy };
    const isLeft = started.groupAnswers?.() ?? false;
    change({ exit: { how, at: outbox.total() }, isLeft });
    if (isLeft) watchGroup(started, FIRST_GROUP_LOOK_MS);
    else guard?.release(sessionId);
  }

  function watchGroup(started: Child, pauseMs: number): void {
    guard?.tell(sessionId);
    groupLook = setTimeout(() => {
      if (started.groupAnswers?.() === true) {
        return watchGroup(started, Math.min(pauseMs * 2, LONGEST_GROUP_LOOK_MS));
      }
      guard?.release(sessionId);
      change({ isLeft: false });
    }, pauseMs).unref();
  }

  async function start(): Promise<SpawnAnswer> {
    try {
      const started = await spawner.spawn(spec, sink);
      child = started;
      if (started.pid !== undefined && started.isElsewhere !== true) guard?.watch(started.pid, sessionId);
      followed = follow(started);
      if (isHeld) hold(true); // it was quicker than its start
      return {
        ok: true,
        pid: started.pid,
        has: (["groupAnswers", "inspector", "isCooked", "resize"] as const).filter((name) =>
          started[name] !== undefined
        ),
        warnings: started.warnings ?? [],
      };
    } catch (error) {
      hasExited = true;
      parts.onEnded();
      const { code, message } = error as { readonly code?: string; readonly message: string };
      return { ok: false, code: code === "refused" || code === "unsupported" ? code : "spawn-failed", message };
    }
  }

  function settle(number: number): void {
    unsettled.delete(number);
    const [first = progress.applied + 1] = unsettled;
    change({ settled: first - 1 });
  }

  function refuse(number: number): void {
    progress = { ...progress, refusedFrom: Math.min(progress.refusedFrom ?? number, number) };
  }

  /** Does what the frame asks for, which takes its place in the order even if it makes no sense. */
  function apply({ kind, number, payload }: Frame): void {
    progress = { ...progress, applied: number };
    unsettled.add(number);
    if (kind === "write") {
      const { length } = payload;
      inputBytes += length;
      const written = child === undefined || inputBytes > MOST_INPUT_BYTES
        ? Promise.reject(new Error("there is nobody to read it"))
        : child.write(payload.slice());
      void written.catch(() => refuse(number)).then(() => {
        inputBytes -= length;
        settle(number);
      });
      return;
    }
    const control = check.decode(check.control, payload);
    void Promise.resolve(control === undefined ? undefined : act(control)).catch(() => {}).then(() => settle(number));
  }

  function act(control: Control): Promise<void> | void {
    switch (control.op) {
      case "end":
        return child?.endInput();
      case "release":
        return release();
      case "resize":
        return child?.resize?.({ cols: control.cols, rows: control.rows });
      case "signal":
        return void child?.signal(control.name, control.target);
      case "signal-one":
        return looks.signal(control.look, control.pid, control.name);
    }
  }

  function release(): void {
    isReleased = true;
    outbox.clear();
    child?.release();
  }

  function acknowledge({ number, payload }: Frame): void {
    const ack = check.decode(check.ack, payload);
    if (ack === undefined) return;
    seenRev = Math.max(seenRev, Math.min(ack.rev, progress.rev));
    outbox.acknowledge(number, ack.limit);
    if (ack.isLost === true) outbox.rewind();
    pump();
    makeRoom();
  }

  async function end(lost: string | undefined, graceMs: number): Promise<void> {
    lostBy ??= progress.exit === undefined ? lost : undefined;
    await started;
    if (child !== undefined) await endTree(child, graceMs);
    if (hasExited) await followed;
    clearTimeout(groupLook);
    guard?.release(sessionId);
    tell();
  }

  const isDelivered = (): boolean => outbox.held() === 0 && seenRev >= progress.rev;

  const started = start();
  return {
    link,
    sessionId,
    started,
    isRunning: () => !hasExited,
    take: (received) => {
      if (received.kind === "ack") return acknowledge(received);
      if (received.kind !== "write" && received.kind !== "control") return;
      if (child !== undefined && received.number === progress.applied + 1) apply(received);
      else change({}); // it was applied before, or one before it was lost: the gateway is told how far we are
    },
    look: (what) => looks.look(child, what),
    isDelivered,
    remind: (isForced) => {
      if (isForced || (!isDelivered() && performance.now() - remindedAt >= REMIND_MS)) tell();
    },
    end: (lost, graceMs) => ending ??= end(lost, graceMs),
  };
}
