/**
 * The seam between the core and the machine: types only.
 *
 * An adapter supplies a {@linkcode Runtime}; the core decides, the adapter does. What a host cannot do is a
 * capability or an absent method, never a runtime name the core would have to know.
 *
 * @module
 */

/** Names of the signals that can be sent or reported. */
export type SignalName =
  | "SIGHUP"
  | "SIGINT"
  | "SIGQUIT"
  | "SIGILL"
  | "SIGTRAP"
  | "SIGABRT"
  | "SIGBUS"
  | "SIGFPE"
  | "SIGKILL"
  | "SIGUSR1"
  | "SIGSEGV"
  | "SIGUSR2"
  | "SIGPIPE"
  | "SIGALRM"
  | "SIGTERM"
  | "SIGSTKFLT"
  | "SIGCHLD"
  | "SIGCONT"
  | "SIGSTOP"
  | "SIGTSTP"
  | "SIGTTIN"
  | "SIGTTOU"
  | "SIGURG"
  | "SIGXCPU"
  | "SIGXFSZ"
  | "SIGVTALRM"
  | "SIGPROF"
  | "SIGWINCH"
  | "SIGIO"
  | "SIGPWR"
  | "SIGSYS";

/** Where a chunk of output came from. A terminal has one stream for both. */
export type StreamName = "stdout" | "stderr" | "terminal";

/**
 * How a child ended. `code: null` means that the back-end cannot tell the code (never 0 by guess). `lost` says, for people,
 * why the host it ran on cannot be reached any more: how it ends there, and when, will not be known.
 */
export type Exit =
  | { readonly code: number | null; readonly signal?: undefined; readonly lost?: undefined }
  | { readonly signal: SignalName; readonly code?: undefined; readonly lost?: undefined }
  | { readonly lost: string; readonly code?: undefined; readonly signal?: undefined };

/** What became of a signal: delivered, nobody there any more, or not permitted. */
export type SignalOutcome = "sent" | "gone" | "refused";

/** Everything a spawner needs to start one command. */
export interface SpawnSpec {
  /** Program and arguments; nothing in it is interpreted further. */
  readonly argv: readonly [string, ...string[]];
  /** Absolute working directory. One that a caller has named is known to exist. */
  readonly cwd: string;
  /** The whole environment of the child: nothing is added to it, unless it runs on another machine. */
  readonly env: Readonly<Record<string, string>>;
  /** `closed` is `/dev/null`: a read sees the end at once. Ignored with `terminal`. */
  readonly stdin: "open" | "closed";
  /** Present: the child gets a pseudo-terminal of that size instead of pipes. */
  readonly terminal?: TerminalSize;
  /** The session's id: the value of `OFFSTAGE_SESSION_ID`, by which processes that left the group are found. */
  readonly sessionId: string;
  /** The agent that asks, whose session it is; `*` is the admin. */
  readonly scope: string;
}

/** Size of a terminal in character cells, 1…1000 each. */
export interface TerminalSize {
  /** Columns. */
  readonly cols: number;
  /** Rows. */
  readonly rows: number;
}

/** Receives a child's output. Its methods never throw. */
export interface OutputSink {
  /**
   * Takes one piece of output in the order it was read. The sink keeps a reference to `bytes`:
   * the spawner must not write to that memory again.
   */
  chunk(stream: StreamName, bytes: Uint8Array): void;
  /** All streams are at their end, or released; called once, after the last chunk. */
  end(): void;
}

/** One live process of a session's tree, as an inspector saw it. Zombies are not live. */
export interface TreeProcess {
  /** Its process id. */
  readonly pid: number;
  /** Its short command name, for people. */
  readonly name: string;
  /** Whether it is in the child's process group (a group signal reaches it). */
  readonly inGroup: boolean;
  /** Signals exactly this process: never one that got the pid after it. */
  signal(name: SignalName): SignalOutcome;
}

/** A process that is blocked reading the input it was given. */
export interface InputReader extends TreeProcess {
  /** Whether it waits for a socket as well, as relays (`ssh`) do: that it waits for input then says little. */
  readonly relays?: boolean;
  /**
   * Tells its sleeps apart: the same text again means that it has not run in between. Absent where the platform does not
   * count them.
   */
  readonly sleep?: string;
}

