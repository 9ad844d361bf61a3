/**
 * A spawner whose children do what the test says.
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
  type SignalOutcome,
  type Spawner,
  type SpawnerCapabilities,
  type SpawnSpec,
  type StreamName,
  type TerminalSize,
  type TreeProcess,
} from "../../mod.ts";

/** A process that a fake shell has started. */
export interface FakeProcess {
  readonly pid: number;
  readonly name: string;
  /** Whether it is still in the shell's process group. */
  readonly inGroup: boolean;
  /** Signals that do nothing to it. */
  readonly ignores?: readonly SignalName[];
}

/** A child in the hands of the test. */
export interface FakeChild {
  readonly spec: SpawnSpec;
  readonly pid: number;
  /** Prints; text becomes UTF-8. */
  print(output: string | Uint8Array, stream?: StreamName): void;
  /** The shell ends; whoever it started goes on, and the streams stay open. */
  exit(how?: number | SignalName | null): void;
  /** All streams come to their end. */
  closeOutput(): void;
  /** The shell ends and so do its streams. */
  end(how?: number | SignalName | null): void;
  /** Whoever it started; take them out to end them. */
  readonly started: FakeProcess[];
  /** Signals that do nothing to it. */
  ignores: readonly SignalName[];
  /** Signals that the system does not let us send to it. */
  refuses: readonly SignalName[];
  /** What it does when a signal it does not ignore reaches it; default: it ends by it, with its streams. */
  onSignal: ((name: SignalName) => void) | undefined;
  /** Every signal, in order: `SIGTERM group`, or `SIGTERM 4321` for a process outside the group. */
  readonly signals: readonly string[];
  /** How often its process tree has been looked at. */
  readonly looks: number;
  /** How often it has been asked who is blocked reading its stdin. */
  readonly readerAsked: number;
  /** Who is blocked reading its stdin; a promise for a platform that takes its time to tell. */
  reader: InputReader | "unknown" | undefined | Promise<undefined>;
  /** Each write, as text. */
  readonly writes: readonly string[];
  /** What of its input it does with: takes it, leaves it, or has closed its stdin. */
  stdin: "takes" | "leaves" | "closed";
  /** Takes that many of the writes it has left. */
  take(count?: number): void;
  /** Whether its stdin has been ended. */
  readonly inputEnded: boolean;
  /** Whether its terminal is in its normal mode; `undefined`: nobody can tell. */
  cooked: boolean | undefined;
  /** Sizes its terminal was given. */
  readonly sizes: readonly TerminalSize[];
  /** Whether its descriptors were let go. */
  readonly released: boolean;
}

/** A spawner in the hands of the test. */
export interface FakeSpawner extends Spawner {
  /** Every child, in the order of their starts. */
  readonly children: readonly FakeChild[];
  /** The newest child. */
  readonly last: FakeChild;
  /** What the next spawns fail with. */
  failure: OffstageError | undefined;
  /** A promise that the next spawns wait for. */
  gate: Promise<void> | undefined;
  /** What is said about the start of the next children. */
  warnings: readonly string[];
  /** What the next children print before their start is over. */
  early: string;
}

/** What a fake host can do. */
export interface FakeHost {
  readonly name?: string;
  readonly pty?: true | string;
  /** Whether process trees can be looked at, as on Linux. Default no. */
  readonly inspects?: boolean;
  /** Whether there are process groups. Default yes. */
  readonly groups?: boolean;
}

/** A promise and how to settle it. */
interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (reason: unknown) => void;
}

function deferred<T>(): Deferred<T> {
  let settlers!: Omit<Deferred<T>, "promise">;
  const promise = new Promise<T>((resolve, reject) => (settlers = { resolve, reject }));
  return { promise, ...settlers };
}

/** Process id of the first child. */
const FIRST_PID = 1_001;

/** Makes a spawner that starts nothing. */
export function createFakeSpawner(host: FakeHost = {}): FakeSpawner {
  const children: FakeChild[] = [];
  const capabilities: SpawnerCapabilities = { pty: host.pty ?? true, signals: true, groups: host.groups ?? true };
  const spawner: FakeSpawner = {
    name: host.name ?? "fake",
    children,
    get last() {
      const child = children.at(-1);
      if (child === undefined) throw new Error("Nothing has been spawned");
      return child;
    },
    failure: undefined,
    gate: undefined,
    warnings: [],
    early: "",
    capabilities: () => Promise.resolve(capabilities),
    spawn: async (spec, sink) => {
      await spawner.gate;
      if (spawner.failure !== undefined) throw spawner.failure;
      const { fake, child } = createFakeChild(spec, sink, FIRST_PID + children.length, host);
      children.push(fake);
      if (spawner.early !== "") fake.print(spawner.early);
      return { ...child, warnings: spawner.warnings };
    },
  };
  return spawner;
}

