/**
 * What the routes answer, as JSON Schemas: the types that `mod.ts` exports, in words for every language.
 *
 * @module
 */
import { choice, flag, having, type JsonSchema, list, named, orNull, perhaps, text, whole } from "./json_schema.ts";

const SIGNAL = text("Name of a signal, such as SIGTERM");
const EPOCH_MS = "ms since the epoch";
const STREAM = choice(["stdout", "stderr", "terminal"]);
const OPEN = choice(["open", "closed"], "Whether it can be written to");
const PTY = flag("Whether it has a terminal");
const HOST = text("gateway (the server's own machine), sandbox, or a node's name");
const NODE = { node: text("The node it runs on, if it runs on one") };
const WARNINGS = list(text(), "What the caller ought to know");

const OUTCOME = {
  status: choice(["completed", "failed", "killed"], "completed: it ended by itself, whatever its code"),
  ok: flag("Whether it completed with code 0"),
  exitCode: orNull(whole("Null if a signal ended it, or if it is unknown")),
  signal: orNull(SIGNAL),
  reason: choice(["exit", "signal", "timeout", "killed", "aborted", "shutdown", "spawn-error"]),
  limit: orNull(having({ name: text(), evidence: text() })),
};

/** The same words as in an outcome; null while it runs. */
const STATUS = {
  sessionId: text(),
  status: choice(["running", "completed", "failed", "killed"]),
  ok: orNull(OUTCOME.ok),
  exitCode: OUTCOME.exitCode,
  signal: OUTCOME.signal,
  reason: orNull(OUTCOME.reason),
  limit: OUTCOME.limit,
};

const WAITING = {
  waitingForInput: flag("Whether its program waits for input"),
  evidence: orNull(choice(["blocked-in-read", "idle"], "How that is known")),
};

const EVENT = { id: text("For /v1/events/ack"), sessionId: text(), scope: text(), name: text() };

