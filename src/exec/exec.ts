/**
 * `exec`: starts a command and answers when it has ended or when the caller has waited long enough.
 *
 * @module
 */
import { AbortError, type ErrorCode, messageOf, OffstageError } from "../errors.ts";
import { boundedOutput } from "../output/budget.ts";
import type { Events } from "../session/events.ts";
import type { Registry } from "../session/registry.ts";
import { createLineWatch } from "../session/line_watch.ts";
import { tellEnd } from "../session/news.ts";
import { Session } from "../session/session.ts";
import { createSessionLog } from "../session/session_log.ts";
import { reportedLimits, startSession } from "../session/start.ts";
import { stop } from "../session/stop.ts";
import { survivorsSentence } from "../session/wording.ts";
import { waitFor } from "../session/wait.ts";
import { signalProblems } from "../validate.ts";
import { refuseIfAborted, unlessAborted } from "./aborted.ts";
import { ended, type ExecAnswer, notStarted, running, type RunningNews } from "./answer.ts";
import { foreground } from "./foreground.ts";
import { type Plan, prepare, type PrepareContext } from "./prepare.ts";
import { fullError, isFull } from "./full.ts";
import { checkExec, type ExecParams } from "./schema.ts";
import { type ExecUpdate, followUpdates } from "./updates.ts";

export { closeDirectory, listedNodes } from "./ask_directory.ts";
export { endAll } from "../session/end_all.ts";
export { createKeeping } from "../session/keeping.ts";
export { viewOf } from "../session/view.ts";
export { waitFor } from "../session/wait.ts";

/** What `exec` needs to know of the instance. */
export interface ExecContext extends PrepareContext {
  /** All sessions. */
  readonly registry: Registry;
  /** Where the end, and what matches, is told. */
  readonly events: Events;
}

/** What a call of `exec` may bring beside its parameters. */
export interface ExecOptions {
  /** Aborts the call: before the start nothing starts, in the foreground the tree is killed, later it has no effect. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Ends the wait without ending the command: when it fires while the call waits, the answer is `running` at once. For a
   * caller who has gone away, or has better things to do. No effect if the agent cannot call `process`.
   */
  readonly yieldSignal?: AbortSignal | undefined;
  /** Given the newest output while the call waits, at most ten times a second; never after the answer. */
  readonly onUpdate?: ((update: ExecUpdate) => void) | undefined;
}

/** A session that has been started, and what the caller ought to know about that. */
interface Started {
  readonly session: Session;
  readonly warnings: readonly string[];
}

/** Shortest and longest wait before the answer, ms (spec E4). */
const YIELD_RANGE_MS = [10, 120_000] as const;

/** Most sessions that are named as running the same command: who started thousands of them knows. */
const MOST_TWINS = 3;

/** Failures of a start on a terminal that a start on pipes need not share. */
const NO_TERMINAL_CODES: readonly ErrorCode[] = ["spawn-failed", "unsupported"];

/**
 * Runs a command.
 *
 * @param input the parameters, unchecked; see {@linkcode ExecParams}
 * @returns the answer, also for bad input and failed starts
 * @throws an AbortError when `options.signal` fires before the command went to the background
 */
export async function exec(context: ExecContext, input: unknown, options: ExecOptions): Promise<ExecAnswer> {
  const { signal, yieldSignal } = options;
  const checked = checkExec(input);
  const ofSignals = [...signalProblems(signal), ...signalProblems(yieldSignal, "yieldSignal")];
  if (!checked.ok || ofSignals.length > 0) {
    const problems = [...(checked.ok ? [] : checked.problems), ...ofSignals];
    return notStarted(new OffstageError("invalid", "The command was not run", { problems }));
  }
  const params = checked.value;
  refuseIfAborted(signal);
  let freeSeat = (): void => {};
  let started: Started;
  try {
    context.registry.checkMayStart();
    if (isFull(context)) throw await fullError(context);
    if (yieldAfterMs(context, params) === 0) freeSeat = context.registry.keepSeat(context.scope);
    const plan = await unlessAborted(prepare(context, params, signal), signal);
    started = await startSomehow(context, plan, params);
  } catch (error) {
    freeSeat();
    if (error instanceof AbortError) throw error;
    if (error instanceof OffstageError) return notStarted(error);
    const why = `Cannot start the command: its host failed (${messageOf(error)})`;
    return notStarted(new OffstageError("spawn-failed", why, { cause: error }));
  }
  try {
    return await answerWhenDue(context, params, options, started);
  } finally {
    freeSeat();
  }
}

/** Starts what was planned, on pipes if its terminal cannot be opened (spec E6). */
async function startSomehow(context: ExecContext, plan: Plan, params: ExecParams): Promise<Started> {
  try {
    return await start(context, plan, params);
  } catch (error) {
    if (!(error instanceof OffstageError)) throw error;
    if (plan.terminal !== undefined && NO_TERMINAL_CODES.includes(error.code)) {
      return await startSomehow(context, plan.onPipes(error.message), params);
    }
    if (error.code === "spawn-failed") await plan.checkWorkdir();
    throw error;
  }
}

