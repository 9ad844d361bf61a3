/**
 * A command on a node as a child of this side: what comes from the node for it, and what is to be told to the node.
 *
 * @module
 */
import {
  type Child,
  type Exit,
  type InputReader,
  OffstageError,
  type OutputSink,
  type SignalName,
  type SpawnSpec,
  type StreamName,
  type TreeInspector,
  type TreeProcess,
} from "../../../mod.ts";
import * as check from "./checks.ts";
import type { Frame } from "./frame.ts";
import { createInbox } from "./inbox.ts";
import { createOrderBook } from "./order_book.ts";
import type { Ack, Control, LookAnswer, LookQuestion, Progress, SeenProcess, SpawnAnswer } from "./protocol.ts";

/** What a session is made of. */
export interface GatewaySessionParts {
  /** Its id between gateway and node. */
  readonly link: string;
  /** What was asked for. */
  readonly spec: SpawnSpec;
  /** Takes its output. */
  readonly sink: OutputSink;
  /** Sends to the node. */
  send(frame: Frame): void;
  /** Asks the node to look; `undefined` if it does not answer. */
  ask(what: LookQuestion["what"]): Promise<LookAnswer | undefined>;
  /** Most bytes of input in one frame. */
  readonly pieceBytes: number;
  /** How many bytes of output may be under way at present. */
  window(): number;
  /** Nothing will come any more. */
  onOver(): void;
}

/** One command on a node. */
export interface GatewaySession {
  /** Its id between gateway and node. */
  readonly link: string;
  /** Takes what the node has sent. */
  take(frame: Frame): void;
  /** The connection was cut: what may have been lost is asked for, and sent, again. */
  resume(): void;
  /** Looks whether something may have been lost, and acknowledges what came. */
  tick(): void;
  /** The node is not reached any more. */
  lose(why: string): void;
  /** It was started: the child. */
  child(answer: SpawnAnswer & { readonly ok: true }): Child;
}

/** An order that was not applied after that time may be lost, ms. */
const REPEAT_MS = 1_000;

/** The part of the window after which it is moved on. */
const ACK_SHARE = 4;

