/**
 * What a case starts commands with: it collects what they print, bounds every wait, and takes down what is left.
 *
 * @module
 */
import type { Child, Exit, OutputSink, Spawner, SpawnSpec, StreamName, TerminalSize } from "../../mod.ts";
import { eventually, show, sleep, within } from "./expect.ts";

/** How a command is connected. */
export type Way = "pipes" | "terminal";

/** What differs from one start to the next. */
export interface StartOptions {
  /** Arguments of a script, its `$1` and so on. */
  readonly args?: readonly string[];
  /** Working directory; the bench's by default. */
  readonly cwd?: string;
  /** Variables beside those that every command gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** On pipes; closed by default. */
  readonly stdin?: SpawnSpec["stdin"];
  /** How it is connected, where that is not the way of the case. */
  readonly way?: Way;
}

/** A started command. Every wait fails after the bench's limit. */
export interface Run {
  /** The child, for calls that are the subject of the case. */
  readonly child: Child;
  /** What it was started with. */
  readonly spec: SpawnSpec;
  /** Its output so far, as the pieces that came. */
  readonly chunks: readonly Uint8Array[];
  /** Its output so far, of one stream or of all. */
  bytes(stream?: StreamName): Uint8Array;
  /** The same as text, with a terminal's line ends as plain ones. */
  text(stream?: StreamName): string;
  /** Whether the end of its output was told. */
  isOver(): boolean;
  /** Waits until its output contains that. */
  seen(part: string): Promise<void>;
  /** Waits for its end, whoever still holds its output. */
  exit(): Promise<Exit>;
  /** Waits for its end and for that of its output. */
  finish(): Promise<Exit>;
  /** Waits until that is written. */
  write(input: string | Uint8Array): Promise<void>;
}