function createFakeChild(
  spec: SpawnSpec,
  sink: OutputSink,
  pid: number,
  { inspects = false, groups = true }: FakeHost,
): { readonly fake: FakeChild; readonly child: Child } {
  const exited = deferred<Exit>();
  const waiting: Deferred<void>[] = [];
  const signals: string[] = [];
  const writes: string[] = [];
  const sizes: TerminalSize[] = [];
  const started: FakeProcess[] = [];
  let hasExited = false;
  let outputClosed = false;
  const seen = { looks: 0, readerAsked: 0, inputEnded: false, released: false };
  let stdin: FakeChild["stdin"] = "takes";

  const closed = (): OffstageError => new OffstageError("stdin-closed", "nobody reads");
  const take = (count = Infinity): void => waiting.splice(0, count).forEach(({ resolve }) => resolve());

  const fake: FakeChild = {
    spec,
    pid,
    print: (output, stream = spec.terminal === undefined ? "stdout" : "terminal") =>
      sink.chunk(stream, typeof output === "string" ? new TextEncoder().encode(output) : output),
    exit: (how = 0) => {
      hasExited = true;
      exited.resolve(typeof how === "string" ? { signal: how } : { code: how });
    },
    closeOutput: () => {
      if (!outputClosed) sink.end();
      outputClosed = true;
    },
    end: (how) => {
      fake.closeOutput();
      fake.exit(how);
    },
    started,
    ignores: [],
    refuses: [],
    onSignal: undefined,
    signals,
    get looks() {
      return seen.looks;
    },
    get readerAsked() {
      return seen.readerAsked;
    },
    reader: undefined,
    writes,
    get stdin() {
      return stdin;
    },
    set stdin(state) {
      stdin = state;
      if (state === "takes") take();
      if (state === "closed") waiting.splice(0).forEach(({ reject }) => reject(closed()));
    },
    take,
    get inputEnded() {
      return seen.inputEnded;
    },
    cooked: undefined,
    sizes,
    get released() {
      return seen.released;
    },
  };

  function reach(name: SignalName): void {
    if (hasExited || name === "SIGCONT" || fake.ignores.includes(name)) return;
    if (fake.onSignal !== undefined) fake.onSignal(name);
    else fake.end(name);
  }

  function endStarted(name: SignalName, whom: (process: FakeProcess) => boolean): void {
    const left = started.filter((process) => !whom(process) || process.ignores?.includes(name));
    if (name !== "SIGCONT") started.splice(0, Infinity, ...left);
  }

  function signal(name: SignalName, target: "child" | "group"): SignalOutcome {
    signals.push(`${name} ${target}`);
    if (fake.refuses.includes(name)) return "refused";
    const reached = !hasExited || (target === "group" && started.some(({ inGroup }) => inGroup));
    if (target === "group") endStarted(name, ({ inGroup }) => inGroup);
    reach(name);
    return reached ? "sent" : "gone";
  }

  function signalStray(stray: FakeProcess, name: SignalName): SignalOutcome {
    signals.push(`${name} ${stray.pid}`);
    if (!started.includes(stray)) return "gone";
    endStarted(name, (process) => process === stray);
    return "sent";
  }

  function tree(): readonly TreeProcess[] {
    seen.looks += 1;
    const shell: TreeProcess = { pid, name: "bash", inGroup: true, signal: (name) => signal(name, "child") };
    const others = started.map((process): TreeProcess => ({
      pid: process.pid,
      name: process.name,
      inGroup: process.inGroup,
      signal: (name) => signalStray(process, name),
    }));
    return hasExited ? others : [shell, ...others];
  }

  function reader(): Promise<InputReader | "unknown" | undefined> {
    seen.readerAsked += 1;
    return Promise.resolve(fake.reader);
  }

  const child: Child = {
    pid,
    exited: exited.promise,
    write: (bytes) => {
      if (stdin === "closed") return Promise.reject(closed());
      writes.push(new TextDecoder().decode(bytes));
      if (stdin === "takes") return Promise.resolve();
      const write = deferred<void>();
      waiting.push(write);
      return write.promise;
    },
    endInput: () => {
      seen.inputEnded = true;
      return Promise.resolve();
    },
    signal,
    ...(groups && { groupAnswers: () => !hasExited || started.some(({ inGroup }) => inGroup) }),
    ...(spec.terminal !== undefined && {
      resize: (size: TerminalSize) => void sizes.push(size),
      isCooked: () => Promise.resolve(fake.cooked),
    }),
    ...(inspects && {
      inspector: { tree: () => Promise.resolve(tree()), reader },
    }),
    release: () => void (seen.released = true),
  };
  return { fake, child };
}
