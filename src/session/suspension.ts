/**
 * Suspension (spec S8): what keeps a host from being put to sleep, and a promise that nothing new begins until it is.
 *
 * @module
 */
import { AbortError, listProblems, OffstageError } from "../errors.ts";
import type { Clock } from "../runtime.ts";
import { signalProblems } from "../validate.ts";
import type { Leases } from "./leases.ts";
import type { Registry } from "./registry.ts";
import type { Session } from "./session.ts";
import type { waitFor } from "./wait.ts";

/**
 * Why a session blocks.
 *
 * - `starting` – its start is under way
 * - `running` – it runs in the background
 * - `ending` – it is being ended, or its last output is being read; removed sessions are among these
 * - `left-behind` – its shell has ended, but processes that it started run on
 */
export type BlockerWhy = "starting" | "running" | "ending" | "left-behind";

/** One session that blocks a suspension. Plain JSON. */
export interface Blocker {
  /** The session. */
  readonly sessionId: string;
  /** The agent that owns it. */
  readonly scope: string;
  /** Verb and target of its command. */
  readonly name: string;
  /** Wall clock of its start, ms since the epoch. */
  readonly startedAt: number;
  /** Process id of its shell; `null` before it has started, or where there is none. */
  readonly pid: number | null;
  /** Why it blocks. */
  readonly why: BlockerWhy;
}

/** What {@linkcode Suspension.prepareSuspend} answers: whether the host may be suspended now. */
export type SuspendAnswer =
  | {
    /** Nothing blocks, and new commands are refused until the lease ends. */
    readonly status: "ready";
    /** The lease, under the id it was asked for. */
    readonly requestId: string;
    /** Wall clock of its end unless it is renewed, ms since the epoch: two minutes from now. */
    readonly expiresAt: number;
    /** Commands that run in the foreground of a call. They do not block, but may still go to the background. */
    readonly foreground: number;
  }
  | {
    /** Something blocks; no lease is held under this id. */
    readonly status: "busy";
    /** What blocks, oldest first. */
    readonly blockers: readonly Blocker[];
  };

/**
 * What a host asks before it is suspended.
 *
 * A session blocks from its yield until its exit is confirmed: until its whole tree has ended, or has been given up after
 * SIGKILL. `remove` does not release it earlier. A command in the foreground does not block, whoever called it waits for
 * it; a start that is under way does.
 */
export interface Suspension {
  /** How many sessions block. */
  activeCount(): number;
  /** The sessions that block, of all scopes, oldest first. */
  blockers(): readonly Blocker[];
  /**
   * Resolves as soon as nothing blocks; at once if nothing does. It takes no lease: ask
   * {@linkcode Suspension.prepareSuspend} afterwards.
   *
   * @throws an AbortError when `signal` fires first
   */
  whenIdle(signal?: AbortSignal): Promise<void>;
  /**
   * Asks whether the host may be suspended, and takes a lease if so: for two minutes `exec` is refused in all scopes
   * (`reason: "refused"`), while `process` works as ever. Asked again with the same id it renews that lease, unless
   * something blocks by now (a foreground command may have gone to the background): then it answers `busy` and the lease
   * is gone, so ask once more right before the host sleeps. Leases of different ids are independent; `exec` is refused
   * until all of them have ended or been lifted.
   *
   * @param requestId any name for the request, the same for renewal and {@linkcode Suspension.resume}
   * @throws {OffstageError} `invalid` if the id is blank
   *
   * @example Sleep when there is nothing left to do
   * ```ts
   * import type { Offstage } from "offstage";
   *
   * async function sleepWhenIdle(offstage: Offstage, sleep: () => Promise<void>): Promise<void> {
   *   await offstage.whenIdle();
   *   if (offstage.prepareSuspend("nightly").status === "busy") return;
   *   try {
   *     await sleep();
   *   } finally {
   *     offstage.resume("nightly");
   *   }
   * }
   * ```
   */
  prepareSuspend(requestId: string): SuspendAnswer;
  /**
   * Lifts a lease.
   *
   * @returns whether it was held; `false` if it had ended by itself
   */
  resume(requestId: string): boolean;
}