/** Schemas by name; what they have beyond this is described in the README. */
export const ANSWERS: Readonly<Record<string, JsonSchema>> = {
  Error: having({
    error: {
      ...having({ code: text("A stable word for programs"), message: text(), hint: text("What to do next") }),
      properties: {
        code: text("A stable word for programs"),
        message: text("What is wrong"),
        hint: text("What to do next"),
        problems: list(named("Problem"), "Everything that is wrong with the parameters, if the code is invalid"),
      },
    },
  }),
  Problem: having({ key: text("Dotted path of the key"), message: text() }),
  Outcome: having(OUTCOME, "How a session ended"),
  Survivor: having({ pid: whole(), name: text() }, "A process that a session has left behind"),
  RunningDetails: having(
    {
      status: choice(["running"]),
      sessionId: text("By which /v1/process and /v1/sessions know it"),
      pid: orNull(whole()),
      startedAt: whole(EPOCH_MS),
      cwd: text(),
      name: text("Verb and target of its command"),
      host: HOST,
      shell: text(),
      pty: PTY,
      stdin: OPEN,
      ...WAITING,
      tail: text("Its newest output"),
      timeoutAt: orNull(whole(EPOCH_MS)),
      twins: list(text(), "Sessions that run the same command in the same directory: the newest three"),
      warnings: WARNINGS,
    },
    "The command runs on in the background",
    { ...NODE, moreTwins: whole("How many more of those there are") },
  ),
  EndedDetails: having(
    {
      ...OUTCOME,
      output: text("What it printed, rendered"),
      truncated: flag("Whether some of the output is left out"),
      omittedChars: whole(),
      omittedLines: whole(),
      durationMs: { type: "number" },
      startedAt: whole(EPOCH_MS),
      cwd: text(),
      host: HOST,
      shell: text(),
      pty: PTY,
      survivors: list(named("Survivor")),
      warnings: WARNINGS,
    },
    "The command has ended; with a sessionId if there is more to ask for",
    NODE,
  ),
  NotStartedDetails: having({
    status: choice(["failed"]),
    reason: choice(["invalid", "refused", "spawn-error", "shutdown"]),
    message: text(),
    problems: list(named("Problem")),
  }, "Nothing was started"),
  ExecAnswer: toolAnswer({
    anyOf: [named("RunningDetails"), named("EndedDetails"), named("NotStartedDetails")],
  }),
  StatusDetails: having(STATUS, "State of a session"),
  FailureDetails: having({
    status: choice(["failed"]),
    reason: choice(["invalid", "unknown-session", "gone", "not-possible"]),
    message: text("What happened and what to do next"),
    problems: list(named("Problem")),
    known: list(text(), "Ids of the scope's sessions, if the one given is not among them"),
  }, "The call failed; nothing was done"),
  ProcessAnswer: toolAnswer({
    anyOf: [named("StatusDetails"), named("SessionList"), named("FailureDetails")],
    description: "What the action answers beside the session's state",
  }),
  SessionList: having({ sessions: list(named("Session"), "Newest start first") }),
  Session: having(
    {
      ...STATUS,
      scope: text("The agent that owns it"),
      name: text("Verb and target of its command"),
      runtimeMs: whole("How long it has run, or ran"),
      startedAt: whole(EPOCH_MS),
      pid: orNull(whole()),
      cwd: text(),
      host: HOST,
      pty: PTY,
      stdin: OPEN,
      ...WAITING,
      idleMs: whole("Since its last output or input"),
      truncated: flag("Whether older output is not held any more"),
      survivors: list(named("Survivor")),
      tail: text("Its last line"),
    },
    "A session",
    NODE,
  ),
  SessionEnds: having({
    ended: list(having({
      sessionId: text(),
      name: text(),
      outcome: named("Outcome"),
      survivors: list(named("Survivor")),
    })),
  }),
  LogPage: having({
    ...STATUS,
    lines: list(having({ number: whole("From 0"), text: text() })),
    totalLines: whole("Lines ever, held or not"),
    firstHeld: whole("First line that is still held"),
    nextOffset: orNull(whole("Where to go on")),
    olderOffset: orNull(whole("Where older lines are")),
    truncated: flag(),
    matches: orNull(whole("Lines that match grep, on this page or not")),
    bytes: orNull(having({ base64: text(), from: whole(), to: whole(), total: whole() })),
    stdin: OPEN,
    idleMs: whole(),
    ...WAITING,
  }),
  Screen: having({
    ...STATUS,
    rows: list(text(), "From the top; with since only those that have changed"),
    rowNumbers: list(whole()),
    cursor: having({ row: whole(), col: whole() }),
    size: named("TerminalSize"),
    title: orNull(text()),
    alternateScreen: flag("Whether a full-screen program is up"),
    scrollback: list(text()),
    revision: whole("For the since of the next call"),
    missingBytes: whole(),
    wokenBy: text("What ended the wait"),
    ...WAITING,
  }),
  TerminalSize: having({ cols: whole(), rows: whole() }),
  OutputEvent: having({ offset: whole("Of its first byte"), stream: STREAM }, "With text, or base64"),
  GapEvent: perhaps({
    from: whole("First byte that is missing"),
    to: whole("First byte that is not"),
    missed: whole("Of /v1/events: events that were left out"),
  }),
  EndEvent: having({ exit: orNull(named("Outcome")) }),
  ExitEvent: having({ type: choice(["exit"]), ...EVENT, ...OUTCOME, durationMs: { type: "number" }, snippet: text() }),
  MatchEvent: having({
    type: choice(["match"]),
    ...EVENT,
    pattern: text(),
    line: text(),
    lineNumber: whole(),
    matched: whole(),
    untold: whole(),
    skippedLines: whole(),
  }),
  NodeList: having({ nodes: list(named("Node")) }),
  Node: having(
    {
      id: text("Its name, for exec's node"),
      state: choice(["online", "lost"], "lost: it was there and does not answer"),
      labels: { type: "object", additionalProperties: text(), description: "For exec's node: any:<label>=<value>" },
      running: whole("Commands that run there now"),
    },
    "A machine that runs commands",
    {
      system: text("Such as linux x64"),
      runtime: text("Such as node 24.1.0"),
      lastSeenMs: whole("Since it was last heard of"),
    },
  ),
  Acked: having({ acked: whole("How many were there") }),
  Activity: having({ active: whole(), blockers: list(named("Blocker")) }),
  Blocker: having({
    sessionId: text(),
    scope: text(),
    name: text(),
    startedAt: whole(EPOCH_MS),
    pid: orNull(whole()),
    why: choice(["starting", "running", "ending", "left-behind"]),
  }),
  SuspendAnswer: {
    oneOf: [
      having({
        status: choice(["ready"]),
        requestId: text(),
        expiresAt: whole(`${EPOCH_MS}; two minutes from now`),
        foreground: whole("Commands in the foreground of a call: they do not block"),
      }),
      having({ status: choice(["busy"]), blockers: list(named("Blocker")) }),
    ],
  },
  Resumed: having({ resumed: flag("Whether there was such a lease") }),
  Health: having({ ok: flag(), attach: flag("Whether sessions can be attached to") }),
};

function toolAnswer(details: JsonSchema): JsonSchema {
  return having({
    text: text("For a model: the output, and what to do next"),
    details,
    isError: flag("Whether the call failed; a command that exits with 1 has not"),
  });
}