/** Looks at a child's process tree. Supplied where the platform can tell (Linux `/proc`). */
export interface TreeInspector {
  /** Live processes of the tree: members of the group, and those that left it but carry the session's id. */
  tree(): Promise<readonly TreeProcess[]>;
  /** A process of the tree that is blocked reading the stdin or terminal it was given; `"unknown"` where that is hidden. */
  reader(): Promise<InputReader | "unknown" | undefined>;
}

/** A started child. Every method is safe to call after the exit. */
export interface Child {
  /** Process id on its host, where there is one. */
  readonly pid?: number;
  /**
   * Whether that is a number of another machine's: then the orphan guard of this one is not told of it, and the spawner
   * sees to it that nothing is left running there. Default: it is this machine's.
   */
  readonly isElsewhere?: boolean;
  /** Resolves once, when the child itself (the shell) has ended; never rejects. Does not wait for its output. */
  readonly exited: Promise<Exit>;
  /**
   * Writes to stdin or the terminal; resolves when the operating system has taken all of it.
   * Rejects with an `OffstageError` of code `stdin-closed` when nobody will read it any more.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes stdin after what has been written. On a terminal: does nothing (the core types ^D). */
  endInput(): Promise<void>;
  /**
   * Sends a signal to the child alone or to its whole process group. A group signal is sent only once the group is
   * proved to be the child's own; otherwise the child alone gets it.
   */
  signal(name: SignalName, target: "child" | "group"): SignalOutcome;
  /** Whether any process (a zombie too) is still in the child's group. Absent where groups do not exist. */
  groupAnswers?(): boolean;
  /** Changes the terminal's size; absent without a terminal. */
  resize?(size: TerminalSize): void;
  /**
   * Whether its terminal is in its normal (cooked) mode, in which it keeps a line back until Enter and cuts a long one;
   * `undefined` if that cannot be told. Asked only about lines that are too long for it. Absent without a terminal.
   */
  isCooked?(): Promise<boolean | undefined>;
  /** Process tree of the child, where the platform can tell. */
  readonly inspector?: TreeInspector;
  /**
   * Lets go of the child's input and output, which is their end for the sink. What the tree still prints is lost;
   * nothing is signalled. Idempotent.
   */
  release(): void;
  /**
   * Stops the reading of its output, or goes on with it: a child that prints more than the system keeps waits meanwhile.
   * What has been read already may still come. Absent where that cannot be done.
   */
  hold?(isHeld: boolean): void;
  /** Says whether it keeps the host alive while it runs. Default: it does. Absent where that cannot be changed. */
  keepAlive?(keeps: boolean): void;
  /** What the caller ought to know about how it was started, e.g. that a terminal was refused. */
  readonly warnings?: readonly string[];
}

/** What a spawner's host can do. The core branches on these, never on a runtime name. */
export interface SpawnerCapabilities {
  /** Pseudo-terminals: `true`, or the reason why there are none. */
  readonly pty: true | string;
  /** Signals other than a plain end. */
  readonly signals: boolean;
  /** Process groups: a signal reaches children too. */
  readonly groups: boolean;
}

/** What is at a path, as far as running a command there is concerned. `outside`: the host keeps commands out of it. */
export type DirectoryStatus = "ok" | "missing" | "not-a-directory" | "not-permitted" | "outside";

/** Where a spawner's commands run, if that is not simply this machine: asked before each start instead of the runtime. */
export interface Place {
  /** The directory in which they run unless a call says otherwise, absolute; relative ones start from it. */
  cwd(): string | Promise<string>;
  /** The home directory there, for `~`. */
  home(): string | undefined | Promise<string | undefined>;
  /** Looks at a directory a command is to run in; `ok` where only the start can tell. */
  directoryStatus(path: string): DirectoryStatus | Promise<DirectoryStatus>;
  /** Whether a program of that name or path can be run there: asked for the shell. */
  hasProgram(nameOrPath: string): boolean | Promise<boolean>;
}