/** How often the processes that a shell has left behind are looked at while somebody asks, ms: nothing tells their end. */
const LEFT_BEHIND_LOOK_MS = 1_000;

/** What a suspension needs. */
export interface SuspensionOptions {
  /** The sessions. */
  readonly registry: Registry;
  /** The leases that are held. */
  readonly leases: Leases;
  /** Time. */
  readonly clock: Clock;
  /** Waits for something of a session; not called before there is one. */
  readonly waitFor: typeof waitFor;
}

/** Suspension of the sessions of one registry. */
export function createSuspension({ registry, leases, clock, waitFor }: SuspensionOptions): Suspension {
  let lastLook = -Infinity;

  const whyOf = (session: Session): BlockerWhy | undefined => registry.isActive(session) ? why(session) : undefined;
  const blocking = (): readonly Session[] => registry.active().filter((session) => why(session) !== undefined);

  /** Who is left behind is known from the last look. This answer is from memory; the next one knows better. */
  function blockingNow(): readonly Session[] {
    const sessions = blocking();
    if (clock.monotonic() - lastLook >= LEFT_BEHIND_LOOK_MS) void lookAtLeftBehind(sessions);
    return sessions;
  }

  async function lookAtLeftBehind(sessions: readonly Session[]): Promise<void> {
    const left = sessions.filter((session) => why(session) === "left-behind");
    if (left.length === 0) return;
    lastLook = clock.monotonic();
    await Promise.all(left.map((session) => registry.lookAgain(session)));
  }

  return {
    activeCount: () => blockingNow().length,
    blockers: () => blockingNow().map(toBlocker),
    whenIdle: async (signal) => {
      const problems = signalProblems(signal);
      if (problems.length > 0) {
        throw new OffstageError("invalid", `Cannot wait: ${listProblems(problems)}`, { problems });
      }
      for (;;) {
        if (signal?.aborted) throw new AbortError("The wait was aborted", signal.reason);
        const sessions = blocking();
        // One after the other is as good as all at once; the left-behind last, for theirs is the only end that must be looked for.
        const next = sessions.find((session) => why(session) !== "left-behind") ?? sessions[0];
        if (next === undefined) return;
        const reason = whyOf(next);
        const timeoutMs = reason === "left-behind" ? LEFT_BEHIND_LOOK_MS : Infinity;
        const end = await waitFor(next, () => whyOf(next) !== reason, { timeoutMs, signal });
        if (end === "timeout") await lookAtLeftBehind(sessions);
      }
    },
    prepareSuspend: (requestId) => {
      if (typeof requestId !== "string" || requestId.trim() === "") {
        throw new OffstageError("invalid", "Cannot prepare a suspension: its requestId is blank. Give it a name");
      }
      const blockers = blockingNow().map(toBlocker);
      if (blockers.length > 0) {
        leases.lift(requestId);
        return { status: "busy", blockers };
      }
      const foreground = registry.active().filter(({ state }) => state.kind === "running").length;
      return { status: "ready", requestId, expiresAt: leases.take(requestId), foreground };
    },
    resume: (requestId) => leases.lift(requestId),
  };
}

/** Why a session that has processes, or is about to, blocks; `undefined` if it does not. */
function why({ child, listed, facts, state, stopping, exit, stopped }: Session): BlockerWhy | undefined {
  if (child === undefined) return "starting";
  if (!listed && !facts.background) return undefined;
  if (stopping !== undefined) return "ending";
  if (state.kind === "running") return exit === undefined ? "running" : "ending";
  return stopped || state.survivors.length === 0 ? undefined : "left-behind";
}

function toBlocker(session: Session): Blocker {
  const { id, name, startedAt, child, facts } = session;
  return {
    sessionId: id,
    scope: facts.scope,
    name,
    startedAt,
    pid: child?.pid ?? null,
    why: why(session) ?? "ending",
  };
}