/** Spawns what was planned as a session of this scope. */
async function start(context: ExecContext, plan: Plan, params: ExecParams): Promise<Started> {
  const { registry, settings, runtime, scope } = context;
  const { request, argv, stdin, terminal, reportsLimits } = plan;
  const facts = {
    id: registry.newId(),
    scope,
    command: request.command,
    host: plan.hostName,
    node: request.node,
    cwd: request.cwd,
    shell: plan.shell.kind,
    pty: terminal !== undefined,
    terminal,
    stdin,
    timeoutMs: plan.timeoutMs,
    limits: request.limits,
    reportsLimits,
    notifyOnExit: params.notifyOnExit ?? settings.notifyOnExit,
    idleEndMs: settings.idleEndMs,
    background: yieldAfterMs(context, params) === 0,
  };
  const held = { chars: settings.maxOutputChars, head: Math.ceil(settings.maxResultChars / 2) };
  const session = new Session(facts, runtime.clock, (session) => createSessionLog(session, held));
  const spec = { argv, cwd: request.cwd, env: plan.environment(session.id), stdin, sessionId: session.id, scope };
  const warnings = await startSession(
    session,
    plan.spawner,
    terminal === undefined ? spec : { ...spec, terminal },
    registry,
    settings.killGraceMs,
  );
  return { session, warnings: [...plan.warnings, ...warnings] };
}

/** Waits in the foreground, and makes the answer. */
async function answerWhenDue(
  context: ExecContext,
  params: ExecParams,
  options: ExecOptions,
  { session, warnings: atStart }: Started,
): Promise<ExecAnswer> {
  const { registry, events, processTool } = context;
  if (params.notifyOn !== undefined && processTool) {
    session.lineWatch = createLineWatch(session, params.notifyOn, events.matchesOf(session, params.notifyOn.pattern));
  }
  const stopUpdates = options.onUpdate === undefined ? () => {} : followUpdates(session, options.onUpdate);
  try {
    const reported = session.facts.reportsLimits === true ? await reportedLimits(session, options.signal) : [];
    const warnings = [...atStart, ...reported];
    const due = await foreground(session, yieldAfterMs(context, params), {
      signal: options.signal,
      yieldSignal: processTool ? options.yieldSignal ?? undefined : undefined,
    });
    if (due !== "ended" && session.state.kind === "running") { // an end since then is told here, and makes no event
      const match = session.lineWatch?.toBackground();
      const twins = twinsOf(context, session);
      session.log.releaseHead();
      registry.show(session);
      return running(session, { warnings, ...twins, notice: events.noticeOf(session), match, input: due.input });
    }
    session.lineWatch?.stop();
    return conclude(context, session, warnings);
  } catch (error) {
    session.lineWatch?.stop();
    throw error instanceof AbortError ? await abort(context, session, error) : error;
  } finally {
    stopUpdates();
  }
}

/** Ends an aborted command's tree; what cannot be ended is kept for `process`, and named. */
async function abort(context: ExecContext, session: Session, { cause }: AbortError): Promise<AbortError> {
  const { registry, settings } = context;
  await stop(session, "aborted", settings.killGraceMs);
  await waitFor(session, () => session.state.kind === "ended", { timeoutMs: Infinity });
  const { text } = boundedOutput(session.log, settings.maxResultChars, settings.foldRepeats);
  const survivors = session.state.kind === "ended" ? session.state.survivors : [];
  if (survivors.length === 0) {
    registry.drop(session);
    return new AbortError("The command was aborted and its processes were ended", cause, text);
  }
  tellEnd(session);
  registry.show(session);
  return new AbortError(`The command was aborted, but ${survivorsSentence(session.id, survivors)}`, cause, text);
}

function conclude(context: ExecContext, session: Session, warnings: readonly string[]): ExecAnswer {
  const { registry, settings, processTool } = context;
  const output = boundedOutput(session.log, settings.maxResultChars, settings.foldRepeats);
  session.log.releaseHead();
  tellEnd(session);
  const survivors = session.state.kind === "ended" ? session.state.survivors.length : 0;
  const kept = survivors > 0 || (output.truncated && processTool); // survivors also for killAll and close to end
  if (kept) registry.show(session);
  else registry.drop(session);
  return ended(session, output, warnings, kept && processTool);
}

function yieldAfterMs({ settings, processTool }: ExecContext, params: ExecParams): number {
  if (!processTool) return Infinity;
  if (params.background === true || params.yieldMs === 0) return 0;
  const [least, most] = YIELD_RANGE_MS;
  return Math.min(most, Math.max(least, params.yieldMs ?? settings.backgroundMs));
}

function twinsOf({ registry }: ExecContext, session: Session): Pick<RunningNews, "twins" | "moreTwins"> {
  const all = registry.live.twins(session);
  const twins = all.slice(-MOST_TWINS).map(({ id }) => id);
  return { twins, ...(all.length > twins.length && { moreTwins: all.length - twins.length }) };
}