/** Starts commands on one kind of host. */
export interface Spawner {
  /** Short name for people, e.g. `node` or `bubblewrap`. */
  readonly name: string;
  /** Where its commands run. Absent: this machine, as the runtime sees it. */
  readonly place?: Place;
  /** What this host can do; asked before each spawn, so a lazily loaded back-end may find out first. */
  capabilities(): Promise<SpawnerCapabilities>;
  /**
   * Descriptors of this process that a child would be given although they are others' (open terminals, where the runtime
   * cannot mark them close-on-exec). The shell is told to close them before it runs the command.
   */
  inherited?(): readonly number[];
  /**
   * Starts a command.
   *
   * @throws {OffstageError} `spawn-failed` when nothing was started
   */
  spawn(spec: SpawnSpec, sink: OutputSink): Promise<Child>;
}

/** A host that starts its commands by way of this machine's own spawner, which `createOffstage` gives it. */
export type WrappingHost = (inner: Spawner) => Spawner;

/** Time, as a parameter. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a clock that never jumps. */
  monotonic(): number;
  /**
   * Calls `fire` once after `ms` (at most 2^31 - 1); with 0, once what is there to be read by now has been read.
   * `holding: true` keeps the host alive until then: for a wait that a caller's promise depends on.
   *
   * @returns a function that cancels it; safe to call twice
   */
  timer(ms: number, fire: () => void, holding?: boolean): () => void;
}

/** Whether there is a guard: `on`; `idle`, it is started with the first command that lasts; or `off`, and why not. */
export type GuardStatus = "on" | "idle" | `off: ${string}`;

/**
 * Sees to it that the commands of one instance are ended within two seconds if the host dies without ending them itself:
 * their process groups, and every process that carries their session's id.
 */
export interface OrphanGuard {
  /**
   * The value of `OFFSTAGE_INSTANCE` in the environment of each command, by which one is found that was started so short
   * a time before the host's death that nobody had been told of it.
   */
  readonly instance: string;
  /** A command has been started as the leader of a group. It costs next to nothing: most are over in no time. */
  watch(pid: number, sessionId: string): void;
  /** A command is going to stay, or its leader has ended and others of its group live on. */
  tell(sessionId: string): void;
  /** A command and its processes have ended. Safe for one that is not watched. */
  release(sessionId: string): void;
  /** Whether commands are guarded. */
  status(): GuardStatus;
  /** Nothing is to be guarded any more. Idempotent. */
  close(): void;
}

/** Everything the core needs from the machine. */
export interface Runtime {
  /** Name and version for people, e.g. `node 24.1.0`. */
  readonly name: string;
  /** Decides between POSIX shells and PowerShell. */
  readonly platform: "posix" | "windows";
  /** Runs commands on this machine: host `gateway`. */
  readonly spawner: Spawner;
  /** Time. */
  readonly clock: Clock;
  /** The host's environment, read on each call. If nothing has changed it may be the same object, which is frozen then. */
  environment(): Readonly<Record<string, string>>;
  /** The host's working directory, absolute. */
  cwd(): string;
  /** The user's home directory, for `~`. */
  home(): string | undefined;
  /** Looks at a directory a command is to run in. */
  directoryStatus(path: string): Promise<DirectoryStatus>;
  /** Whether a program of that name or path can be run. */
  hasProgram(nameOrPath: string): Promise<boolean>;
  /** Whether something listens on that TCP port of this machine's loopback. */
  portOpen(port: number): Promise<boolean>;
  /** Cryptographically random bytes. */
  randomBytes(count: number): Uint8Array;
  /** Makes the orphan guard of one instance. Absent where there is no way to have one. */
  guard?(): OrphanGuard;
  /**
   * Calls `end` when the host is about to end (signal, uncaught error, normal end) and waits for it as far as the
   * host allows.
   *
   * @param options `signals: false`: not at a signal that the host listens to itself. Default: true
   * @returns a function that unregisters it
   */
  onShutdown(end: () => Promise<void>, options?: { readonly signals?: boolean }): () => void;
}
