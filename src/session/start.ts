/**
 * The beginning of a session: spawned, findable, timed and followed to its end.
 *
 * @module
 */
import { OffstageError } from "../errors.ts";
import type { Child, OutputSink, Spawner, SpawnSpec } from "../runtime.ts";
import { followToEnd } from "./end.ts";
import { withoutReport } from "./limit_report.ts";
import { withOutputLimit } from "./output_limit.ts";
import type { Registry } from "./registry.ts";
import type { Session } from "./session.ts";
import { stop } from "./stop.ts";
import { longTimer } from "./timing.ts";
import { waitFor } from "./wait.ts";
import { reportWarnings } from "./wording.ts";

/** Longest wait for the shell's report on its limits, ms: it comes within milliseconds, unless a host is busy or distant. */
const REPORT_WAIT_MS = 5_000;

/**
 * Starts a session's command. It can be found in the registry before this resolves, so an interrupted caller never
 * loses a process.
 *
 * @returns what the caller ought to know about the start
 * @throws {OffstageError} `spawn-failed` or `closed` when nothing was started; then there is no session either
 */
export async function startSession(
  session: Session,
  spawner: Spawner,
  spec: SpawnSpec,
  registry: Registry,
  killGraceMs: number,
): Promise<readonly string[]> {
  await registry.starting(session, async () => {
    session.child = childOf(spawner, await spawner.spawn(spec, limitedSink(session, killGraceMs)));
    registry.add(session);
  });
  follow(session, registry, killGraceMs);
  void session.log; // made while the command starts, and not when it ends without output
  return session.child.warnings ?? [];
}

/** A spawner may be anybody's: without its child's end the session would have none. */
function childOf({ name }: Spawner, child: Partial<Child> | undefined): Child {
  if (typeof child?.exited?.then === "function") return child as Child;
  throw new OffstageError(
    "spawn-failed",
    `Cannot start: the spawner "${name}" gave no child with a promise \`exited\``,
  );
}

/**
 * What the caller ought to know about the limits of a session that has just started, once its shell has reported.
 *
 * @throws an AbortError when `signal` fires
 */
export async function reportedLimits(session: Session, signal: AbortSignal | undefined): Promise<readonly string[]> {
  const hasReported = (): boolean => session.limitReport !== undefined;
  const met = (): boolean => hasReported() || session.exit !== undefined;
  await waitFor(session, met, { timeoutMs: REPORT_WAIT_MS, signal });
  session.limitsTold = hasReported(); // else the end tells it
  return reportWarnings(session);
}

/** The session's sink, behind what its limits need. */
function limitedSink(session: Session, killGraceMs: number): OutputSink {
  const { limits, reportsLimits } = session.facts;
  let { sink } = session;
  if (limits?.outputBytes !== undefined) {
    sink = withOutputLimit(sink, limits.outputBytes, () => {
      session.outputCut = true;
      if (session.state.kind === "running") session.stopCause ??= "limit";
      if (session.child !== undefined) void stop(session, "limit", killGraceMs);
    });
  }
  if (reportsLimits !== true) return sink;
  return withoutReport(sink, (words) => {
    session.limitReport = words;
    session.touch();
  });
}

/** Sets the timeout and awaits the end. Apart from the start, so that what lives as long as the session holds no spec. */
function follow(session: Session, registry: Registry, killGraceMs: number): void {
  const { clock, facts } = session;
  const cancelTimeout = longTimer(clock, facts.timeoutMs, () => void stop(session, "timeout", killGraceMs));
  if (session.outputCut) void stop(session, "limit", killGraceMs); // it was quicker than its start
  session.onSettled = () => {
    cancelTimeout();
    registry.ended(session);
  };
  void followToEnd(session).then((hadBeenGivenUp) => {
    if (hadBeenGivenUp) void registry.lookAgain(session);
  });
}