/** Makes the session, before the node is asked to start anything. */
export function createGatewaySession(parts: GatewaySessionParts): GatewaySession {
  const { link, spec, sink } = parts;
  const inbox = createInbox();
  const frame = (kind: Frame["kind"], number: number, payload: Uint8Array): void =>
    parts.send({ kind, link, number, payload });
  const book = createOrderBook(
    ({ kind, number, payload }) => frame(kind, number, payload),
    () => new OffstageError("stdin-closed", "The process no longer reads its input: nothing can be written"),
    parts.pieceBytes,
  );
  let progress: Progress = { rev: 0, applied: 0, settled: 0, isLeft: false };
  let acknowledged = 0;
  let acknowledgedRev = 0;
  let gapAt = -1; // the offset that was asked for again
  let hasExited = false;
  let hasEnded = false; // its output
  let isReleased = false;
  let isOver = false;
  let isStarted = false;
  let early: Frame[] = []; // what came before the answer that it was started
  let alive: ReadonlySet<number> = new Set(); // at the last look
  let tellExit: (exit: Exit) => void;
  const exited = new Promise<Exit>((resolve) => tellExit = resolve);

  function acknowledge(isLost: boolean): void {
    acknowledged = inbox.received();
    acknowledgedRev = progress.rev;
    const limit = acknowledged + parts.window();
    const ack: Ack = { limit, rev: progress.rev, ...(isLost && { isLost }) };
    frame("ack", acknowledged, check.encode(ack));
  }

  /** Asks for what is missing, once until it comes. */
  function askAgain(): void {
    if (gapAt === inbox.received()) return;
    gapAt = inbox.received();
    acknowledge(true);
  }

  function takeOutput(stream: StreamName, offset: number, bytes: Uint8Array): void {
    const fresh = inbox.take(offset, bytes);
    if (fresh === undefined) return askAgain();
    if (fresh.length === 0) return;
    if (!isReleased) sink.chunk(stream, owned(fresh));
    if (inbox.received() - acknowledged >= parts.window() / ACK_SHARE) acknowledge(false);
    settle();
  }

  function takeProgress(sent: number, told: Progress): void {
    if (told.isUnknown === true) return lose("it does not know the command any more");
    if (told.rev < progress.rev) return;
    const isReminder = told.rev === progress.rev;
    progress = told;
    book.hear(told.applied, told.settled, told.refusedFrom);
    settle();
    if (sent > inbox.received() && !isReleased) {
      gapAt = -1;
      askAgain();
    } else if (isReminder && !isOver) {
      acknowledge(false); // what we said before may be lost
    }
  }

  /** Tells what is to be told by now: the end of the output, and the exit, come after the output before them. */
  function settle(): void {
    const isThere = (offset: number): boolean => isReleased || inbox.received() >= offset;
    const { endAt, exit, isLeft } = progress;
    if (endAt !== undefined && isThere(endAt)) endOutput();
    if (exit !== undefined && isThere(exit.at)) endWith(exit.how);
    if (hasExited && hasEnded && !isLeft) finish();
  }

  function endOutput(): void {
    if (hasEnded) return;
    hasEnded = true;
    sink.end();
  }

  function endWith(exit: Exit): void {
    if (hasExited) return;
    hasExited = true;
    tellExit(exit);
  }

  function finish(): void {
    if (isOver) return;
    isOver = true;
    acknowledge(false);
    book.close();
    parts.onOver();
  }

  function lose(why: string): void {
    early = [];
    endWith({ lost: why });
    if (isStarted) endOutput(); // else there never was any
    progress = { ...progress, isLeft: false };
    finish();
  }

  function order(control: Control): void {
    book.control(check.encode(control));
  }

  const signalling = (name: SignalName, target: "child" | "group"): ReturnType<Child["signal"]> => {
    if (isOver || (hasExited && (target === "child" || !progress.isLeft))) return "gone";
    order({ op: "signal", name, target });
    return "sent";
  };

  function processOf(look: number, { pid, name, inGroup }: SeenProcess): TreeProcess {
    return {
      pid,
      name,
      inGroup,
      signal: (signal) => {
        if (isOver || !alive.has(pid)) return "gone";
        order({ op: "signal-one", name: signal, look, pid });
        return "sent";
      },
    };
  }

  const inspector: TreeInspector = {
    tree: async () => {
      if (isOver) return [];
      const { look, processes } = await parts.ask("tree") ?? { look: 0, processes: [] };
      alive = new Set(processes.map(({ pid }) => pid));
      return processes.map((seen) => processOf(look, seen));
    },
    reader: async () => {
      if (isOver) return undefined;
      const answer = await parts.ask("reader");
      if (answer === undefined || answer.isHidden === true) return "unknown";
      const [seen] = answer.processes;
      if (seen === undefined) return undefined;
      alive = new Set([...alive, seen.pid]);
      return readerOf(processOf(answer.look, seen), seen);
    },
  };

  function child({ pid, has, warnings }: SpawnAnswer & { readonly ok: true }): Child {
    isStarted = true;
    for (const frame of early.splice(0)) take(frame);
    const isOpen = spec.stdin === "open" || spec.terminal !== undefined;
    return {
      ...(pid !== undefined && { pid }),
      isElsewhere: true,
      exited,
      write: async (bytes) => {
        if (!isOpen) throw new OffstageError("stdin-closed", "Its stdin was never open: nothing can be written");
        await book.write(bytes);
      },
      endInput: async () => {
        if (isOpen) await book.afterInput(check.encode<Control>({ op: "end" }));
      },
      signal: signalling,
      ...(has.includes("groupAnswers") && { groupAnswers: () => !isOver && (!hasExited || progress.isLeft) }),
      ...(has.includes("resize") && {
        resize: ({ cols, rows }) => {
          if (!hasExited) order({ op: "resize", cols, rows });
        },
      }),
      ...(has.includes("isCooked") && { isCooked: async () => (await parts.ask("cooked"))?.isCooked }),
      ...(has.includes("inspector") && { inspector }),
      release: () => {
        if (isReleased) return;
        isReleased = true;
        if (!isOver) order({ op: "release" });
        endOutput();
        settle();
      },
      warnings,
    };
  }

  function take(frame: Frame): void {
    const { kind, number, payload } = frame;
    if (isOver) return;
    const told = kind === "progress" ? check.decode(check.progress, payload) : undefined;
    if (!isStarted) {
      if (told?.isUnknown !== true) early.push(frame); // the request to start it may not have come by then
    } else if (kind === "stdout" || kind === "stderr" || kind === "terminal") {
      takeOutput(kind, number, payload);
    } else if (told !== undefined) {
      takeProgress(number, told);
    }
  }

  return {
    link,
    take,
    resume: () => {
      acknowledge(true);
      book.repeat();
    },
    tick: () => {
      if (book.waitsFor(REPEAT_MS)) book.repeat();
      if (inbox.received() > acknowledged || progress.rev > acknowledgedRev) acknowledge(false);
    },
    lose,
    child,
  };
}

function readerOf(process: TreeProcess, { relays, sleep }: SeenProcess): InputReader {
  return { ...process, ...(relays !== undefined && { relays }), ...(sleep !== undefined && { sleep }) };
}

/** Memory of about their own size, for a chunk may be kept for long. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.length * 2 < bytes.buffer.byteLength ? bytes.slice() : bytes;
}
