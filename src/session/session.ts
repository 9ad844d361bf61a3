/**
 * A session: one started command, its output, its input and its end.
 *
 * @module
 */
import { tailOfLog } from "../output/budget.ts";
import { createCursor, type Cursor } from "../output/cursor.ts";
import type { OutputLog } from "../output/log.ts";
import type {
  Child,
  Clock,
  Exit,
  OutputSink,
  SignalName,
  SignalOutcome,
  StreamName,
  TerminalSize,
} from "../runtime.ts";
import { createTerminalWatch, type TerminalWatch } from "../terminal/watch.ts";
import { answerTerminal } from "./answer_terminal.ts";
import type { QueueEntry } from "./event_queue.ts";
import type { SessionFacts } from "./facts.ts";
import type { SeenSleep } from "./input_wait.ts";
import { createInputQueue, type InputQueue } from "./input.ts";
import { sessionName } from "./name.ts";
import type { LineWatch } from "./line_watch.ts";
import type { Outcome, StopCause } from "./outcome.ts";
import { createRedactor, type Redactor } from "./redact.ts";
import type { SessionScreen } from "./screen.ts";
import { changedTo, type SizeChange } from "./sizes.ts";

/** One process of an ended or stopped session that still lives. */
export interface Survivor {
  /** Its process id. */
  readonly pid: number;
  /** Its short command name. */
  readonly name: string;
}

/** A session's state, with what belongs to that state. */
export type SessionState =
  | { readonly kind: "running" }
  | {
    readonly kind: "ended";
    /** Wall clock, ms. */
    readonly endedAt: number;
    readonly durationMs: number;
    readonly outcome: Outcome;
    /** Processes of its tree that live on, as of the end or of the last look since. */
    readonly survivors: readonly Survivor[];
    /** What has to be said about the end, e.g. that output may be missing. */
    readonly notes: readonly string[];
  };

/** Whether more can be written to a session, and if not, why not. */
export type InputState = "open" | "closed" | "ended" | "broken";

/** One started command. Its rooms are kept simple on purpose: the rules are in the files beside this one. */
export class Session {
  /** What was known before the start. */
  readonly facts: SessionFacts;
  /** Wall clock of the start, ms. */
  readonly startedAt: number;
  /** The clock all its times are measured with. */
  readonly clock: Clock;
  /** What the terminal's program asked for; PTY only. */
  readonly watch: TerminalWatch | undefined;
  /** Takes the spawner's output. */
  readonly sink: OutputSink;
  /** The sizes its terminal has had while it printed what is held, oldest first; PTY only. */
  sizes: readonly SizeChange[];
  /** What a person would see; only once somebody has asked for it. */
  screen: SessionScreen | undefined;
  /** The process; set right after the spawn. */
  child!: Child;
  /** Whether `exec` has answered `running`, or kept it for `process` to read. */
  listed = false;
  /** Not shown any more: forgotten, or removed by its owner and counted until its end is confirmed. */
  hidden = false;
  /** Why we stopped it; the first cause wins. */
  stopCause: StopCause | undefined;
  /** Why we stopped what its shell had left behind, where that was before the session's end. */
  leftoverCause: StopCause | undefined;
  /** Signals that were sent alone, on request: to end by one of them is to be killed (spec E27). */
  readonly requested: Set<SignalName> = new Set();
  /** What its shell has reported about the limits it was to set. */
  limitReport: readonly string[] | undefined;
  /** Whether that has been told to the caller of `exec`. */
  limitsTold = false;
  /** Whether it printed more than its limit allows: what came after is dropped. */
  outputCut = false;
  /** Settles when the stop ladder has run to its end. */
  stopping: Promise<void> | undefined;
  /** Whether the stop ladder has run to its end: what lives on after it is given up. */
  stopped = false;
  /** Calls that work with it or wait for it now, and the monotonic time of the last one's end, ms: see `usage.ts`. */
  users = 0;
  /** See {@linkcode Session.users}. */
  lastUsedAt: number;
  /** How the shell ended, once it has. */
  exit: Exit | undefined;
  /** Called once, when it has settled. */
  onSettled: (() => void) | undefined;
  /** Whether all its streams are at their end. */
  outputEnded = false;
  /** Looks for lines that match `notifyOn`. */
  lineWatch: LineWatch | undefined;
  /** Calls under way whose answer may tell its end. */
  asking = 0;
  /** Whether an answer has told its end. */
  endTold = false;
  /** The event of its end, if there was one. */
  endEvent: QueueEntry | undefined;
  /** Empty polls in a row, for the retry advice. */
  emptyPolls = 0;
  /** Whether the block-buffering hint has been given (once a session). */
  bufferingHintGiven = false;
  /** What its stdin is like now. */
  input: InputState;
  /** Monotonic time of the last output, ms. */
  lastOutputAt: number;
  /** Monotonic time of the last byte written to its input, ms. */
  lastInputAt: number;
  /** The sleep in which the program that reads its input was last seen. */
  seenAsleep: SeenSleep | undefined;
  /** Bytes of the line that is being typed into its terminal. */
  typedLine = 0;
  /** Done when what waits to be typed until its terminal has been asked is under way. */
  typing: Promise<void> | undefined;
  /** Monotonic time of the start, ms. */
  readonly startedMonotonic: number;