/** One case's connection to the spawner. */
export interface Bench {
  /** How commands are connected. */
  readonly way: Way;
  /** Working directory of commands. */
  readonly cwd: string;
  /** Counts the descriptors that this process has open. */
  readonly descriptors: () => number;
  /** How many commands to start where it takes many. */
  readonly starts: number;
  /** Starts a program. */
  start(argv: SpawnSpec["argv"], options?: StartOptions): Promise<Run>;
  /** Starts a script of the POSIX shell. */
  sh(script: string, options?: StartOptions): Promise<Run>;
  /** What a script prints. The script is kept from ending until all of it has been seen. */
  print(script: string, options?: StartOptions): Promise<string>;
  /** Looks until what is seen is as wanted. */
  until(isMet: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void>;
  /** Takes down everything that was started, and fails if a sink was called in a way it must not be. */
  close(): Promise<void>;
}

/** What a bench is made of. */
export interface BenchOptions {
  /** What starts the commands. */
  readonly spawner: Spawner;
  /** How commands are connected. */
  readonly way: Way;
  /** Working directory of commands. */
  readonly cwd: string;
  /** `PATH` of commands. */
  readonly path: string;
  /** How many commands to start where it takes many. */
  readonly starts: number;
  /** How long to wait for what must come. */
  readonly limitMs: number;
  /** Counts the descriptors that this process has open. */
  readonly descriptors?: (() => number) | undefined;
}

/** A run as the bench knows it. */
interface OwnRun extends Run {
  /** Whether both its end and that of its output were told. */
  isDone(): boolean;
}

/** The size of a terminal, unlike that of any real one. */
export const TERMINAL_SIZE: TerminalSize = { cols: 91, rows: 21 };

const STREAMS: Readonly<Record<Way, readonly StreamName[]>> = { pipes: ["stdout", "stderr"], terminal: ["terminal"] };
const END_MARK = "<end of print>";
const AT_ONCE = 8; // enough for ends to come together, too few to slow a small machine down
const LATE_CALL_MS = 50; // a spawn that failed and still calls its sink does so in the next turns

/** What one sink was told. */
interface Recording {
  readonly sink: OutputSink;
  readonly pieces: { readonly stream: StreamName; readonly bytes: Uint8Array }[];
  isOver(): boolean;
}

/** Opens a bench; close it. */
export function openBench(options: BenchOptions): Bench {
  const { spawner, way, cwd, path, starts, limitMs, descriptors = () => 0 } = options;
  const runs: OwnRun[] = [];
  const failed: Recording[] = [];
  const faults: string[] = [];

  const start = async (argv: SpawnSpec["argv"], over: StartOptions = {}): Promise<Run> => {
    const sessionId = `case-${crypto.randomUUID()}`;
    const spec: SpawnSpec = {
      argv,
      cwd: over.cwd ?? cwd,
      env: { PATH: path, TERM: "xterm-256color", ...over.env, OFFSTAGE_SESSION_ID: sessionId },
      stdin: over.stdin ?? "closed",
      sessionId,
      scope: "case",
      ...((over.way ?? way) === "terminal" && { terminal: TERMINAL_SIZE }),
    };
    const recording = record(STREAMS[over.way ?? way], faults);
    try {
      const child = await within(spawner.spawn(spec, recording.sink), limitMs, `the start of ${show(argv)}`);
      const run = createRun(child, spec, recording, limitMs);
      runs.push(run);
      return run;
    } catch (error) {
      failed.push(recording);
      throw error;
    }
  };
  const sh = (script: string, over: StartOptions = {}): Promise<Run> =>
    start(["sh", "-c", script, "sh", ...over.args ?? []], over);

  return {
    way,
    cwd,
    descriptors,
    starts,
    start,
    sh,
    print: async (script, over) => {
      const run = await sh(`${script}\nprintf '${END_MARK}'; exec sleep 60`, over);
      await run.seen(END_MARK);
      return run.text().slice(0, run.text().indexOf(END_MARK));
    },
    until: (isMet, what) => eventually(isMet, limitMs, what),
    close: async () => {
      for (const run of runs) await takeDown(run, limitMs).catch((error) => faults.push(String(error)));
      if (failed.length > 0) await sleep(LATE_CALL_MS);
      if (failed.some(({ isOver, pieces }) => isOver() || pieces.length > 0)) {
        faults.push("a spawn that failed called its sink");
      }
      const [fault] = faults;
      if (fault !== undefined) throw new Error(`Against the contract: ${fault}`);
    },
  };
}

/** Does something for each item, a few at a time. */
export async function forEachOf<Item>(items: Iterable<Item>, visit: (item: Item) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) await visit(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

function record(streams: readonly StreamName[], faults: string[]): Recording {
  const pieces: { readonly stream: StreamName; readonly bytes: Uint8Array }[] = [];
  let isOver = false;
  return {
    pieces,
    isOver: () => isOver,
    sink: {
      chunk: (stream, bytes) => {
        if (isOver) faults.push(`a chunk of ${bytes.length} bytes came after the end`);
        if (!streams.includes(stream)) faults.push(`a chunk came from "${stream}" where there is ${show(streams)}`);
        pieces.push({ stream, bytes });
      },
      end: () => {
        if (isOver) faults.push("the end was told twice");
        isOver = true;
      },
    },
  };
}

function createRun(child: Child, spec: SpawnSpec, { pieces, isOver }: Recording, limitMs: number): OwnRun {
  let hasExited = false;
  child.exited.then(() => hasExited = true, () => {});
  const bytes = (stream?: StreamName): Uint8Array =>
    join(pieces.filter((piece) => stream === undefined || piece.stream === stream).map((piece) => piece.bytes));
  const text = (stream?: StreamName): string => new TextDecoder().decode(bytes(stream)).replaceAll("\r\n", "\n");
  const soFar = (): string => `; the output of ${show(spec.argv)} so far: ${show(text())}`;
  const exit = (): Promise<Exit> => within(child.exited, limitMs, () => `the exit${soFar()}`);
  return {
    child,
    spec,
    get chunks() {
      return pieces.map((piece) => piece.bytes);
    },
    bytes,
    text,
    isOver,
    isDone: () => hasExited && isOver(),
    seen: (part) => eventually(() => text().includes(part), limitMs, () => `${show(part)}${soFar()}`),
    exit,
    finish: async () => {
      const how = await exit();
      await eventually(isOver, limitMs, () => `the end of the output after the exit${soFar()}`);
      return how;
    },
    write: (input) => {
      const written = child.write(typeof input === "string" ? new TextEncoder().encode(input) : input);
      return within(written, limitMs, () => `a write of ${input.length} to be taken${soFar()}`);
    },
  };
}

async function takeDown({ child, isDone }: OwnRun, limitMs: number): Promise<void> {
  if (isDone()) return child.release(); // a look at all processes for each of hundreds of children would take long
  const tree = await within(child.inspector?.tree() ?? Promise.resolve([]), limitMs, "the process tree");
  child.signal("SIGKILL", "group");
  child.signal("SIGKILL", "child");
  for (const member of tree) member.signal("SIGKILL");
  child.release();
  await within(child.exited, limitMs, "the exit after SIGKILL");
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
