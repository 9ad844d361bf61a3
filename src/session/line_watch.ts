/**
 * Watching a session's output for lines that match (`notifyOn` of `exec`): in batches, each line once, whole and as
 * `log` shows it.
 *
 * @module
 */
import { clipLine } from "../output/budget.ts";
import { linesBetween } from "../output/lines.ts";
import { compilePattern } from "../pattern.ts";
import { EVENTS_KEPT } from "./event_queue.ts";
import type { Session } from "./session.ts";
import { pause } from "./timing.ts";

/** Which output is to make an event, and how many of them. */
export interface NotifyOn {
  /** A regular expression, tried on each line; a leading `(?i)` ignores case. */
  readonly pattern: string;
  /** Tell the first match only and count the others. Default: true, unless `cooldownMs` or `max` is given. */
  readonly once?: boolean;
  /** Least time between two events, ms; matches in between are counted. Default: 0 with `max`, else 1000. */
  readonly cooldownMs?: number;
  /** Most events ever; what matches afterwards is counted. Default: no limit. */
  readonly max?: number;
}

/** How often a session's lines have matched. */
export interface MatchCounts {
  /** Lines that have matched, since the start. */
  readonly matched: number;
  /** Those of them that were only counted. */
  readonly untold: number;
  /** Lines that had been dropped before they could be looked at. */
  readonly skippedLines: number;
}

/** A line that has matched, and the counts by then. */
export interface Match extends MatchCounts {
  /** The line, rendered and bounded. */
  readonly line: string;
  /** Its absolute 0-based number. */
  readonly lineNumber: number;
}

/** Where matches go. */
export interface MatchSink {
  /** A match is to be told. */
  tell(match: Match): void;
  /** More has matched, or was skipped, without being told. */
  recount(counts: MatchCounts): void;
}

/** A watch on one session. While `exec` waits it only counts; the rest is said by its answer. */
export interface LineWatch {
  /**
   * From now on matches are told to the sink.
   *
   * @returns the first match so far, which counts as told: by the caller
   */
  toBackground(): Match | undefined;
  /** Whether no more matches will be told. */
  readonly isSpent: boolean;
  /** Resolves when everything up to the session's end has been looked at, its last line too if it is unterminated. */
  finish(): Promise<void>;
  /** Ends the watch. */
  stop(): void;
}

/** Least time between two looks, ms: a fast printer costs ten looks a second, whatever it prints. */
const LOOK_EVERY_MS = 100;

/** Bytes of output looked at in one turn of the host (a longer line counts as one). */
const LOOK_BYTES = 65_536;

/** Time between two events when neither `cooldownMs` nor `max` says otherwise, ms: an agent takes longer to act on one. */
const DEFAULT_COOLDOWN_MS = 1_000;

/** Characters of a line in an event. */
const LINE_CHARS = 500;

/** How many matches are told. */
export interface Ration {
  /** Whether one may be told at that time, ms; if so, it counts as told. */
  take(now: number): boolean;
  /** How many have been taken. */
  readonly taken: number;
  /** Whether none will be left at any time. */
  readonly isSpent: boolean;
}

/** Decides which matches are told. */
export function createRation({ once, cooldownMs, max }: NotifyOn): Ration {
  const isOnce = once ?? (cooldownMs === undefined && max === undefined);
  const most = isOnce ? 1 : max ?? Infinity;
  const cooldown = cooldownMs ?? (max === undefined ? DEFAULT_COOLDOWN_MS : 0);
  let taken = 0;
  let takenAt = -Infinity;
  return {
    take(now) {
      if (taken >= most || now - takenAt < cooldown) return false;
      taken += 1;
      takenAt = now;
      return true;
    },
    get taken() {
      return taken;
    },
    get isSpent() {
      return taken >= most;
    },
  };
}

/** Watches a session that has just been started. */
export function createLineWatch(session: Session, notifyOn: NotifyOn, sink: MatchSink): LineWatch {
  const { clock, log } = session;
  const pattern = compilePattern(notifyOn.pattern);
  const ration = createRation(notifyOn);
  let next = 0; // the first line that has not been looked at
  let matched = 0;
  let skippedLines = 0;
  let lookedAt = -Infinity;
  let cancel: (() => void) | undefined;
  let first: Pick<Match, "line" | "lineNumber"> | undefined; // while the command is in the foreground
  let isForeground = true;

  const counts = (): MatchCounts => ({ matched, untold: matched - ration.taken, skippedLines });

  /** Looks at one window of lines; says whether there are more. `final`: the last line counts as it is. */
  function look(final: boolean): boolean {
    lookedAt = clock.monotonic();
    skipLost();
    const end = final ? log.totalLines : log.lineAt(log.end);
    if (next >= end) return false;
    const to = Math.min(end, Math.max(next + 1, endOfWindow(end)));
    const before = matched;
    const due: Pick<Match, "line" | "lineNumber">[] = [];
    for (const { number: lineNumber, text } of linesBetween(log, next, to)) {
      if (!pattern.test(text)) continue;
      matched += 1;
      const isTold = isForeground
        ? first === undefined && due.length === 0
        : due.length < EVENTS_KEPT && ration.take(lookedAt);
      if (isTold) due.push({ line: clipLine(text, LINE_CHARS), lineNumber });
    }
    next = to;
    if (isForeground) first ??= due[0];
    else if (due.length > 0) due.forEach((match) => sink.tell({ ...match, ...counts() }));
    else if (matched > before) sink.recount(counts());
    return next < end;
  }

  /** A line of which the log has dropped anything is not whole: it is skipped. */
  function skipLost(): void {
    const { firstLine, start } = log;
    if (start === 0 || firstLine < next) return;
    skippedLines += firstLine + 1 - next;
    next = firstLine + 1;
  }

  function endOfWindow(end: number): number {
    const offset = log.lineStart(next) + LOOK_BYTES;
    return offset < log.end ? log.lineAt(offset) : end;
  }

  function run(): void {
    cancel = undefined;
    if (session.hidden) return stop();
    const isMore = look(session.outputEnded);
    if (isMore) cancel = clock.timer(0, run);
  }

  function schedule(): void {
    cancel ??= clock.timer(Math.max(0, LOOK_EVERY_MS - (clock.monotonic() - lookedAt)), run);
  }

  function stop(): void {
    stopListening();
    cancel?.();
  }

  const stopListening = session.onChange(schedule);
  if (log.end > 0) schedule(); // printed before anybody listened

  return {
    toBackground() {
      look(false);
      isForeground = false;
      if (first === undefined) return undefined;
      ration.take(lookedAt);
      return { ...first, ...counts() };
    },
    get isSpent() {
      return ration.isSpent;
    },
    async finish() {
      while (!isForeground && look(true)) await pause(clock, 0);
      if (session.outputEnded) stop(); // else a process that was left behind prints on
    },
    stop,
  };
}