  readonly #makeLog: (session: Session) => OutputLog;
  #log: OutputLog | undefined;
  readonly #listeners = new Set<() => void>();
  #name: string | undefined;
  #cursor: Cursor | undefined;
  #queue: InputQueue | undefined;
  #redactor: Redactor | undefined;
  #state: SessionState = { kind: "running" };

  /**
   * @param facts what is known before the start
   * @param clock time
   * @param makeLog makes its log when there is first something to do with it
   */
  constructor(facts: SessionFacts, clock: Clock, makeLog: (session: Session) => OutputLog) {
    this.facts = facts;
    this.clock = clock;
    this.#makeLog = makeLog;
    this.startedAt = clock.now();
    this.startedMonotonic =
      this.lastOutputAt =
      this.lastInputAt =
      this.lastUsedAt =
        clock.monotonic();
    this.input = facts.stdin;
    this.sizes = facts.terminal === undefined ? [] : [{ at: 0, ...facts.terminal }];
    this.watch = facts.pty
      ? createTerminalWatch({
        output: (bytes) => this.#append("terminal", bytes),
        answer: (reply) => answerTerminal(this, reply),
      })
      : undefined;
    this.sink = { chunk: (stream, bytes) => this.#take(stream, bytes), end: () => this.#endOutput() };
  }

  /** Everything it has printed. */
  get log(): OutputLog {
    return (this.#log ??= this.#makeLog(this));
  }

  /** Its id. */
  get id(): string {
    return this.facts.id;
  }

  /** Verb and target of its command, for lists. Most sessions end before they are in one. */
  get name(): string {
    return (this.#name ??= sessionName(this.facts.command));
  }

  /** Running, or ended with how it ended. */
  get state(): SessionState {
    return this.#state;
  }

  /** The scope's place in the output: one for all its pollers. */
  get cursor(): Cursor {
    return (this.#cursor ??= createCursor(this.log));
  }

  /** The newest of what it has printed, rendered, at most so many characters. */
  tail(maxChars: number): string {
    return tailOfLog(this.log, maxChars);
  }

  /** Process id of its shell, where there is one. */
  get pid(): number | undefined {
    return this.child.pid;
  }

  /** Sends one signal to its process group: to what is left of it, when the shell has ended. */
  signal(name: SignalName): SignalOutcome {
    this.requested.add(name);
    return this.child.signal(name, "group");
  }

  /** Changes the size of its terminal; says whether there was one to change. */
  resize(size: TerminalSize): boolean {
    if (this.#state.kind === "ended" || this.child.resize === undefined) return false;
    this.child.resize(size);
    this.sizes = changedTo(this.sizes, { at: this.log.end, ...size }, this.log.start);
    this.#changed();
    return true;
  }

  /** What is written to its stdin, in order. */
  get stdin(): InputQueue {
    return (this.#queue ??= createInputQueue(this));
  }

  /** How long it has run, or ran, ms. */
  get durationMs(): number {
    return this.#state.kind === "ended" ? this.#state.durationMs : this.clock.monotonic() - this.startedMonotonic;
  }

  /** Time since the last output or input, ms. */
  get idleMs(): number {
    return Math.max(0, this.clock.monotonic() - Math.max(this.lastOutputAt, this.lastInputAt));
  }

  /** Settles the session; only the first call counts. */
  settle(state: SessionState & { readonly kind: "ended" }): void {
    if (this.#state.kind === "ended") return;
    this.#state = state;
    if (this.input === "open") this.input = "broken";
    this.#changed();
    this.onSettled?.();
  }

  /** Puts right what is told of its end: who of its tree still lives, or what has been done about them since. */
  amend(change: Partial<Pick<SessionState & { readonly kind: "ended" }, "survivors" | "notes">>): void {
    if (this.#state.kind === "ended") this.#state = { ...this.#state, ...change };
  }

  /** Calls `listener` on each output, at the end of output and at the end; returns how to stop that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** How many wait on it: for leak checks. */
  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** Keeps a secret out of the log from now on: its echo is replaced (spec P31). */
  redact(secret: Uint8Array): void {
    this.#redactor ??= createRedactor();
    this.#redactor.add(secret);
  }

  /** Tells listeners that something other than output has changed. */
  touch(): void {
    this.#changed();
  }

  #take(stream: StreamName, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.lastOutputAt = this.clock.monotonic();
    if (this.watch === undefined) this.#append(stream, bytes);
    else this.watch.feed(bytes);
    this.#changed();
  }

  #append(stream: StreamName, bytes: Uint8Array): void {
    if (this.#redactor === undefined) this.log.append(stream, bytes);
    else for (const piece of this.#redactor.feed(stream, bytes)) this.log.append(stream, piece);
  }

  #endOutput(): void {
    if (this.outputEnded) return;
    this.outputEnded = true;
    this.completeOutput();
    this.#changed();
  }

  /** Nothing more is expected: what was held back to see whether it becomes a character or a query is output. */
  completeOutput(): void {
    this.watch?.finish();
    for (const [stream, piece] of this.#redactor?.finish() ?? []) this.log.append(stream, piece);
    this.log.finish();
  }

  #changed(): void {
    if (this.#listeners.size === 0) return;
    for (const listener of [...this.#listeners]) listener();
  }
}
